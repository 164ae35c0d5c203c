// SPDX-License-Identifier: MIT
//
// What a query knows of the keys that it has seen: the sum of its weights e^score 2^-power, and the power.
// Layer 1 (simd): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/constants.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/exp_constants.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Keys are taken in blocks of so many: within a block sums are in T, from block to block in double (of doubles with their
/// rounding errors), so that no error grows with the number of keys.
inline constexpr index_t attention_block = 256;

/// Weights are added in groups that begin at multiples of this, so that -inf at the end changes no sum.
inline constexpr index_t weights_together = 64;

/// The doubles that hold one entry of a running sum: of doubles its rounding errors as well.
template <class T>
inline constexpr index_t attention_sums = std::same_as<T, double> ? 2 : 1;

/// Numbers of 16 bits as kernels read them: bfloat16, and IEEE's half.
struct brain_bits {
  std::uint16_t bits;
};
struct half_bits {
  std::uint16_t bits;
};

/// The error of cap tanh(score / cap), in u of the result: 4 with FMA, measured; without it a little more.
inline constexpr double softcap_max_roundings = 4.2;

template <class T>
struct attention_row {
  using C = exp_constants<T>;

  compensated<double> sum{};
  index_t power = 0;
  T top = -std::numeric_limits<T>::infinity();  ///< a score up to here has a weight that fits
  bool irregular = false;  ///< a score is +inf or out of reach: the row is for another way

  /// Whether more keys cannot change the result.
  [[nodiscard]] bool done() const noexcept { return irregular || is_nan(sum.high); }

  void add(const compensated<double>& block) noexcept {
    const compensated<double> exact = two_sum(sum.high, block.high);
    sum = {exact.high, sum.low + (exact.low + block.low)};
  }

  /// Measures from a higher power, for a score above top; the running sums with it. `reach` bounds |score| log2 e.
  void raise(T score, double reach, double* sums, index_t count) noexcept {
    const double n = double(score) * C::log2_e;
    if (!(-reach < n && n < reach)) {
      irregular = true;
      return;
    }
    const index_t before = power;
    power = index_t(n < 0 ? n - 0.5 : n + 0.5) - C::lift;
    top = T(double(power + C::top) * C::log_two);
    if (!(0 < sum.high)) return;
    const double factor = times_power_of_two(1.0, int(before - power));
    sum = {sum.high * factor, sum.low * factor};
    for (index_t i = 0; i < count; ++i) {
      if (is_finite(sums[i])) sums[i] *= factor;  // what an infinite value left stays
    }
  }

  /// log of the sum of e^score: -inf where there was none. Requires !irregular.
  [[nodiscard]] double log_sum() const noexcept {
    if (!(0 < sum.high)) return is_nan(sum.high) ? sum.high : -infinity<double>;
    const int exponent =
        binary_exponent(sum.high * 1.4142135623730951) - 1;  // what is left is near 1
    compensated<double> log = times_log_two(double(power + exponent));
    log += std::log(times_power_of_two(sum.high, -exponent));
    log += sum.low / sum.high;
    return log.value();
  }
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
