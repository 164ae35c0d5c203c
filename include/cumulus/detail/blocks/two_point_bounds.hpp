// SPDX-License-Identifier: MIT
//
// How far log E e^y can lie from 0 for a centred y of known variance and range.
// Layer 4 (blocks): uses core.
//
// e^y has a positive third derivative, so among the laws with E y = 0 and E y^2 = v its mean is
// largest, for y <= c, at the two points c and -v/c, and least, for y >= -a, at -a and v/a. Both
// grow with v (a law shrunk towards 0 has a smaller mean of e^y, convex in the shrinking), so an
// upper end of v serves the one and a lower end the other.
// Source   G. Bennett, J. Amer. Statist. Assoc. 57 (1962) 33-45, for the upper end.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail {

/// At least log E e^y for every y with E y = 0, E y^2 <= variance and y <= high.
///
/// Edges   0 where variance or high is 0; at most high; never negative; NaN for NaN.
/// Error   16 u (1 + high).
[[nodiscard]] inline double largest_log_mean_exp(double variance, double high) noexcept {
  if (is_nan(variance) || is_nan(high)) return quiet_nan<double>;
  if (!(variance > 0) || !(high > 0)) return 0;
  const double low = variance / high;       // the other point, downwards
  const double share = low / (high + low);  // of the upper point
  if (!is_finite(high) || !is_finite(low)) return high;
  double value = high + std::log(share + (1 - share) * std::exp(-(high + low)));
  if (low < 1e-290 || share < 1e-290) {  // digits, or all of them, are lost: by logarithms
    const double a = std::log(variance) - 2 * std::log(high), b = -high;
    value = high + (a < b ? b + std::log1p(std::exp(a - b)) : a + std::log1p(std::exp(b - a)));
  }
  return value > high ? high : value > 0 ? value : 0.0;
}

/// At most log E e^y for every y with E y = 0, E y^2 >= variance and y >= -reach.
///
/// Edges   0 where variance is 0 or reach infinite; never negative; NaN for NaN.
/// Error   16 u (1 + reach).
[[nodiscard]] inline double least_log_mean_exp(double variance, double reach) noexcept {
  if (is_nan(variance) || is_nan(reach)) return quiet_nan<double>;
  if (!(variance > 0) || !(reach > 0) || !is_finite(reach)) return 0;
  const double high = variance / reach;
  const double share = high / (reach + high);  // of the lower point
  const double value = high + std::log1p(share * std::expm1(-(reach + high)));
  return value > 0 && is_finite(value) ? value : 0.0;
}

}  // namespace cumulus::detail
