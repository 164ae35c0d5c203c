// SPDX-License-Identifier: MIT
//
// The instruction set in use, as a number: 0 baseline, 1 AVX2, 2 AVX-512. core/isa.hpp names them.
// Layer 0 (core).
//
// CUMULUS_VECTORS is 1 where the compiler has vector extensions; 0 leaves the portable loops, as does defining it so.
// CUMULUS_X86_SETS is 1 where functions can be compiled for AVX2 and AVX-512 beside the rest of a program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#if !defined(__GNUC__)
#include <atomic>
#endif

#if !defined(CUMULUS_VECTORS)
#if defined(__GNUC__)
#define CUMULUS_VECTORS 1
#else
#define CUMULUS_VECTORS 0
#endif
#endif

#if CUMULUS_VECTORS && defined(__x86_64__)
#define CUMULUS_X86_SETS 1
#else
#define CUMULUS_X86_SETS 0
#endif

namespace cumulus::detail {

inline constexpr const char* isa_names[] = {"baseline", "avx2", "avx512"};

/// The best set that this machine has.
[[nodiscard]] inline int best_isa_level() noexcept {
#if CUMULUS_X86_SETS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return wide ? 2 : 1;
  }
#endif
  return 0;
}

/// The level in use, or -1 until the first kernel runs. With the compiler's atomic operations where it has them, since
/// <atomic> is 9000 lines.
#if defined(__GNUC__)
inline int chosen_isa_level = -1;
[[nodiscard]] inline int load_isa_level() noexcept {
  return __atomic_load_n(&chosen_isa_level, __ATOMIC_RELAXED);
}
inline void store_isa_level(int level) noexcept {
  __atomic_store_n(&chosen_isa_level, level, __ATOMIC_RELAXED);
}
#else
inline std::atomic<int> chosen_isa_level{-1};
[[nodiscard]] inline int load_isa_level() noexcept {
  return chosen_isa_level.load(std::memory_order_relaxed);
}
inline void store_isa_level(int level) noexcept {
  chosen_isa_level.store(level, std::memory_order_relaxed);
}
#endif

/// What the environment variable CUMULUS_ISA asks for, at most what the machine has.
[[nodiscard]] inline int isa_level_of_environment() noexcept {
  const int best = best_isa_level();
  const char* const wanted = std::getenv("CUMULUS_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (int level = 0; level < 3; ++level) {
    if (std::strcmp(wanted, isa_names[level]) == 0) return level < best ? level : best;
  }
  std::fprintf(stderr, "cumulus: CUMULUS_ISA=%s is none of baseline, avx2, avx512; using %s\n",
               wanted, isa_names[best]);
  return best;
}

[[nodiscard]] inline int active_isa_level() noexcept {
  int level = load_isa_level();
  if (level < 0) {
    level = isa_level_of_environment();
    store_isa_level(level);
  }
  return level;
}

/// Sets the level, or the machine's best where that is lower; returns which.
inline int use_isa_level(int wanted) noexcept {
  const int best = best_isa_level(), level = wanted < best ? wanted : best;
  store_isa_level(level);
  return level;
}

}  // namespace cumulus::detail
