// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/gaussian_mass.hpp>

#include "catch.hpp"

namespace {

/// log E e^(sigma z) for z a normal cut off at c and standardised, by the trapezoidal rule.
double by_quadrature(double sigma, double c) {
  constexpr int steps = 200000;
  const double low = -12, h = (c - low) / steps;
  const auto mean = [&](auto f) {
    long double sum = 0, weight = 0;
    for (int i = 0; i <= steps; ++i) {
      const long double g = low + i * h, w = std::exp(-g * g / 2) * (i % steps == 0 ? 0.5L : 1.0L);
      weight += w;
      sum += w * f(g);
    }
    return sum / weight;
  };
  const long double m = mean([](long double g) { return g; });
  const long double v = mean([m](long double g) { return (g - m) * (g - m); });
  const long double top = sigma * (c - m) / std::sqrt(v);
  return double(top + std::log(mean([&](long double g) {
                  return std::exp(sigma * (g - m) / std::sqrt(v) - top);
                })));
}

}  // namespace

TEST_CASE("frozen mass: the second order, then its tangent", "[blocks][value]") {
  const double log_b = std::log(64.0), c = cumulus::detail::freezing_point(log_b);
  CHECK(c == Approx(2.8840454));
  CHECK(cumulus::detail::frozen_mass(0.0, log_b) == 0);
  CHECK(cumulus::detail::frozen_mass(4.0, log_b) == 2);
  CHECK(cumulus::detail::frozen_mass(c * c, log_b) == Approx(log_b));
  const double h = 1e-5, below = cumulus::detail::frozen_mass((c - h) * (c - h), log_b),
               above = cumulus::detail::frozen_mass((c + h) * (c + h), log_b);
  CHECK((above - below) / (2 * h) == Approx(c));
  CHECK(cumulus::detail::frozen_mass(10000.0, log_b) == Approx(100 * c - log_b));
  CHECK(cumulus::detail::frozen_mass(9.0, 0.0) == 0);  // one key
  CHECK(std::isnan(cumulus::detail::frozen_mass(std::nan(""), log_b)));
}

TEST_CASE("smooth mass: that of a standardised normal cut off at c", "[blocks][value]") {
  for (const double b : {2.0, 16.0, 64.0, 1024.0}) {
    const cumulus::detail::smooth_mass mass(std::log(b));
    const double c = cumulus::detail::freezing_point(std::log(b));
    CHECK(mass(0.0) == Approx(0).margin(1e-15));
    for (const double sigma : {0.05, 0.5, 1.0, 3.0, 7.0, 9.0, 11.0, 12.0, 20.0}) {
      CAPTURE(b, sigma);
      const double exact = by_quadrature(sigma, c);
      CHECK(std::abs(mass(sigma * sigma) - exact) <= 1e-6 + 1e-9 * sigma * sigma);
    }
    CHECK(mass(1e-4) / 1e-4 == Approx(0.5).epsilon(0.01));
    double last = 0;
    for (double sigma = 0.01; sigma < 40; sigma *= 1.01) {  // rises, also where the formula changes
      CHECK(mass(sigma * sigma) > last);
      last = mass(sigma * sigma);
    }
    CHECK(std::isfinite(mass(1e300)));
    CHECK(std::isnan(mass(std::nan(""))));
  }
}

TEST_CASE("smooth and frozen mass: an infinite variance", "[blocks][edge]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(cumulus::detail::smooth_mass(0)(inf) == inf);
  CHECK(cumulus::detail::smooth_mass(3)(inf) == inf);
  CHECK(cumulus::detail::frozen_mass(inf, 0) == 0);
}
