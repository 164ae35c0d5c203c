// SPDX-License-Identifier: MIT
#include <cumulus/series/form.hpp>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "wide.hpp"

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pi = 3.141592653589793;

}  // namespace

TEST_CASE("convergence_radius: pi over the range", "[series][value]") {
  using oracle::wide;
  CHECK(cumulus::convergence_radius(1.0) == pi);
  CHECK(cumulus::convergence_radius(pi) == 1);
  CHECK(cumulus::convergence_radius(2.0f) == static_cast<float>(pi / 2));
  CHECK(cumulus::convergence_radius(4) == pi / 4);
  CHECK(cumulus::convergence_radius(2u) == pi / 2);
  const wide radius = cumulus::convergence_radius(wide(3));
  CHECK(abs(radius * 3 - wide("3.14159265358979323846264338327950288419716939937510582")) < 1e-48);
}

TEST_CASE("convergence_radius: where the range is none", "[series][edge]") {
  CHECK(cumulus::convergence_radius(0.0) == inf);
  CHECK(cumulus::convergence_radius(-0.0) == inf);
  CHECK(cumulus::convergence_radius(0) == inf);
  CHECK(cumulus::convergence_radius(inf) == 0);
  CHECK(std::isnan(cumulus::convergence_radius(-1.0)));
  CHECK(std::isnan(cumulus::convergence_radius(-1)));
  CHECK(std::isnan(cumulus::convergence_radius(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("convergence_radius: nearest zero of two equal points, and none within for others",
          "[series][property]") {
  // M(t) = cosh(t R / 2) of two equal points vanishes at t = i pi / R
  for (const double range : {1e-8, 0.5, 3.0, 12.0, 1e5}) {
    const double b = cumulus::convergence_radius(range);
    CHECK(std::abs(std::cos(b * range / 2)) < 1e-15);
  }
  // |M(ib)| of any sample of range R is at least cos(bR/2): three points, uneven weights
  for (const double middle : {0.1, 0.5, 0.9}) {
    for (const double w : {0.01, 0.3, 5.0}) {
      for (int i = 0; i < 100; ++i) {
        const double b = cumulus::convergence_radius(1.0) * i / 100;
        const double total = 2 + w;
        const double real = (1 + w * std::cos(b * middle) + std::cos(b)) / total;
        const double imaginary = (w * std::sin(b * middle) + std::sin(b)) / total;
        CHECK(std::hypot(real, imaginary) >= std::cos(b / 2) - 1e-15);
      }
    }
  }
}
