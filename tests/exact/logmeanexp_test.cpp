// SPDX-License-Identifier: MIT
#include <cumulus/exact/logmeanexp.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "calls.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "refusal.hpp"
#include "takes.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::logmeanexp;
using cumulus::logvarexp;
using cumulus::rowwise;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
T mean_of(const call<T>& c) {
  return with_options(c, [&](const auto& o) { return logmeanexp(c.x, o); });
}

template <class T>
T variance_of(const call<T>& c, double correction = 0) {
  return with_options(c, [&](const auto& o) {
    cumulus::variance_options<T> with_correction = o;
    with_correction.correction = correction;
    return logvarexp(c.x, with_correction);
  });
}

template <class T>
wide factor(const call<T>& c, std::size_t i) {
  if (!c.mask.empty() && !c.mask[i]) return 0;
  return c.weights.empty() ? wide(1) : wide(c.weights[i]);
}

/// The mean of |scale x|: what an error of logmeanexp is measured against, besides the result.
template <class T>
wide mean_size(const call<T>& c) {
  wide sum = 0, weight = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    sum += factor(c, i) * abs(wide(c.scale) * wide(c.x[i]));
    weight += factor(c, i);
  }
  return sum / weight;
}

/// In roundings of max(|result|, mean |x|).
template <class T>
double roundings(T actual, const wide& expected, const wide& size) {
  const wide of = std::max(wide(abs(expected)), size);
  const wide off = abs(wide(actual) - expected);
  if (off == 0) return 0;
  if (!std::isfinite(actual)) return inf;
  return double(off / of / wide(std::numeric_limits<T>::epsilon() / 2));
}

template <class T>
double mean_error(const call<T>& c) {
  const oracle::distribution<> d(c);
  return roundings(mean_of(c), wide(d.log_sum - log(d.weight)), mean_size(c));
}

/// log(sum w (e^x - mean e^x)^2 / (W - correction)), and the error in ulp of max(1, 2 max |x|,
/// |result|). Near 0 by e^x - 1, since 50 digits do not hold 1 + 1e-300.
template <class T>
double variance_error(const call<T>& c, double correction = 0) {
  wide weight = 0, sum = 0, square = 0, largest = 0;
  std::vector<wide> power(c.x.size());
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (factor(c, i) > 0) largest = std::max(largest, wide(abs(wide(c.scale) * wide(c.x[i]))));
  }
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const wide z = wide(c.scale) * wide(c.x[i]);
    power[i] = largest < 1 ? expm1(z) : exp(z);
    weight += factor(c, i);
    sum += factor(c, i) * power[i];
  }
  for (std::size_t i = 0; i < c.x.size(); ++i)
    square += factor(c, i) * (power[i] - sum / weight) * (power[i] - sum / weight);
  const wide expected = log(square / (weight - correction));
  const wide size = std::max({wide(1), wide(2 * largest), wide(abs(expected))});
  return ulps(variance_of(c, correction), expected, T(size));
}

}  // namespace

TEMPLATE_TEST_CASE("logmeanexp: within its roundings at every offset, spread and length",
                   "[exact][value]", float, double, long double) {
  worst error;
  for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 64u, 300u}) {
    for (const double offset : {0.0, 1e4, -1e4, 88.0, -0.3, 1e-3}) {
      for (const double spread : {1e-8, 1e-3, 0.3, 1.0, 8.0, 50.0}) {
        error.see(mean_error<TestType>({families::normal<TestType>(n, offset, spread, n + 5)}),
                  "n =", n, "offset", offset, "spread", spread);
      }
    }
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEMPLATE_TEST_CASE("logmeanexp: within its roundings at every length up to 70", "[exact][value]",
                   float, double) {
  worst error;
  for (std::size_t n = 1; n <= 70; ++n) {
    for (const double spread : {1e-6, 0.7, 5.0})
      error.see(mean_error<TestType>({families::normal<TestType>(n, 0.0, spread, n)}), n, spread);
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEMPLATE_TEST_CASE("logmeanexp: within its roundings on ties, ramps, outliers and two points",
                   "[exact][value]", float, double) {
  worst error;
  for (const std::size_t n : {2u, 3u, 8u, 17u, 100u}) {
    for (const double offset : {0.0, -80.0, 1e4}) {
      for (const double step : {1e-6, 0.49, 0.51, 1.0, 20.0, 80.0}) {
        for (const double sign : {1.0, -1.0}) {
          error.see(mean_error<TestType>(
                        {families::one_outlier<TestType>(n, offset, offset + sign * step)}),
                    "outlier", n, offset, sign * step);
        }
        error.see(mean_error<TestType>(
                      {families::two_points<TestType>(n, offset, offset + step, (n + 1) / 2)}),
                  "two points", n, offset, step);
        error.see(mean_error<TestType>({families::ascending<TestType>(n, offset - step, offset)}),
                  "ascending", n, offset, step);
      }
    }
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEST_CASE("logmeanexp: where the mean of e^x is 1, an answer near 0 keeps its digits",
          "[exact][value]") {
  // Two points whose exponentials average to almost 1, and zero-mean samples: log-sum-exp less log
  // n has no digit left.
  worst error;
  for (const double a : {1e-9, 1e-5, 1e-2, 0.3, 0.6}) {
    error.see(mean_error<double>({{std::log1p(a), std::log1p(-a)}}), "log1p", a);
    error.see(mean_error<double>({{a, -a}}), "symmetric", a);
    error.see(mean_error<float>({{float(a), -float(a)}}), "symmetric float", a);
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
  // [a, -a] gives log cosh a = a^2/2 - ..: relative to the result itself this is what the function
  // is for.
  CHECK(std::abs(logmeanexp(std::vector<double>{1e-9, -1e-9}) - 5e-19) <=
        cumulus::logmeanexp_max_roundings * 0x1p-53 * 1e-9);
}

TEST_CASE("logmeanexp: within its roundings on thousands of short calls", "[exact][value]") {
  worst plain, weighted;
  families::random r(777u);
  for (int i = 0; i < 6000; ++i) {
    const std::size_t n = 2 + r.below(9);
    const double spread = std::exp(r.uniform(-3.0, 2.5));
    call<double> c{families::draws<double>(n, [&] { return spread * r.normal(); })};
    plain.see(mean_error(c), "call", i, "n =", n, "spread", spread);
    c.weights = families::draws<double>(n, [&] { return std::exp(r.uniform(-5, 5)); });
    if (i % 4 == 0) weighted.see(mean_error(c), "call", i, "n =", n, "spread", spread);
  }
  // The largest errors of longer searches.
  plain.see(mean_error<double>({{-0.61291855726905176, -1.3762839177169515, -3.5349713346302258,
                                 -1.4038502357461549, -2.2196844203749646, 3.98824477199588,
                                 -0.71805461499970558, -2.5895163880253618, -1.1006320208360685}}),
            "nine");
  CHECK_WORST(plain, cumulus::logmeanexp_max_roundings);
  CHECK_WORST(weighted, cumulus::logmeanexp_max_roundings);
}

TEST_CASE("logmeanexp: the error does not grow with the length", "[exact][value]") {
  worst error;
  for (const std::size_t n : {5000u, 100000u}) {
    for (const double offset : {0.0, 1e4}) {
      for (const double spread : {1.0, 3.0}) {
        const call<double> c{families::normal<double>(n, offset, spread, n)};
        const oracle::distribution<long double> d(c);
        error.see(roundings(mean_of(c), wide(d.log_sum - std::log(d.weight)), mean_size(c)),
                  "n =", n, "offset", offset, "spread", spread);
      }
    }
    // A tiny spread about 0: e^x - 1 = x + x^2/2 + x^3/6 to 50 digits would be too slow by exp.
    const auto x = families::normal<double>(n, 0.0, 1e-8, n);
    wide excess = 0, size = 0;
    for (const double v : x) {
      const wide y = v;
      excess += y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5 * (1 + y / 6)))));
      size += abs(y);
    }
    error.see(roundings(logmeanexp(x), wide(log1p(wide(excess / n))), wide(size / n)), "tiny", n);
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEMPLATE_TEST_CASE("logmeanexp: weights, masks and scales keep the bound", "[exact][value]", float,
                   double) {
  worst error;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 40u}) {
    for (const double decades : {0.0, 2.0, 12.0}) {
      for (const double spread : {1e-6, 0.4, 1.0, 10.0}) {
        for (const double offset : {0.0, 30.0, -1e4}) {
          for (const double scale : {1.0, -0.5, 3.0}) {
            call<TestType> c{families::normal<TestType>(n, offset, spread, 3u),
                             families::wild_weights<TestType>(n, decades, n),
                             {},
                             scale};
            if (n > 4) c.weights[3] = TestType(0), c.mask.assign(n, 1), c.mask[1] = 0;
            // The bound is for e^(max - mean) within the scalar.
            wide mean = 0, weight = 0, top = -1e9;
            for (std::size_t i = 0; i < n; ++i) {
              const wide z = wide(scale) * wide(c.x[i]), f = factor(c, i);
              mean += f * z, weight += f;
              if (f > 0 && top < z) top = z;
            }
            if (top - mean / weight > std::log(double(std::numeric_limits<TestType>::max())) - 1)
              continue;
            error.see(mean_error(c), "n =", n, "decades", decades, "spread", spread, "offset",
                      offset, "scale", scale);
          }
        }
      }
    }
  }
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEST_CASE("logmeanexp: weights near the ends of their range", "[exact][edge]") {
  worst error;
  for (const double size : {0x1p-1074, 1e-310, 1e-300, 1e300, 0.25 * DBL_MAX, 0.75 * DBL_MAX}) {
    error.see(mean_error<double>({{1.5, 1.5}, {size, size}}), "equal", size);
    error.see(mean_error<double>({{0.25, -0.25}, {size, size}}), "two", size);
    error.see(mean_error<double>({{3.0, 700.0}, {size, size}}), "wide", size);
  }
  error.see(mean_error<double>({{1.0, 2.0}, {1e300, 1e-300}}), "ratio");
  error.see(mean_error<double>({{1.0, 2.0}, {1e-300, 1e300}}), "ratio");
  CHECK_WORST(error, cumulus::logmeanexp_max_roundings);
}

TEST_CASE("logmeanexp: equal x come back, infinities and NaN as in logsumexp", "[exact][edge]") {
  for (const double v : {0.0, 1.0, -1e4, 0.1, 1e16, DBL_MAX, -DBL_MAX, 0x1p-1074}) {
    for (const std::size_t n : {1u, 2u, 3u, 7u, 64u}) {
      CAPTURE(v, n);
      CHECK(logmeanexp(families::ties<double>(n, v)) == v);
    }
  }
  struct row {
    std::vector<double> x;
    double expected;
  };
  const std::vector<row> table{
      {{}, qnan},
      {{-inf}, -inf},
      {{-inf, -inf}, -inf},
      {{inf}, inf},
      {{inf, -inf, 3}, inf},
      {{inf, inf}, inf},
      {{qnan}, qnan},
      {{1, qnan}, qnan},
      {{inf, qnan}, qnan},
      {{-inf, qnan}, qnan},
      {{0, -inf}, -std::log(2.0)},
      {{5, -inf, -inf, -inf}, 5 - std::log(4.0)},
      {{DBL_MAX, -DBL_MAX}, DBL_MAX},
  };
  for (const row& r : table) {
    CAPTURE(r.x);
    const double actual = logmeanexp(r.x);
    if (std::isfinite(r.expected)) {
      CHECK(ulps(actual, wide(r.expected)) <= 3);
    } else {
      CHECK(same(actual, r.expected));
    }
  }
  CHECK(std::isnan(logmeanexp(std::vector<double>{1, 2}, {.weights = std::vector<double>{0, 0}})));
  CHECK(std::isnan(logmeanexp(std::vector<double>{1, 2}, {.weights = {1, qnan}})));
  CHECK(std::isnan(logmeanexp(std::vector<double>{1, 2}, {.mask = std::array{false, false}})));
  CHECK(logmeanexp(std::vector<double>{qnan, 2}, {.weights = {0, 3}}) == 2.0);
  CHECK(logmeanexp(std::vector<double>{qnan, 2, inf}, {.mask = std::array{false, true, false}}) ==
        2.0);
  CHECK(logmeanexp(std::vector<double>{7, inf, -inf}, {.scale = 0}) == 0.0);
}

TEST_CASE("logmeanexp: a spread whose exponential overflows is that of the sum", "[exact][value]") {
  worst error;
  for (const double top : {720.0, 1e3, 1e5, 1e300}) {
    const call<double> c{{top, 0.0, -top}};
    const oracle::distribution<> d(c);
    error.see(ulps(mean_of(c), wide(d.log_sum - log(d.weight))), top);
  }
  CHECK_WORST(error, 2);  // the sum's own, and the difference
}

TEST_CASE("logmeanexp: NaN is seen at every position", "[exact][edge]") {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<double>(n, 0.0, 1.0, n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double kept = x[i];
      x[i] = qnan;
      all = all && std::isnan(logmeanexp(x)) && std::isnan(logvarexp(x));
      x[i] = inf;
      all = all && logmeanexp(x) == inf && logvarexp(x) == inf;
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("logmeanexp: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {-inf}, {inf}, {-inf, -inf}, {inf, 1}, {-inf, 2, 3}, {inf, -inf}, {inf, inf}, {1, -inf, 0.5}};
  for (const auto& x : rows) {
    CAPTURE(x);
    volatile double out = 0;
    CHECK(spurious_flags([&] { out = logmeanexp(x); }) == 0);
    CHECK(spurious_flags([&] { out = logvarexp(x); }) == 0);
    const std::vector<double> w(x.size(), 0.5);
    CHECK(spurious_flags([&] { out = logmeanexp(x, {.weights = w, .scale = 2}); }) == 0);
  }
}

TEST_CASE("logmeanexp: a shift shifts it, and it lies between the ends", "[exact][property]") {
  auto x = families::normal<double>(30, 0.0, 2.0, 4u);
  for (double& v : x) v = std::round(v * 1024) / 1024;
  const double before = logmeanexp(x);
  for (const double shift : {1.0, -64.0, 1024.0}) {
    auto y = x;
    for (double& v : y) v += shift;
    CHECK(std::abs(logmeanexp(y) - (before + shift)) <= 6 * 0x1p-53 * std::abs(shift) + 1e-15);
  }
  CHECK(before >= *std::min_element(x.begin(), x.end()));
  CHECK(before <= *std::max_element(x.begin(), x.end()));
}

TEMPLATE_TEST_CASE("logvarexp: within its ulp bound", "[exact][value]", float, double) {
  worst error;
  for (const std::size_t n : {2u, 3u, 7u, 64u, 200u}) {
    for (const double offset : {0.0, 1e4, -1e4, 40.0}) {
      for (const double spread : {1e-6, 1e-3, 1.0, 8.0, 50.0}) {
        if (offset != 0.0 && sizeof(TestType) == 4 && spread < 1e-2) continue;  // x would be equal
        const call<TestType> c{families::normal<TestType>(n, offset, spread, n + 5)};
        error.see(variance_error(c), "n =", n, "offset", offset, "spread", spread);
        error.see(variance_error(c, 1), "unbiased, n =", n, offset, spread);
      }
    }
  }
  CHECK_WORST(error, cumulus::logvarexp_max_ulp);
}

TEST_CASE("logvarexp: weights, masks and scales keep the bound", "[exact][value]") {
  worst error;
  for (const std::size_t n : {2u, 5u, 16u, 40u}) {
    for (const double decades : {0.0, 2.0, 12.0}) {
      for (const double spread : {1e-3, 1.0, 10.0}) {
        for (const double scale : {1.0, -0.5, 3.0}) {
          call<double> c{families::normal<double>(n, 5.0, spread, 3u),
                         families::wild_weights<double>(n, decades, n),
                         {},
                         scale};
          if (n > 4) c.weights[3] = 0, c.mask.assign(n, 1), c.mask[1] = 0;
          error.see(variance_error(c), "n =", n, "decades", decades, "spread", spread, scale);
        }
      }
    }
  }
  CHECK_WORST(error, cumulus::logvarexp_max_ulp);
}

TEST_CASE("logvarexp: deviations too small to be squared, and too large", "[exact][value]") {
  worst error;
  for (const double d : {1e-100, 1e-160, 1e-200, 1e-300})
    error.see(variance_error<double>({{0.0, d}}), "tiny", d);
  for (const double d : {300.0, 800.0, 1e4}) error.see(variance_error<double>({{0.0, d}}), d);
  CHECK_WORST(error, cumulus::logvarexp_max_ulp);
}

TEST_CASE("logvarexp: edges", "[exact][edge]") {
  CHECK(std::isnan(logvarexp(std::vector<double>{})));
  CHECK(std::isnan(logvarexp(std::vector<double>{3}, {.correction = 1})));
  CHECK(std::isnan(logvarexp(std::vector<double>{3, 4}, {.correction = 2})));
  CHECK(std::isnan(logvarexp(std::vector<double>{3, qnan})));
  CHECK(std::isnan(logvarexp(std::vector<double>{inf, qnan})));
  CHECK(logvarexp(std::vector<double>{3}) == -inf);
  CHECK(logvarexp(std::vector<double>{0.1, 0.1, 0.1}) == -inf);
  CHECK(logvarexp(std::vector<double>{-inf, -inf}) == -inf);
  CHECK(logvarexp(std::vector<double>{inf, 2}) == inf);
  CHECK(logvarexp(std::vector<double>{7, inf, -inf}, {.scale = 0}) == -inf);
  // e^0 and e^-inf: a variance of 1/4, or 1/2 unbiased.
  CHECK(ulps(logvarexp(std::vector<double>{0, -inf}), wide(log(wide(0.25)))) <= 2);
  CHECK(ulps(logvarexp(std::vector<double>{0, -inf}, {.correction = 1}), wide(log(wide(0.5)))) <=
        2);
  CHECK(ulps(logvarexp(std::vector<double>{qnan, 0, -inf}, {.weights = {0, 1, 1}}),
             wide(log(wide(0.25)))) <= 2);
}

TEST_CASE("logmeanexp: rows and columns, in either storage order, with options by line",
          "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const Eigen::MatrixXd values = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const Eigen::VectorXd rows = logmeanexp(x, rowwise),
                          row_variances = logvarexp(x, rowwise, {.correction = 1});
    const Eigen::RowVectorXd cols = logmeanexp(x, colwise), col_variances = logvarexp(x, colwise);
    for (int i = 0; i < 7; ++i) {
      CHECK(rows[i] == logmeanexp(values.row(i)));
      CHECK(row_variances[i] == logvarexp(values.row(i), {.correction = 1}));
    }
    for (int j = 0; j < 5; ++j) {
      CHECK(cols[j] == logmeanexp(values.col(j)));
      CHECK(col_variances[j] == logvarexp(values.col(j)));
    }
  });
  const std::vector<double> weights{1, 0, 2, 3, 0.5};
  const Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(7, -1.0, 2.0);
  const Eigen::VectorXd rows = logmeanexp(values, rowwise, {.weights = weights, .scale = scale});
  for (int i = 0; i < 7; ++i)
    CHECK(rows[i] == logmeanexp(values.row(i), {.weights = weights, .scale = scale[i]}));
}

TEST_CASE("logmeanexp: every kind of vector gives the same", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const double mean = logmeanexp(x), variance = logvarexp(x, {.correction = 1});
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(logmeanexp(argument) == mean);
    CHECK(logvarexp(argument, {.correction = 1}) == variance);
  });
}

TEST_CASE("logmeanexp: a sink and sizes that differ are refused", "[exact][edge]") {
  const std::vector<double> x{1, 2, 3}, w{1, 2};
  const Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 3);
  CHECK(refusal([&] { (void)logmeanexp(x, {.weights = w}); }) ==
        "cumulus: logmeanexp: x has 3 elements, weights has 2");
  CHECK(refusal([&] { (void)logvarexp(x, {.weights = w}); }) ==
        "cumulus: logvarexp: x has 3 elements, weights has 2");
  // A mean has no place for a sink, or for a policy of rows without a softmax.
  static_assert(!CUMULUS_TAKES(std::vector<double>, logmeanexp(x, {.sink = 0})));
  static_assert(!CUMULUS_TAKES(std::vector<double>, logvarexp(x, {.sink = 0})));
  static_assert(!CUMULUS_TAKES(Eigen::MatrixXd, logmeanexp(x, rowwise, {.sink = 0.0})));
  static_assert(!CUMULUS_TAKES(Eigen::MatrixXd, logvarexp(x, colwise, {.sink = 0.0})));
  static_assert(
      CUMULUS_TAKES(Eigen::MatrixXd, logvarexp(x, colwise, {.scale = 2, .correction = 1})));
  static_assert(!CUMULUS_TAKES(std::vector<double>, logmeanexp(x, {.correction = 1})));
  static_assert(!CUMULUS_TAKES(std::vector<double>,
                               logmeanexp(x, {.degenerate = cumulus::degenerate::zero})));
  CHECK(refusal([&] { (void)logmeanexp(a, rowwise, {.weights = w}); }) ==
        "cumulus: logmeanexp: a row of x has 3 elements, weights has 2");
}
