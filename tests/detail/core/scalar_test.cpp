// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/scalar.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "ulp.hpp"
#include "worst.hpp"

namespace {

/// A number that brings arithmetic, exp and log but no log1p, expm1, frexp or ldexp: a scalar of a user's own.
struct bare {
  double value = 0;
  bare() = default;
  bare(double v) : value(v) {}
  bare& operator+=(bare a) { return *this = bare(value + a.value); }
  friend bare operator+(bare a, bare b) { return bare(a.value + b.value); }
  friend bare operator-(bare a, bare b) { return bare(a.value - b.value); }
  friend bare operator*(bare a, bare b) { return bare(a.value * b.value); }
  friend bare operator/(bare a, bare b) { return bare(a.value / b.value); }
  friend bare operator-(bare a) { return bare(-a.value); }
  friend bool operator<(bare a, bare b) { return a.value < b.value; }
  friend bool operator<=(bare a, bare b) { return a.value <= b.value; }
  friend bare exp(bare a) { return bare(std::exp(a.value)); }
  friend bare log(bare a) { return bare(std::log(a.value)); }
};

}  // namespace

template <>
struct std::numeric_limits<bare> : std::numeric_limits<double> {
  static bare epsilon() { return std::numeric_limits<double>::epsilon(); }
  static bare infinity() { return std::numeric_limits<double>::infinity(); }
  static bare quiet_NaN() { return std::numeric_limits<double>::quiet_NaN(); }
};

namespace {

using limits = std::numeric_limits<double>;
constexpr double inf = limits::infinity(), qnan = limits::quiet_NaN();

}  // namespace

TEST_CASE("scalar: integers have double results, the others their own type", "[core][value]") {
  static_assert(std::is_same_v<cumulus::detail::result_scalar<int>, double>);
  static_assert(std::is_same_v<cumulus::detail::result_scalar<bool>, double>);
  static_assert(std::is_same_v<cumulus::detail::result_scalar<std::uint8_t>, double>);
  static_assert(std::is_same_v<cumulus::detail::result_scalar<float>, float>);
  static_assert(std::is_same_v<cumulus::detail::result_scalar<oracle::wide>, oracle::wide>);
  static_assert(std::is_same_v<cumulus::detail::compute_scalar<float>, double>);
  static_assert(std::is_same_v<cumulus::detail::compute_scalar<double>, double>);
  static_assert(std::is_same_v<cumulus::detail::compute_scalar<long double>, long double>);
  CHECK(1.0 + cumulus::detail::unit_roundoff<double> == 1.0);
  CHECK(1.0 + 2 * cumulus::detail::unit_roundoff<double> > 1.0);
}

TEST_CASE("scalar: NaN is no number and wins over every number", "[core][edge]") {
  CHECK(cumulus::detail::is_nan(qnan));
  CHECK(cumulus::detail::is_nan(bare(qnan)));
  CHECK_FALSE(cumulus::detail::is_nan(inf));
  CHECK_FALSE(cumulus::detail::is_nan(0.0));
  for (const double x : {qnan, inf, -inf}) CHECK_FALSE(cumulus::detail::is_finite(x));
  for (const double x : {0.0, -0.0, limits::max(), limits::lowest(), limits::denorm_min()})
    CHECK(cumulus::detail::is_finite(x));
  for (const double x : {1.0, inf, -inf, qnan}) {
    CAPTURE(x);
    CHECK(std::isnan(cumulus::detail::max_of(x, qnan)));
    CHECK(std::isnan(cumulus::detail::max_of(qnan, x)));
    CHECK(std::isnan(cumulus::detail::min_of(x, qnan)));
    CHECK(std::isnan(cumulus::detail::min_of(qnan, x)));
  }
  CHECK(cumulus::detail::max_of(1.0, 2.0) == 2.0);
  CHECK(cumulus::detail::max_of(2.0, 1.0) == 2.0);
  CHECK(cumulus::detail::min_of(-inf, 2.0) == -inf);
  CHECK(cumulus::detail::min_of(2.0, 1.0) == 1.0);
  CHECK(cumulus::detail::absolute(-3.5) == 3.5);
  CHECK(cumulus::detail::absolute(3.5) == 3.5);
}

TEST_CASE("scalar: log(1 + x) and e^x - 1 keep their digits near 0, with or without log1p",
          "[core][value]") {
  static_assert(cumulus::detail::has_log1p<double> && !cumulus::detail::has_log1p<bare>);
  static_assert(cumulus::detail::has_log1p<oracle::wide>);
  worst log_error, exp_error, own_error;
  for (double size = 1e-300; size < 0.9; size *= 1.9) {
    for (const double x : {size, -size}) {
      const oracle::wide log_x = log1p(oracle::wide(x)), exp_x = expm1(oracle::wide(x));
      log_error.see(ulps(cumulus::detail::log_one_plus(bare(x)).value, log_x), x);
      exp_error.see(ulps(cumulus::detail::exp_minus_one(bare(x)).value, exp_x), x);
      own_error.see(ulps(cumulus::detail::log_one_plus(x), log_x), x);
      own_error.see(ulps(cumulus::detail::exp_minus_one(x), exp_x), x);
    }
  }
  // Without: up to four roundings, of an ulp each at most. glibc promises 2 ulp for its own.
  CHECK_WORST(log_error, 4);
  CHECK_WORST(exp_error, 4);
  CHECK_WORST(own_error, 2);
}

TEST_CASE("scalar: log(1 + x) and e^x - 1 at the ends of their range", "[core][edge]") {
  CHECK(cumulus::detail::log_one_plus(bare(-1)).value == -inf);
  CHECK(std::isnan(cumulus::detail::log_one_plus(bare(-2)).value));
  CHECK(std::isnan(cumulus::detail::log_one_plus(bare(qnan)).value));
  CHECK(cumulus::detail::log_one_plus(bare(0)).value == 0);
  CHECK(cumulus::detail::log_one_plus(bare(inf)).value == inf);
  CHECK(cumulus::detail::exp_minus_one(bare(inf)).value == inf);
  CHECK(cumulus::detail::exp_minus_one(bare(1000)).value == inf);
  CHECK(cumulus::detail::exp_minus_one(bare(-1000)).value == -1);
  CHECK(cumulus::detail::exp_minus_one(bare(-inf)).value == -1);
  CHECK(cumulus::detail::exp_minus_one(bare(0)).value == 0);
  CHECK(std::isnan(cumulus::detail::exp_minus_one(bare(qnan)).value));
}

TEMPLATE_TEST_CASE("scalar: powers of two come off and go on exactly", "[core][value]", float,
                   double, long double, oracle::wide) {
  using T = TestType;
  CHECK(cumulus::detail::binary_exponent(T(1)) == 1);
  CHECK(cumulus::detail::binary_exponent(T(0.75)) == 0);
  CHECK(cumulus::detail::binary_exponent(T(-8)) == 4);
  CHECK(cumulus::detail::binary_exponent(T(0)) == 0);
  CHECK(cumulus::detail::times_power_of_two(T(3), 10) == T(3072));
  CHECK(cumulus::detail::times_power_of_two(T(-3), -1) == T(-1.5));
  if (std::numeric_limits<T>::is_iec559) {
    const T least = std::numeric_limits<T>::denorm_min();
    const int e = cumulus::detail::binary_exponent(least);
    CHECK(cumulus::detail::times_power_of_two(least, -e) == T(0.5));
    CHECK(cumulus::detail::times_power_of_two(T(0.5), e) == least);
    CHECK(cumulus::detail::times_power_of_two(T(1), 40000) == cumulus::detail::infinity<T>);
    CHECK(cumulus::detail::times_power_of_two(T(1), -40000) == T(0));
  }
  CHECK(cumulus::detail::binary_exponent(bare(8)) ==
        0);  // a scalar without exponents has the exponent 0
  CHECK(cumulus::detail::times_power_of_two(bare(8), 0).value == 8);
}
