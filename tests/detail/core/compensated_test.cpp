// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/compensated.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::detail::compensated;
using oracle::wide;

namespace {

template <class T>
wide exact(const compensated<T>& x) {
  return wide(x.high) + wide(x.low);
}

/// Of either sign, over 2^-e..2^e.
template <class T>
T any(families::random& r, double e) {
  return static_cast<T>((r.uniform() < 0.5 ? -1 : 1) * std::exp2(r.uniform(-e, e)));
}

}  // namespace

TEMPLATE_TEST_CASE("compensated: a sum and a product of two numbers are exact", "[core][value]",
                   float, double, long double) {
  families::random r(1u);
  bool sums = true, products = true, rounded = true;
  for (int i = 0; i < 5000; ++i) {
    const TestType a = any<TestType>(r, 30), b = any<TestType>(r, 30);
    const auto sum = cumulus::detail::two_sum(a, b);
    const auto product = cumulus::detail::two_product(a, b);
    sums = sums && exact(sum) == wide(a) + wide(b);
    products = products && exact(product) == wide(a) * wide(b);
    rounded = rounded && sum.high == TestType(a + b) && sum.value() == sum.high;
  }
  CHECK(sums);
  CHECK(products);
  CHECK(rounded);
}

TEST_CASE("compensated: numbers of unlike size add exactly too", "[core][edge]") {
  const double values[]{1.0,    -1.0, 0x1p-52, 0x1p-53,  -0x1p-54,    0x1p53,
                        0x1p60, 0.0,  -0.0,    0x1p-100, 1 + 0x1p-52, 0x1.fffffffffffffp0};
  for (const double a : values) {
    for (const double b : values) {
      CAPTURE(a, b);
      CHECK(exact(cumulus::detail::two_sum(a, b)) == wide(a) + wide(b));
    }
  }
}

TEST_CASE("compensated: a long sum keeps the digits that a plain one loses", "[core][value]") {
  const auto x = families::normal<double>(100000, 1e8, 1.0, 3u);
  compensated<double> sum, pairs;
  double plain = 0;
  wide expected = 0;
  for (const double v : x) {
    sum += v;
    pairs += cumulus::detail::two_product(v, 1 / 3.0);
    plain += v;
    expected += wide(v);
  }
  CHECK(ulps(sum.value(), expected) <= 0.5 + 0x1p-10);
  CHECK(ulps(plain, expected) > 2);
  CHECK(sum.value() == sum.high);
  CHECK(ulps(pairs.value(), wide(expected * wide(1 / 3.0))) <= 0.5 + 0x1p-10);
  // What cancels leaves the small part, n times the second-order error of the partial sums at most.
  sum += -sum.high;
  CHECK(ulps(sum.value(), wide(expected - wide(plain - plain + double(expected))),
             double(expected)) <= 0x1p-20);
}

TEST_CASE("compensated: what a large number hides comes back when it goes", "[core][edge]") {
  for (const double large : {1e20, 1e100, 1e300}) {
    compensated<double> sum;
    for (const double x : {1.0, large, 1.0, -large}) sum += x;
    CHECK(sum.value() == 2.0);
  }
}

TEST_CASE("compensated: differences, negation and doubling", "[core][value]") {
  const auto a = cumulus::detail::two_sum(1.0, 0x1p-60),
             b = cumulus::detail::two_sum(1.0, -0x1p-70);
  CHECK((a - b).value() == 0x1p-60 + 0x1p-70);
  CHECK((a + b).high == 2.0);
  CHECK(exact(a + b) == 2 + wide(0x1p-60) - wide(0x1p-70));
  CHECK(exact(-a) == -exact(a));
  CHECK(a == a);
  CHECK_FALSE(a == b);
  auto twice = a;
  twice += twice;
  CHECK(exact(twice) == 2 * exact(a));
  CHECK(exact(cumulus::detail::times_power_of_two(a, -40)) == exact(a) * wide(0x1p-40));
}

TEST_CASE("compensated: a scaled difference is exact where the plain one overflows",
          "[core][edge]") {
  const double largest = std::numeric_limits<double>::max();
  const auto all = cumulus::detail::scaled_difference(largest, -largest, 2);
  CHECK(all.high == largest / 2);
  CHECK(exact(cumulus::detail::scaled_difference(1.0, 0x1p-70, 0)) == 1 - wide(0x1p-70));
  CHECK(exact(cumulus::detail::scaled_difference(0x1p-1074, -0x1p-1070, -1070)) ==
        wide(1) + wide(0x1p-4));
  CHECK(exact(cumulus::detail::scaled_difference(3e300, 1e284, 900)) ==
        ldexp(wide(3e300) - wide(1e284), -900));
}

TEST_CASE("compensated: serves a scalar without fused multiply-add", "[core][value]") {
  // 50 digits: what two 40-digit numbers lose is the low part.
  const wide a = wide(1) / 3, b = wide(1) / 7 * wide(1e-30);
  const auto sum = cumulus::detail::two_sum(a, b);
  const oracle::wider both = oracle::wider(sum.high) + oracle::wider(sum.low);
  CHECK(both == oracle::wider(a) + oracle::wider(b));
  CHECK(sum.low != 0);
  CHECK(cumulus::detail::two_product(a, b).high == a * b);
  CHECK(cumulus::detail::two_product(a, b).low == 0);
}
