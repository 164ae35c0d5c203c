// SPDX-License-Identifier: MIT
//
// What the vector kernels learn about a row of terms e^(scale (x - shift)), and the powers of two they were measured from.
// Layer 1 (simd): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/exp_constants.hpp>
#include <bit>
#include <cstdint>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// The ends of a row of weights, without those of 0.
template <class T>
struct weight_ends {
  T least, most;
  bool has_zero;  ///< a weight is 0
  bool invalid;   ///< a weight is negative or NaN
};

/// The sum of a row is (others + at_largest) 2^power; the block that holds the largest term is apart, so
/// that the sum can be had without that term at the cost of one block.
template <class T>
struct row_sums {
  static constexpr index_t block = index_t(16384 / sizeof(T));
  static constexpr T infinite = std::numeric_limits<T>::infinity();

  // given
  double scale = 1;
  T shift = T(0);
  T known = -infinite;  ///< the largest x, if known
  bool has_fma = true;

  index_t power = 0;
  T top = -infinite;      ///< an x up to here has a term that fits
  T largest = -infinite;  ///< of x
  compensated<double> others, at_largest;
  index_t first = 0, end = 0;  ///< the block of the largest
  bool usable = false;         ///< the sum is finite and not 0
  bool out_of_reach = false;   ///< a finite x lies too far from shift

  /// Elements from `first` on were measured from `power`.
  struct stretch {
    index_t first, power;
  };
  // A rise is of at least top - lift powers; below the last power of two that a result can have, stretches are 0.
  static constexpr index_t dead = exp_constants<T>::top - exp_constants<T>::lift -
                                  std::numeric_limits<T>::min_exponent +
                                  std::numeric_limits<T>::digits + 1;
  static constexpr int most_stretches =
      int(dead / (exp_constants<T>::top - exp_constants<T>::lift - 1)) + 2;
  stretch stretches[most_stretches];
  int stretch_count = 0;  ///< the first of them begins where the zeros end

  [[nodiscard]] static bool is_number(T x) noexcept { return -infinite < x && x < infinite; }

  /// Measures from a power below this x. False, and nothing of use, where x is no number, or too far from shift.
  bool start(T x) noexcept {
    if (!set_power(x)) return false;
    stretches[0] = {0, power};
    stretch_count = 1;
    return true;
  }

  /// The same for an x above top, from element `at` on.
  bool raise(T x, index_t at) noexcept {
    const index_t before = power;
    raised = true;
    if (!set_power(x)) return false;
    const int fall = int(before - power);
    others = times_power_of_two(others, fall);
    at_largest = times_power_of_two(at_largest, fall);
    if (stretches[stretch_count - 1].first == at) --stretch_count;
    int gone = 0;
    while (gone < stretch_count && power - stretches[gone].power > dead) ++gone;
    for (int i = gone; i < stretch_count; ++i) stretches[i - gone] = stretches[i];
    stretch_count -= gone;
    stretches[stretch_count++] = {at, power};
    return true;
  }

  /// Whether terms that did not fit were made on the way.
  bool raised = false;

  [[nodiscard]] bool started() const noexcept { return stretch_count > 0; }

  /// Takes in the sum of a block, and its largest element.
  void take(const compensated<double>& sum, T most, index_t from, index_t to) noexcept {
    if (end == 0) at_largest = sum;
    if (largest < most) {
      if (end != 0) others = added(others, at_largest);
      at_largest = sum;
      largest = most;
      first = from;
      end = to;
    } else if (end != 0) {
      others = added(others, sum);
    }
  }

  /// Takes in what a later part of the row, from element `at` on, came to; both from the same shift. Stretches stay apart.
  void merge(const row_sums& part, index_t at) noexcept {
    const index_t before = power;
    if (power < part.power || end == 0) power = part.power;
    const auto moved = [&](const compensated<double>& sum, index_t from) {
      return times_power_of_two(sum, int(from - power));
    };
    const compensated<double> ours = moved(others, before), our_largest = moved(at_largest, before);
    const compensated<double> theirs = moved(part.others, part.power),
                              their_largest = moved(part.at_largest, part.power);
    raised = raised || part.raised;
    others = added(ours, theirs);
    if (end == 0 || largest < part.largest) {
      others = added(others, our_largest);
      at_largest = their_largest;
      largest = part.largest;
      first = part.first + at;
      end = part.end + at;
    } else {
      others = added(others, their_largest);
      at_largest = our_largest;
    }
  }

  /// Adds to the sum of the largest term's block.
  void correct(const compensated<double>& lost) noexcept { at_largest = added(at_largest, lost); }

  void finish() noexcept {
    const double sum = others.high + at_largest.high;
    usable = 0 < sum && sum < std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] compensated<double> total() const noexcept { return added(others, at_largest); }

  /// False where no term is more than a half of the sum.
  [[nodiscard]] bool may_dominate(double sum) const noexcept {
    const double n = (double(largest) - double(shift)) * scale * exp_constants<T>::log2_e;
    const auto exponent = index_t(std::bit_cast<std::uint64_t>(sum) >> 52) - 1023;
    return n + 2 > double(power + exponent);
  }

 private:
  /// Float terms have errors far above a double's: their sums need no low part.
  [[nodiscard]] static compensated<double> added(const compensated<double>& a,
                                                 const compensated<double>& b) noexcept {
    if constexpr (std::same_as<T, float>) {
      return {a.high + b.high, 0.0};
    } else {
      const compensated<double> sum = two_sum(a.high, b.high);
      return {sum.high, sum.low + (a.low + b.low)};
    }
  }

  bool set_power(T x) noexcept {
    const double reach = has_fma ? exp_constants<T>::reach : exp_constants<T>::reach_without_fma;
    const double n = (double(x) - double(shift)) * scale * exp_constants<T>::log2_e;
    if (!(-reach < n && n < reach)) {
      out_of_reach = is_number(x);
      return false;
    }
    power = index_t(n < 0 ? n - 0.5 : n + 0.5) - exp_constants<T>::lift;
    const double log_top = double(power + exp_constants<T>::top) * exp_constants<T>::log_two;
    top = T(scale < 1 || 1 < scale ? log_top / scale + double(shift) : log_top + double(shift));
    return true;
  }
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
