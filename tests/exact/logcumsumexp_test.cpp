// SPDX-License-Identifier: MIT
#include <cumulus/exact/logcumsumexp.hpp>

#include <Eigen/Core>
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
#include "oracle.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::into;
using cumulus::logcumsumexp;
using cumulus::logsumexp;
using cumulus::logsumexp_max_ulp;
using cumulus::logsumexp_tail_max_ulp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class V>
bool same(const V& actual, const std::vector<double>& expected) {
  using T = std::remove_cvref_t<decltype(*std::begin(actual))>;
  bool all = std::size_t(actual.size()) == expected.size();
  for (std::size_t i = 0; all && i < expected.size(); ++i)
    all = same(double(actual[Eigen::Index(i)]), double(static_cast<T>(expected[i])));
  return all;
}

/// The largest error of a prefix, in ulp of max(1, |result|), and of max |x| too in double and wider.
template <class T>
double error(const std::vector<T>& x) {
  const auto actual = logcumsumexp(x);
  const T c = oracle::centre(x);
  oracle::wide sum = 0;
  double largest = 0;
  T size = T(1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += exp(oracle::wide(x[i]) - oracle::wide(c));
    const oracle::wide expected = oracle::wide(c) + log(sum);
    if (sizeof(T) > sizeof(float)) size = std::max(size, std::abs(x[i]));
    const T scale = std::max(size, std::abs(static_cast<T>(expected)));
    largest = std::max(largest, ulps(actual[Eigen::Index(i)], expected, scale));
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("logcumsumexp: every prefix is within the ulp bound", "[exact][value]", float,
                   double, long double) {
  worst error_here;
  for (const double offset : {0.0, 88.0, -1e4, 1e13, 1e20}) {
    for (const double spread : {1e-6, 1.0, 30.0, 1e3}) {
      error_here.see(error(families::normal<TestType>(500, offset, spread, 3u)), "normal", offset,
                     spread);
      error_here.see(error(families::ascending<TestType>(300, offset, offset + spread)),
                     "ascending", offset, spread);
      error_here.see(error(families::ascending<TestType>(300, offset, offset - spread)),
                     "descending", offset, spread);
      error_here.see(error(families::one_outlier<TestType>(90, offset, offset + spread)), "outlier",
                     offset, spread);
      error_here.see(error(families::ties<TestType>(300, offset)), "ties", offset);
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logcumsumexp: public cases", "[exact][value]") {
  const auto within = [](const auto& actual, const std::vector<const char*>& expected) {
    worst error_here;
    for (std::size_t i = 0; i < expected.size(); ++i)
      error_here.see(ulps(actual[Eigen::Index(i)], oracle::wide(expected[i])), i);
    CHECK_WORST(error_here, logsumexp_tail_max_ulp);
  };
  within(logcumsumexp(std::array{0.0f, 100.0f, 69.0f, 1000.0f}), {"0", "100", "100", "1000"});
  within(logcumsumexp(std::array{0.0, 100.0, 69.0, 1000.0}),
         {"0", "100", "100.0000000000000344247710846998", "1000"});
  const std::vector<const char*> tail{"0", "4.248354255291588986304977843631582181878e-18",
                                      "8.496708510583177954561441808809012793987e-18",
                                      "1.005959069991816670815167003588311444274e-17"};
  within(logcumsumexp(std::array{0.0, -40.0, -40.0, -41.0}), tail);
  within(logcumsumexp(std::array{0.0f, -40.0f, -40.0f, -41.0f}), tail);
  const auto late = logcumsumexp(std::array<float, 4>{-INFINITY, -INFINITY, 0, -40});
  CHECK(late[0] == -INFINITY);
  CHECK(late[1] == -INFINITY);
  CHECK(late[2] == 0);
  CHECK(ulps(late[3], oracle::wide(tail[1])) <= logsumexp_tail_max_ulp);
}

TEST_CASE("logcumsumexp: empty, infinite and NaN inputs", "[exact][edge]") {
  struct row {
    std::vector<double> x, expected;
  };
  const std::vector<row> table{
      {{}, {}},
      {{3}, {3}},
      {{-inf}, {-inf}},
      {{inf, inf, 1}, {inf, inf, inf}},
      {{1, inf, 2}, {1, inf, inf}},
      {{-inf, inf, -inf}, {-inf, inf, inf}},
      {{1, -inf, -inf}, {1, 1, 1}},
      {{1, qnan, inf, 2}, {1, qnan, qnan, qnan}},
      {{inf, qnan, 1}, {inf, qnan, qnan}},
      {{-inf, qnan}, {-inf, qnan}},
      {{-DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, DBL_MAX, DBL_MAX}},
      {{DBL_MAX, -DBL_MAX}, {DBL_MAX, DBL_MAX}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(same(logcumsumexp(r.x), r.expected));
    CHECK(same(logcumsumexp(std::vector<float>(r.x.begin(), r.x.end())), r.expected));
    std::vector<double> out(r.x.size());
    const bool has_nan =
        std::any_of(r.x.begin(), r.x.end(), [](double v) { return std::isnan(v); });
    if (!has_nan) CHECK(spurious_flags([&] { logcumsumexp(r.x, into(out)); }) == 0);
  }
}

TEST_CASE("logcumsumexp: what is masked or of weight 0 repeats the value before", "[exact][edge]") {
  const std::vector<double> x{qnan, 2, inf, 2, qnan}, w{0, 1, -0.0, 1, 0};
  const std::array mask{false, true, false, true, false};
  const double both = logsumexp(std::array{2.0, 2.0});
  const std::vector<double> expected{-inf, 2, 2, both, both};
  CHECK(same(logcumsumexp(x, {.mask = mask}), expected));
  CHECK(same(logcumsumexp(x, {.weights = w}), expected));
  const std::vector<double> bad{1, qnan, -1, 1, qnan};
  CHECK(same(logcumsumexp(std::vector<double>{1, 1, 1, 1, 1}, {.weights = bad}),
             {1, qnan, qnan, qnan, qnan}));
  CHECK(same(logcumsumexp(x, {.mask = std::array<bool, 5>{}}), {-inf, -inf, -inf, -inf, -inf}));
}

TEST_CASE("logcumsumexp: with options, the last entry is logsumexp", "[exact][property]") {
  worst error_here;
  for (const double scale : {1.0, 0.5, -2.0, 3.7, 1e-3, -40.1, 0.0}) {
    for (const double sink : {-inf, -3.0, 20.0}) {
      for (const std::size_t n : {1u, 5u, 40u}) {
        const auto x = families::normal<double>(n, 3.0, 5.0, n);
        const auto w = families::wild_weights<double>(n, 20.0, n + 1);
        const double expected = logsumexp(x, {.weights = w, .scale = scale, .sink = sink});
        const double actual =
            logcumsumexp(x, {.weights = w, .scale = scale, .sink = sink})[Eigen::Index(n) - 1];
        double size = std::max(std::max(1.0, std::abs(expected)), sink < 0 ? 0.0 : sink);
        for (const double v : x) size = std::max(size, std::abs(scale * v));
        error_here.see(ulps(actual, oracle::wide(expected), size), "scale", scale, "sink", sink, n);
      }
    }
  }
  CHECK_WORST(error_here, 2 * logsumexp_max_ulp);  // one bound for each of the two
}

TEST_CASE("logcumsumexp: a scale is exact, where it makes a tail too", "[exact][value]") {
  const double scale = 0.1;
  const auto actual = logcumsumexp(std::array{0.0, -400.3}, {.scale = scale});
  const oracle::wide expected = log1p(exp(oracle::wide(scale) * oracle::wide(-400.3)));
  CHECK(ulps(actual[1], expected) <= logsumexp_tail_max_ulp);
}

TEST_CASE("logcumsumexp: scales of zero, infinity and NaN are limits at every prefix",
          "[exact][edge]") {
  const std::vector<double> x{-inf, -1, 0, 0, 5, inf};
  const double two = std::log(2.0);
  const auto counts = logcumsumexp(x, {.scale = 0});
  for (int i = 0; i < 6; ++i)
    CHECK(ulps(counts[i], log(oracle::wide(i + 1)), std::max(1.0, counts[i])) <= logsumexp_max_ulp);
  CHECK(same(logcumsumexp(x, {.scale = inf}), {-inf, -inf, 0, two, inf, inf}));
  CHECK(same(logcumsumexp(x, {.scale = -inf}), {inf, inf, inf, inf, inf, inf}));
  CHECK(same(logcumsumexp(x, {.scale = -1}), {inf, inf, inf, inf, inf, inf}));
  CHECK(same(logcumsumexp(x, {.scale = qnan}), {qnan, qnan, qnan, qnan, qnan, qnan}));
  CHECK(same(logcumsumexp(std::array{1.0, qnan}, {.scale = 0}), {0, qnan}));
  CHECK(same(logcumsumexp(std::array{1e300, 1.0}, {.scale = 1e300}), {inf, inf}));
  CHECK(same(logcumsumexp(std::array{-1e300, 1.0}, {.scale = 1e300}), {-inf, 1e300}));
  CHECK(same(logcumsumexp(std::array{1.0, 2.0}, {.sink = inf}), {inf, inf}));
  CHECK(same(logcumsumexp(std::array{1.0, inf}, {.sink = qnan}), {qnan, qnan}));
}

TEMPLATE_TEST_CASE("logcumsumexp: takes every kind of vector, into every kind of place",
                   "[exact][value]", float, double) {
  using T = TestType;
  const auto x = families::normal<T>(kinds::size, 2.0, 3.0, 14u);
  std::vector<T> expected(kinds::size);
  logcumsumexp(x, into(expected));
  kinds::each_vector<T>(x, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    const auto result = logcumsumexp(v);
    bool equal = std::size_t(result.size()) == kinds::size;
    for (std::size_t i = 0; i < kinds::size; ++i)
      equal = equal && result[Eigen::Index(i)] == expected[i];
    CHECK(equal);
  });
  kinds::each_out<T>([&](const char* kind, auto&& out, auto read) {
    CAPTURE(kind);
    logcumsumexp(x, into(out));
    CHECK(read() == expected);
  });
  std::vector<T> in_place = x;
  logcumsumexp(in_place, into(in_place));
  CHECK(in_place == expected);
  kinds::column<T> longer(kinds::size + 1);
  for (std::size_t i = 0; i < kinds::size; ++i) longer[Eigen::Index(i)] = x[i];
  logcumsumexp(longer.head(kinds::size), into(longer.tail(kinds::size)));
  for (std::size_t i = 0; i < kinds::size; ++i) CHECK(longer[Eigen::Index(i) + 1] == expected[i]);
  kinds::column<T> reversed = Eigen::Map<const kinds::column<T>>(x.data(), kinds::size);
  logcumsumexp(reversed,
               into(kinds::strided_map<kinds::column<T>>(reversed.data() + kinds::size - 1,
                                                         kinds::size, Eigen::InnerStride<>(-1))));
  for (std::size_t i = 0; i < kinds::size; ++i)
    CHECK(reversed[Eigen::Index(kinds::size - 1 - i)] == expected[i]);
}

TEST_CASE("logcumsumexp: integers give double", "[exact][value]") {
  const std::array<double, 3> sums = logcumsumexp(std::array{3, 1, 4});
  const std::array<double, 3> expected = logcumsumexp(std::array{3.0, 1.0, 4.0});
  CHECK(sums == expected);
  const Eigen::RowVector3d row = logcumsumexp(Eigen::RowVector3i(3, 1, 4));
  CHECK(row.transpose() == kinds::column_of(expected));
}

TEST_CASE("logcumsumexp: sizes that differ are refused by name and number", "[exact][edge]") {
  const std::vector<double> x(5, 0.0), w(4, 1.0);
  std::vector<double> out(6, 7.0);
  CHECK(refusal([&] { logcumsumexp(x, into(out)); }) ==
        "cumulus: logcumsumexp: x has 5 elements, out has 6");
  CHECK(refusal([&] { static_cast<void>(logcumsumexp(x, {.weights = w})); }) ==
        "cumulus: logcumsumexp: x has 5 elements, weights has 4");
  CHECK(out == std::vector<double>(6, 7.0));
}

TEST_CASE("logcumsumexp: along rows and columns, each with its own options", "[exact][value]") {
  Eigen::MatrixXd x(2, 3);
  x << 0.5, -1.0, 2.0, 3.0, 1.0, -2.0;
  const Eigen::Vector2d scale(1.0, 0.5);
  const Eigen::MatrixXd rows =
      cumulus::logcumsumexp(x, cumulus::rowwise, {.scale = scale, .sink = 0.25});
  const Eigen::MatrixXd cols = cumulus::logcumsumexp(x, cumulus::colwise);
  for (Eigen::Index i = 0; i < 2; ++i) {
    const Eigen::VectorXd row = x.row(i);
    const Eigen::VectorXd expected = cumulus::logcumsumexp(row, {.scale = scale[i], .sink = 0.25});
    CHECK(rows.row(i).transpose() == expected);
  }
  for (Eigen::Index j = 0; j < 3; ++j) {
    const Eigen::VectorXd col = x.col(j);
    CHECK(cols.col(j) == Eigen::VectorXd(cumulus::logcumsumexp(col)));
  }
}
