// SPDX-License-Identifier: MIT
//
// A call of the kernel that the instruction set in use has, and the floating-point flags around it.
// Layer 1 (simd).
#pragma once

#include <cumulus/detail/core/chosen_isa.hpp>
#include <cumulus/detail/core/mode.hpp>

#if CUMULUS_X86_SETS && CUMULUS_BODIES
#include <cumulus/detail/simd/intrinsics.hpp>
#elif !CUMULUS_X86_SETS
#include <cfenv>
#endif

namespace cumulus::detail {

#if CUMULUS_X86_SETS
/// Returns what a function of kernels::baseline, avx2 or avx512 returns, that of the set in use.
#define CUMULUS_BEST_OF(...)        \
  switch (active_isa_level()) {     \
    case 2:                         \
      return avx512::__VA_ARGS__;   \
    case 1:                         \
      return avx2::__VA_ARGS__;     \
    default:                        \
      return baseline::__VA_ARGS__; \
  }
#else
#define CUMULUS_BEST_OF(...) return baseline::__VA_ARGS__;
#endif

/// The body of a function that calls the kernel of the set in use.
#if CUMULUS_BODIES
#define CUMULUS_DISPATCH(...) {CUMULUS_BEST_OF(__VA_ARGS__)}
#else
#define CUMULUS_DISPATCH(...) ;
#endif

namespace kernels::inline CUMULUS_BUILD {

/// The floating-point flags of before, for a kernel that meets a NaN or an infinity on the way to a
/// result that raises none.
class quiet_flags {
 public:
#if CUMULUS_X86_SETS
  void restore() const noexcept { __builtin_ia32_ldmxcsr(state_); }

 private:
  unsigned state_ = __builtin_ia32_stmxcsr();
#else
  quiet_flags() noexcept { std::fegetexceptflag(&state_, FE_ALL_EXCEPT); }
  void restore() const noexcept { std::fesetexceptflag(&state_, FE_ALL_EXCEPT); }

 private:
  std::fexcept_t state_;
#endif
};

}  // namespace kernels::inline CUMULUS_BUILD

}  // namespace cumulus::detail
