// SPDX-License-Identifier: MIT
//
// log 2, to twice the digits of a scalar.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <initializer_list>

namespace cumulus::detail {

/// From the first 288 binary digits of log 2.
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
inline constexpr compensated<T> log_two_of = make_log_two<T>();

/// log 2 as high + low; the low part is 0 for scalars that are not built in.
template <class T>
[[nodiscard]] compensated<T> log_two() {
  if constexpr (std::floating_point<T>) {
    return log_two_of<T>;
  } else {
    return {logarithm(T(2)), T(0)};
  }
}

/// k log 2, to u^2 k for the built-in scalars.
template <class T>
[[nodiscard]] compensated<T> times_log_two(const T& k) {
  const compensated<T> two = log_two<T>();
  compensated<T> product = two_product(k, two.high);
  return product += k * two.low;
}

}  // namespace cumulus::detail
