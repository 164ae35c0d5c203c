// SPDX-License-Identifier: MIT
//
// Which instruction set the kernels use: the best that the machine has, found once at run time, so that a program built
// without any -m flag reaches it; or a lower one on request.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/chosen_isa.hpp>

namespace cumulus {

/// The instruction sets, each including those before it.
enum class isa : int {
  baseline,  ///< what every machine of the target has: SSE2, NEON, ...
  avx2,      ///< AVX2 and FMA
  avx512,    ///< AVX-512 F, DQ, BW, VL
};

/// The name of an instruction set, as CUMULUS_ISA takes it.
[[nodiscard]] constexpr const char* name_of(isa set) noexcept {
  return detail::isa_names[static_cast<int>(set)];
}

/// The set that kernels use now. The environment variable CUMULUS_ISA may name a lower one than the machine's best.
[[nodiscard]] inline isa active_isa() noexcept {
  return static_cast<isa>(detail::active_isa_level());
}

/// Makes all threads' kernels use this set, or the best below it that the machine has; returns which.
inline isa use_isa(isa wanted) noexcept {
  return static_cast<isa>(detail::use_isa_level(static_cast<int>(wanted)));
}

}  // namespace cumulus
