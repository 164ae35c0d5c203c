// SPDX-License-Identifier: MIT
//
// A double to a narrower scalar in a known direction, for the ends of intervals.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// At least what a number of T loses by being rounded below the least normal one; itself a normal double, since others are slow.
template <class T>
inline constexpr double lost_below_normal =
    std::same_as<T, double> ? std::numeric_limits<double>::min()
                            : double(std::numeric_limits<T>::denorm_min());

/// The least T that is not below x; NaN for NaN.
template <class T>
[[nodiscard]] T rounded_up(double x) noexcept {
  const T nearest = T(x);
  return double(nearest) < x ? T(std::nextafter(nearest, infinity<T>)) : nearest;
}

/// The largest T that is not above x; NaN for NaN.
template <class T>
[[nodiscard]] T rounded_down(double x) noexcept {
  return -rounded_up<T>(-x);
}

}  // namespace cumulus::detail
