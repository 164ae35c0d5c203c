// SPDX-License-Identifier: MIT
#include <cumulus/exact/logaddexp.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::logaddexp;
using cumulus::logaddexp_max_ulp;
using cumulus::logsubexp;
using cumulus::logsubexp_signed;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
T scale_of(T a, T result) {
  return std::max({T(1), std::abs(a), std::abs(result)});
}

/// log(e^high ± e^low), about high.
template <class T>
oracle::wide expected_of(T high, T low, int sign) {
  const oracle::wide gap = oracle::wide(low) - oracle::wide(high);
  return oracle::wide(high) +
         (sign > 0 ? oracle::wide(log1p(exp(gap))) : oracle::wide(log(oracle::wide(-expm1(gap)))));
}

/// Differences from 1e-18 to 1e4, those about log 2 among them.
std::vector<double> gaps() {
  std::vector<double> result{0.5, 0.69, 0.6931471805599453, 0.6931471805599454, 0.7, 36, 37, 38};
  for (double gap = 1e-18; gap < 1e4; gap *= 1.37) result.push_back(gap);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("logaddexp: within its ulp bound at every gap and offset", "[exact][value]",
                   float, double, long double) {
  worst error_here;
  for (const double a : {0.0, 1e-5, -0.6931471805599453, 1.0, -30.0, 88.0, 700.0, -1e4, 1e16}) {
    for (const double gap : gaps()) {
      const auto high = TestType(a), low = TestType(TestType(a) - TestType(gap));
      const oracle::wide expected = expected_of(high, low, 1);
      const TestType scale = scale_of(high, static_cast<TestType>(expected));
      error_here.see(ulps(logaddexp(high, low), expected, scale), "a =", a, "gap", gap);
      error_here.see(ulps(logaddexp(low, high), expected, scale), "swapped, a =", a, "gap", gap);
    }
  }
  CHECK_WORST(error_here, logaddexp_max_ulp);
}

TEMPLATE_TEST_CASE("logaddexp: beside 0 the small term is the answer", "[exact][value]", float,
                   double) {
  worst error_here;
  for (const double gap : {0.1, 1.0, 10.0, 40.0, 80.0, sizeof(TestType) > 4 ? 700.0 : 85.0}) {
    const auto low = TestType(-gap);
    error_here.see(ulps(logaddexp(TestType(0), low), oracle::wide(log1p(exp(oracle::wide(low))))),
                   "gap", gap);
  }
  CHECK_WORST(error_here, cumulus::logaddexp_tail_max_ulp);
}

TEMPLATE_TEST_CASE("logsubexp: below 0 what is taken away is the answer", "[exact][value]", float,
                   double) {
  worst error_here;
  for (const double gap : {0.1, 0.6, 0.8, 1.0, 10.0, 40.0, 80.0}) {
    const auto low = TestType(-gap);
    error_here.see(ulps(logsubexp(TestType(0), low), oracle::wide(log1p(-exp(oracle::wide(low))))),
                   "gap", gap);
  }
  CHECK_WORST(error_here, cumulus::logaddexp_tail_max_ulp);
}

TEMPLATE_TEST_CASE("logsubexp: within its ulp bound at every gap and offset", "[exact][value]",
                   float, double, long double) {
  worst error_here;
  for (const double a : {0.0, 1e-5, 0.6931471805599453, 1.0, -30.0, 88.0, 700.0, -1e4, 1e16}) {
    for (const double gap : gaps()) {
      const auto high = TestType(a), low = TestType(TestType(a) - TestType(gap));
      if (!(low < high)) continue;
      const oracle::wide expected = expected_of(high, low, -1);
      error_here.see(
          ulps(logsubexp(high, low), expected, scale_of(high, static_cast<TestType>(expected))),
          "a =", a, "gap", gap);
    }
  }
  CHECK_WORST(error_here, logaddexp_max_ulp);
}

TEST_CASE("logaddexp: -inf is neutral, +inf and NaN stay", "[exact][edge]") {
  struct row {
    double a, b, expected;
  };
  const row table[]{
      {-inf, -inf, -inf},
      {-inf, 3, 3},
      {-inf, DBL_MAX, DBL_MAX},
      {inf, 3, inf},
      {inf, inf, inf},
      {inf, -inf, inf},
      {qnan, 3, qnan},
      {qnan, inf, qnan},
      {qnan, -inf, qnan},
      {qnan, qnan, qnan},
      {DBL_MAX, -DBL_MAX, DBL_MAX},
      {DBL_MAX, DBL_MAX, DBL_MAX},
      {0, -800, 0},
      {-5e-324, -800, -5e-324},
  };
  for (const row& r : table) {
    CAPTURE(r.a, r.b, r.expected);
    CHECK(same(logaddexp(r.a, r.b), r.expected));
    CHECK(same(logaddexp(r.b, r.a), r.expected));
    const bool fits = std::abs(r.a) <= double(FLT_MAX) || !std::isfinite(r.a);
    if (fits && std::abs(r.expected) != 5e-324 && r.expected != DBL_MAX)
      CHECK(same(logaddexp(float(r.a), float(r.b)), float(r.expected)));
  }
}

TEST_CASE("logsubexp: rule 6, equal, infinite and reversed arguments", "[exact][edge]") {
  struct row {
    double a, b, expected;
  };
  const row table[]{
      {3, 3, -inf},      {-inf, -inf, -inf}, {DBL_MAX, DBL_MAX, -inf},
      {inf, inf, qnan},  {2, 3, qnan},       {-inf, 3, qnan},
      {3, inf, qnan},    {3, -inf, 3},       {inf, 3, inf},
      {inf, -inf, inf},  {qnan, 3, qnan},    {3, qnan, qnan},
      {qnan, inf, qnan}, {-inf, qnan, qnan}, {DBL_MAX, -DBL_MAX, DBL_MAX},
      {0, -0.0, -inf},   {-0.0, 0, -inf},
  };
  for (const row& r : table) {
    CAPTURE(r.a, r.b, r.expected);
    CHECK(same(logsubexp(r.a, r.b), r.expected));
  }
}

TEST_CASE("logsubexp_signed: the size of the difference and who is larger", "[exact][edge]") {
  struct row {
    double a, b, log_abs, sign;
  };
  const double part = logsubexp(3.0, 2.0);
  const row table[]{
      {3, 2, part, 1},         {2, 3, part, -1},         {3, 3, -inf, 0},
      {0, -0.0, -inf, 0},      {-inf, -inf, -inf, 0},    {-inf, 3, 3, -1},
      {3, -inf, 3, 1},         {inf, 3, inf, 1},         {3, inf, inf, -1},
      {inf, -inf, inf, 1},     {inf, inf, qnan, qnan},   {qnan, 3, qnan, qnan},
      {inf, qnan, qnan, qnan}, {-inf, qnan, qnan, qnan},
  };
  for (const row& r : table) {
    CAPTURE(r.a, r.b);
    const auto difference = logsubexp_signed(r.a, r.b);
    CHECK(same(difference.log_abs, r.log_abs));
    CHECK(same(difference.sign, r.sign));
    const auto narrow = logsubexp_signed(float(r.a), float(r.b));
    CHECK(same(narrow.sign, r.sign));
  }
  static_assert(std::is_same_v<decltype(logsubexp_signed(1, 2).sign), double>);
  CHECK(logsubexp_signed(2, 3) == logsubexp_signed(2.0, 3.0f));
}

TEST_CASE("logaddexp: of two equals, each counts with its own derivative", "[exact][edge]") {
  using dual = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  const dual a(2.0, Eigen::Vector2d(1, 0)), b(2.0, Eigen::Vector2d(0, 1));
  CHECK(logaddexp(a, b).derivatives().isApprox(Eigen::Vector2d(0.5, 0.5)));
  CHECK(logaddexp(a, dual(b + 1.0)).derivatives()[1] == Approx(1 / (1 + std::exp(-1.0))));
}

TEST_CASE("logsubexp: gradual underflow is kept", "[exact][edge]") {
  // The gap is the least subnormal number, 2^-1074: its logarithm is the answer.
  CHECK(ulps(logsubexp(5e-324, 0.0), log(oracle::wide(0x1p-1074))) <= logaddexp_max_ulp);
  CHECK(ulps(logsubexp(0x1p-1022, 0x1p-1022 - 0x1p-1074), log(oracle::wide(0x1p-1074))) <=
        logaddexp_max_ulp);
  CHECK(ulps(logsubexp(0x1p-149f, 0.0f), log(oracle::wide(0x1p-149))) <= logaddexp_max_ulp);
  // And so is a result: log(1 - e^-740) is -e^-740.
  CHECK(ulps(logsubexp(0.0, -740.0), oracle::wide(-exp(oracle::wide(-740)))) <= logaddexp_max_ulp);
}

TEST_CASE("logaddexp: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const double values[]{-inf, inf, 0.0, -1000.0, DBL_MAX, -DBL_MAX};
  for (const double a : values) {
    for (const double b : values) {
      CAPTURE(a, b);
      volatile double x = a, y = b, result = 0;
      CHECK(spurious_flags([&] { result = logaddexp(double(x), double(y)); }) == 0);
      CHECK(spurious_flags([&] { result = logsubexp(double(x), double(y)); }) == 0);
      CHECK(spurious_flags([&] { result = logsubexp_signed(double(x), double(y)).sign; }) == 0);
    }
  }
}

TEST_CASE("logaddexp: integers promote to double, mixed arguments to the wider", "[exact][value]") {
  static_assert(std::is_same_v<decltype(logaddexp(1, 2)), double>);
  static_assert(std::is_same_v<decltype(logaddexp(1, 2.0f)), double>);
  static_assert(std::is_same_v<decltype(logaddexp(1.0f, 2.0)), double>);
  static_assert(std::is_same_v<decltype(logaddexp(1.0f, 2.0f)), float>);
  static_assert(std::is_same_v<decltype(logsubexp(2, 1L)), double>);
  static_assert(std::is_same_v<decltype(logsubexp(2.0L, 1.0)), long double>);
  CHECK(logaddexp(1, 2) == logaddexp(1.0, 2.0));
  CHECK(logaddexp(1.5f, 2.0) == logaddexp(1.5, 2.0));
  CHECK(logsubexp(2, 1) == logsubexp(2.0, 1.0));
  CHECK(logsubexp(2, 1.5f) == logsubexp(2.0, 1.5));
}

TEST_CASE("logaddexp: a scalar of 50 digits keeps 50 digits", "[exact][value]") {
  using scalar = oracle::wide;
  const oracle::wider unit = std::numeric_limits<scalar>::epsilon();
  for (const double gap : {1e-20, 0.1, 0.6, 0.8, 3.0}) {
    const scalar a = 1, b = scalar(1) - scalar(gap);
    const oracle::wider ea = exp(oracle::wider(a)), eb = exp(oracle::wider(b));
    const oracle::wider sum = log(ea + eb), difference = log(ea - eb);
    CAPTURE(gap);
    CHECK(abs(oracle::wider(logaddexp(a, b)) - sum) <= 2 * logaddexp_max_ulp * unit);
    CHECK(abs(oracle::wider(logsubexp(a, b)) - difference) <=
          logaddexp_max_ulp * unit * std::max(oracle::wider(1), oracle::wider(abs(difference))));
  }
}

TEST_CASE("logsubexp: undoes logaddexp", "[exact][property]") {
  families::random r(3u);
  worst error_here;
  for (int i = 0; i < 2000; ++i) {
    const double a = r.uniform(-50, 50), b = a + r.uniform(-3, 3);
    const double back = logsubexp(logaddexp(a, b), b);
    // An ulp of the sum is e^(sum - a) ulps of a.
    const double spread = std::exp(std::max(0.0, b - a)) + 1;
    error_here.see(ulps(back, oracle::wide(a), scale_of(std::max(a, b), a)) / spread, a, b);
  }
  CHECK_WORST(error_here, 2 * logaddexp_max_ulp);
}
