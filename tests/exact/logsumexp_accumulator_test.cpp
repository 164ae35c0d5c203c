// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp_accumulator.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "merge_tree.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::logsumexp_accumulator;
using cumulus::logsumexp_max_ulp;
using cumulus::logsumexp_tail_max_ulp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

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
logsumexp_accumulator<T> state_of(const std::vector<T>& x) {
  logsumexp_accumulator<T> s;
  s.add(x);
  return s;
}

/// x in order, in three shuffled orders, and dealt to 2, 7 and n states merged in random trees.
template <class T>
std::vector<logsumexp_accumulator<T>> every_way(const std::vector<T>& x,
                                                const std::vector<T>& w = {}) {
  const auto add = [&](logsumexp_accumulator<T>& s, std::size_t i) {
    if (w.empty()) {
      s.add(x[i]);
    } else {
      s.add(x[i], w[i]);
    }
  };
  std::vector<logsumexp_accumulator<T>> states(4);
  for (std::size_t way = 0; way < 4; ++way) {
    auto order = permutation(x.size(), way);
    if (way == 0) std::sort(order.begin(), order.end());
    for (const std::size_t i : order) add(states[way], i);
  }
  for (const std::size_t parts : {std::size_t(2), std::size_t(7), x.size() + 1})
    states.push_back(merge_tree(logsumexp_accumulator<T>(), x.size(), parts, parts, add));
  return states;
}

template <class T>
double error(const std::vector<T>& x, const std::vector<T>& w = {}) {
  const oracle::wide expected = oracle::shifted_logsumexp(x, w);
  const T scale = scale_of(x, static_cast<T>(expected));
  double largest = 0;
  for (const auto& s : every_way(x, w))
    largest = std::max(largest, ulps(s.value(), expected, scale));
  return largest;
}

static_assert(std::is_trivially_copyable_v<logsumexp_accumulator<float>>);
static_assert(std::is_trivially_copyable_v<logsumexp_accumulator<double>>);
static_assert(std::is_trivially_copyable_v<logsumexp_accumulator<long double>>);

}  // namespace

TEMPLATE_TEST_CASE(
    "logsumexp_accumulator: within the ulp bound at every length, offset, spread and split",
    "[exact][value]", float, double, long double) {
  const std::array offsets{0.0, 1e4, -1e4, 88.0, 700.0, 1e13, -1e16, 1e25};
  const std::array spreads{1e-8, 1e-3, 1.0, 30.0, 1e3};
  worst error_here;
  for (std::size_t n = 0; n <= 70; ++n) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const double spread = spreads[(n + i) % spreads.size()];
      error_here.see(error(families::normal<TestType>(n, offsets[i], spread, n + 1)), "n =", n,
                     "offset", offsets[i], "spread", spread);
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEMPLATE_TEST_CASE(
    "logsumexp_accumulator: within the ulp bound on ties, ramps, outliers and two points",
    "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 3u, 17u, 64u}) {
    for (const double offset : {0.0, -80.0, 700.0, 1e4}) {
      for (const double step : {1e-6, 1.0, 40.0, 200.0, 1000.0}) {
        error_here.see(error(families::ties<TestType>(n, offset + step)), "ties", n, offset, step);
        error_here.see(error(families::one_outlier<TestType>(n, offset, offset + step)), "outlier",
                       n, offset, step);
        error_here.see(error(families::one_outlier<TestType>(n, offset, offset - step)),
                       "low outlier", n, offset, step);
        error_here.see(error(families::two_points<TestType>(n, offset, offset + step, (n + 1) / 2)),
                       "two points", n, offset, step);
        error_here.see(error(families::ascending<TestType>(n, offset - step, offset)), "ascending",
                       n, offset, step);
        error_here.see(error(families::ascending<TestType>(n, offset, offset - step)), "descending",
                       n, offset, step);
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEMPLATE_TEST_CASE(
    "logsumexp_accumulator: a tail below a largest term of 1 keeps its digits, merged too",
    "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {2u, 3u, 9u, 33u, 100u}) {
    for (const double gap : {0.5, 2.0, 17.0, 40.0, 80.0, 100.0, 700.0, 730.0, 740.0}) {
      auto x = families::normal<TestType>(n, -gap, gap / 100, 5u);
      x[n / 2] = TestType(-INFINITY);
      const oracle::wide expected = log1p(oracle::total(oracle::exp_terms(x, TestType(0))));
      x[n / 2] = 0;
      for (const auto& s : every_way(x))
        error_here.see(ulps(s.value(), expected), "n =", n, "gap", gap);
    }
  }
  CHECK_WORST(error_here, logsumexp_tail_max_ulp);
  const oracle::wide expected("4.248354255291588986304977843631582181878e-18");
  const logsumexp_accumulator<TestType> zero = state_of<TestType>({0}),
                                        low = state_of<TestType>({-40});
  CHECK(ulps((zero + low).value(), expected) <= logsumexp_tail_max_ulp);
  CHECK(ulps((low + zero).value(), expected) <= logsumexp_tail_max_ulp);
  CHECK(ulps(state_of<TestType>({0, -40}).value(), expected) <= logsumexp_tail_max_ulp);
  CHECK(ulps(state_of<TestType>({-40, 0}).value(), expected) <= logsumexp_tail_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp_accumulator: a maximum that rises 131072 times costs nothing",
                   "[exact][value]", float, double) {
  // 2^-12 apart: rescaling by a rounded exponential at each new maximum loses 4096 u of the sum.
  worst error_here;
  for (const double start : {0.0, -31.5, 1000.0}) {
    std::vector<TestType> x(131072);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = TestType(start + double(i) * 0x1p-12);
    const oracle::wide step = oracle::wide(0x1p-12);
    const oracle::wide expected =
        oracle::wide(start) + log(expm1(oracle::wide(x.size()) * step) / expm1(step));
    const TestType scale = scale_of(x, static_cast<TestType>(expected));
    error_here.see(ulps(state_of(x).value(), expected, scale), "ascending", start);
    const auto add = [&](logsumexp_accumulator<TestType>& s, std::size_t i) { s.add(x[i]); };
    error_here.see(
        ulps(merge_tree(logsumexp_accumulator<TestType>(), x.size(), x.size(), 3u, add).value(),
             expected, scale),
        "one state each", start);
    logsumexp_accumulator<TestType> by_merges;
    for (const TestType v : x) by_merges += state_of<TestType>({v});
    error_here.see(ulps(by_merges.value(), expected, scale), "merged one by one", start);
    std::reverse(x.begin(), x.end());
    error_here.see(ulps(state_of(x).value(), expected, scale), "descending", start);
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logsumexp_accumulator: the error does not grow with the number of terms or of parts",
          "[exact][value]") {
  worst error_here;
  const std::size_t n = 1000000;
  for (const double offset : {0.0, -3e3}) {
    for (const double spread : {0.01, 2.0}) {
      const auto x = families::normal<double>(n, offset, spread, 8u);
      const auto y = families::normal<float>(n, offset, spread, 9u);
      const oracle::wide from_x = oracle::wide(oracle::shifted_logsumexp<long double>(x));
      const oracle::wide from_y = oracle::wide(oracle::shifted_logsumexp<long double>(y));
      const double scale = scale_of(x, double(from_x));
      error_here.see(ulps(state_of(x).value(), from_x, scale), "double", offset, spread);
      error_here.see(ulps(state_of(y).value(), from_y, scale_of(y, float(from_y))), "float", offset,
                     spread);
      const auto add = [&](logsumexp_accumulator<double>& s, std::size_t i) { s.add(x[i]); };
      for (const std::size_t parts : {std::size_t(64), n / 2})
        error_here.see(ulps(merge_tree(logsumexp_accumulator<double>(), n, parts, 1u, add).value(),
                            from_x, scale),
                       "parts", parts, offset, spread);
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logsumexp_accumulator: order and split do not change a bit", "[exact][property]") {
  // Promised but for rare roundings: the compensated sums agree to 2^-100, and these inputs meet none.
  for (const double spread : {1e-3, 1.0, 300.0}) {
    for (const double offset : {0.0, 5e5, -1e12}) {
      CAPTURE(spread, offset);
      const auto x = families::normal<double>(500, offset, spread, 21u);
      const double expected = state_of(x).value();
      for (const auto& s : every_way(x)) CHECK(s.value() == expected);
    }
  }
}

TEMPLATE_TEST_CASE("logsumexp_accumulator: weights of any size keep the ulp bound",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 40u, 70u}) {
    for (const double decades : {0.0, 2.0, 30.0, sizeof(TestType) > 4 ? 560.0 : 60.0}) {
      for (const double spread : {1e-6, 1.0, 30.0, 300.0}) {
        for (const double offset : {0.0, 600.0, -600.0, 1e20}) {
          const auto x = families::normal<TestType>(n, offset, spread, 3u);
          auto w = families::wild_weights<TestType>(n, decades, n);
          if (n > 5) w[3] = TestType(0);
          error_here.see(error(x, w), "n =", n, "decades", decades, "spread", spread, "offset",
                         offset);
        }
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
  const std::vector<double> x{600, -10, -700, 50}, w{0x1p-900, 0x1p10, 0x1p1000, 0x1p-1074};
  CHECK(error(x, w) <= logsumexp_max_ulp);
}

TEST_CASE("logsumexp_accumulator: a scalar of 50 digits keeps 50 digits, in any order",
          "[exact][value]") {
  using scalar = oracle::wide;
  std::vector<scalar> x;
  for (int i = 0; i < 60; ++i) x.push_back(scalar(i * i % 97) * 2 - 900);
  oracle::wider sum = 0;
  for (const scalar& v : x) sum += exp(oracle::wider(v));
  const oracle::wider expected = log(sum);
  const oracle::wider unit = oracle::wider(std::numeric_limits<scalar>::epsilon()) * 512;
  for (const auto& s : every_way(x))
    CHECK(abs(oracle::wider(s.value()) - expected) <= logsumexp_max_ulp * unit);
  for (const auto& s : every_way(x, std::vector<scalar>(x.size(), scalar(0.5)))) {
    CHECK(abs(oracle::wider(s.value()) - (expected + log(oracle::wider(0.5)))) <=
          logsumexp_max_ulp * unit);
  }
  CHECK(logsumexp_accumulator<scalar>().value() == -std::numeric_limits<scalar>::infinity());

  using lazy = boost::multiprecision::
      cpp_bin_float_50;  // where `auto` and the conditional operator are traps
  logsumexp_accumulator<lazy> s;
  for (const scalar& v : x) s.add(lazy(v));
  CHECK(scalar((s + logsumexp_accumulator<lazy>()).value()) == every_way(x).front().value());
}

TEMPLATE_TEST_CASE("logsumexp_accumulator: half and bfloat16 round once, from float",
                   "[exact][value]", Eigen::half, Eigen::bfloat16) {
  const auto x = families::normal<float>(200, 3.0, 2.0, 30u);
  logsumexp_accumulator<TestType> s;
  logsumexp_accumulator<float> exact;
  for (const float v : x) {
    s.add(TestType(v));
    exact.add(float(TestType(v)));
  }
  CHECK(s.value() == TestType(exact.value()));
  CHECK((s + logsumexp_accumulator<TestType>()).max() == TestType(exact.max()));
  s.add(TestType(inf));
  CHECK(float(s.value()) == float(inf));
}

TEST_CASE("logsumexp_accumulator: autodiff scalars carry the gradient, through merges too",
          "[exact][value]") {
  using dual = Eigen::AutoDiffScalar<Eigen::Vector3d>;
  const dual a(-1.0, 3, 0), b(2.0, 3, 1), c(500.0, 3, 2);
  logsumexp_accumulator<dual> s, t;
  s.add(a);
  t.add(b);
  const dual sum = (s + t).value();
  const double p = 1 / (1 + std::exp(3.0));
  CHECK(sum.value() == Approx(2 + std::log1p(std::exp(-3.0))).epsilon(1e-15));
  CHECK(sum.derivatives()[0] == Approx(p).epsilon(1e-15));
  CHECK(sum.derivatives()[1] == Approx(1 - p).epsilon(1e-15));
  t.add(c);
  CHECK((t + s).value().derivatives().isApprox(Eigen::Vector3d::UnitZ(), 1e-15));
}

TEST_CASE(
    "logsumexp_accumulator: a ramp far out, where exponents are no longer split, keeps the bound",
    "[exact][value]") {
  // About 2^48 the state changes from multiples of log 2 to elements as reference; sums must cross it both ways.
  worst error_here;
  for (const double centre : {0x1p48, -0x1p48, 0x1p52, -0x1p52}) {
    std::vector<double> x(4000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = centre + (double(i) - 2000) * 0.5;
    error_here.see(error(x), centre);
    std::reverse(x.begin(), x.end());
    error_here.see(error(x), centre, "descending");
    logsumexp_accumulator<double> shifted = state_of(x);
    CHECK(shifted.max() == centre + 1999 * 0.5);
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("logsumexp_accumulator: empty, infinite and NaN terms, in any split", "[exact][edge]") {
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
      {{qnan, -inf, 1, inf}, qnan},
      {{-inf, 3}, 3},
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
    const std::vector<float> y(r.x.begin(), r.x.end());
    const std::vector<long double> z(r.x.begin(), r.x.end());
    for (const auto& s : every_way(r.x)) CHECK(same(s.value(), r.expected));
    for (const auto& s : every_way(y)) CHECK(same(s.value(), float(r.expected)));
    for (const auto& s : every_way(z)) CHECK(same(double(s.value()), r.expected));
  }
}

TEST_CASE("logsumexp_accumulator: weights of zero, infinity and NaN", "[exact][edge]") {
  struct row {
    std::vector<double> x, w;
    double expected;
  };
  const std::vector<row> table{
      {{1, 2}, {0, -0.0}, -inf},    {{qnan, 2}, {0, 1}, 2},    {{inf, 2}, {-0.0, 1}, 2},
      {{-inf, 2}, {0, 1}, 2},       {{1, 2}, {qnan, 1}, qnan}, {{1, inf}, {qnan, 1}, qnan},
      {{-inf, 2}, {qnan, 1}, qnan}, {{1, 2}, {-1, 5}, qnan},   {{-inf, 2}, {-1, 1}, qnan},
      {{-inf, 2}, {inf, 1}, qnan},  {{1, 2}, {inf, 1}, inf},   {{inf, 2}, {inf, 1}, inf},
      {{1, 2}, {-inf, 1}, qnan},    {{inf, 1}, {0.5, 1}, inf}, {{0, 5}, {1, 0}, 0},
      {{0, -inf}, {1, 7}, 0},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w, r.expected);
    for (const auto& s : every_way(r.x, r.w)) CHECK(same(s.value(), r.expected));
  }
}

TEST_CASE("logsumexp_accumulator: the empty state is neutral on both sides", "[exact][property]") {
  const logsumexp_accumulator<double> empty;
  logsumexp_accumulator<double> nothing;
  nothing.add(-inf);
  nothing.add(qnan, 0.0);
  nothing.add(std::vector<double>{});
  CHECK(empty.empty());
  CHECK(empty.max() == -inf);
  CHECK(nothing.empty());
  CHECK(nothing == empty);
  CHECK(empty + empty == empty);
  for (const std::vector<double>& x :
       {std::vector<double>{}, {1}, {1, 2, 3}, {-800, 800}, {inf}, {1e300, 5}, {-1e300}}) {
    CAPTURE(x);
    const auto s = state_of(x);
    CHECK(s + empty == s);
    CHECK(empty + s == s);
    CHECK(s.max() == (x.empty() ? -inf : *std::max_element(x.begin(), x.end())));
    CHECK(s.empty() == x.empty());
  }
  CHECK(std::isnan((state_of<double>({qnan}) + empty).value()));
  CHECK(std::isnan((empty + state_of<double>({qnan})).value()));
  CHECK_FALSE(state_of<double>({qnan}).empty());
  CHECK_FALSE(state_of<double>({1}) == state_of<double>({2}));
}

TEST_CASE("logsumexp_accumulator: a state merged with itself counts twice", "[exact][property]") {
  for (const std::vector<double>& x :
       {std::vector<double>{}, {0}, {3, 4}, {0, -40}, {1e300}, {inf}}) {
    auto s = state_of(x);
    const auto twice = s + s;
    s += s;
    CHECK(s == twice);
    auto doubled = x;
    doubled.insert(doubled.end(), x.begin(), x.end());
    CHECK(ulps(s.value(), oracle::wide(state_of(doubled).value()), 4.0) <= logsumexp_max_ulp);
  }
}

TEST_CASE("logsumexp_accumulator: max is the largest element, however close the next",
          "[exact][property]") {
  for (const double x : {1.0, 0.1, 700.3, -55.5, 1e15, 1e17}) {
    for (double other : {std::nextafter(x, inf), std::nextafter(x, -inf)}) {
      for (const auto& s : every_way<double>({x, other, x, x - 1}))
        CHECK(s.max() == std::max(x, other));
    }
  }
  logsumexp_accumulator<double> weighted;
  weighted.add(1.0, 0x1p10);
  weighted.add(2.0, 1.0);
  CHECK(weighted.max() == 1 + std::log(0x1p10));
}

TEST_CASE("logsumexp_accumulator: infinities raise neither invalid nor divide-by-zero",
          "[exact][edge]") {
  const std::vector<std::vector<double>> rows{{},
                                              {-inf},
                                              {inf},
                                              {-inf, -inf},
                                              {inf, inf},
                                              {-inf, 1},
                                              {1, -inf, 2},
                                              {inf, 1, -inf},
                                              {inf, -inf, inf},
                                              {DBL_MAX, -DBL_MAX},
                                              {-DBL_MAX, DBL_MAX},
                                              {0, -1000},
                                              {-1000, 0},
                                              {-inf, 0, -800},
                                              {1e20, -5},
                                              {-5, 1e20}};
  for (const auto& x : rows) {
    CAPTURE(x);
    volatile double result = 0;
    const auto run = [&] {
      logsumexp_accumulator<double> all, odd;
      for (std::size_t i = 0; i < x.size(); ++i) {
        (i % 2 == 0 ? all : odd).add(x[i]);
        odd.add(x[i], 2.5);
        odd.add(x[i], 0.0);
      }
      result = (all + odd).value() + 0 * double((odd + all).empty());
      result = all.value();
    };
    CHECK(spurious_flags(run) == 0);
  }
}

TEMPLATE_TEST_CASE("logsumexp_accumulator: takes every kind of vector and of scalar",
                   "[exact][value]", float, double) {
  const auto x = families::normal<TestType>(kinds::size, 2.0, 3.0, 14u);
  const auto w = families::wild_weights<TestType>(kinds::size, 2.0, 15u);
  logsumexp_accumulator<TestType> one_by_one, weighted;
  for (std::size_t i = 0; i < x.size(); ++i) {
    one_by_one.add(x[i]);
    weighted.add(x[i], w[i]);
  }
  kinds::each_vector<TestType>(x, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    logsumexp_accumulator<TestType> s, t;
    s.add(v);
    t.add(v, w);
    CHECK(s == one_by_one);
    CHECK(t == weighted);
  });
  logsumexp_accumulator<double> integers, numbers;
  integers.add(std::array{3, 1, 4});
  integers.add(std::array{3, 1, 4}, Eigen::Vector3i(1, 2, 3));
  for (const double v : {3.0, 1.0, 4.0}) numbers.add(v);
  numbers.add(std::array{3.0, 1.0, 4.0}, std::array{1.0, 2.0, 3.0});
  CHECK(integers == numbers);
}

TEST_CASE("logsumexp_accumulator: sizes that differ are refused by name and number",
          "[exact][edge]") {
  logsumexp_accumulator<double> s;
  CHECK(refusal([&] { s.add(std::vector<double>(2), std::vector<double>(1)); }) ==
        "cumulus: logsumexp_accumulator::add: x has 2 elements, weights has 1");
  CHECK(s.empty());
}
