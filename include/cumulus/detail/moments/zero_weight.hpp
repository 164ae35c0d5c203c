// SPDX-License-Identifier: MIT
//
// Whether a weight is 0, so that its term does not count.
// Layer 2 (moments): uses core.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// True for a weight of +0 or -0, of any scalar.
template <class S>
[[nodiscard]] bool is_zero(const S& w) {
  return !(w < S(0) || S(0) < w || is_nan(w));
}

}  // namespace cumulus::detail
