// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/certified_maximum.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "catch.hpp"

namespace {

constexpr double pi = 3.141592653589793;

}  // namespace

TEST_CASE("certified_maximum: no peak between the points is missed, and the excess is the slack's",
          "[series][value]") {
  // of height 1 (and 3/4) at a place that no grid knows
  for (const double frequency : {1.0, 7.0, 40.0}) {
    for (int i = 0; i < 50; ++i) {
      const double place = 0.03 + 0.0619 * i, slack = i % 2 == 0 ? 1e-2 : 1e-5;
      const auto wave = [&](double a) {
        return std::cos(frequency * (a - place)) / (1 + (a - place) * (a - place) / 100);
      };
      const double bend = frequency * frequency + 0.02 * frequency + 0.1;
      const double top = cumulus::detail::largest_on_interval<double>(
          pi, wave, [&](double, double) { return bend; }, slack);
      CAPTURE(frequency, place, top);
      CHECK(top >= 1);
      CHECK(top <= 1 + slack);
    }
  }
}

TEST_CASE("certified_maximum: peaks of a square", "[series][value]") {
  for (int i = 0; i < 30; ++i) {
    const double a0 = 0.1 * i, b0 = pi - 0.07 * i;
    const auto hill = [&](double a, double b) {
      return -std::exp(-2 * (a - a0) * (a - a0) - 8 * (b - b0) * (b - b0));
    };
    const double top = cumulus::detail::largest_on_square<double>(
        pi, hill, [](double, double, double, double) { return std::array{4.0, 16.0}; }, 1e-3);
    CHECK(top >= 1);
    CHECK(top <= 1.001);
  }
}

TEST_CASE("certified_maximum: a limit costs sharpness, not the bound", "[series][property]") {
  const auto wave = [](double a) { return std::sin(50 * a + 0.3); };
  double before = 1e9;
  for (const int limit : {10, 40, 200, 2000}) {
    const double top = cumulus::detail::largest_on_interval<double>(
        pi, wave, [](double, double) { return 2500.0; }, 1e-6, limit);
    CHECK(top >= 1);
    CHECK(top <= before);
    before = top;
  }
  const auto nothing = [](double) { return std::numeric_limits<double>::quiet_NaN(); };
  CHECK(std::isnan(cumulus::detail::largest_on_interval<double>(
      pi, nothing, [](double, double) { return 1.0; }, 1e-3)));
  CHECK(cumulus::detail::largest_on_interval<double>(
            pi, [](double) { return 0.0; }, [](double, double) { return 0.0; }, 1e-3) == 0);
}
