// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/sharp_remainder.hpp>
#include <cmath>

#include "catch.hpp"
#include "two_points.hpp"
#include "wide.hpp"

namespace {

using cumulus::detail::logsumexp_remainder;
using cumulus::detail::logsumexp_sharp_remainder;
using oracle::wide;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pi = 3.141592653589793;

/// The largest of `count` x, the ends among them.
template <class T>
T law(int order, const T& range, int count) {
  T largest(0);
  for (int i = 0; i <= count; ++i) {
    const T x = i == 0 ? T(1) : i == count ? T(-1) : T(std::cos(pi * i / count));
    const T r = oracle::two_point_remainder<T>(order, T(range / 2), x);
    largest = std::max(largest, r < 0 ? T(-r) : r);
  }
  return largest;
}

}  // namespace

TEST_CASE("sharp_remainder: within half a percent of the law at the worst x", "[series][value]") {
  for (const double range : {1e-6, 1e-3, 0.1, 1.0, 2.0, 2.9, 3.1, 3.2, 5.0, 12.0, 40.0}) {
    for (const int order : {1, 2, 3, 4, 5, 8, 16}) {
      if (range < 1e-2 && order > 4) continue;  // 50 digits of the difference do not reach
      CAPTURE(range, order);
      const wide expected = law<wide>(order, wide(range), 60 + 40 * order);
      const double bound = logsumexp_sharp_remainder(order, range);
      CHECK(wide(bound) >= expected);
      CHECK(wide(bound) <= expected * 1.005);
    }
  }
  // and computed in 50 digits
  for (const int order : {1, 2, 3, 6, 9}) {
    const wide range = 1.5, expected = law<wide>(order, range, 200);
    const wide bound = logsumexp_sharp_remainder<wide>(order, range);
    CHECK(bound >= expected);
    CHECK(bound <= expected * 1.005);
  }
}

TEST_CASE("sharp_remainder: keeps its digits at small ranges", "[series][value]") {
  // R^n / n times the largest k_{n-1} alone is left: its ratio to the sum over the terms goes to a constant
  for (const int order : {1, 3, 5, 9, 17, 23}) {  // odd: the next term is largest at x = 0
    CAPTURE(order);
    const double near = logsumexp_sharp_remainder(order, 1e-3) / logsumexp_remainder(order, 1e-3),
                 nearer = logsumexp_sharp_remainder(order, 1e-5) / logsumexp_remainder(order, 1e-5);
    if (order > 4) {  // the variance's coefficient is then that of the range
      CHECK(near == Approx(1).epsilon(5e-3));
      if (order < 50) CHECK(nearer == Approx(1).epsilon(5e-3));
    }
    CHECK(nearer == Approx(near).epsilon(5e-3));
  }
}

TEST_CASE("sharp_remainder: two points attain it, none exceeds it", "[series][property]") {
  for (const double range : {0.5, 2.5, 3.5, 7.0}) {
    for (const int order : {1, 2, 3, 4, 7}) {
      double closest = 0;
      for (int i = 1; i < 400; ++i) {
        const double x = std::tanh(8.0 * (i - 200) / 200);
        const long double variance = range * range * (1 - x * x) / 4;
        // K of two points of chances (1 +- x)/2 is (1 - x^2) H_x: the lower one has (1 + x)/2
        const long double error =
            (1 - static_cast<long double>(x) * x) *
            std::abs(oracle::two_point_remainder<long double>(order, range / 2, x));
        const double bound = logsumexp_sharp_remainder(order, range, static_cast<double>(variance));
        if (!(error <= bound)) {
          CAPTURE(range, order, x, bound);
          FAIL_CHECK("exceeded");
        }
        closest = std::max(closest, static_cast<double>(error / bound));
      }
      CAPTURE(range, order, closest);
      CHECK(closest > 0.995);
    }
  }
}

TEST_CASE("sharp_remainder: proportional to the variance, at most that of the range",
          "[series][property]") {
  for (const double range : {0.3, 2.0, 4.0}) {
    for (const int order : {0, 1, 2, 6}) {
      const double whole = logsumexp_sharp_remainder(order, range);
      CHECK(logsumexp_sharp_remainder(order, range, range * range) == whole);  // there is no more
      CHECK(logsumexp_sharp_remainder(order, range, range * range / 4) == whole);
      CHECK(logsumexp_sharp_remainder(order, range, range * range / 400) ==
            Approx(whole / 100).epsilon(1e-12));
      CHECK(logsumexp_sharp_remainder(order, range * 1.02) > whole);
    }
    CHECK(logsumexp_sharp_remainder(0, range) == logsumexp_sharp_remainder(1, range));
  }
}

TEST_CASE("sharp_remainder: ranges of 0, none, and beyond e^range", "[series][edge]") {
  for (const int order : {0, 1, 4, 64}) {
    CHECK(logsumexp_sharp_remainder(order, 0.0) == 0);
    CHECK(logsumexp_sharp_remainder(order, 1.0, 0.0) == 0);
    CHECK(logsumexp_sharp_remainder(order, inf) == inf);
    CHECK(logsumexp_sharp_remainder(order, -1.0) == inf);
    CHECK(logsumexp_sharp_remainder(order, std::numeric_limits<double>::quiet_NaN()) == inf);
    CHECK(logsumexp_sharp_remainder(order, 1.0, std::numeric_limits<double>::quiet_NaN()) == inf);
    CHECK(!(logsumexp_sharp_remainder(order, 1e4) < inf));
    CHECK(logsumexp_sharp_remainder(order, pi) < inf);
    CHECK(logsumexp_sharp_remainder(order, 1e-300) >= 0);
  }
}
