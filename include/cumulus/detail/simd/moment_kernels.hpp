// SPDX-License-Identifier: MIT
//
// The kernels of moments: power sums about a pivot.
// Layer 1 (simd): over contiguous raw memory; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cumulus/detail/simd/weighted_range.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#if CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/vector_power_sums.inc"
#include <cumulus/detail/simd/each_isa.inc>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best {

template <class T, int P, bool Weighted>
CUMULUS_INLINE void power_sums(const T* x, const T* w, index_t n, T pivot, double* sums,
                               weighted_range& range) noexcept
    CUMULUS_DISPATCH(power_sums<T, P, Weighted>(x, w, n, pivot, sums, range))

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD::best

#endif  // CUMULUS_VECTORS
