// SPDX-License-Identifier: MIT
//
// Dot products of many rows with one vector: what every block score is made of.
// Layer 1 (simd): over raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// At most so many roundings to T, of sum_j |rows_ij x_j|, lie in a product of this width.
[[nodiscard]] constexpr index_t dot_rows_max_roundings(index_t width) noexcept {
  return width / 2 + 3;  // two lanes or more, a fused or two-step product each, and their sum
}

/// out_i = sum_j rows_ij x_j for i < count.
///
/// Shape   row i begins at rows + i stride, `width` numbers side by side. S: double where T is float or double.
/// Error   plain sums in T in the lanes of a vector, the lanes summed in double: at most
///         dot_rows_max_roundings(width) u sum_j |rows_ij x_j|; of other scalars T, such sums in S.
/// Cost    one read of the rows: 8 rows share each load of x.
template <class T, class S>
void dot_rows(const T* rows, index_t stride, index_t width, index_t count, const T* x,
              S* out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    static_assert(std::same_as<S, double>);
    return best::dot_rows<T>(rows, stride, width, count, x, out);
  }
#endif
  for (index_t i = 0; i < count; ++i) {
    S even(0), odd(0);
    for (index_t j = 0; j < width; j += 2) {
      even += S(rows[i * stride + j]) * S(x[j]);
      if (j + 1 < width) odd += S(rows[i * stride + j + 1]) * S(x[j + 1]);
    }
    out[i] = even + odd;
  }
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
