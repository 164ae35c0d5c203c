// SPDX-License-Identifier: MIT
//
// What a running sum of exponentials is measured from, and how it moves without rounding.
// Layer 1 (loops): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// How many powers of two above 1 a running sum may count on; other scalars than the built-in ones
/// have more.
template <class T>
inline constexpr int exp_room = std::min<int>(std::numeric_limits<T>::max_exponent, 1024);

/// k log 2, to 2^-(digits + 4) absolutely for every k that split_exp gives.
template <std::floating_point T>
[[nodiscard]] compensated<T> multiple_of_log_two(std::int64_t k) noexcept {
  return cumulus::detail::times_log_two<T>(T(k));
}

/// The k of the k log 2 nearest to x.
template <std::floating_point T>
[[nodiscard]] std::int64_t nearest_power(const T& x) noexcept {
  constexpr T per_x = T(1) / cumulus::detail::log_two_of<T>.high;
  return static_cast<std::int64_t>(x * per_x + (x < T(0) ? T(-0.5) : T(0.5)));
}

template <class T>
[[nodiscard]] bool is_one(const T& x) noexcept {
  return x <= T(1) && T(1) <= x;
}

/// x 2^e for an e that may leave the range of int.
template <class T>
[[nodiscard]] compensated<T> scaled(const compensated<T>& x, std::int64_t e) noexcept {
  if constexpr (std::same_as<T, double> && std::numeric_limits<T>::is_iec559) {
    if (-1023 < e && e < 1024) {  // 2^e itself is a normal number, and its bits are quickly made
      const double factor = std::bit_cast<double>((std::uint64_t(1023 + e)) << 52);
      return {x.high * factor, x.low * factor};
    }
  }
  return times_power_of_two(x, static_cast<int>(std::clamp<std::int64_t>(e, -1 << 20, 1 << 20)));
}

/// e^x before its last rounding.
/// Error   the error of exp.
template <class T>
[[nodiscard]] compensated<T> unrounded_exponential(const compensated<T>& x) noexcept {
  const T power = cumulus::detail::exponential(x.high);
  return {power, power * x.low};
}

/// fraction 2^power
template <class T>
struct split_number {
  compensated<T> fraction;
  std::int64_t power;
};

/// Whether split_exp takes x: a built-in scalar of |x| < 2^(digits - 5).
template <class T>
[[nodiscard]] constexpr bool splits(const T& x) noexcept {
  if constexpr (std::floating_point<T>) {
    constexpr T limit = T(std::int64_t(1) << std::min(std::numeric_limits<T>::digits - 5, 60));
    return x < limit && -limit < x;
  } else {
    return false;
  }
}

/// e^x with its exponent apart: the fraction from 0.7 to 1.43, a function of x alone.
/// Error   the error of exp near 0.
template <std::floating_point T>
[[nodiscard]] split_number<T> split_exp(const compensated<T>& x) noexcept {
  const std::int64_t power = nearest_power(x.high);
  const compensated<T> whole = multiple_of_log_two<T>(power);
  const compensated<T> high = two_sum(x.high, T(-whole.high));
  const compensated<T> rest = two_sum(high.high, high.low + (x.low - whole.low));
  return {unrounded_exponential(rest), power};
}

/// The r of terms e^(x - r).
///
/// A multiple of log 2 where the exponents allow it (`splits`). Then the terms of two references
/// differ by an exact power of two: a sum moves from one to another without rounding, as often as a
/// maximum rises or sums are merged. Else r is near an x, and a move costs the rounding of one exp;
/// but such exponents lie so far apart, or (scalars that are not built in) moves do, that the next
/// one makes what came before negligible.
template <class T>
class exp_reference {
 public:
  exp_reference() = default;

  /// Such that e^(x - r) is about 2^exponent. Requires finite x.
  exp_reference(const compensated<T>& x, int exponent) noexcept : origin_(x) {
    if constexpr (std::floating_point<T>) {
      if (splits(x.high)) {
        power_ = nearest_power(x.high) - exponent;
        origin_ = multiple_of_log_two<T>(power_);
        return;
      }
    }
    origin_ += T(T(-exponent) * T(0.6931471805599453));
  }

  /// x - r, roughly; infinite where it overflows.
  [[nodiscard]] T distance(const compensated<T>& x) const noexcept {
    return (x.high - origin_.high) + (x.low - origin_.low);
  }

  /// w e^(x - r). Requires finite x, finite w > 0, and a term that fits; one too small is 0 gradually.
  /// Error   the error of exp; where nothing splits, for w other than 1, 2 u and twice that.
  [[nodiscard]] compensated<T> term(const compensated<T>& x, const T& w) const noexcept {
    const bool weighted = !is_one(w);
    if constexpr (std::floating_point<T>) {
      if (whole() && splits(x.high)) {
        const split_number<T> e = split_exp(x);
        if (!weighted) return scaled(e.fraction, e.power - power_);
        const int shift = binary_exponent(w);
        const T fraction = times_power_of_two(w, -shift);
        compensated<T> product = two_product(e.fraction.high, fraction);
        product.low += e.fraction.low * fraction;
        return scaled(product, e.power + shift - power_);
      }
    }
    const compensated<T> d = less(x, origin_);
    if (!weighted) return unrounded_exponential(d);
    const T half = exponential(compensated<T>{d.high / 2, d.low / 2});
    return {(w * half) * half, T(0)};  // each factor alone may leave the range
  }

  /// A sum of terms measured from `from`, measured from here.
  [[nodiscard]] compensated<T> moved(const compensated<T>& sum,
                                     const exp_reference& from) const noexcept {
    const bool zero = !(sum.high < T(0)) && !(T(0) < sum.high);
    if (zero || !is_finite(sum.high) || from == *this) return sum;
    if (whole() && from.whole()) return scaled(sum, from.power_ - power_);
    const T factor = exponential(less(from.origin_, origin_));
    compensated<T> product = two_product(sum.high, factor);
    return product += sum.low * factor;
  }

  /// Whether this is a multiple of log 2.
  [[nodiscard]] bool whole() const noexcept { return power_ != no_power; }

  /// r + log(sum), rounded once from an error of 2^-2 u of max(1, |r|) and the relative error of the sum.
  /// Requires whole() and 0 < sum < inf.
  [[nodiscard]] T plus_log(const compensated<T>& sum) const noexcept
    requires(std::floating_point<T>)
  {
    int shift = binary_exponent(sum.high);
    if (times_power_of_two(sum.high, -shift) < T(0.7071)) --shift;
    const compensated<T> fraction = times_power_of_two(sum, -shift);  // so that its log is small
    compensated<T> result = multiple_of_log_two<T>(power_ + shift);
    result += logarithm(fraction.high);
    return (result += fraction.low / fraction.high).value();
  }

  [[nodiscard]] friend bool operator<(const exp_reference& a, const exp_reference& b) noexcept {
    if (a.whole() && b.whole()) return a.power_ < b.power_;
    if (a.origin_.high < b.origin_.high || b.origin_.high < a.origin_.high)
      return a.origin_.high < b.origin_.high;
    return a.origin_.low < b.origin_.low;
  }
  [[nodiscard]] friend bool operator==(const exp_reference&, const exp_reference&) = default;

  /// Shows f the numbers of `self`, a reference.
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    f(self.origin_.high), f(self.origin_.low), f(self.power_);
  }

 private:
  /// a - b, normalised; an infinite one has no low part.
  [[nodiscard]] static compensated<T> less(const compensated<T>& a,
                                           const compensated<T>& b) noexcept {
    compensated<T> d = difference(a.high, b.high);
    if (!is_finite(d.high)) return d;
    d += a.low;
    return d += T(-b.low);
  }

  static constexpr std::int64_t no_power = std::numeric_limits<std::int64_t>::min();

  compensated<T> origin_{};        // r
  std::int64_t power_ = no_power;  // r / log 2, where whole
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
