// SPDX-License-Identifier: MIT
//
// The instruction set that the kernels use. It is the best set of the machine, found once at run
// time, so that a program that is built without any -m flag uses the best set too; a program may
// ask for a lower set.
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

/// The set that kernels use now. The environment variable CUMULUS_ISA may name a set that is lower
/// than the machine's best.
[[nodiscard]] inline isa active_isa() noexcept {
  return static_cast<isa>(detail::active_isa_level());
}

/// Makes the kernels of all threads use this set, or the best lower set that the machine has.
/// Returns the set in use.
inline isa use_isa(isa wanted) noexcept {
  return static_cast<isa>(detail::use_isa_level(static_cast<int>(wanted)));
}

}  // namespace cumulus
