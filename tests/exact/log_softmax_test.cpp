// SPDX-License-Identifier: MIT
#include <cumulus/exact/log_softmax.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "shifted.hpp"
#include "sweep.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::into;
using cumulus::log_softmax;
using cumulus::log_softmax_max_ulp;
using cumulus::rowwise;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T, class V>
bool all_same(const V& a, const std::vector<double>& b) {
  bool result = std::size_t(a.size()) == b.size();
  for (std::size_t i = 0; result && i < b.size(); ++i)
    result = same(double(a[Eigen::Index(i)]), double(T(b[i])));
  return result;
}

bool fits_float(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(),
                     [](double v) { return !std::isfinite(v) || std::abs(v) <= double(FLT_MAX); });
}

/// log(w_i e^{x_i} / sum); about the largest term, which is left out of the sum so that a result near 0 has its digits.
template <class T>
std::vector<oracle::wide> expected_of(const std::vector<T>& x, const std::vector<T>& w = {}) {
  std::vector<oracle::wide> terms = oracle::exp_terms(x, oracle::centre(x), w);
  const auto peak = std::size_t(std::max_element(terms.begin(), terms.end()) - terms.begin());
  std::vector<oracle::wide> result(x.size());
  if (x.empty()) return result;
  const oracle::wide largest = terms[peak];
  terms[peak] = 0;
  const oracle::wide log_total = log1p(oracle::total(terms) / largest);
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[i] = oracle::wide(x[i]) - oracle::wide(x[peak]) - log_total;
    if (!w.empty()) result[i] += log(oracle::wide(w[i]) / oracle::wide(w[peak]));
  }
  return result;
}

template <class T>
double error(const std::vector<T>& x) {
  const std::vector<oracle::wide> expected = expected_of(x);
  const std::vector<T> actual = log_softmax(x);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = ulps(actual[i], expected[i]);
    if (!(e <= largest)) largest = e;
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "log_softmax: every entry within its ulp bound at every length, offset and spread",
    "[exact][value]", float, double, long double) {
  worst error_here;
  sweep<TestType>([&](const auto& x, std::size_t n, double offset, double spread) {
    error_here.see(error(x), "n =", n, "offset", offset, "spread", spread);
  });
  CHECK_WORST(error_here, log_softmax_max_ulp);
}

TEMPLATE_TEST_CASE("log_softmax: within its ulp bound on ties, ramps, outliers and two points",
                   "[exact][value]", float, double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 64u, 500u}) {
    for (const double offset : {0.0, -80.0, 700.0, 1e4}) {
      for (const double step : {1e-6, 1.0, 40.0, 200.0, 600.0}) {
        error_here.see(error(families::ties<TestType>(n, offset + step)), "ties", n, offset, step);
        error_here.see(error(families::one_outlier<TestType>(n, offset, offset + step)), "outlier",
                       n, offset, step);
        error_here.see(error(families::one_outlier<TestType>(n, offset, offset - step)),
                       "low outlier", n, offset, step);
        error_here.see(error(families::two_points<TestType>(n, offset, offset + step, (n + 1) / 2)),
                       "two points", n, offset, step);
      }
      error_here.see(error(families::ascending<TestType>(n, offset - 50, offset)), "ascending", n,
                     offset);
      error_here.see(error(families::ascending<TestType>(n, offset, offset - 50)), "descending", n,
                     offset);
    }
  }
  CHECK_WORST(error_here, log_softmax_max_ulp);
}

TEST_CASE("log_softmax: the error does not grow with the length", "[exact][value]") {
  worst error_here;
  for (const std::size_t n : {1000u, 30000u, 1000000u}) {
    const auto x = families::normal<double>(n, 50.0, 2.0, n);
    const long double log_sum = oracle::shifted_logsumexp<long double>(x);
    const std::vector<double> actual = log_softmax(x);
    for (std::size_t i = 0; i < n; i += 1 + n / 20000)
      error_here.see(ulps(actual[i], (long double)(x[i]) - log_sum), "n =", n, "entry", i);
  }
  CHECK_WORST(error_here, log_softmax_max_ulp);
}

TEMPLATE_TEST_CASE("log_softmax: weighted, within its ulp bound of the largest part",
                   "[exact][value]", float, double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 40u, 70u}) {
    for (const double decades : {0.0, 2.0, 30.0}) {
      for (const double spread : {1e-3, 1.0, 300.0}) {
        const auto x = families::normal<TestType>(n, 0.0, spread, 3u);
        const auto w = families::wild_weights<TestType>(n, decades, n);
        const auto expected = expected_of(x, w);
        const std::vector<TestType> actual = log_softmax(x, {.weights = w});
        TestType part = 0;
        for (std::size_t i = 0; i < n; ++i) part = std::max(part, std::abs(std::log(w[i])));
        for (std::size_t i = 0; i < n; ++i) {
          const TestType scale = std::max(part, std::abs(static_cast<TestType>(expected[i])));
          error_here.see(ulps(actual[i], expected[i], scale), "n =", n, "decades", decades,
                         "spread", spread, "entry", i);
        }
      }
    }
  }
  CHECK_WORST(error_here, log_softmax_max_ulp);
}

TEST_CASE("log_softmax: rules 1, 4 and 5, infinite and NaN entries", "[exact][edge]") {
  struct row {
    std::vector<double> x, expected;
  };
  const std::vector<row> table{
      {{}, {}},
      {{3}, {0}},
      {{2, 2}, {-0.69314718055994531, -0.69314718055994531}},
      {{-inf}, {qnan}},
      {{-inf, -inf}, {qnan, qnan}},
      {{-inf, 5}, {-inf, 0}},
      {{inf}, {0}},
      {{inf, 2}, {0, -inf}},
      {{2, inf, -inf}, {-inf, 0, -inf}},
      {{inf, inf}, {qnan, qnan}},
      {{inf, 1, inf, -inf}, {qnan, -inf, qnan, -inf}},
      {{qnan}, {qnan}},
      {{1, qnan, 2}, {qnan, qnan, qnan}},
      {{inf, qnan, 2}, {qnan, qnan, qnan}},
      {{-inf, qnan, 2}, {qnan, qnan, qnan}},
      {{DBL_MAX, 0}, {0, -DBL_MAX}},
      {{0, -800}, {0, -800}},
      {{1e308, -1e308}, {0, -inf}},
      {{0, -1e30}, {0, -1e30}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(all_same<double>(log_softmax(r.x), r.expected));
    if (fits_float(r.x))
      CHECK(all_same<float>(log_softmax(std::vector<float>(r.x.begin(), r.x.end())), r.expected));
    std::vector<double> in_place = r.x;
    log_softmax(in_place, into(in_place));
    CHECK(all_same<double>(
        Eigen::Map<const Eigen::VectorXd>(in_place.data(), Eigen::Index(in_place.size())),
        r.expected));
  }
}

TEST_CASE("log_softmax: rules 2 and 3, weights and masks", "[exact][edge]") {
  struct row {
    std::vector<double> x, w;
    std::array<bool, 2> mask;
    std::vector<double> expected;
  };
  const std::vector<row> table{
      {{1, 2}, {0, 0}, {true, true}, {-inf, -inf}},
      {{qnan, 2}, {0, 1}, {true, true}, {-inf, 0}},
      {{inf, 2}, {-0.0, 1}, {true, true}, {-inf, 0}},
      {{-inf, 2}, {1, 0}, {true, true}, {qnan, -inf}},
      {{1, 2}, {1, qnan}, {true, true}, {qnan, qnan}},
      {{-inf, 2}, {inf, 1}, {true, true}, {qnan, qnan}},
      {{1, 2}, {inf, 1}, {true, true}, {0, -inf}},
      {{1, inf}, {inf, 1}, {true, true}, {qnan, qnan}},
      {{3, 3}, {1, 1}, {false, false}, {-inf, -inf}},
      {{qnan, 3}, {qnan, 7}, {false, true}, {-inf, 0}},
      {{inf, -inf}, {1, 1}, {false, true}, {-inf, qnan}},
      {{inf, 3}, {1, 1}, {true, false}, {0, -inf}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w, r.mask, r.expected);
    CHECK(all_same<double>(log_softmax(r.x, {.weights = r.w, .mask = r.mask}), r.expected));
  }
}

TEST_CASE("log_softmax: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {},        {-inf},       {inf},          {-inf, -inf},     {inf, inf},
      {-inf, 1}, {1, -inf, 2}, {inf, 1, -inf}, {inf, -inf, inf}, {1e308, -1e308},
      {0, -1000}};
  for (const auto& x : rows) {
    CAPTURE(x);
    std::vector<double> out(x.size());
    CHECK(spurious_flags([&] { log_softmax(x, into(out)); }) == 0);
    const std::vector<double> w(x.size(), 0.0), v(x.size(), 2.5);
    CHECK(spurious_flags([&] { log_softmax(x, into(out), {.weights = w}); }) == 0);
    CHECK(spurious_flags([&] { log_softmax(x, into(out), {.weights = v}); }) == 0);
  }
}

TEST_CASE("log_softmax: NaN and +inf are seen at every position", "[exact][edge]") {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<double>(n, 0.0, 1.0, n);
    std::vector<double> out(n), one_hot(n, -inf);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double kept = x[i];
      x[i] = qnan;
      log_softmax(x, into(out));
      for (const double y : out) all = all && std::isnan(y);
      x[i] = inf;
      one_hot[i] = 0;
      log_softmax(x, into(out));
      all = all && out == one_hot;
      one_hot[i] = -inf;
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("log_softmax: every kind of vector gives the same, in every kind of place",
          "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const std::vector<double> expected = log_softmax(x);
  std::vector<double> out(kinds::size);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    log_softmax(argument, into(out));
    CHECK(out == expected);
  });
  kinds::each_out<double>([&](const char* kind, auto&& place, const auto& read) {
    CAPTURE(kind);
    log_softmax(x, into(place));
    CHECK(read() == expected);
  });
}

TEST_CASE("log_softmax: matrices of integers, of fixed size, of none", "[exact][edge]") {
  Eigen::Matrix<int, 2, 3> x;
  x << 1, 5, 2, 7, 7, 7;
  static_assert(std::is_same_v<decltype(log_softmax(x, rowwise)), Eigen::Matrix<double, 2, 3>>);
  CHECK(log_softmax(x, rowwise).row(0).transpose() ==
        kinds::column_of(log_softmax(std::array{1, 5, 2})));
  CHECK(log_softmax(x, colwise).col(2) == kinds::column_of(log_softmax(std::array{2, 7})));
  CHECK(log_softmax(Eigen::MatrixXd(0, 3), rowwise).cols() == 3);
  CHECK(log_softmax(Eigen::MatrixXd(3, 0), rowwise).rows() == 3);
  CHECK(log_softmax(Eigen::MatrixXd(3, 0), colwise).rows() == 3);
}

TEST_CASE("log_softmax: the same after a shift, and permutes with its input", "[exact][property]") {
  auto x = families::normal<double>(50, 0.0, 8.0, 6u);
  for (double& v : x) v = std::round(v * 1024) / 1024;  // so that the shifts are exact
  const std::vector<double> expected = log_softmax(x);
  worst error_here;
  for (const double shift : {1.0, -64.0, 1024.0, 0x1p40}) {
    auto y = x;
    for (double& v : y) v += shift;
    const std::vector<double> shifted = log_softmax(y);
    for (std::size_t i = 0; i < expected.size(); ++i)
      error_here.see(ulps(shifted[i], oracle::wide(expected[i])), "shift", shift, "entry", i);
  }
  for (std::size_t turn = 1; turn < x.size(); turn += 7) {
    auto y = x;
    std::rotate(y.begin(), y.begin() + std::ptrdiff_t(turn), y.end());
    const std::vector<double> actual = log_softmax(y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double before = expected[(i + turn) % x.size()];
      error_here.see(ulps(actual[i], oracle::wide(before)), "turn", turn, "entry", i);
    }
  }
  CHECK_WORST(error_here, 2 * log_softmax_max_ulp);
}
