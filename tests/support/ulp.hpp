// SPDX-License-Identifier: MIT
//
// Distances in units in the last place.
#pragma once

#include <cmath>
#include <limits>

#include "wide.hpp"

/// The distance from 1 to the next number at the size of x: 2^(floor(log2 |x|) - digits + 1), at least the least subnormal.
template <class T>
[[nodiscard]] T ulp_of(T x) {
  const T least = std::numeric_limits<T>::denorm_min();
  if (!(std::abs(x) >= std::numeric_limits<T>::min())) return least;
  return std::ldexp(T(1), std::ilogb(x) - std::numeric_limits<T>::digits + 1);
}

/// |actual - expected| in ulp of `scale`, the expected value itself if none is given. Equal infinities and two NaN
/// are 0 apart; any other mix of finite and not is infinitely far.
template <class T>
[[nodiscard]] double ulps(T actual, const oracle::wide& expected, T scale) {
  using std::isfinite;
  using std::isnan;
  const T nearest = static_cast<T>(expected);
  if (isnan(actual) || isnan(nearest)) {
    return isnan(actual) && isnan(nearest) ? 0 : std::numeric_limits<double>::infinity();
  }
  if (!isfinite(actual) || !isfinite(nearest))
    return actual == nearest ? 0 : std::numeric_limits<double>::infinity();
  return static_cast<double>(abs(oracle::wide(actual) - expected) / oracle::wide(ulp_of(scale)));
}

template <class T>
[[nodiscard]] double ulps(T actual, const oracle::wide& expected) {
  return ulps(actual, expected, static_cast<T>(expected));
}
