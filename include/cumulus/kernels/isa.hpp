// SPDX-License-Identifier: MIT
//
// Which instruction set the kernels use: the best that the machine has, found once at run time, so that a program built
// without any -m flag reaches it; or a lower one on request.
// Layer 1 (kernels).
//
// CUMULUS_VECTORS is 1 where the compiler has vector extensions; 0 leaves the portable loops, as does defining it so.
// CUMULUS_X86_SETS is 1 where functions can be compiled for AVX2 and AVX-512 beside the rest of a program.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if !defined(CUMULUS_VECTORS)
#if defined(__GNUC__)
#define CUMULUS_VECTORS 1
#else
#define CUMULUS_VECTORS 0
#endif
#endif

#if CUMULUS_VECTORS && defined(__x86_64__)
#define CUMULUS_X86_SETS 1
#include <immintrin.h>
#else
#define CUMULUS_X86_SETS 0
#endif

namespace cumulus {

/// The instruction sets, each including those before it.
enum class isa : int {
  baseline,  ///< what every machine of the target has: SSE2, NEON, ...
  avx2,      ///< AVX2 and FMA
  avx512,    ///< AVX-512 F, DQ, BW, VL
};

[[nodiscard]] constexpr const char* name_of(isa set) noexcept {
  return set == isa::avx512 ? "avx512" : set == isa::avx2 ? "avx2" : "baseline";
}

/// The best set that this machine has.
[[nodiscard]] inline isa best_isa() noexcept {
#if CUMULUS_X86_SETS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return wide ? isa::avx512 : isa::avx2;
  }
#endif
  return isa::baseline;
}

namespace detail {

/// -1 until the first kernel runs.
inline std::atomic<int> chosen_isa{-1};

/// What the environment variable CUMULUS_ISA asks for, at most what the machine has.
[[nodiscard]] inline isa isa_of_environment() noexcept {
  const isa best = best_isa();
  const char* const wanted = std::getenv("CUMULUS_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const isa set : {isa::baseline, isa::avx2, isa::avx512}) {
    if (std::strcmp(wanted, name_of(set)) == 0) return set < best ? set : best;
  }
  std::fprintf(stderr, "cumulus: CUMULUS_ISA=%s is none of baseline, avx2, avx512; using %s\n",
               wanted, name_of(best));
  return best;
}

}  // namespace detail

/// The set that kernels use now.
[[nodiscard]] inline isa active_isa() noexcept {
  int set = detail::chosen_isa.load(std::memory_order_relaxed);
  if (set < 0) {
    set = static_cast<int>(detail::isa_of_environment());
    detail::chosen_isa.store(set, std::memory_order_relaxed);
  }
  return static_cast<isa>(set);
}

/// Makes all threads' kernels use this set, or the best below it that the machine has; returns which.
inline isa use_isa(isa wanted) noexcept {
  const isa best = best_isa(), set = wanted < best ? wanted : best;
  detail::chosen_isa.store(static_cast<int>(set), std::memory_order_relaxed);
  return set;
}

#if CUMULUS_X86_SETS
/// Returns what a function of kernels::baseline, avx2 or avx512 returns, that of the set in use.
#define CUMULUS_BEST_OF(...)        \
  switch (active_isa()) {           \
    case isa::avx512:               \
      return avx512::__VA_ARGS__;   \
    case isa::avx2:                 \
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

}  // namespace cumulus
