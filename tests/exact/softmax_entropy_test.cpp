// SPDX-License-Identifier: MIT
#include <cumulus/exact/softmax_entropy.hpp>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "calls.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "refusal.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::rowwise;
using cumulus::softmax_entropy;
using cumulus::softmax_entropy_max_ulp;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// -sum p log p. Where one share is nearly 1, its logarithm by what it lacks: 1 - p is not p's to
/// tell in 50 digits.
template <class T>
double error(const call<T>& c) {
  const oracle::distribution<> d(c);
  const auto n = d.share.size();
  std::size_t top = 0;
  std::vector<wide> p = d.share;
  p.push_back(d.sink_share);
  for (std::size_t i = 1; i <= n; ++i)
    if (p[i] > p[top]) top = i;
  wide others = 0, entropy = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    if (i == top || p[i] == 0) continue;
    others += p[i];
    entropy -= p[i] * log(p[i]);
  }
  entropy -= p[top] * (others < 0.5 ? wide(log1p(wide(-others))) : wide(log(p[top])));
  const T actual = with_options(c, [&](const auto& o) { return softmax_entropy(c.x, o); });
  return ulps(actual, entropy);
}

}  // namespace

TEMPLATE_TEST_CASE("softmax_entropy: within its ulp bound at every length, offset and spread",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 16u, 17u, 33u, 70u, 300u}) {
    for (const double offset : {0.0, 1e4, -700.0, 1e16}) {
      for (const double spread : {1e-8, 1e-3, 1.0, 8.0, 30.0, 300.0}) {
        error_here.see(error<TestType>({families::normal<TestType>(n, offset, spread, n + 1)}),
                       "n =", n, "offset", offset, "spread", spread);
      }
    }
  }
  CHECK_WORST(error_here, softmax_entropy_max_ulp);
}

TEMPLATE_TEST_CASE("softmax_entropy: within its ulp bound on ties, ramps, outliers, two points",
                   "[exact][value]", float, double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 17u, 100u}) {
    for (const double step : {1e-6, 0.1, 1.0, 5.0, 20.0, 40.0, 80.0}) {
      error_here.see(error<TestType>({families::ties<TestType>(n, step)}), "ties", n, step);
      error_here.see(error<TestType>({families::one_outlier<TestType>(n, 1.0, 1 + step)}),
                     "outlier", n, step);
      error_here.see(error<TestType>({families::one_outlier<TestType>(n, 1.0, 1 - step)}),
                     "low outlier", n, step);
      error_here.see(error<TestType>({families::ascending<TestType>(n, -step, 0.0)}), "ramp", n,
                     step);
      error_here.see(error<TestType>({families::two_points<TestType>(n, 0.0, step, (n + 1) / 2)}),
                     "two points", n, step);
    }
  }
  CHECK_WORST(error_here, softmax_entropy_max_ulp);
}

TEST_CASE("softmax_entropy: a row that is one-hot but for a tail", "[exact][value]") {
  worst error_here;
  for (double gap = 30; gap < 720; gap *= 1.3) error_here.see(error<double>({{0.0, -gap}}), gap);
  CHECK_WORST(error_here, softmax_entropy_max_ulp);
  CHECK(softmax_entropy(std::array{0.0, -800.0}) == 0.0);
}

TEST_CASE("softmax_entropy: weights, masks, scales and sinks keep the bound", "[exact][value]") {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 5u, 33u}) {
    for (const double decades : {0.0, 1.0, 4.0}) {
      for (const double spread : {1e-3, 1.0, 10.0}) {
        for (const double scale : {1.0, -1.0, 0.3, 7.0, 0.0}) {
          for (const double sink : {-inf, 1.5, 40.0}) {
            call<double> c{families::normal<double>(n, 2.0, spread, n),
                           families::wild_weights<double>(n, decades, n + 1),
                           {},
                           scale};
            if (n > 4) c.weights[3] = 0, c.mask.assign(n, 1), c.mask[1] = 0;
            if (std::isfinite(sink)) c.sink = sink;
            error_here.see(error(c), n, decades, spread, scale, sink);
          }
        }
      }
    }
  }
  CHECK_WORST(error_here, softmax_entropy_max_ulp);
}

TEST_CASE("softmax_entropy: within its ulp bound on thousands of short calls", "[exact][value]") {
  worst plain, weighted;
  families::random r(12345u);
  for (int i = 0; i < 6000; ++i) {
    const std::size_t n = 1 + r.below(7);
    const double spread = std::exp(r.uniform(-10.0, 4.0));
    call<double> c{families::draws<double>(n, [&] { return spread * r.normal(); })};
    if (i % 2 == 0) plain.see(error(c), "call", i, "n =", n, "spread", spread);
    c.weights = families::draws<double>(n, [&] { return std::exp(r.uniform(-5, 5)); });
    if (i % 2 == 1) weighted.see(error(c), "call", i, "n =", n, "spread", spread);
  }
  CHECK_WORST(plain, softmax_entropy_max_ulp);
  CHECK_WORST(weighted, softmax_entropy_max_ulp);
}

TEST_CASE("softmax_entropy: the error does not grow with the length", "[exact][value]") {
  worst error_here;
  for (const std::size_t n : {3000u, 100000u}) {
    for (const double spread : {0.0, 1.0, 5.0}) {
      const auto x = families::normal<double>(n, 50.0, spread, n);
      long double sum = 0, mean = 0;
      for (const double v : x) sum += std::exp((long double)(v)-50);
      for (const double v : x) {
        const long double y = (long double)(v)-50;
        mean += std::exp(y) / sum * (std::log(sum) - y);
      }
      error_here.see(ulps(softmax_entropy(x), wide(mean)), n, spread);
    }
  }
  CHECK_WORST(error_here, softmax_entropy_max_ulp);
}

TEST_CASE("softmax_entropy: log n for equal x, 0 for one-hot rows, NaN without a softmax",
          "[exact][edge]") {
  for (const int n : {1, 2, 3, 10, 64, 1000}) {
    for (const double v : {0.0, -1e16, 700.0, DBL_MAX}) {
      CAPTURE(n, v);
      CHECK(ulps(softmax_entropy(families::ties<double>(std::size_t(n), v)), wide(log(wide(n)))) <=
            1);
    }
  }
  struct row {
    std::vector<double> x;
    double expected;
  };
  const std::vector<row> table{
      {{}, qnan},        {{-inf}, qnan},           {{-inf, -inf}, qnan}, {{inf}, 0},
      {{inf, 3}, 0},     {{inf, 3, -inf}, 0},      {{inf, inf}, qnan},   {{qnan}, qnan},
      {{qnan, 1}, qnan}, {{inf, qnan}, qnan},      {{-inf, qnan}, qnan}, {{-inf, 3}, 0},
      {{3}, 0},          {{DBL_MAX, -DBL_MAX}, 0},
  };
  for (const row& r : table) {
    CAPTURE(r.x);
    CHECK(same(softmax_entropy(r.x), r.expected));
  }
  const std::vector<double> x{qnan, 2, inf, 2};
  const wide log_2 = log(wide(2));
  CHECK(ulps(softmax_entropy(x, {.mask = std::array{false, true, false, true}}), log_2) <= 1);
  CHECK(ulps(softmax_entropy(x, {.weights = {0, 3, -0.0, 3}}), log_2) <= 1);
  CHECK(std::isnan(softmax_entropy(x, {.mask = std::array{false, false, false, false}})));
  // The sink is an outcome.
  CHECK(ulps(softmax_entropy(std::array{2.0}, {.sink = 2}), log_2) <= 1);
  CHECK(softmax_entropy(std::array{2.0}, {.sink = inf}) == 0.0);
  CHECK(std::isnan(softmax_entropy(std::array{inf}, {.sink = inf})));
  CHECK(softmax_entropy(std::array{-inf}, {.sink = 1}) == 0.0);
  CHECK(softmax_entropy(std::array<double, 0>{}, {.sink = 1}) == 0.0);
  // Limits of the scale.
  CHECK(ulps(softmax_entropy(std::array{7.0, 1.0, inf}, {.scale = 0}), wide(log(wide(3)))) <= 1);
  CHECK(softmax_entropy(std::array{7.0, 1.0}, {.scale = inf}) == 0.0);
  CHECK(ulps(softmax_entropy(std::array{7.0, 1.0, 1.0}, {.scale = -inf}), log_2) <= 1);
}

TEST_CASE("softmax_entropy: NaN is seen at every position", "[exact][edge]") {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<double>(n, 0.0, 1.0, n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double kept = x[i];
      x[i] = qnan;
      all = all && std::isnan(softmax_entropy(x));
      x[i] = inf;
      all = all && softmax_entropy(x) == 0;
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("softmax_entropy: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {}, {-inf}, {inf}, {-inf, -inf}, {1, -inf, 2}, {inf, 1}, {inf, -inf, inf}, {0, -1000}};
  for (const auto& x : rows) {
    CAPTURE(x);
    volatile double out = 0;
    const std::vector<double> v(x.size(), 2.5);
    CHECK(spurious_flags([&] { out = softmax_entropy(x); }) == 0);
    CHECK(spurious_flags([&] { out = softmax_entropy(x, {.weights = v, .sink = 1}); }) == 0);
  }
}

TEST_CASE("softmax_entropy: shifts and permutations change nothing", "[exact][property]") {
  auto x = families::normal<double>(40, 0.0, 3.0, 6u);
  for (double& v : x) v = std::round(v * 1024) / 1024;
  const double before = softmax_entropy(x);
  for (const double shift : {1.0, -64.0, 0x1p40}) {
    auto y = x;
    for (double& v : y) v += shift;
    CHECK(ulps(softmax_entropy(y), wide(before)) <= 2 * softmax_entropy_max_ulp);
  }
  const std::vector<double> backwards(x.rbegin(), x.rend());
  CHECK(ulps(softmax_entropy(backwards), wide(before)) <= 2 * softmax_entropy_max_ulp);
}

TEST_CASE("softmax_entropy: rows, columns and every kind of vector", "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const Eigen::MatrixXd values = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  const std::vector<double> w{1, 0, 2, 3, 0.5};
  const Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(7, -1.0, 2.0);
  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const Eigen::VectorXd rows = softmax_entropy(x, rowwise, {.weights = w, .scale = scale});
    const Eigen::RowVectorXd cols = softmax_entropy(x, colwise);
    for (int i = 0; i < 7; ++i)
      CHECK(rows[i] == softmax_entropy(values.row(i), {.weights = w, .scale = scale[i]}));
    for (int j = 0; j < 5; ++j) CHECK(cols[j] == softmax_entropy(values.col(j)));
  });
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const double expected = softmax_entropy(x);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(softmax_entropy(argument) == expected);
  });
  CHECK(refusal([&] { (void)softmax_entropy(x, {.weights = w}); }) ==
        "cumulus: softmax_entropy: x has 13 elements, weights has 5");
}
