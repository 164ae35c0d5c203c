// SPDX-License-Identifier: MIT
//
// Which scalars and scales the vector kernels take.
// Layer 1 (rows).
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <cumulus/detail/simd/isa.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Whether the vector kernels take a scale other than 1: where there is no fused multiply-add, a power of two.
[[nodiscard]] inline bool takes_scale(double scale) noexcept {
  if (!(0x1p-60 < scale && scale < 0x1p60)) return false;
  int exponent = 0;
  return active_isa_level() > 0 || std::frexp(scale, &exponent) <= 0.5;
}

/// The scalar whose kernels take rows of S: the half types are read as float, and rounded once from its results.
template <class S>
struct row_scalar_of {
  using type = S;
};
template <>
struct row_scalar_of<Eigen::half> {
  using type = float;
};
template <>
struct row_scalar_of<Eigen::bfloat16> {
  using type = float;
};
template <class S>
using row_scalar = typename row_scalar_of<S>::type;

#if CUMULUS_VECTORS
template <class S>
concept vector_scalar =
    std::floating_point<row_scalar<S>> && sizeof(row_scalar<S>) <= sizeof(double);
#else
template <class S>
concept vector_scalar = false;
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
