// SPDX-License-Identifier: MIT
//
// Samples of a given range, in the ten shapes and three kinds of weights that the series are tried on.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "families.hpp"

namespace families {

inline constexpr const char* shapes[] = {
    "uniform",      "normal", "exponential", "-exponential", "two points", "two skew",
    "three points", "cubic",  "linspace",    "one outlier",  "beta-like"};
inline constexpr int shape_count = 11;
inline constexpr const char* weightings[] = {"equal", "random", "uneven"};
inline constexpr int weighting_count = 3;

template <class T>
struct sample {
  std::string name;
  std::vector<T> x, w;  // w is empty for equal weights

  /// To reproduce a failure.
  [[nodiscard]] std::string hex() const {
    std::string out = name + " x";
    char text[64];
    for (const T& v : x) {
      std::snprintf(text, sizeof text, " %a,", static_cast<double>(v));
      out += text;
    }
    if (!w.empty()) out += " w";
    for (const T& v : w) {
      std::snprintf(text, sizeof text, " %a,", static_cast<double>(v));
      out += text;
    }
    return out;
  }
};

/// n >= 2 values from offset to offset + range.
template <class T>
[[nodiscard]] sample<T> ranged(int shape, int weighting, std::size_t n, double range, double offset,
                               random& r) {
  std::vector<double> z(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n - 1);
    switch (shape) {
      case 0:
        z[i] = r.uniform();
        break;
      case 1:
        z[i] = r.normal();
        break;
      case 2:
        z[i] = r.exponential();
        break;
      case 3:
        z[i] = -r.exponential();
        break;
      case 4:
        z[i] = i < (n + 1) / 2 ? 0 : 1;
        break;
      case 5:
        z[i] = i == 0 ? 1 : 0;
        break;
      case 6:
        z[i] = static_cast<double>(i % 3);
        break;
      case 7:
        z[i] = (2 * t - 1) * (2 * t - 1) * (2 * t - 1);
        break;
      case 8:
        z[i] = t;
        break;
      case 9:
        z[i] = i == n / 2 ? 1 : 0.01 * r.uniform();
        break;
      default:
        z[i] = 0.5 - 0.5 * std::cos(3.14159 * r.uniform());
        break;  // dense at both ends
    }
  }
  const auto [low, high] = std::minmax_element(z.begin(), z.end());
  const double first = *low, length = *high - *low;
  sample<T> out{std::string(shapes[shape]) + ", " + weightings[weighting], std::vector<T>(n), {}};
  for (std::size_t i = 0; i < n; ++i)
    out.x[i] = static_cast<T>(offset + (length > 0 ? range * ((z[i] - first) / length) : 0));
  if (weighting > 0) {
    out.w.resize(n);
    for (T& w : out.w)
      w = static_cast<T>(weighting == 1 ? r.uniform(0.1, 2) : std::pow(10.0, r.uniform(-6, 2)));
  }
  return out;
}

}  // namespace families
