// SPDX-License-Identifier: MIT
//
// The kernels of rows: ends, sums of exponentials, shares and logarithms.
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/row_sums.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/row_kernels.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T, bool Plain, bool Keep>
CUMULUS_INLINE void sum_row(const T* x, T* out, index_t n, row_sums<T>& row) noexcept
    CUMULUS_DISPATCH(sum_row<T, Plain, Keep>(x, out, n, row))

        template <class T, bool Plain, bool Keep>
        CUMULUS_INLINE void weighted_sum_row(const T* x, const T* w, T factor, T* out, index_t n,
                                             row_sums<T>& row) noexcept
    CUMULUS_DISPATCH(weighted_sum_row<T, Plain, Keep>(x, w, factor, out, n, row))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE weight_ends<T> ends_of_weights(const T* w, index_t n) noexcept
    CUMULUS_DISPATCH(ends_of_weights<T>(w, n))

        template <class T>
        CUMULUS_INLINE void keep_row(const T* w, index_t n, const bool* mask, T* out) noexcept
    CUMULUS_DISPATCH(keep_row<T>(w, n, mask, out))

        template <class T>
        CUMULUS_INLINE void lay_row(const T* x, index_t n, const bool* mask, const T* w,
                                    bool negative, T* out) noexcept
    CUMULUS_DISPATCH(lay_row<T>(x, n, mask, w, negative, out))

        template <bool Half>
        CUMULUS_INLINE void widen_row(const void* x, index_t n, float* out) noexcept
    CUMULUS_DISPATCH(widen_row<Half>(x, n, out))

        template <bool Half>
        CUMULUS_INLINE void narrow_row(const float* x, index_t n, void* out) noexcept
    CUMULUS_DISPATCH(narrow_row<Half>(x, n, out))

        template <class T>
        CUMULUS_INLINE void log_row(const double* x, index_t n, double raise, T* out) noexcept
    CUMULUS_DISPATCH(log_row<T>(x, n, raise, out))

        template <class T>
        CUMULUS_INLINE
    void subtract_weighted_row(const T* x, const T* w, T* out, index_t n, T centre, double scale,
                               double factor, double rest) noexcept
    CUMULUS_DISPATCH(subtract_weighted_row<T>(x, w, out, n, centre, scale, factor, rest))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE T row_largest(const T* x, index_t n) noexcept
    CUMULUS_DISPATCH(row_largest<T>(x, n))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE T row_smallest(const T* x, index_t n) noexcept
    CUMULUS_DISPATCH(row_smallest<T>(x, n))

        template <class T, bool Plain>
        [[nodiscard]] CUMULUS_INLINE
    compensated<double> sum_but_largest(const T* x, const row_sums<T>& row) noexcept
    CUMULUS_DISPATCH(sum_but_largest<T, Plain>(x, row))

        template <class T, bool Exact>
        CUMULUS_INLINE void divide_row(T* out, index_t n, const compensated<double>& total) noexcept
    CUMULUS_DISPATCH(divide_row<T, Exact>(out, n, total))

        template <class T>
        CUMULUS_INLINE
    void subtract_row(const T* x, T* out, index_t n, T centre, double scale, T rest) noexcept
    CUMULUS_DISPATCH(subtract_row<T>(x, out, n, centre, scale, rest))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE index_t position_of(const T* x, index_t n, T value) noexcept
    CUMULUS_DISPATCH(position_of<T>(x, n, value))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
