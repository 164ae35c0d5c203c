// SPDX-License-Identifier: MIT
//
// The kernels of attention: scores, weights and running sums of a block of keys.
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/attention_row.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/lane_kernels.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/vector_attention.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T, class E>
CUMULUS_INLINE void score_rows(const T* q, index_t q_stride, index_t rows, const E* k,
                               index_t k_stride, index_t count, index_t d, T* out,
                               index_t out_stride) noexcept
    CUMULUS_DISPATCH(score_rows<T>(q, q_stride, rows, k, k_stride, count, d, out, out_stride))

        template <class T, class E>
        CUMULUS_INLINE
    void add_values(const T* w, index_t w_stride, index_t rows, const E* v, index_t v_stride,
                    index_t count, index_t e, T* out, index_t out_stride) noexcept
    CUMULUS_DISPATCH(add_values<T>(w, w_stride, rows, v, v_stride, count, e, out, out_stride))

        template <class T, class E>
        CUMULUS_INLINE void add_kept_values(const T* w, const E* v, index_t v_stride, index_t count,
                                            index_t e, T* out) noexcept
    CUMULUS_DISPATCH(add_kept_values<T>(w, v, v_stride, count, e, out))

        template <class T>
        CUMULUS_INLINE void pack_keys(const T* k, index_t k_stride, index_t count, index_t d,
                                      T* out, index_t out_stride) noexcept
    CUMULUS_DISPATCH(pack_keys<T>(k, k_stride, count, d, out, out_stride))

        template <class E>
        CUMULUS_INLINE void convert(const E* x, index_t n, float* out) noexcept
    CUMULUS_DISPATCH(convert<E>(x, n, out))

        template <class T>
        CUMULUS_INLINE
    void adjust_scores(T* s, index_t n, T cap, const T* bias, const bool* mask) noexcept
    CUMULUS_DISPATCH(adjust_scores<T>(s, n, cap, bias, mask))

        template <class T>
        CUMULUS_INLINE
    bool weigh_row(T* s, index_t n, attention_row<T>& row, double* sums, index_t width) noexcept
    CUMULUS_DISPATCH(weigh_row<T>(s, n, row, sums, width))

        template <class T>
        CUMULUS_INLINE bool fold_row(const T* part, index_t n, double* sums) noexcept
    CUMULUS_DISPATCH(fold_row<T>(part, n, sums))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
