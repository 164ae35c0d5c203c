// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/softmax_remainder.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "peaks.hpp"
#include "two_points.hpp"

namespace {

using cumulus::detail::softmax_remainder;
using cumulus::detail::softmax_sharp_remainder;
using peaks::d_of;
using peaks::largest;
using peaks::x_of;
using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pi = 3.141592653589793;

real exact(real s, real x, real d) { return std::exp(d * s) / (std::cosh(s) - x * std::sinh(s)); }

/// The remainder: its terms for a small range, else a difference.
real remainder(int order, real s, real x, real d) {
  if (s < 1) return oracle::two_point_softmax_remainder<real>(order, s, x, d, 30);
  const real all = oracle::two_point_softmax_remainder<real>(-1, s, x, d, order + 1);
  return exact(s, x, d) - all;
}

}  // namespace

TEST_CASE("softmax_remainder: the sharp bounds are the law's at the worst x and d",
          "[series][value]") {
  for (const double range : {0.01, 0.5, 2.0, 2.9, 6.0}) {
    for (const int order : {0, 1, 2, 3, 5, 8}) {
      const real s = range / 2;
      const int steps = 30;
      const real absolute = largest(
          steps, [&](real a, real b) { return std::abs(remainder(order, s, x_of(a), d_of(b))); });
      const real relative = largest(steps, [&](real a, real b) {
        return std::abs(remainder(order, s, x_of(a), d_of(b))) / exact(s, x_of(a), d_of(b));
      });
      const auto bound = softmax_sharp_remainder(order, range);
      CAPTURE(range, order, bound.absolute, bound.relative);
      CHECK(bound.absolute >= absolute);
      CHECK(bound.relative >= relative);
      CHECK(bound.absolute <= absolute * 1.005);
      CHECK(bound.relative <= relative * 1.005);
      if (range < pi) CHECK(softmax_remainder(order, range) >= absolute);
    }
  }
}

TEST_CASE("softmax_remainder: from the range alone it is the sharp one as the range vanishes",
          "[series][value]") {
  for (int order = 0; order <= 8; ++order) {
    const double ratio =
        softmax_remainder(order, 1e-3) / softmax_sharp_remainder(order, 1e-3).absolute;
    CHECK(ratio > 0.99);
    CHECK(ratio < (order < 5 ? 1.01 : 1.15));
  }
  for (const double range : {0.1, 1.0, 3.0, 3.14}) {
    for (int order = 0; order < 64; ++order) {
      CHECK(softmax_remainder(order + 1, range) < softmax_remainder(order, range));
      CHECK(softmax_remainder(order, range * 1.0005) > softmax_remainder(order, range));
    }
  }
}

TEST_CASE("softmax_remainder: the two-point laws' coefficients obey its bound, with no gap between",
          "[series][value]") {
  // of degree n in x = cos a and in d = cos b: see remainder_test; bilinear, so that both errors add
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 9, 14}) {
    const int count = (n < 6 ? 100 : 20) * n;
    real largest = 0;
    for (int i = 0; i <= count; ++i) {
      const real x = std::cos(real(pi) * i / count);
      const std::size_t size = static_cast<std::size_t>(n) + 1;
      std::vector<real> unit(size, 1), p(size, 0);
      for (std::size_t j = 1; j < size; ++j) unit[j] = unit[j - 1] * real(pi) / 2 / real(j);
      p[0] = 1;
      for (std::size_t m = 1; m < size; ++m)
        for (std::size_t j = 1; j <= m; ++j) p[m] += (j % 2 == 1 ? x : -1) * unit[j] * p[m - j];
      for (int l = 0; l <= count; ++l) {
        const real d = std::cos(real(pi) * l / count);
        real sum = 0, power = 1;
        for (std::size_t j = 0; j < size; ++j, power *= d) sum += power * unit[j] * p[size - 1 - j];
        largest = std::max(largest, std::abs(sum));
      }
    }
    const real step = real(pi) * n / count;
    largest /= 1 - step * step / 4;
    // its term of this order
    const double range = 1e-3;
    const double claim =
        (softmax_remainder(n - 1, range) - softmax_remainder(n, range)) / std::pow(range / pi, n);
    CAPTURE(n, largest, claim);
    CHECK(largest <= claim * 1.0005L);
  }
}

TEST_CASE("softmax_remainder: no statement from pi on, none needed at 0", "[series][edge]") {
  for (const int order : {0, 1, 7, 64}) {
    CHECK(softmax_remainder(order, 0.0) == 0);
    CHECK(softmax_remainder(order, 3.1415926535897936) == inf);
    CHECK(softmax_remainder(order, std::numeric_limits<double>::quiet_NaN()) == inf);
    CHECK(softmax_sharp_remainder(order, 0.0).absolute == 0);
    CHECK(softmax_sharp_remainder(order, 0.0).relative == 0);
    CHECK(softmax_sharp_remainder(order, inf).absolute == inf);
    CHECK(softmax_sharp_remainder(order, std::numeric_limits<double>::quiet_NaN()).relative == inf);
    CHECK(softmax_sharp_remainder(order, 3.5).absolute < inf);
  }
}
