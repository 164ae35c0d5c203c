// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "sweep.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::logsumexp;
using cumulus::logsumexp_max_ulp;
using cumulus::rowwise;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool fits_float(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(),
                     [](double v) { return !std::isfinite(v) || std::abs(v) <= double(FLT_MAX); });
}

/// What the Error line measures in: max(1, |result|), and max |x| too in double and wider.
template <class T>
T scale_of(const std::vector<T>& x, T result) {
  T scale = std::max(T(1), std::abs(result));
  if (sizeof(T) > sizeof(float)) {
    for (const T& v : x) {
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    }
  }
  return scale;
}

template <class T>
double error(const std::vector<T>& x) {
  const oracle::wide expected = oracle::shifted_logsumexp(x);
  return ulps(logsumexp(x), expected, scale_of(x, static_cast<T>(expected)));
}

template <class T>
double weighted_error(const std::vector<T>& x, const std::vector<T>& w) {
  const oracle::wide expected = oracle::shifted_logsumexp(x, w);
  return ulps(logsumexp(x, {.weights = w}), expected, scale_of(x, static_cast<T>(expected)));
}

}  // namespace

TEMPLATE_TEST_CASE("logsumexp: within its ulp bound at every length, offset and spread",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  sweep<TestType>([&](const auto& x, std::size_t n, double offset, double spread) {
    error_here.see(error(x), "n =", n, "offset", offset, "spread", spread);
  });
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp: within its ulp bound on ties, ramps, outliers and two points",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 64u, 1000u}) {
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
      if (n > 64) continue;
      error_here.see(error(families::ascending<TestType>(n, offset - 50, offset)), "ascending", n,
                     offset);
      error_here.see(error(families::ascending<TestType>(n, offset, offset - 50)), "descending", n,
                     offset);
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp: a tail below a largest term of 1 keeps its digits", "[exact][value]",
                   float, double, long double) {
  worst error_here;
  for (const std::size_t n : {2u, 3u, 9u, 33u, 100u}) {
    for (const double gap : {0.5, 2.0, 17.0, 40.0, 80.0, 100.0, 700.0}) {
      auto x = families::normal<TestType>(n, -gap, gap / 100, 5u);
      x[n / 2] = TestType(-INFINITY);
      const oracle::wide expected = log1p(oracle::total(oracle::exp_terms(x, TestType(0))));
      x[n / 2] = 0;
      error_here.see(ulps(logsumexp(x), expected), "n =", n, "gap", gap);
    }
  }
  CHECK_WORST(error_here, cumulus::logsumexp_tail_max_ulp);
  CHECK(logsumexp(std::array{0.0, -40.0}) == Approx(4.248354255291589e-18));
}

TEST_CASE("logsumexp: the error does not grow with the length", "[exact][value]") {
  worst error_here;
  for (const std::size_t n : {1000u, 30000u, 1000000u}) {
    for (const double offset : {0.0, -3e3}) {
      const auto x = families::normal<double>(n, offset, 2.0, n);
      const auto y = families::normal<float>(n, offset, 2.0, n);
      const long double from_x = oracle::shifted_logsumexp<long double>(x);
      const long double from_y = oracle::shifted_logsumexp<long double>(y);
      error_here.see(ulps(logsumexp(x), from_x, scale_of(x, double(from_x))), "double", n, offset);
      error_here.see(ulps(logsumexp(y), from_y, scale_of(y, float(from_y))), "float", n, offset);
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logsumexp: 16M floats, spread or tied, stay within the ulp bound", "[exact][value]") {
  // 2 ulp of a result between 8 and 16 are 1.9e-6 absolute, so below 2.4e-7 relative: the claim is 1e-6.
  static_assert(logsumexp_max_ulp * FLT_EPSILON <= 1e-6f);
  const std::size_t n = 1u << 24;
  const auto x = families::uniform<float>(n, -2.0, 2.0, 16u);
  long double sum = 0;
  for (const float v : x) sum += std::exp(double(v));
  CHECK(ulps(logsumexp(x), oracle::wide(std::log(sum))) <= logsumexp_max_ulp);

  // Where a float sum stands still at 2^24 terms of 1, and one of 16.5M terms of e^-16 at a quarter of them.
  std::vector<float> ties = x;
  std::fill(ties.begin(), ties.end(), -16.0f);
  ties.push_back(0.0f);
  const long double expected = std::log1p((long double)(n)*std::exp(-16.0L));
  CHECK(ulps(logsumexp(ties), oracle::wide(expected)) <= logsumexp_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp: weights of any size keep the ulp bound", "[exact][value]", float,
                   double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 40u, 70u}) {
    for (const double decades : {0.0, 2.0, 30.0, sizeof(TestType) > 4 ? 560.0 : 60.0}) {
      for (const double spread : {1e-6, 1.0, 30.0, 300.0}) {
        for (const double offset : {0.0, 600.0, -600.0}) {
          const auto x = families::normal<TestType>(n, offset, spread, 3u);
          auto w = families::wild_weights<TestType>(n, decades, n);
          if (n > 5) w[3] = TestType(0);
          error_here.see(weighted_error(x, w), "n =", n, "decades", decades, "spread", spread,
                         "offset", offset);
        }
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logsumexp: weights and exponents that cancel far outside the range", "[exact][edge]") {
  // 2^-500 e^600 + 2^400 e^-10: each factor alone leaves the other behind.
  const std::vector<double> x{600, -10, -700, 50}, w{0x1p-900, 0x1p10, 0x1p1000, 0x1p-1074};
  CHECK(weighted_error(x, w) <= logsumexp_max_ulp);
  const std::vector<double> tiny{0, -700}, heavy{0x1p-1022, 0x1p-12};
  CHECK(weighted_error(tiny, heavy) <= logsumexp_max_ulp);
}

TEST_CASE("logsumexp: some weights may be negative while the total is positive", "[exact][edge]") {
  const std::vector<double> x{1, 2, 0.5, -1}, w{1, 2, -3, -0.25};
  const oracle::wide expected = oracle::logsumexp(x, w);
  CHECK(ulps(logsumexp(x, {.weights = w}), expected, 4.0) <= logsumexp_max_ulp);
  // The term of largest modulus is the negative one.
  const std::vector<double> y{3, 2, 2}, v{-1, 2, 2};
  CHECK(ulps(logsumexp(y, {.weights = v}), oracle::logsumexp(y, v), 4.0) <= logsumexp_max_ulp);
}

TEST_CASE("logsumexp: rule 1, empty, infinite and NaN inputs", "[exact][edge]") {
  struct row {
    std::vector<double> x;
    double expected;
  };
  const std::vector<row> table{
      {{}, -inf},
      {{-inf}, -inf},
      {{-inf, -inf, -inf}, -inf},
      {{inf}, inf},
      {{inf, inf}, inf},
      {{inf, -inf}, inf},
      {{-inf, 1, inf, 2}, inf},
      {{qnan}, qnan},
      {{qnan, inf}, qnan},
      {{inf, qnan}, qnan},
      {{-inf, qnan}, qnan},
      {{1, qnan, 2}, qnan},
      {{-inf, 3}, 3},
      {{3, -inf}, 3},
      {{-inf, 3, -inf, -inf}, 3},
      {{0}, 0},
      {{-0.0}, 0},
      {{DBL_MAX}, DBL_MAX},
      {{-DBL_MAX}, -DBL_MAX},
      {{DBL_MAX, -DBL_MAX}, DBL_MAX},
      {{-DBL_MAX, DBL_MAX, 0}, DBL_MAX},
      {{DBL_MAX, DBL_MAX}, DBL_MAX},
      {{5e-324, -750}, 5e-324},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(same(logsumexp(r.x), r.expected));
    if (fits_float(r.x))
      CHECK(same(logsumexp(std::vector<float>(r.x.begin(), r.x.end())), float(r.expected)));
    CHECK(same(double(logsumexp(std::vector<long double>(r.x.begin(), r.x.end()))), r.expected));
  }
}

TEST_CASE("logsumexp: rule 2, weights of zero, infinity and NaN", "[exact][edge]") {
  struct row {
    std::vector<double> x, w;
    double expected;
  };
  const std::vector<row> table{
      {{}, {}, -inf},
      {{1, 2}, {0, 0}, -inf},
      {{1, 2}, {-0.0, 0}, -inf},
      {{qnan, 2}, {0, 1}, 2},
      {{inf, 2}, {-0.0, 1}, 2},
      {{-inf, 2}, {0, 1}, 2},
      {{2, qnan}, {1, -0.0}, 2},
      {{1, 2}, {qnan, 1}, qnan},
      {{1, inf}, {qnan, 1}, qnan},
      {{-inf, 2}, {qnan, 1}, qnan},
      {{1, 2}, {0, qnan}, qnan},
      {{1, 2}, {-1, 0}, qnan},
      {{1, 2}, {1, -1}, qnan},
      {{2, 2}, {1, -1}, -inf},
      {{2, 2, 2}, {1, 1, -2}, -inf},
      {{-inf, -inf}, {-1, -2}, -inf},
      {{-inf, 1}, {-1, 1}, 1},
      {{-inf, 2}, {inf, 1}, qnan},
      {{1, 2}, {inf, 1}, inf},
      {{inf, 2}, {inf, 1}, inf},
      {{1, 2}, {-inf, 1}, qnan},
      {{inf, inf}, {1, -1}, qnan},
      {{inf, 1}, {-1, 1}, qnan},
      {{inf, 1}, {0.5, 1}, inf},
      {{0, 5}, {1, 0}, 0},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w, r.expected);
    CHECK(same(logsumexp(r.x, {.weights = r.w}), r.expected));
    const std::vector<float> x(r.x.begin(), r.x.end()), w(r.w.begin(), r.w.end());
    CHECK(same(logsumexp(x, {.weights = w}), float(r.expected)));
  }
}

TEST_CASE("logsumexp: rule 3, what a mask hides never enters", "[exact][edge]") {
  struct row {
    std::vector<double> x;
    std::array<bool, 3> mask;
    double expected;
  };
  const std::vector<row> table{
      {{1, 2, 3}, {false, false, false}, -inf},   {{1, 2, 3}, {false, true, false}, 2},
      {{qnan, 2, inf}, {false, true, false}, 2},  {{qnan, -inf, inf}, {false, true, false}, -inf},
      {{1, inf, 3}, {true, true, false}, inf},    {{1, qnan, inf}, {false, true, true}, qnan},
      {{qnan, qnan, 7}, {false, false, true}, 7},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.expected);
    CHECK(same(logsumexp(r.x, {.mask = r.mask}), r.expected));
    const std::array bad_weights{qnan, 1.0, -1.0};
    const bool only_middle = r.mask == std::array{false, true, false};
    if (only_middle)
      CHECK(same(logsumexp(r.x, {.weights = bad_weights, .mask = r.mask}), r.expected));
  }
}

TEST_CASE("logsumexp: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {},         {-inf},         {inf},          {-inf, -inf},     {inf, inf},
      {-inf, 1},  {1, -inf, 2},   {inf, 1, -inf}, {inf, -inf, inf}, {DBL_MAX, -DBL_MAX},
      {0, -1000}, {-inf, 0, -800}};
  for (const auto& x : rows) {
    CAPTURE(x);
    volatile double result = 0;
    CHECK(spurious_flags([&] { result = logsumexp(x); }) == 0);
    const std::vector<double> w(x.size(), 0.0), v(x.size(), 2.5);
    CHECK(spurious_flags([&] { result = logsumexp(x, {.weights = w}); }) == 0);
    CHECK(spurious_flags([&] { result = logsumexp(x, {.weights = v}); }) == 0);
    if (!fits_float(x)) continue;
    const std::vector<float> y(x.begin(), x.end());
    CHECK(spurious_flags([&] { result = logsumexp(y); }) == 0);
  }
}

TEMPLATE_TEST_CASE("logsumexp: NaN and +inf are seen at every position of every length",
                   "[exact][edge]", float, double) {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<TestType>(n, 0.0, 1.0, n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const TestType kept = x[i];
      x[i] = TestType(qnan);
      all = all && std::isnan(logsumexp(x));
      x[i] = TestType(inf);
      all = all && logsumexp(x) == TestType(inf);
      x[i] = TestType(200);
      all = all && logsumexp(x) == TestType(200);
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("logsumexp: every kind of vector gives the same", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const double expected = logsumexp(x);
  CHECK(ulps(expected, oracle::logsumexp(x), double(8)) <= logsumexp_max_ulp);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    static_assert(std::is_same_v<decltype(logsumexp(argument)), double>);
    CHECK(logsumexp(argument) == expected);
  });
}

TEST_CASE("logsumexp: a stride of 0 repeats one element", "[exact][edge]") {
  const double value = 1.25;
  const kinds::strided_map<const Eigen::VectorXd> x(&value, 10, Eigen::InnerStride<>(0));
  CHECK(ulps(logsumexp(x), oracle::logsumexp(std::vector<double>(10, value))) <= logsumexp_max_ulp);
}

TEST_CASE("logsumexp: integers promote to double", "[exact][value]") {
  const std::vector<double> x{3, 1, 4, 1, 5};
  const double expected = logsumexp(x);
  static_assert(std::is_same_v<decltype(logsumexp(std::vector<int>{})), double>);
  CHECK(logsumexp(std::vector<int>{3, 1, 4, 1, 5}) == expected);
  CHECK(logsumexp(std::array<std::uint8_t, 5>{3, 1, 4, 1, 5}) == expected);
  CHECK(logsumexp(std::vector<std::int64_t>{3, 1, 4, 1, 5}) == expected);
  CHECK(logsumexp(Eigen::Map<const Eigen::VectorXd>(x.data(), 5).cast<int>()) == expected);
  const unsigned c_array[]{3, 1, 4, 1, 5};
  CHECK(logsumexp(c_array) == expected);
  const std::array<int, 5> twos{2, 2, 2, 2, 2};
  CHECK(logsumexp(x, {.weights = twos}) == Approx(expected + std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("logsumexp: a scalar of 50 digits keeps 50 digits", "[exact][value]") {
  using scalar = oracle::wide;
  std::vector<scalar> x;
  for (int i = 0; i < 20; ++i) x.push_back(scalar(i * i % 17) / 7 - 900);
  oracle::wider sum = 0;
  for (const scalar& v : x) sum += exp(oracle::wider(v));
  const oracle::wider expected = log(sum);
  const oracle::wider unit = oracle::wider(std::numeric_limits<scalar>::epsilon()) * 512;
  CHECK(abs(oracle::wider(logsumexp(x)) - expected) <= logsumexp_max_ulp * unit);
  const std::vector<scalar> halves(x.size(), scalar(0.5));
  CHECK(abs(oracle::wider(logsumexp(x, {.weights = halves})) -
            (expected + log(oracle::wider(0.5)))) <= logsumexp_max_ulp * unit);
  CHECK(logsumexp(std::vector<scalar>{}) == -std::numeric_limits<scalar>::infinity());

  // With expression templates, where `auto` and the conditional operator are traps.
  using lazy = boost::multiprecision::cpp_bin_float_50;
  std::vector<lazy> y;
  for (const scalar& v : x) y.emplace_back(v);
  CHECK(scalar(logsumexp(y)) == logsumexp(x));
}

TEST_CASE("logsumexp: options take weights and masks of any kind", "[exact][value]") {
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(6, -1.0, 2.0);
  const Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(6, 0.5, 3.0);
  const std::vector<double> kept_x{x[1], x[2], x[4]}, kept_w{w[1], w[2], w[4]};
  const double expected = logsumexp(kept_x, {.weights = kept_w});
  CHECK(ulps(expected, oracle::logsumexp(kept_x, kept_w), 4.0) <= logsumexp_max_ulp);
  const std::array<bool, 6> mask{false, true, true, false, true, false};
  const bool c_mask[6]{false, true, true, false, true, false};
  const Eigen::Array<int, 6, 1> bits{0, 1, 1, 0, 1, 0};
  CHECK(logsumexp(x, {.weights = w, .mask = mask}) == expected);
  CHECK(logsumexp(x, {.weights = w.transpose(), .mask = c_mask}) == expected);
  CHECK(logsumexp(x, {.weights = (2 * w) / 2, .mask = bits > 0}) == expected);
  CHECK(logsumexp(x, {.weights = std::span(w.data(), 6), .mask = bits == 1}) == expected);
  CHECK(logsumexp(x, {.weights = Eigen::VectorXd(w.reverse()).reverse(), .mask = mask}) ==
        expected);
  CHECK(logsumexp(x, {}) == logsumexp(x));
  const Eigen::VectorXf y = x.cast<float>();
  CHECK(logsumexp(y, {.weights = w, .mask = mask}) == Approx(expected).epsilon(FLT_EPSILON));
}

TEST_CASE("logsumexp: no options and empty ones give the same bits", "[exact][property]") {
  const auto same = [](const auto& x) {
    const auto a = logsumexp(x), b = logsumexp(x, {});
    return double(a) == double(b) || (std::isnan(double(a)) && std::isnan(double(b)));
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const Eigen::Index n : {0, 1, 2, 17, 300}) {
    // near 1, so far apart that elements rise; far from 0; of no number
    for (const double last : {1.0, 2000.0, 1e300, infinite, -infinite, std::nan("")}) {
      Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n, -40.0, 0.0);
      if (n > 0) x[n - 1] = last;
      CHECK(same(x));
      CHECK(same(x.reverse()));
      CHECK(same(x.cast<float>()));
      CHECK(same(x.cast<Eigen::half>().eval()));
      CHECK(same(Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>(x.data(), n / 2)));
    }
  }
}

TEST_CASE("logsumexp: every row or every column of a matrix", "[exact][value]") {
  Eigen::Matrix<float, 2, 3> x;
  x << 1, 2, 4, 3, 0, -2;
  const Eigen::Vector2f by_rows = logsumexp(x, rowwise);
  const Eigen::RowVector3f by_cols = logsumexp(x, colwise);
  for (int i = 0; i < 2; ++i) CHECK(by_rows[i] == logsumexp(x.row(i)));
  for (int j = 0; j < 3; ++j) CHECK(by_cols[j] == logsumexp(x.col(j)));
}

TEST_CASE("logsumexp: a matrix of integers, of one row, of none", "[exact][edge]") {
  Eigen::MatrixXi x(2, 3);
  x << 1, 2, 3, 40, 50, 60;
  const Eigen::VectorXd rows = logsumexp(x, rowwise);
  CHECK(rows[0] == logsumexp(std::array{1.0, 2.0, 3.0}));
  CHECK(rows[1] == logsumexp(std::array{40.0, 50.0, 60.0}));
  const Eigen::RowVectorXd one = Eigen::RowVectorXd::LinSpaced(4, 0.0, 1.0);
  CHECK(logsumexp(one, rowwise)[0] == logsumexp(one));
  CHECK(logsumexp(one, colwise).transpose() == one.transpose());
  CHECK(logsumexp(Eigen::MatrixXd(0, 3), rowwise).size() == 0);
  CHECK((logsumexp(Eigen::MatrixXd(3, 0), rowwise).array() == -inf).count() == 3);
  CHECK((logsumexp(Eigen::MatrixXd(0, 3), colwise).array() == -inf).count() == 3);
  CHECK(logsumexp(Eigen::MatrixXd(3, 0), colwise).size() == 0);
}

TEST_CASE("logsumexp: sizes that differ are refused by name and number", "[exact][edge]") {
  const std::vector<double> x(5, 0.0), w(4, 1.0), empty;
  const std::array<bool, 7> mask{};
  CHECK(refusal([&] { static_cast<void>(logsumexp(x, {.weights = w})); }) ==
        "cumulus: logsumexp: x has 5 elements, weights has 4");
  CHECK(refusal([&] { static_cast<void>(logsumexp(x, {.mask = mask})); }) ==
        "cumulus: logsumexp: x has 5 elements, mask has 7");
  CHECK(refusal([&] { static_cast<void>(logsumexp(x, {.weights = empty})); }) ==
        "cumulus: logsumexp: x has 5 elements, weights has 0");
}

TEST_CASE("logsumexp: a shift of the input is a shift of the result", "[exact][property]") {
  worst error_here;
  for (const double shift : {1.0, -64.0, 1024.0, 0x1p40}) {
    // Multiples of 2^-10, so that the shifted input is exact.
    auto x = families::normal<double>(50, 0.0, 8.0, 6u), y = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::round(x[i] * 1024) / 1024;
      y[i] = x[i] + shift;
    }
    const double scale = std::max({8.0, std::abs(shift), scale_of(x, 0.0)});
    error_here.see(ulps(logsumexp(y), oracle::wide(logsumexp(x)) + shift, scale), "shift", shift);
  }
  CHECK_WORST(error_here, 2 * logsumexp_max_ulp);
}

TEST_CASE("logsumexp: order, ties as weights and -inf do not matter", "[exact][property]") {
  auto x = families::normal<double>(60, -5.0, 10.0, 12u);
  const double expected = logsumexp(x);
  const double scale = scale_of(x, expected);
  families::random r(1u);
  worst error_here;
  for (int trial = 0; trial < 20; ++trial) {
    for (std::size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[r.below(i)]);
    error_here.see(ulps(logsumexp(x), oracle::wide(expected), scale), "permutation", trial);
  }
  std::vector<double> longer = x;
  for (std::size_t i = 0; i < 9; ++i) longer.insert(longer.begin() + long(6 * i), -inf);
  error_here.see(ulps(logsumexp(longer), oracle::wide(expected), scale), "-inf");
  std::vector<double> thrice = x;
  thrice.insert(thrice.end(), x.begin(), x.end());
  thrice.insert(thrice.end(), x.begin(), x.end());
  error_here.see(ulps(logsumexp(x, {.weights = std::vector<double>(60, 3.0)}),
                      oracle::wide(logsumexp(thrice)), scale),
                 "weights of 3");
  CHECK_WORST(error_here, 2 * logsumexp_max_ulp);
}
