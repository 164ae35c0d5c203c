// SPDX-License-Identifier: MIT
//
// c += a b of small matrices in raw memory.
// Layer 1 (simd): unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// c_ij += sum_t a_it b_tj for i < rows, j < columns, t < depth.
///
/// Shape    a_it lies at a[i a_row + t a_step], so that a transposed a costs no more; the rows of b and c are contiguous.
/// Error    plain sums in T of up to 256 terms in the order of t, fused where the machine has FMA, then each onto c: depth u
///          sum_t |a_it b_tj| and one rounding of c.
/// Cost     rows depth columns multiply-adds, for float and double in vectors: best where columns fill 64 bytes or more and
///          rows is 6 or more.
template <class T>
inline void add_product(const T* a, index_t a_row, index_t a_step, const T* b, index_t b_stride,
                        T* c, index_t c_stride, index_t rows, index_t depth,
                        index_t columns) noexcept {
#if CUMULUS_VECTORS
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    return best::add_product<T>(a, a_row, a_step, b, b_stride, c, c_stride, rows, depth, columns);
  }
#endif
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < columns; ++j) {
      T sum(0);
      for (index_t t = 0; t < depth; ++t) sum += a[i * a_row + t * a_step] * b[t * b_stride + j];
      c[i * c_stride + j] += sum;
    }
  }
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
