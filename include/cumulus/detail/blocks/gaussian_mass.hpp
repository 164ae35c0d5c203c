// SPDX-License-Identifier: MIT
//
// The log-mass of b scores that look normal, from their standard deviation: beyond the second order.
// Layer 4 (blocks): uses core.
//
// The second order sigma^2 / 2 is the log-mean of e^y over a normal y. A sum of b terms follows it
// only while terms near y = sigma^2, which carry that mean, can be expected among them: while sigma
// < c = sqrt(2 log b). Beyond, the largest terms carry the sum. This is the freezing transition of
// the random-energy model, B. Derrida, Phys. Rev. B 24 (1981) 2613-2626.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// sqrt(2 log b), where b scores of one block freeze.
[[nodiscard]] inline double freezing_point(double log_count) noexcept {
  return log_count > 0 ? std::sqrt(2 * log_count) : 0.0;
}

/// The model's limit of many scores: sigma^2 / 2 up to c, beyond it c sigma - c^2 / 2, its tangent.
[[nodiscard]] inline double frozen_mass(double variance, double log_count) noexcept {
  const double c = freezing_point(log_count);
  if (!(c > 0)) return is_nan(variance) ? variance : 0.0;
  return variance <= c * c ? variance / 2 : c * std::sqrt(variance) - c * c / 2;
}

/// log Phi(z), Phi the normal distribution function. Requires z > -37.
[[nodiscard]] inline double log_normal_share(double z) noexcept {
  constexpr double root_half = 0.70710678118654752440;
  return z > 0 ? std::log1p(-std::erfc(z * root_half) / 2)
               : std::log(std::erfc(-z * root_half) / 2);
}

/// The same at finite b, smooth: scores with the law of a normal cut off at c, beyond which not one
/// of b is expected, scaled to mean 0 and variance v as theirs are measured. With r = phi(c) / Phi(c),
/// the cut law has mean -r and variance 1 - c r - r^2; so with t = sigma / sqrt(1 - c r - r^2)
///     log E e^y = r t + t^2 / 2 + log Phi(c - t) - log Phi(c).
///
/// Edges   v / 2 + O(v^(3/2)) near 0; about c t + r t - log t for large v; +inf for +inf, NaN for NaN.
/// Error   1e-6 where t > c + 8 (four terms of the expansion of Phi in 1 / z^2), else 8 u (1 + t^2).
class smooth_mass {
 public:
  explicit smooth_mass(double log_count) noexcept
      : log_count_(log_count),
        c_(freezing_point(log_count)),
        whole_(log_normal_share(c_)),
        ratio_(std::exp(-c_ * c_ / 2 - log_root_two_pi - whole_)),
        factor_(1 / (1 - c_ * ratio_ - ratio_ * ratio_)) {}

  [[nodiscard]] double log_count() const noexcept { return log_count_; }

  [[nodiscard]] double operator()(double variance) const noexcept {
    const double square = variance * factor_, t = std::sqrt(square), z = t - c_;
    if (!is_finite(square)) return square;
    if (!(z > 8)) return ratio_ * t + square / 2 + log_normal_share(-z) - whole_;
    const double s = 1 / (z * z);
    const double tail = std::log1p(s * (-1 + s * (3 + s * (-15 + s * 105))));
    return (c_ + ratio_) * t - c_ * c_ / 2 - std::log(z) - log_root_two_pi + tail - whole_;
  }

 private:
  static constexpr double log_root_two_pi = 0.91893853320467274178;
  double log_count_, c_, whole_, ratio_, factor_;
};

}  // namespace cumulus::detail
