// SPDX-License-Identifier: MIT
#include <cumulus/series.hpp>
#include <cmath>
#include <vector>

#include "catch.hpp"

TEST_CASE("tilted_moments: a share below the least number adds nothing but its place in the range",
          "[series][edge]") {
  const std::vector<double> x{0, 1, -1e39}, tilt{0, 0, -1e39};
  const auto m = cumulus::tilted_moments(x, tilt, 8);
  CHECK(m.moment(8) == 0.00390625);
  CHECK(m.moment(2) == 0.25);
  CHECK(m.mean() == 0.5);
  CHECK(m.min() == -1e39);
  CHECK(m.max() == 1);
  const std::vector<double> w{1, 1, 2};
  CHECK(cumulus::tilted_moments(x, tilt, 8, {.weights = w}).moment(8) == 0.00390625);
  const std::vector<float> xf{0, 1, -1e38f}, tilt_f{0, 0, -1e38f};
  CHECK(cumulus::tilted_moments(xf, tilt_f, 8).moment(8) == 0.00390625f);
}

TEST_CASE("logsumexp_series_about: a share below the least number costs no digits of the value",
          "[series][edge]") {
  // the third term is e^-2000 of the base, and e^-1000 of x: neither is seen in the sum
  const std::vector<double> x{0, 1, -1000}, base{0, 0, -2000};
  const std::vector<double> seen{0, 1}, seen_base{0, 0};
  for (const int order : {2, 4, 8}) {
    CAPTURE(order);
    const auto e = cumulus::logsumexp_series_about(x, base, order);
    const auto without = cumulus::logsumexp_series_about(seen, seen_base, order);
    CHECK(e.value == Approx(without.value).epsilon(1e-15));
    CHECK(std::abs(e.value - std::log1p(std::exp(1.0))) <= e.bound);
  }
  // here the bound is all that there is: the sum is that of the third term
  const auto far = cumulus::logsumexp_series_about(std::vector<double>{0, 1, 300},
                                                   std::vector<double>{0, 0, -800}, 4);
  CHECK(std::abs(far.value - 300) <= far.bound);
}
