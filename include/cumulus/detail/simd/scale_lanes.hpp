// SPDX-License-Identifier: MIT
//
// A multiple of a row, in whole groups of lanes: inlined, for rows of a few groups. scale_row (features.hpp) takes any length, by
// a call to the instruction set in use.
// Layer 1 (simd): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <cumulus/detail/simd/isa.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

inline constexpr index_t scale_lanes_group = 8;

/// out_i = factor x_i, i < n rounded up to a group.
/// Requires room for that in x and out, and that out is not behind x by less than a group.
template <class T>
inline void scale_lanes(const T& factor, const T* x, T* out, index_t n) noexcept {
#if CUMULUS_VECTORS
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    typedef T group __attribute__((vector_size(scale_lanes_group * sizeof(T))));
    for (index_t i = 0; i < n; i += scale_lanes_group) {
      group v;
      __builtin_memcpy(&v, x + i, sizeof v);
      v *= factor;
      __builtin_memcpy(out + i, &v, sizeof v);
    }
    return;
  }
#endif
  for (index_t i = 0; i < n; i += scale_lanes_group) {
    for (index_t l = i; l < i + scale_lanes_group; ++l) out[l] = factor * x[l];
  }
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
