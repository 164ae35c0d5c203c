// SPDX-License-Identifier: MIT
//
// The kernels of derivatives and series: row dot products, Jacobians, polynomials of a row.
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/vector_products.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T>
[[nodiscard]] CUMULUS_INLINE compensated<double> dot_row(const T* p, const T* v, index_t n,
                                                         T origin) noexcept
    CUMULUS_DISPATCH(dot_row<T>(p, v, n, origin))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE compensated<double> share_dot_row(const T* p, const T* v,
                                                                       index_t n, T origin) noexcept
    CUMULUS_DISPATCH(share_dot_row<T>(p, v, n, origin))

        template <class T>
        [[nodiscard]] CUMULUS_INLINE double absolute_sum(const T* x, index_t n) noexcept
    CUMULUS_DISPATCH(absolute_sum<T>(x, n))

        template <class T>
        CUMULUS_INLINE
    void subtract_shares(const T* p, const T* g, T* out, index_t n, T all, T factor) noexcept
    CUMULUS_DISPATCH(subtract_shares<T>(p, g, out, n, all, factor))

        template <class T>
        CUMULUS_INLINE void jacobian_row(const T* p, const T* v, T* out, index_t n, T origin,
                                         T mean, T factor) noexcept
    CUMULUS_DISPATCH(jacobian_row<T>(p, v, out, n, origin, mean, factor))

        template <class T>
        CUMULUS_INLINE
    void horner_row(const T* x, T* out, index_t n, const compensated<double>& mean, const double* a,
                    int order) noexcept CUMULUS_DISPATCH(horner_row<T>(x, out, n, mean, a, order))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
