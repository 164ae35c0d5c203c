// SPDX-License-Identifier: MIT
//
// The logarithm of a row's sum, from what the vector kernels learned of it.
// Layer 1 (rows): unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/constants.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>

#if CUMULUS_VECTORS

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// log(x 2^power). Requires a normal x > 0, and |power| < 2^29: then the first part of power log 2 is exact.
template <class T>
[[nodiscard]] compensated<double> logarithm_of(const compensated<double>& x,
                                               index_t power) noexcept {
  if constexpr (std::same_as<T, float>) {
    return {double(power) * exp_constants<T>::log_two + std::log(x.high), 0.0};
  } else {
    constexpr double first = 0x1.62e43p-1, second = -0x1.05c610ca86c39p-29;  // of log 2
    constexpr std::uint64_t half = std::bit_cast<std::uint64_t>(0x1.6a09e6p-1);
    const auto bits = std::bit_cast<std::uint64_t>(x.high);
    const auto shift =
        static_cast<std::int64_t>(bits - half) >> 52;  // x 2^-shift is 0.707 to 1.414
    const double fraction = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(shift) << 52));
    const double n = double(power + index_t(shift));
    const compensated<double> sum = two_sum(n * first, std::log(fraction));
    return {sum.high, sum.low + (n * second + x.low / x.high)};
  }
}

/// The log of a row's sum, and of the sum over its largest term.
struct row_logarithm {
  compensated<double> sum;
  double over_largest;
  bool usable = true;  ///< terms too small for the scheme cannot add up to an answer
};

/// Where the log of the sum over the largest term is less than `apart`, it keeps its digits: by the sum of the other terms. `more`
/// is one more term, over 2^row.power.
template <class T>
[[nodiscard]] row_logarithm logarithm_of(const T* x, index_t n, const row_sums<T>& row,
                                         double apart, double more = 0) noexcept {
  const bool shifted = row.shift < T(0) || T(0) < row.shift;
  const bool plain = !shifted && !(row.scale < 1 || 1 < row.scale);
  const auto scaled = [&](T v) {
    return plain ? compensated<double>{double(v), 0.0} : two_product(double(v), row.scale);
  };
  if (n == 1 && !(0 < more)) return {scaled(row.largest), 0.0};
  const compensated<double> exponent = scaled(row.largest - row.shift);
  compensated<double> total = row.total();
  if (0 < more) total += more;
  compensated<double> log = logarithm_of<T>(total, row.power);
  const double over_largest = (log.high - exponent.high) + (log.low - exponent.low);
  if (!(over_largest < apart)) {
    if (shifted) log += scaled(row.shift);
    return {log, over_largest};
  }
  const compensated<double> above = exponent - cumulus::detail::times_log_two(double(row.power));
  compensated<double> term{std::exp(above.high), 0.0};
  term.low = term.high * above.low;
  compensated<double> others = row.others;
  if (0 < more) others += more;
  others +=
      plain ? best::sum_but_largest<T, true>(x, row) : best::sum_but_largest<T, false>(x, row);
  const double rest = others.high / term.high;
  const double lost =
      (std::fma(-rest, term.high, others.high) + (others.low - rest * term.low)) / term.high;
  const bool usable = times_power_of_two(1.0, exp_constants<T>::lowest + 25) < rest;
  const double logarithm = log_one_plus(rest) + lost / (1 + rest);
  return {scaled(row.largest) + compensated<double>{logarithm, 0.0}, logarithm, usable};
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#endif  // CUMULUS_VECTORS
