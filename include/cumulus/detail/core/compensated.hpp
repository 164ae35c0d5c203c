// SPDX-License-Identifier: MIT
//
// Sums and products with their rounding errors: a number as the unevaluated sum of two.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <cmath>

namespace cumulus::detail {

/// The unevaluated sum high + low, |low| at most about half a unit in the last place of high.
template <class T>
struct compensated {
  T high = T(0);
  T low = T(0);

  [[nodiscard]] T value() const { return high + low; }
  [[nodiscard]] friend bool operator==(const compensated&, const compensated&) = default;
};

/// a + b exactly. Requires that the sum does not overflow.
/// Source  D. Knuth, The Art of Computer Programming 2, 4.2.2, Theorem B.
template <class T>
[[nodiscard]] constexpr compensated<T> two_sum(const T& a, const T& b) noexcept {
  const T sum = a + b;
  const T b_part = sum - a;
  const T a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// a b exactly, by a fused multiply-add; for scalars without one the low part is 0.
template <class T>
[[nodiscard]] compensated<T> two_product(const T& a, const T& b) noexcept {
  const T product = a * b;
  if constexpr (std::floating_point<T>) {
    return {product, std::fma(a, b, -product)};
  } else {
    return {product, T(0)};
  }
}

/// One number onto a compensated sum.
/// Error   the high part is the correctly rounded sum so far; the low part gathers what was lost.
template <class T, std::convertible_to<T> X>
constexpr compensated<T>& operator+=(compensated<T>& sum, const X& x) noexcept {
  const compensated<T> exact = two_sum(sum.high, static_cast<T>(x));
  const T low = sum.low + exact.low;
  sum.high = exact.high + low;
  sum.low = low - (sum.high - exact.high);
  return sum;
}

template <class T>
constexpr compensated<T>& operator+=(compensated<T>& sum, const compensated<T>& x) noexcept {
  const T low = x.low;  // x may be sum
  sum += x.high;
  return sum += low;
}

template <class T>
[[nodiscard]] constexpr compensated<T> operator-(const compensated<T>& x) noexcept {
  return {-x.high, -x.low};
}

template <class T>
[[nodiscard]] constexpr compensated<T> operator+(compensated<T> a,
                                                 const compensated<T>& b) noexcept {
  return a += b;
}

template <class T>
[[nodiscard]] constexpr compensated<T> operator-(compensated<T> a,
                                                 const compensated<T>& b) noexcept {
  return a += -b;
}

/// x 2^e, exact where nothing underflows.
template <class T>
[[nodiscard]] compensated<T> times_power_of_two(const compensated<T>& x, int e) {
  return {times_power_of_two(x.high, e), times_power_of_two(x.low, e)};
}

/// (a - b) 2^-e exactly, but for what underflows. Requires that the result does not overflow; a - b
/// may.
template <class T>
[[nodiscard]] compensated<T> scaled_difference(const T& a, const T& b, int e) {
  if (e > 0) return two_sum(times_power_of_two(a, -e), T(-times_power_of_two(b, -e)));
  return times_power_of_two(two_sum(a, T(-b)), -e);
}

}  // namespace cumulus::detail
