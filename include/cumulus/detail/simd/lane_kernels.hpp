// SPDX-License-Identifier: MIT
//
// The kernels of lines side by side: element j of line i lies at x[j stride + i].
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/lane_sums.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/vector_lanes.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T, bool Plain>
CUMULUS_INLINE void sum_lanes(const T* x, index_t stride, index_t rows, lane_sums<T>& s) noexcept
    CUMULUS_DISPATCH(sum_lanes<T, Plain>(x, stride, rows, s))

        template <class T, bool Plain>
        CUMULUS_INLINE void share_lanes(const T* x, index_t stride, T* out, index_t out_stride,
                                        index_t rows, const lane_sums<T>& s) noexcept
    CUMULUS_DISPATCH(share_lanes<T, Plain>(x, stride, out, out_stride, rows, s))

        template <class T>
        CUMULUS_INLINE void subtract_lanes(const T* x, index_t stride, T* out, index_t out_stride,
                                           index_t rows, const lane_sums<T>& s) noexcept
    CUMULUS_DISPATCH(subtract_lanes<T>(x, stride, out, out_stride, rows, s))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
