// SPDX-License-Identifier: MIT
//
// A number as its sign and the logarithm of its size.
// Layer 0 (core).
#pragma once

namespace cumulus {

/// sign e^log_abs. The sign is 1, -1 or 0, that of a total of 0, whose log_abs is -inf; it is a T,
/// and not an int, because where the total is NaN both are.
template <class T>
struct signed_log {
  /// The logarithm of the absolute value.
  T log_abs;
  /// The sign of the value: -1, 0 or 1; NaN where the value is NaN.
  T sign;

  [[nodiscard]] friend bool operator==(const signed_log&, const signed_log&) = default;
};

}  // namespace cumulus
