// SPDX-License-Identifier: MIT
//
// The floating-point exceptions that a computation raises.
#pragma once

#include <cfenv>

/// Which of FE_INVALID and FE_DIVBYZERO the call raised.
template <class Function>
[[nodiscard]] int spurious_flags(Function f) {
  std::feclearexcept(FE_ALL_EXCEPT);
  f();  // stores what it computes, so that nothing moves past the test of the flags
  return std::fetestexcept(FE_INVALID | FE_DIVBYZERO);
}
