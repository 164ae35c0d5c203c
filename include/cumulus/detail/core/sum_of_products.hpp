// SPDX-License-Identifier: MIT
//
// A short dot product in double.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// sum_i a_i b_i in double, of scalars that convert to it. For many rows take detail/simd/dot_rows.hpp.
///
/// Error   plain sums of every fourth term: (n / 4 + 6) u sum_i |a_i b_i|.
template <class A, class B>
[[nodiscard]] double sum_of_products(const A* a, const B* b, index_t n) noexcept {
  double sums[4] = {0, 0, 0, 0};  // an addition waits for the one before
  index_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (index_t j = 0; j < 4; ++j)
      sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
  }
  for (; i < n; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace cumulus::detail
