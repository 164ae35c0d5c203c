// SPDX-License-Identifier: MIT
//
// A value with a bound on its error, carried through arithmetic.
// Layer 3 (series).
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// Every number within `radius` of `middle`.
///
/// Each operation adds its own rounding, 2u of the result where u would do, and rounds the radius up.
template <class T>
struct ball {
  T middle = T(0);
  T radius = T(0);

  constexpr ball() = default;
  constexpr ball(T value) : middle(value) {}  // an exact number converts
  constexpr ball(T value, T error) : middle(value), radius(error) {}

  constexpr ball& operator+=(const ball& b) { return *this = *this + b; }
  constexpr ball& operator-=(const ball& b) { return *this = *this - b; }

  friend constexpr ball operator-(const ball& a) { return {-a.middle, a.radius}; }
  friend constexpr ball operator+(const ball& a, const ball& b) {
    return rounded(a.middle + b.middle, a.radius + b.radius);
  }
  friend constexpr ball operator-(const ball& a, const ball& b) {
    return rounded(a.middle - b.middle, a.radius + b.radius);
  }
  friend constexpr ball operator*(const ball& a, const ball& b) {
    return rounded(a.middle * b.middle, absolute(a.middle) * b.radius +
                                            absolute(b.middle) * a.radius + a.radius * b.radius);
  }
  /// By an exact number.
  friend constexpr ball operator/(const ball& a, const T& b) {
    return rounded(a.middle / b, a.radius / absolute(b));
  }

 private:
  static constexpr ball rounded(T value, T error) {
    const T u2 = std::numeric_limits<T>::epsilon();
    return {value, error * (1 + 4 * u2) + absolute(value) * u2 + std::numeric_limits<T>::min()};
  }
};

}  // namespace cumulus::detail
