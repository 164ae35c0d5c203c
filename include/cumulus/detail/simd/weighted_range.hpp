// SPDX-License-Identifier: MIT
//
// What a pass over weighted elements learns beside their power sums.
// Layer 1 (simd).
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/mode.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

struct weighted_range {
  /// Of the elements of a weight other than 0.
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  compensated<double> weight;  ///< the sum of the weights
  double least_weight = 0;     ///< or 0
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
