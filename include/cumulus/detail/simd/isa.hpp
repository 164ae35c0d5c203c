// SPDX-License-Identifier: MIT
//
// A call of the kernel that the instruction set in use has, and the floating-point flags around it.
// Layer 1 (simd).
#pragma once

#include <cumulus/detail/core/chosen_isa.hpp>

#if CUMULUS_X86_SETS
#include <immintrin.h>
#else
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

namespace kernels {

/// The floating-point flags of before, for a kernel that meets a NaN or an infinity on the way to a
/// result that raises none.
class quiet_flags {
 public:
#if CUMULUS_X86_SETS
  void restore() const noexcept { _mm_setcsr(state_); }

 private:
  unsigned state_ = _mm_getcsr();
#else
  quiet_flags() noexcept { std::fegetexceptflag(&state_, FE_ALL_EXCEPT); }
  void restore() const noexcept { std::fesetexceptflag(&state_, FE_ALL_EXCEPT); }

 private:
  std::fexcept_t state_;
#endif
};

}  // namespace kernels

}  // namespace cumulus::detail
