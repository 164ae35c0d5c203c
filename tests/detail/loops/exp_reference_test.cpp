// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/exp_reference.hpp>

#include <array>
#include <cfloat>
#include <cmath>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"
#include "wide.hpp"
#include "worst.hpp"

using cumulus::detail::compensated;
using cumulus::detail::kernels::exp_reference;
using cumulus::detail::kernels::split_exp;
using cumulus::detail::kernels::splits;
using oracle::wide;

namespace {

/// 2^-digits: with the split argument itself exact, 1 u of error comes from exp and less than 1 from the rest.
template <class T>
const wide u = wide(std::numeric_limits<T>::epsilon()) / 2;

constexpr double inf = std::numeric_limits<double>::infinity();

wide exact(const compensated<double>& x) { return wide(x.high) + wide(x.low); }

}  // namespace

TEMPLATE_TEST_CASE("split_exp: fraction 2^power is e^x at every size that splits",
                   "[kernels][value]", float, double, long double) {
  using T = TestType;
  families::random r(3u);
  worst error_here, size_here;
  const T limit = std::ldexp(T(1), std::numeric_limits<T>::digits - 5);
  for (int i = 0; i < 4000; ++i) {
    // In wide, e^x of the largest x has no exponent: x is compared as fraction and multiple of log 2.
    const T x = std::ldexp(T(r.uniform(-1.0, 1.0)),
                           int(r.below(std::size_t(std::numeric_limits<T>::digits))) - 5);
    if (!splits(x)) continue;
    const auto e = split_exp(compensated<T>{x, T(0)});
    const oracle::wider rest = oracle::wider(x) - oracle::wider(e.power) * log(oracle::wider(2));
    const oracle::wider expected = exp(rest);
    const oracle::wider actual = oracle::wider(e.fraction.high) + oracle::wider(e.fraction.low);
    error_here.see(double(wide(abs(actual / expected - 1)) / u<T>), "x =", x);
    size_here.see(std::abs(double(rest)), "x =", x);
  }
  CHECK_WORST(error_here, 2);
  CHECK_WORST(size_here, 0.37);
  CHECK(splits(std::nextafter(limit, T(0))));
  CHECK_FALSE(splits(limit));
  CHECK_FALSE(splits(std::numeric_limits<T>::infinity()));
  CHECK_FALSE(splits(std::numeric_limits<T>::quiet_NaN()));
  CHECK_FALSE(splits(wide(1)));
}

TEST_CASE("exp_reference: a term is w e^(x - r), and a reference of another place moves it exactly",
          "[kernels][property]") {
  families::random r(4u);
  for (int i = 0; i < 500; ++i) {
    const double x = r.uniform(-1e6, 1e6), w = std::exp(r.uniform(-300.0, 300.0));
    const exp_reference<double> low({x - 100, 0}, 20), high({x + 50, 0}, -300);
    const auto from_low = low.term({x, 0}, 1.0), from_high = high.term({x, 0}, 1.0);
    CHECK(low < high);
    CHECK(high.moved(from_low, low) == from_high);
    CHECK(low.moved(from_high, high) == from_low);
    CHECK(low.moved(from_low, low) == from_low);
    const wide weighted = exact(low.term({x, 0}, w)) / exact(from_low);
    CHECK(abs(weighted / wide(w) - 1) <= u<double> / 1000);
  }
}

TEST_CASE("exp_reference: the log of a sum is added to it", "[kernels][value]") {
  worst error_here;
  families::random r(5u);
  for (int i = 0; i < 2000; ++i) {
    const double x = r.uniform(-1e4, 1e4), size = std::exp(r.uniform(-600.0, 600.0));
    const exp_reference<double> reference({x, 0}, int(r.below(200)) - 100);
    // r from the term of x: e^(x - r)
    const wide origin = wide(x) - log(exact(reference.term({x, 0}, 1.0)));
    const wide expected = origin + log(wide(size));
    error_here.see(
        ulps(reference.plus_log({size, 0}), expected, std::max(1.0, std::abs(double(expected)))), x,
        size);
  }
  CHECK_WORST(error_here, 1);  // 1/2, and 1/2 for the oracle's r
}

TEST_CASE("exp_reference: far out, terms are exponentials of differences", "[kernels][edge]") {
  for (const double x : {1e17, -1e17, 1e300, -DBL_MAX, DBL_MAX}) {
    CAPTURE(x);
    const exp_reference<double> at_x({x, 0}, 0);
    CHECK_FALSE(at_x.whole());
    CHECK(at_x.term({x, 0}, 1.0).value() == 1);
    CHECK(at_x.term({x, 0}, 0x1p-1000).value() == 0x1p-1000);
    if (x == DBL_MAX) continue;
    const double above = std::nextafter(x, inf);
    const exp_reference<double> at_above({above, 0}, 0);
    CHECK(at_above.moved({1.0, 0.0}, at_x).value() == std::exp(x - above));
    CHECK(at_x.term({x, -2.0}, 1.0).value() == std::exp(-2.0));
    const exp_reference<double> below_x({x, 0}, 20);
    CHECK(below_x.term({x, 0}, 1.0).value() == Approx(0x1p20).epsilon(1e-14));
  }
  const exp_reference<double> near({5.0, 0}, 0), far({DBL_MAX, 0}, 0), below({-DBL_MAX, 0}, 0);
  CHECK(near.whole());
  CHECK(near < far);
  CHECK(below < near);
  CHECK(far.moved({1.0, 0.0}, near).value() == 0);
  CHECK(far.moved({1.0, 0.0}, below).value() == 0);
  CHECK(near.term({-DBL_MAX, 0}, 1.0).value() == 0);
  CHECK(far.term({-DBL_MAX, 0}, 1.0).value() == 0);
  CHECK(below.moved({0.0, 0.0}, far).value() == 0);
}

TEST_CASE("exp_reference: terms too small are gradually zero", "[kernels][edge]") {
  const exp_reference<double> r({0.0, 0}, 0);
  CHECK(r.term({-740.0, 0}, 1.0).value() == std::exp(-740.0));
  CHECK(r.term({-800.0, 0}, 1.0).value() == 0);
  CHECK(r.term({-800.0, 0}, 0x1p500).value() ==
        Approx(std::exp(-800.0 + 500 * std::log(2.0))).epsilon(1e-12));
}
