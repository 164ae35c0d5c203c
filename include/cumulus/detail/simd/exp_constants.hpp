// SPDX-License-Identifier: MIT
//
// The numbers of the vector exponential e^x 2^-power, the same for every instruction set.
// Layer 1 (simd).
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <bit>
#include <cstdint>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// How pack<double>::split finds k: (bits + offset) >> 52 is k + 1024, and as the low bits of 2^52 a number.
inline constexpr std::int64_t split_bias = std::int64_t(1024) << 52;
inline constexpr std::int64_t split_offset = split_bias - 0x3fe6a09e667f3bcd;
inline constexpr std::int64_t split_magic = 0x4330000000000000;
inline constexpr double split_shift = 0x1p52 + 1024;

struct common_exp_constants {
  static constexpr double log2_e = 0x1.71547652b82fep0;
  static constexpr double log_two = 0x1.62e42fefa39efp-1, log_two_rest = 0x1.abc9e3b39803fp-56;
};

template <class T>
struct exp_constants;

/// Source  the polynomials were fitted with Sollya's fpminimax; `exp_sweep` in tests/ measures all floats.
template <>
struct exp_constants<float> : common_exp_constants {
  using bits = std::uint32_t;
  static constexpr int digits = 23;  ///< of the stored significand
  // e^t = 1 + t + t^2 (...) within log 2 / 2
  static constexpr float polynomial[] = {
      0x1.68691ap-10f, 0x1.123d18p-7f, 0x1.555b84p-5f, 0x1.55548cp-3f, 0x1.fffff8p-2f, 1.0f, 1.0f};
  // (e^t - 1) / t within log 2 / 32
  static constexpr float short_polynomial[] = {0x1.55565p-3f, 0x1.00022p-1f, 1.0f};
  static constexpr float root[16] = {
      0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
      0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
      0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
      0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  // log 2 in three parts, the first two of so few bits that |n| < 2^14 times them is exact
  static constexpr float log_two_parts[] = {0x1.63p-1f, -0x1.bdp-13f, -0x1.05c61p-29f};
  static constexpr double reach = 0x1p17, reach_without_fma = 0x1p13;  ///< of |x| log2 e
  // A term is 2^lift where x is about as large as the row's first elements, at most 2^top; terms below 2^lowest
  // may be 0. 1 2^vanishing has the bits of 0.
  static constexpr int lift = 40, top = 90, lowest = -125, vanishing = -127;
};

template <>
struct exp_constants<double> : common_exp_constants {
  using bits = std::uint64_t;
  static constexpr int digits = 52;
  static constexpr double polynomial[] = {0x1.ae113aaa77cdfp-26,
                                          0x1.28b0d9e2b81efp-22,
                                          0x1.71dec882613dbp-19,
                                          0x1.a01995dea915ep-16,
                                          0x1.a01a0154578b4p-13,
                                          0x1.6c16c185f93d8p-10,
                                          0x1.111111111fdep-7,
                                          0x1.555555554fe3ap-5,
                                          0x1.555555555551ap-3,
                                          0x1.000000000000cp-1,
                                          1.0,
                                          1.0};
  static constexpr double short_polynomial[] = {0x1.6c159d9180ab5p-10, 0x1.11126edefee0cp-7,
                                                0x1.555555581c6f9p-5,  0x1.5555555405d9bp-3,
                                                0x1.fffffffffffc1p-2,  0x1.000000000000ap0};
  static constexpr double root[16] = {0x1p+0,
                                      0x1.0b5586cf9890fp+0,
                                      0x1.172b83c7d517bp+0,
                                      0x1.2387a6e756238p+0,
                                      0x1.306fe0a31b715p+0,
                                      0x1.3dea64c123422p+0,
                                      0x1.4bfdad5362a27p+0,
                                      0x1.5ab07dd485429p+0,
                                      0x1.6a09e667f3bcdp+0,
                                      0x1.7a11473eb0187p+0,
                                      0x1.8ace5422aa0dbp+0,
                                      0x1.9c49182a3f09p+0,
                                      0x1.ae89f995ad3adp+0,
                                      0x1.c199bdd85529cp+0,
                                      0x1.d5818dcfba487p+0,
                                      0x1.ea4afa2a490dap+0};
  static constexpr double log_two_parts[] = {0x1.62e42ffp-1, -0x1.718432ap-35,
                                             -0x1.b0e2633fe0685p-67};
  static constexpr double reach = 0x1p29, reach_without_fma = 0x1p20;
  static constexpr int lift = 200, top = 900, lowest = -1021, vanishing = -1023;
};

/// 2^(j/16), its exponent j 2^-4 too low: what the shifted bits of n/16 add to it is the whole of n.
template <class T>
struct biased_roots {
  T at[16];
};
template <class T>
inline constexpr biased_roots<T> biased_roots_of = [] {
  using C = exp_constants<T>;
  using bits = typename C::bits;
  biased_roots<T> table{};
  for (unsigned j = 0; j < 16; ++j) {
    table.at[j] =
        std::bit_cast<T>(bits(std::bit_cast<bits>(C::root[j]) - (bits(j) << (C::digits - 4))));
  }
  return table;
}();

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
