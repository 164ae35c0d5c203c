// SPDX-License-Identifier: MIT
//
// The scale of the product of a query and a key: one rule for every function where a query meets keys.
// Layer 4 (blocks): uses core; attention uses it as well.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <optional>

namespace cumulus::detail {

/// Refuses a scale that is NaN or infinite.
inline void require_scale(const char* function, const std::optional<double>& scale) {
  if (scale && !is_finite(*scale))
    refuse({function, ": .scale is ", *scale, "; give a finite number"});
}

/// The scale that was given, else 1 / sqrt(d); 1 for a width of 0.
[[nodiscard]] inline double score_scale(const std::optional<double>& scale, index_t d) noexcept {
  return scale ? *scale : d > 0 ? 1 / std::sqrt(double(d)) : 1.0;
}

}  // namespace cumulus::detail
