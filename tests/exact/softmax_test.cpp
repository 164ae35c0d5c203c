// SPDX-License-Identifier: MIT
#include <cumulus/exact/softmax.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <span>
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
using cumulus::rowwise;
using cumulus::softmax;
using cumulus::softmax_max_ulp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class A, class B>
bool all_same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto x, auto y) { return same(double(x), double(y)); });
}

bool fits_float(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(),
                     [](double v) { return !std::isfinite(v) || std::abs(v) <= double(FLT_MAX); });
}

/// The largest error of an entry, each in its own ulp.
template <class T>
double error(const std::vector<T>& x, const std::vector<T>& w = {}) {
  const std::vector<oracle::wide> expected = oracle::shifted_softmax(x, w);
  const std::vector<T> actual = w.empty() ? softmax(x) : softmax(x, {.weights = w});
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = ulps(actual[i], expected[i]);
    if (!(e <= largest)) largest = e;
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("softmax: every entry within its ulp bound at every length, offset and spread",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  sweep<TestType>([&](const auto& x, std::size_t n, double offset, double spread) {
    error_here.see(error(x), "n =", n, "offset", offset, "spread", spread);
  });
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEMPLATE_TEST_CASE("softmax: within its ulp bound on ties, ramps, outliers and two points",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 64u, 500u}) {
    for (const double offset : {0.0, -80.0, 700.0, 1e4}) {
      for (const double step : {1e-6, 1.0, 40.0, 200.0}) {
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
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEMPLATE_TEST_CASE("softmax: entries underflow gradually", "[exact][edge]", float, double) {
  // From the least normal number down to below half the least subnormal one.
  const double normal = std::log(double(std::numeric_limits<TestType>::min()));
  const double least = std::log(double(std::numeric_limits<TestType>::denorm_min()));
  worst error_here;
  int subnormal = 0;
  for (const double offset : {0.0, 3.0, -1000.0}) {
    auto x = families::uniform<TestType>(200, offset + least - 2, offset + normal + 2, 21u);
    x[77] = TestType(offset);
    error_here.see(error(x), "offset", offset);
    for (const TestType y : softmax(x)) subnormal += std::fpclassify(y) == FP_SUBNORMAL;
    const auto w = families::wild_weights<TestType>(200, 3.0, 4u);
    error_here.see(error(x, w), "weighted, offset", offset);
  }
  CHECK(subnormal > 300);
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEST_CASE("softmax: the error does not grow with the length", "[exact][value]") {
  worst error_here;
  for (const std::size_t n : {1000u, 30000u, 1000000u}) {
    const auto x = families::normal<double>(n, 50.0, 2.0, n);
    const auto expected = oracle::shifted_softmax<long double>(x);
    const std::vector<double> actual = softmax(x);
    // Every entry of the short ones; of the long one the neighbours of 20000 places.
    for (std::size_t i = 0; i < n; i += 1 + n / 20000)
      error_here.see(ulps(actual[i], expected[i]), "n =", n, "entry", i);
  }
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEST_CASE("softmax: 16M floats stay within the ulp bound", "[exact][value]") {
  static_assert(softmax_max_ulp * FLT_EPSILON <= 1e-6f);  // the claim, relative
  const std::size_t n = 1u << 24;
  const std::vector<float> x = families::uniform<float>(n, -2.0, 2.0, 16u);
  long double sum = 0;
  for (const float v : x) sum += std::exp(double(v));
  std::vector<float> actual(n);
  softmax(x, into(actual));
  double largest = 0, largest_ulps = 0;
  for (std::size_t i = 0; i < n; i += 3) {
    const double expected = std::exp(double(x[i])) / double(sum);
    const double e = std::abs(double(actual[i]) / expected - 1);
    if (!(e <= largest)) {
      largest = e;
      largest_ulps = ulps(actual[i], oracle::wide(expected));
    }
  }
  CHECK(largest_ulps <= softmax_max_ulp);
  CHECK(largest <= 1e-6);
}

TEMPLATE_TEST_CASE("softmax: weights of any size keep the ulp bound", "[exact][value]", float,
                   double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 40u, 70u}) {
    for (const double decades : {0.0, 2.0, 30.0, sizeof(TestType) > 4 ? 300.0 : 60.0}) {
      for (const double spread : {1e-6, 1.0, 30.0, 300.0}) {
        for (const double offset : {0.0, 600.0, -600.0}) {
          const auto x = families::normal<TestType>(n, offset, spread, 3u);
          auto w = families::wild_weights<TestType>(n, decades, n);
          if (n > 5) w[3] = TestType(0);
          error_here.see(error(x, w), "n =", n, "decades", decades, "spread", spread, "offset",
                         offset);
        }
      }
    }
  }
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEST_CASE("softmax: rules 1, 4 and 5, infinite and NaN entries", "[exact][edge]") {
  struct row {
    std::vector<double> x, expected;
  };
  const std::vector<row> table{
      {{}, {}},
      {{3}, {1}},
      {{-1e300}, {1}},
      {{2, 2}, {0.5, 0.5}},
      {{-inf}, {qnan}},
      {{-inf, -inf}, {qnan, qnan}},
      {{-inf, 5}, {0, 1}},
      {{-inf, 5, -inf, 5}, {0, 0.5, 0, 0.5}},
      {{inf}, {1}},
      {{inf, 2}, {1, 0}},
      {{2, inf, -inf}, {0, 1, 0}},
      {{inf, inf}, {qnan, qnan}},
      {{inf, 1, inf, -inf}, {qnan, 0, qnan, 0}},
      {{qnan}, {qnan}},
      {{1, qnan, 2}, {qnan, qnan, qnan}},
      {{inf, qnan, 2}, {qnan, qnan, qnan}},
      {{-inf, qnan, 2}, {qnan, qnan, qnan}},
      {{DBL_MAX, -DBL_MAX}, {1, 0}},
      {{-DBL_MAX, 0, DBL_MAX}, {0, 0, 1}},
      {{DBL_MAX, DBL_MAX}, {0.5, 0.5}},
      {{0, -800}, {1, 0}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(all_same(softmax(r.x), r.expected));
    if (fits_float(r.x))
      CHECK(all_same(softmax(std::vector<float>(r.x.begin(), r.x.end())), r.expected));
    CHECK(all_same(softmax(std::vector<long double>(r.x.begin(), r.x.end())), r.expected));
    std::vector<double> in_place = r.x;
    softmax(in_place, into(in_place));
    CHECK(all_same(in_place, r.expected));
  }
}

TEST_CASE("softmax: rule 2, weights of zero, infinity and NaN", "[exact][edge]") {
  struct row {
    std::vector<double> x, w, expected;
  };
  const std::vector<row> table{
      {{1, 2}, {0, 0}, {0, 0}},
      {{qnan, 2}, {0, 1}, {0, 1}},
      {{inf, 2}, {-0.0, 1}, {0, 1}},
      {{2, 2, qnan}, {1, 3, 0}, {0.25, 0.75, 0}},
      {{-inf, 2}, {1, 0}, {qnan, 0}},
      {{1, 2, 3}, {1, qnan, 0}, {qnan, qnan, 0}},
      {{-inf, 2}, {qnan, 1}, {qnan, qnan}},
      {{-inf, 2}, {inf, 1}, {qnan, qnan}},
      {{1, 2}, {inf, 1}, {1, 0}},
      {{1, inf}, {inf, 1}, {qnan, qnan}},
      {{inf, 2}, {inf, 5}, {1, 0}},
      {{inf, 7}, {0.5, 2}, {1, 0}},
      {{1, 2}, {-inf, 1}, {qnan, qnan}},
      {{0, 0}, {0x1p-1074, 0x1p-1074}, {0.5, 0.5}},
      {{0, 0}, {DBL_MAX, DBL_MAX}, {0.5, 0.5}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w, r.expected);
    const auto p = softmax(r.x, {.weights = r.w});
    for (std::size_t i = 0; i < p.size(); ++i) {
      const bool part = 0 < r.expected[i] && r.expected[i] < 1;  // else it is exact
      CHECK((part ? ulps(p[i], oracle::wide(r.expected[i])) <= softmax_max_ulp
                  : all_same(std::vector<double>{p[i]}, std::vector<double>{r.expected[i]})));
    }
  }
}

TEST_CASE("softmax: rule 3, what a mask hides is 0 and never enters", "[exact][edge]") {
  struct row {
    std::vector<double> x;
    std::array<bool, 3> mask;
    std::vector<double> expected;
  };
  const std::vector<row> table{
      {{1, 2, 3}, {false, false, false}, {0, 0, 0}},
      {{qnan, inf, -inf}, {false, false, false}, {0, 0, 0}},
      {{qnan, 2, inf}, {false, true, false}, {0, 1, 0}},
      {{2, 2, inf}, {true, true, false}, {0.5, 0.5, 0}},
      {{qnan, -inf, inf}, {false, true, false}, {0, qnan, 0}},
      {{1, inf, inf}, {true, true, false}, {0, 1, 0}},
      {{1, qnan, inf}, {true, true, false}, {qnan, qnan, 0}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(all_same(softmax(r.x, {.mask = r.mask}), r.expected));
    std::vector<double> in_place = r.x;
    softmax(in_place, into(in_place), {.mask = r.mask});
    CHECK(all_same(in_place, r.expected));
  }
}

TEST_CASE("softmax: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {},         {-inf},         {inf},          {-inf, -inf},     {inf, inf},
      {-inf, 1},  {1, -inf, 2},   {inf, 1, -inf}, {inf, -inf, inf}, {DBL_MAX, -DBL_MAX},
      {0, -1000}, {-inf, 0, -800}};
  for (const auto& x : rows) {
    CAPTURE(x);
    std::vector<double> out(x.size());
    CHECK(spurious_flags([&] { softmax(x, into(out)); }) == 0);
    const std::vector<double> w(x.size(), 0.0), v(x.size(), 2.5);
    CHECK(spurious_flags([&] { softmax(x, into(out), {.weights = w}); }) == 0);
    CHECK(spurious_flags([&] { softmax(x, into(out), {.weights = v}); }) == 0);
    if (!fits_float(x)) continue;
    const std::vector<float> y(x.begin(), x.end());
    std::vector<float> y_out(x.size());
    CHECK(spurious_flags([&] { softmax(y, into(y_out)); }) == 0);
  }
}

TEMPLATE_TEST_CASE("softmax: NaN, +inf and the maximum are seen at every position", "[exact][edge]",
                   float, double) {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<TestType>(n, 0.0, 1.0, n);
    std::vector<TestType> out(n), one_hot(n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const TestType kept = x[i];
      one_hot[i] = 1;
      x[i] = TestType(qnan);
      softmax(x, into(out));
      for (const TestType y : out) all = all && std::isnan(y);
      x[i] = TestType(inf);
      softmax(x, into(out));
      all = all && out == one_hot;
      x[i] = TestType(1000);
      softmax(x, into(out));
      all = all && out == one_hot;
      x[i] = kept;
      one_hot[i] = 0;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("softmax: every kind of vector gives the same", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const kinds::column<double> expected = kinds::column_of(softmax(x));
  CHECK(error(x) <= softmax_max_ulp);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    const auto result = softmax(argument);
    static_assert(std::is_same_v<cumulus::scalar_of<decltype(result)>, double>);
    CHECK(all_same(result, expected));
  });
  // The result has the orientation and the kind of the argument.
  const kinds::row<double> as_row = expected.transpose();
  static_assert(std::is_same_v<decltype(softmax(as_row)), kinds::row<double>>);
  static_assert(
      std::is_same_v<decltype(softmax(as_row.array())), Eigen::Array<double, 1, Eigen::Dynamic>>);
  static_assert(std::is_same_v<decltype(softmax(x)), std::vector<double>>);
}

TEST_CASE("softmax: every kind of place takes the result", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const kinds::column<double> expected = kinds::column_of(softmax(x));
  kinds::each_out<double>([&](const char* kind, auto&& out, const auto& read) {
    CAPTURE(kind);
    softmax(x, into(out));
    CHECK(all_same(read(), expected));
    softmax(expected.transpose() * double(0), into(std::forward<decltype(out)>(out)));
    CHECK(all_same(read(), std::vector<double>(x.size(), double(1) / double(kinds::size))));
  });
}

TEST_CASE("softmax: strided results leave what lies between them", "[exact][edge]") {
  Eigen::MatrixXd a = Eigen::MatrixXd::Constant(3, 4, 9.0);
  softmax(std::array{1.0, 1.0}, into(a.row(1).segment(1, 2)));
  Eigen::MatrixXd expected = Eigen::MatrixXd::Constant(3, 4, 9.0);
  expected(1, 1) = expected(1, 2) = 0.5;
  CHECK(a == expected);
}

TEST_CASE("softmax: a stride of 0 repeats one element", "[exact][edge]") {
  const double value = -3.0;
  const kinds::strided_map<const Eigen::VectorXd> x(&value, 8, Eigen::InnerStride<>(0));
  CHECK(all_same(softmax(x), std::vector<double>(8, 0.125)));
  Eigen::VectorXd y = Eigen::VectorXd::LinSpaced(5, 0.0, 4.0);
  const kinds::strided_map<const Eigen::VectorXd> middle(y.data() + 2, 5, Eigen::InnerStride<>(0));
  softmax(middle, into(y));
  for (const double p : y) CHECK(ulps(p, oracle::wide(1) / 5) <= softmax_max_ulp);
}

TEST_CASE("softmax: every row or every column of a matrix", "[exact][value]") {
  Eigen::Matrix<float, 2, 3> x;
  x << 1, 2, 4, 3, 0, -2;
  static_assert(std::is_same_v<decltype(softmax(x, rowwise)), Eigen::Matrix<float, 2, 3>>);
  const Eigen::Matrix<float, 2, 3> by_rows = softmax(x, rowwise), by_cols = softmax(x, colwise);
  for (int i = 0; i < 2; ++i) CHECK(by_rows.row(i) == softmax(x.row(i)));
  for (int j = 0; j < 3; ++j) CHECK(by_cols.col(j) == softmax(x.col(j)));
}

TEST_CASE("softmax: integers, and matrices of one row or of none", "[exact][edge]") {
  static_assert(std::is_same_v<decltype(softmax(std::vector<int>{})), std::vector<double>>);
  const std::vector<int> x{1, 5, 2};
  CHECK(softmax(x) == softmax(std::vector<double>{1, 5, 2}));
  Eigen::MatrixXi a(2, 3);
  a << 1, 5, 2, 7, 7, 7;
  Eigen::MatrixXd out(2, 3);
  softmax(a, into(out), rowwise);
  CHECK(out == softmax(a, rowwise));
  CHECK(out.row(0).transpose() == kinds::column_of(softmax(x)));
  CHECK(softmax(Eigen::RowVectorXd(a.row(0).cast<double>()), rowwise) == out.row(0));
  CHECK(softmax(Eigen::MatrixXd(0, 3), rowwise).cols() == 3);
  CHECK(softmax(Eigen::MatrixXd(3, 0), rowwise).rows() == 3);
  CHECK(softmax(Eigen::MatrixXd(0, 3), colwise).cols() == 3);
  CHECK(softmax(Eigen::MatrixXd(3, 0), colwise).rows() == 3);
}

TEST_CASE("softmax: a scalar of 50 digits keeps 50 digits", "[exact][value]") {
  using scalar = oracle::wide;
  kinds::column<scalar> x(20);
  oracle::wider sum = 0;
  for (int i = 0; i < 20; ++i) {
    x[i] = scalar(i * i % 17) / 7 * i - 900;
    sum += exp(oracle::wider(x[i]));
  }
  const kinds::column<scalar> p = softmax(x);
  // Twice the error of the scalar's own exp, which loses more digits the larger its argument, comes on top.
  const oracle::wider unit = std::numeric_limits<scalar>::epsilon();
  for (int i = 0; i < 20; ++i) {
    const scalar gap = x[i] - x.maxCoeff();
    const oracle::wider own = abs(oracle::wider(exp(gap)) / exp(oracle::wider(gap)) - 1) / unit;
    const oracle::wider off =
        abs(oracle::wider(p[i]) / (exp(oracle::wider(x[i])) / sum) - 1) / unit;
    CAPTURE(i, own, off);
    CHECK(off <= softmax_max_ulp + 2 * own);
  }
}

TEMPLATE_TEST_CASE("softmax: sums to one", "[exact][property]", float, double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 13u, 64u, 1000u, 20000u}) {
    for (const double spread : {0.0, 1e-3, 1.0, 30.0, 1e3}) {
      const auto x = families::normal<TestType>(n, 10.0, spread, n);
      long double sum = 0;
      for (const TestType y : softmax(x)) sum += (long double)(y);
      error_here.see(ulps(TestType(1), oracle::wide(sum)), "n =", n, "spread", spread);
    }
  }
  CHECK_WORST(error_here, softmax_max_ulp);
}

TEST_CASE("softmax: the same after a shift, and permutes with its input", "[exact][property]") {
  auto x = families::normal<double>(50, 0.0, 8.0, 6u);
  for (double& v : x) v = std::round(v * 1024) / 1024;  // so that the shifts are exact
  const std::vector<double> expected = softmax(x);
  worst error_here;
  for (const double shift : {1.0, -64.0, 1024.0, 0x1p40}) {
    auto y = x;
    for (double& v : y) v += shift;
    const std::vector<double> shifted = softmax(y);
    for (std::size_t i = 0; i < expected.size(); ++i)
      error_here.see(ulps(shifted[i], oracle::wide(expected[i])), "shift", shift, "entry", i);
  }
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) order[i] = i;
  families::random r(2u);
  for (int trial = 0; trial < 20; ++trial) {
    auto y = x;
    for (std::size_t i = x.size(); i > 1; --i) std::swap(order[i - 1], order[r.below(i)]);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[order[i]];
    const std::vector<double> p = softmax(y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double before = expected[order[i]];
      error_here.see(ulps(p[i], oracle::wide(before)), "trial", trial, "entry", i);
    }
  }
  CHECK_WORST(error_here, 2 * softmax_max_ulp);
}
