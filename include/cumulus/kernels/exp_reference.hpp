// SPDX-License-Identifier: MIT
//
// What a running sum of exponentials is measured from, and how it moves without rounding.
// Layer 1 (kernels): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/terms.hpp>
#include <algorithm>
#include <cstdint>

namespace cumulus::kernels {

/// How many powers of two above 1 a running sum may count on; other scalars than the built-in ones
/// have more.
template <class T>
inline constexpr int exp_room = std::min<int>(std::numeric_limits<T>::max_exponent, 1024);

namespace detail {

/// log 2 to twice the digits of T, from its first 288 binary digits.
template <std::floating_point T>
[[nodiscard]] constexpr compensated<T> make_log_two() noexcept {
  compensated<T> sum{};
  T unit = T(1);
  for (const int digits : {0xb17217, 0xf7d1cf, 0x79abc9, 0xe3b398, 0x03f2f6, 0xaf40f3, 0x432672,
                           0x98b62d, 0x8a0d17, 0x5b8baa, 0xfa2be7, 0xb87620}) {
    unit /= T(1 << 24);
    sum += T(digits) * unit;
  }
  return sum;
}

template <std::floating_point T>
inline constexpr compensated<T> log_two = make_log_two<T>();

/// k log 2, to 2^-(digits + 4) absolutely for every k that split_exp gives.
template <std::floating_point T>
[[nodiscard]] compensated<T> times_log_two(std::int64_t k) noexcept {
  compensated<T> product = two_product(T(k), log_two<T>.high);
  return product += T(k) * log_two<T>.low;
}

/// The k of the k log 2 nearest to x.
template <std::floating_point T>
[[nodiscard]] std::int64_t nearest_power(const T& x) noexcept {
  return static_cast<std::int64_t>(std::floor(x / log_two<T>.high + T(0.5)));
}

template <class T>
[[nodiscard]] bool is_one(const T& x) noexcept {
  return x <= T(1) && T(1) <= x;
}

/// x 2^e for an e that may leave the range of int.
template <class T>
[[nodiscard]] T scaled(const T& x, std::int64_t e) noexcept {
  return times_power_of_two(x, static_cast<int>(std::clamp<std::int64_t>(e, -1 << 20, 1 << 20)));
}

}  // namespace detail

/// fraction 2^power
template <class T>
struct split_number {
  T fraction;
  std::int64_t power;
};

/// Whether split_exp takes x: a built-in scalar of |x| < 2^(digits - 5). NaN and infinities are not
/// taken.
template <class T>
[[nodiscard]] constexpr bool splits(const T& x) noexcept {
  if constexpr (std::floating_point<T>) {
    constexpr T limit = T(std::int64_t(1) << std::min(std::numeric_limits<T>::digits - 5, 60));
    return x < limit && -limit < x;
  } else {
    return false;
  }
}

/// e^x with its exponent apart: the fraction from 0.7 to 1.42, a function of x alone.
/// Error   1.5 u and the error of exp near 0.
template <std::floating_point T>
[[nodiscard]] split_number<T> split_exp(const compensated<T>& x) noexcept {
  const std::int64_t power = detail::nearest_power(x.high);
  const compensated<T> whole = detail::times_log_two<T>(power);
  compensated<T> rest = two_sum(x.high, T(-whole.high));
  rest += x.low;
  rest += -whole.low;
  return {exponential(rest), power};
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
        whole_ = true;
        power_ = detail::nearest_power(x.high) - exponent;
        origin_ = detail::times_log_two<T>(power_);
        return;
      }
    }
    origin_ += T(T(-exponent) * T(0.6931471805599453));
  }

  /// x - r; infinite where it overflows.
  [[nodiscard]] T distance(const compensated<T>& x) const noexcept { return less(x, origin_).high; }

  /// w e^(x - r). Requires finite x, finite w > 0, and a term that fits; one too small is gradually
  /// 0.
  /// Error   2 u and the error of exp; where nothing splits, for w other than 1, twice that.
  [[nodiscard]] T term(const compensated<T>& x, const T& w) const noexcept {
    const bool weighted = !detail::is_one(w);
    if constexpr (std::floating_point<T>) {
      if (whole_ && splits(x.high)) {
        const split_number<T> e = split_exp(x);
        if (!weighted) return detail::scaled(e.fraction, e.power - power_);
        const int shift = binary_exponent(w);
        return detail::scaled(T(e.fraction * times_power_of_two(w, -shift)),
                              e.power + shift - power_);
      }
    }
    const compensated<T> d = less(x, origin_);
    if (!weighted) return exponential(d);
    const T half = exponential(compensated<T>{d.high / 2, d.low / 2});
    return (w * half) * half;  // each factor alone may leave the range
  }

  /// A sum of terms measured from `from`, measured from here.
  [[nodiscard]] compensated<T> moved(const compensated<T>& sum,
                                     const exp_reference& from) const noexcept {
    const bool zero = !(sum.high < T(0)) && !(T(0) < sum.high);
    if (zero || !is_finite(sum.high) || from == *this) return sum;
    if (whole_ && from.whole_) {
      const std::int64_t shift = from.power_ - power_;
      return {detail::scaled(sum.high, shift), detail::scaled(sum.low, shift)};
    }
    const T factor = exponential(less(from.origin_, origin_));
    compensated<T> product = two_product(sum.high, factor);
    return product += sum.low * factor;
  }

  [[nodiscard]] friend bool operator<(const exp_reference& a, const exp_reference& b) noexcept {
    if (a.whole_ && b.whole_) return a.power_ < b.power_;
    if (a.origin_.high < b.origin_.high || b.origin_.high < a.origin_.high)
      return a.origin_.high < b.origin_.high;
    return a.origin_.low < b.origin_.low;
  }
  [[nodiscard]] friend bool operator==(const exp_reference&, const exp_reference&) = default;

 private:
  /// a - b, normalised; an infinite one has no low part.
  [[nodiscard]] static compensated<T> less(const compensated<T>& a,
                                           const compensated<T>& b) noexcept {
    compensated<T> d = difference(a.high, b.high);
    if (!is_finite(d.high)) return d;
    d += a.low;
    return d += T(-b.low);
  }

  compensated<T> origin_{};  // r
  std::int64_t power_ = 0;   // r / log 2, if whole
  bool whole_ = false;
};

}  // namespace cumulus::kernels
