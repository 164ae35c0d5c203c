// SPDX-License-Identifier: MIT
//
// The kernels of small matrices: their products, and dot products of many rows with one vector.
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/matrix_kernels.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T>
CUMULUS_INLINE void add_product(const T* a, index_t a_row, index_t a_step, const T* b,
                                index_t b_stride, T* c, index_t c_stride, index_t rows,
                                index_t depth, index_t columns) noexcept
    CUMULUS_DISPATCH(add_product<T>(a, a_row, a_step, b, b_stride, c, c_stride, rows, depth,
                                    columns))

        template <class T>
        CUMULUS_INLINE void dot_rows(const T* rows, index_t stride, index_t width, index_t count,
                                     const T* x, double* out) noexcept
    CUMULUS_DISPATCH(dot_rows<T>(rows, stride, width, count, x, out))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
