// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp_signed.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "names.hpp"
#include "refusal.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::logsumexp_signed;
using cumulus::logsumexp_signed_max_ulp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

using list = std::vector<double>;
using deep = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400>,
                                           boost::multiprecision::et_off>;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
struct total {
  oracle::wide log_abs;
  int sign;
};

/// By the definition, unshifted, in enough digits for any cancellation here.
template <class T, class Wide = deep>
total<T> expected_of(const std::vector<T>& x, const std::vector<T>& w, double scale = 1) {
  Wide sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += Wide(w[i]) * exp(Wide(x[i]) * Wide(scale));
  if (sum == 0) return {-std::numeric_limits<oracle::wide>::infinity(), 0};
  // Where the sum is close to 1, the logarithm from what it lacks.
  const Wide size = abs(sum), lack = size - 1;
  return {oracle::wide(abs(lack) < 0.5 ? Wide(log1p(lack)) : Wide(log(size))), sum < 0 ? -1 : 1};
}

/// In ulp of log_abs; infinite where the sign is wrong.
template <class Wide = deep, class T>
double error(const std::vector<T>& x, const std::vector<T>& w, double scale = 1) {
  const auto expected = expected_of<T, Wide>(x, w, scale);
  const auto actual = logsumexp_signed(x, w, {.scale = scale});
  if (!(actual.sign == T(expected.sign))) return inf;
  return ulps(actual.log_abs, expected.log_abs);
}

/// Weights of either sign, over `decades` powers of ten.
template <class T>
std::vector<T> signed_weights(std::size_t n, double decades, std::uint64_t seed) {
  auto w = families::wild_weights<T>(n, decades, seed);
  families::random r(seed + 1);
  for (T& v : w) {
    if (r.below(2) == 0) v = -v;
  }
  return w;
}

/// sum of all terms but the last, over e^{x_last}: the weight that cancels them, or leaves `left`.
template <class T>
T cancelling(const std::vector<T>& x, const std::vector<T>& w, double left) {
  oracle::wider sum = -oracle::wider(left);
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += oracle::wider(w[i]) * exp(oracle::wider(x[i]));
  return static_cast<T>(oracle::wider(-sum * exp(-oracle::wider(x.back()))));
}

}  // namespace

TEMPLATE_TEST_CASE("logsumexp_signed: within its ulp bound for weights of either sign",
                   "[exact][value]", float, double, long double) {
  const std::array offsets{0.0, 1.0, -80.0, 700.0, 1e4};
  const std::array spreads{1e-6, 1e-2, 1.0, 30.0, 1e3};
  worst error_here;
  for (std::size_t n = 1; n <= 70; ++n) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double offset = offsets[(n + j) % 5], spread = spreads[(n / 5 + 2 * j) % 5];
      const auto x = families::normal<TestType>(n, offset, spread, n + 1);
      const auto w = signed_weights<TestType>(n, double(n % 7), n + j);
      error_here.see(error<oracle::wider>(x, w), "n =", n, "offset", offset, "spread", spread);
    }
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp_signed: a last weight that cancels the others leaves its rounding",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {2u, 3u, 9u, 40u}) {
    for (const double offset : {0.0, -30.0, 12.5}) {
      for (const double spread : {1e-7, 0.1, 3.0}) {
        const auto x = families::normal<TestType>(n, offset, spread, n);
        auto w = signed_weights<TestType>(n, 2, n);
        w.back() = cancelling(x, w, 0);
        error_here.see(error(x, w), "n =", n, offset, spread);
        // And once more: what was left, cancelled by a term far below.
        auto longer = x;
        longer.push_back(TestType(offset - 35));
        w.push_back(TestType(0));
        w.back() = cancelling(longer, w, 0);
        error_here.see(error(longer, w), "twice, n =", n, offset, spread);
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp_signed: a total close to 1 or -1 keeps the digits of its logarithm",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {2u, 3u, 9u, 40u}) {
    for (const double left : {1.0, -1.0, 1.0 + 1e-9, 0.8, -1.2}) {
      for (const double spread : {1e-7, 0.1, 3.0}) {
        const auto x = families::normal<TestType>(n, 2.0, spread, n);
        auto w = signed_weights<TestType>(n, 1, n);
        w.back() = cancelling(x, w, left);
        error_here.see(error(x, w), "n =", n, left, spread);
        // And closer to it than a rounding: what was left, cancelled by a term far below.
        auto longer = x;
        longer.push_back(TestType(-33));
        w.push_back(TestType(0));
        w.back() = cancelling(longer, w, left);
        error_here.see(error(longer, w), "twice, n =", n, left, spread);
      }
    }
  }
  // One tail after another below a term of 1.
  for (const double gap : {1e-300, 1e-20, 0.3, 17.0, 40.0, 300.0, 700.0}) {
    const std::vector<TestType> x{0, TestType(-gap)};
    if (x[1] < TestType(0) && gap < 80) {
      error_here.see(error(x, {1, 1}), "above", gap);
      error_here.see(error(x, {1, -1}), "below", gap);
      error_here.see(error(x, {-1, 3}), "between", gap);
    }
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp_signed: differences of order m, of which h^m is left",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (int m = 1; m <= 9; ++m) {
    for (const double h : {0.5, 0x1p-10, 0x1p-30, 0x1p-100}) {
      for (const double a : {0.0, -3.0, 20.0}) {
        std::vector<TestType> x, w;
        TestType binomial = 1;
        for (int k = 0; k <= m; ++k) {
          x.push_back(TestType(a) + TestType(k) * TestType(h));
          w.push_back((m - k) % 2 == 0 ? binomial : -binomial);
          binomial = binomial * TestType(m - k) / TestType(k + 1);
        }
        // Where a + h is a, all weights meet and cancel.
        if (x.back() == x.front()) continue;
        const auto expected = expected_of(x, w);
        if (expected.log_abs < -1e5) continue;
        error_here.see(error(x, w), "m =", m, "h =", h, "a =", a);
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
}

TEST_CASE("logsumexp_signed: subnormal differences, and one beyond the limit", "[exact][value]") {
  const double h = 0x1p-1074;
  // e^h - 1 is h, (e^h - 1)^2 is h^2.
  CHECK(ulps(logsumexp_signed(list{h, 0}, list{1, -1}).log_abs, log(oracle::wide(h))) <= 1);
  const auto second = logsumexp_signed(list{2 * h, h, 0}, list{-1, 2, -1});
  CHECK(second.sign == -1);
  CHECK(ulps(second.log_abs, 2 * log(oracle::wide(h))) <= 1);
  // Order 9 takes 9666 bits; the sum is not 0, and NaN does not say that it is.
  list x, w;
  double binomial = 1;
  for (int k = 0; k <= 9; ++k) {
    x.push_back(k * h);
    w.push_back(k % 2 == 0 ? binomial : -binomial);
    binomial = binomial * (9 - k) / (k + 1);
  }
  static_assert(9 * 1074 > 32 * cumulus::logsumexp_signed_max_words);
  const auto beyond = logsumexp_signed(x, w);
  CHECK(std::isnan(beyond.log_abs));
  CHECK(std::isnan(beyond.sign));
}

TEST_CASE("logsumexp_signed: weights of any size, their exponents against those of x",
          "[exact][value]") {
  worst error_here;
  families::random r(5u);
  for (int i = 0; i < 300; ++i) {
    const std::size_t n = 1 + r.below(6);
    list x(n), w(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double decade = r.uniform(-300, 300);
      w[j] = std::pow(10, decade) * (r.below(2) == 0 ? 1 : -1);
      x[j] = -decade * 2.302585092994046 + r.normal();
    }
    error_here.see(error<oracle::wider>(x, w), i);
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
  CHECK(error<oracle::wider>(list{1, 1}, list{1e308, 1e308}) <= 1);
  CHECK(error<oracle::wider>(list{0, -800}, list{1e-300, 1e300}) <= 1);
  CHECK(error<oracle::wider>(list{3, 3, 3}, list{DBL_MAX, DBL_MAX, 0x1p-1074}) <= 1);
}

TEST_CASE("logsumexp_signed: equal x are one term, of the exact sum of their weights",
          "[exact][edge]") {
  struct row {
    list x, w;
    double log_abs, sign;
  };
  const double log_2 = 0.6931471805599453;
  const row table[]{
      {{1000, 1000, 1}, {1, -1, 1}, 1, 1},
      {{-1000, -1000, -1001}, {1, -1, 1}, -1001, 1},
      {{0, 0, -1000}, {1, -1, 1}, -1000, 1},
      {{1, 1}, {1, -1}, -inf, 0},
      {{0, -0.0}, {2, -2}, -inf, 0},
      {{0, 0, 0, 0}, {1e16, 1, -1e16, 1}, log_2, 1},
      {{1, 0, 1, 0, 1}, {3, 1, -1, -1, -2}, -inf, 0},
      {{5, 5, 5, 5, 5}, {DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, -1}, 5, -1},
      {{7, 7, 7}, {1e300, 1, -1e300}, 7, 1},
      {{1e300, 1e300, 2}, {1, -1, -1}, 2, -1},
      {{-1e300, -1e300, -2e300}, {1, -1, -1}, -2e300, -1},
      {{0, 0}, {3, -2}, 0, 1},
      {{0, 0}, {2, -3}, 0, -1},
      {{DBL_MAX, -DBL_MAX}, {-1, 1}, DBL_MAX, -1},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w);
    const auto actual = logsumexp_signed(r.x, r.w);
    CHECK(same(actual.log_abs, r.log_abs));
    CHECK(same(actual.sign, r.sign));
  }
}

TEST_CASE("logsumexp_signed: zero weights, infinities and NaN", "[exact][edge]") {
  struct row {
    list x, w;
    double log_abs, sign;
  };
  const row table[]{
      {{}, {}, -inf, 0},
      {{-inf, -inf}, {1, -1}, -inf, 0},
      {{-inf, 2}, {-5, -1}, 2, -1},
      {{inf, 1}, {0, 1}, 1, 1},
      {{qnan, 1}, {-0.0, 1}, 1, 1},
      {{inf, qnan}, {0, 0}, -inf, 0},
      {{inf, inf}, {1, -1}, qnan, qnan},
      {{inf, 1}, {-1, 1}, inf, -1},
      {{inf, inf, -inf}, {2, 1, -1}, inf, 1},
      {{-inf, 0}, {inf, 1}, qnan, qnan},
      {{-inf, 0}, {-inf, 1}, qnan, qnan},
      {{0, 0}, {inf, 1}, inf, 1},
      {{0, 5}, {-inf, 1}, inf, -1},
      {{0, 5}, {-inf, inf}, qnan, qnan},
      {{inf, 5}, {1, -inf}, qnan, qnan},
      {{qnan, inf}, {1, 1}, qnan, qnan},
      {{1, 2}, {qnan, 1}, qnan, qnan},
      {{-inf, 2}, {qnan, 1}, qnan, qnan},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w);
    const auto actual = logsumexp_signed(r.x, r.w);
    CHECK(same(actual.log_abs, r.log_abs));
    CHECK(same(actual.sign, r.sign));
    const std::vector<float> x(r.x.begin(), r.x.end()), w(r.w.begin(), r.w.end());
    CHECK(same(logsumexp_signed(x, w).log_abs, r.log_abs));
    CHECK(same(logsumexp_signed(x, w).sign, r.sign));
  }
}

TEST_CASE("logsumexp_signed: infinities raise neither invalid nor divide-by-zero",
          "[exact][edge]") {
  const double values[]{-inf, inf, 0.0, 1000.0, DBL_MAX, -DBL_MAX};
  const double weights[]{-1.0, 0.0, 1.0, DBL_MAX};
  const std::size_t n = 2;
  list x(n), w(n);
  for (const double a : values)
    for (const double b : values)
      for (const double u : weights)
        for (const double v : weights) {
          x = {a, b};
          w = {u, v};
          CAPTURE(x, w);
          volatile double result = 0;
          CHECK(spurious_flags([&] { result = logsumexp_signed(x, w).log_abs; }) == 0);
        }
}

TEST_CASE("logsumexp_signed: a mask removes its terms", "[exact][edge]") {
  const list x{0, 1000, inf, 1, qnan}, w{1, -2, 1, -1, qnan};
  const std::array keep{true, false, false, true, false};
  const list kept_x{0, 1}, kept_w{1, -1};
  CHECK(logsumexp_signed(x, w, {.mask = keep}) == logsumexp_signed(kept_x, kept_w));
  const std::array none{false, false, false, false, false};
  CHECK(logsumexp_signed(x, w, {.mask = none}) == cumulus::signed_log<double>{-inf, 0});
}

TEMPLATE_TEST_CASE("logsumexp_signed: a scale multiplies x exactly", "[exact][value]", float,
                   double, long double) {
  worst error_here;
  for (const double scale : {1.0 / 3, -2.0, 1e-3, 1e-30, 40.0, -1.0}) {
    for (const std::size_t n : {1u, 2u, 5u, 20u}) {
      const auto x = families::normal<TestType>(n, 3.0, 2.0, n);
      const auto w = signed_weights<TestType>(n, 1, n);
      error_here.see(error(x, w, scale), "n =", n, "scale", scale);
    }
    const std::vector<TestType> x{TestType(2.5), TestType(2.5) + TestType(0x1p-20), -1, 0};
    error_here.see(error(x, {1, -1, 0, 0}, scale), "pair, scale", scale);
    error_here.see(error(x, {1, -2, 1, 0}, scale), "three, scale", scale);
  }
  CHECK_WORST(error_here, logsumexp_signed_max_ulp);
}

TEST_CASE("logsumexp_signed: a scale of 0, infinite, NaN or too large", "[exact][edge]") {
  struct row {
    list x, w;
    double scale, log_abs, sign;
  };
  const double log_2 = 0.6931471805599453;
  const row table[]{
      {{1, 2, 3}, {1, -1, -2}, 0, log_2, -1},
      {{1, inf, -inf}, {1, -1, 2}, 0, log_2, 1},
      {{1, 2}, {1, -1}, 0, -inf, 0},
      {{1, qnan}, {1, 1}, 0, qnan, qnan},
      {{3, 3, 2}, {1, -1, -1}, inf, inf, -1},
      {{3, 3, 0, -1}, {1, -1, -2, 5}, inf, log_2, -1},
      {{3, 3, -1}, {1, -1, -2}, inf, -inf, 0},
      {{3, 3, -1}, {1, 1, -2}, -inf, inf, -1},
      {{}, {}, inf, -inf, 0},
      {{inf, 1}, {-1, 1}, inf, inf, -1},
      {{inf, 1}, {-1, 1}, -inf, -inf, 0},
      {{1, 2}, {1, 1}, qnan, qnan, qnan},
      {{1e308, 1.1e308, 1}, {1, -1, 2}, 3, inf, -1},
      {{1e308, 1.1e308, 1.1e308}, {1, -1, 1}, 3, inf, 1},
      {{-1e308, -1.1e308}, {-1, 1}, 3, -inf, -1},
      {{1e308, 0}, {1, -1}, -3, 0, -1},
      {{DBL_MAX, -DBL_MAX}, {1, -1}, 1e-308, 0, 0},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w, r.scale);
    const auto actual = logsumexp_signed(r.x, r.w, {.scale = r.scale});
    if (r.scale == 1e-308) {
      CHECK(error(r.x, r.w, r.scale) <= logsumexp_signed_max_ulp);
      continue;
    }
    CHECK(same(actual.log_abs, r.log_abs));
    CHECK(same(actual.sign, r.sign));
  }
}

TEST_CASE("logsumexp_signed: order does not matter, and the other sign turns the sign",
          "[exact][property]") {
  families::random r(11u);
  for (const std::size_t n : {2u, 7u, 30u}) {
    auto x = families::normal<double>(n, 1.0, 1e-3, n);
    auto w = signed_weights<double>(n, 1, n);
    w.back() = cancelling(x, w, 0);  // deep enough that every order takes the exact path
    const auto total = logsumexp_signed(x, w);
    for (std::size_t i = n; i-- > 1;) {
      const std::size_t j = r.below(i + 1);
      std::swap(x[i], x[j]);
      std::swap(w[i], w[j]);
    }
    CHECK(logsumexp_signed(x, w) == total);
    for (double& v : w) v = -v;
    const auto opposite = logsumexp_signed(x, w);
    CHECK(opposite.log_abs == total.log_abs);
    CHECK(opposite.sign == -total.sign);
  }
}

TEST_CASE("logsumexp_signed: a weight split in two parts changes nothing", "[exact][property]") {
  const list x{1, 0.5, 2}, w{3, -7, 1};
  const list parts_x{1, 0.5, 2, 1, 0.5}, parts_w{1e17, 0x1p-1000, 1, -1e17, -7};
  const auto whole = logsumexp_signed(x, w);
  // 1e17 - 1e17 + 3 at x = 1, and a last bit too far down to be seen.
  list more_x = parts_x, more_w = parts_w;
  more_x.push_back(1);
  more_w.push_back(3);
  CHECK(ulps(logsumexp_signed(more_x, more_w).log_abs, oracle::wide(whole.log_abs)) <=
        2 * logsumexp_signed_max_ulp);
}

TEST_CASE("logsumexp_signed: a scaled term below all numbers has no part", "[exact][edge]") {
  const double scale = 0x1.7e43c8800759cp+996;
  const list x{0x0.0000000d5d5d5p-1022, -0x1.5d5d5d5p+350, 0x0.00d3f0c00c5d5p-1022};
  const auto sum = logsumexp_signed(x, list{-8, -8, -8}, {.scale = scale});
  using oracle::wide;
  const wide exact = log(8 * exp(wide(scale) * wide(x[0])) + 8 * exp(wide(scale) * wide(x[2])));
  CHECK(sum.sign == -1);
  CHECK(ulps(sum.log_abs, exact) <= logsumexp_signed_max_ulp);
}

TEST_CASE("logsumexp_signed: takes every kind of vector", "[exact][value]") {
  auto x = families::normal<double>(kinds::size, 0.0, 1.0, 3u);
  const auto w = signed_weights<double>(kinds::size, 1, 3u);
  const auto expected = logsumexp_signed(x, w);
  kinds::each_vector(x, [&](const char* name, const auto& v) {
    INFO(name);
    CHECK(logsumexp_signed(v, w) == expected);
  });
  kinds::each_vector(w, [&](const char* name, const auto& v) {
    INFO(name);
    CHECK(logsumexp_signed(x, v) == expected);
  });
  const std::vector<int> integers{1, 0}, signs{1, -1};
  static_assert(std::is_same_v<decltype(logsumexp_signed(integers, signs).sign), double>);
  CHECK(logsumexp_signed(integers, signs) == logsumexp_signed(list{1, 0}, list{1, -1}));
}

TEMPLATE_TEST_CASE("logsumexp_signed: half types are rounded once", "[exact][value]", Eigen::half,
                   Eigen::bfloat16) {
  const std::vector<TestType> x{TestType(1), TestType(0.5f)}, w{TestType(-1), TestType(1.5f)};
  const auto actual = logsumexp_signed(x, w);
  const double sum = -std::exp(1.0) + 1.5 * std::exp(0.5);
  CHECK(actual.log_abs == TestType(float(std::log(-sum))));
  CHECK(actual.sign == TestType(-1));
}

TEST_CASE("logsumexp_signed: 50 digits, near 0 and where terms cancel", "[exact][value]") {
  using scalar = oracle::wide;
  const oracle::wider unit = std::numeric_limits<scalar>::epsilon();
  const scalar e = exp(scalar(1));
  for (const scalar& last : {scalar(e), scalar(2 * e), scalar(e + scalar(1e-30)), scalar(1)}) {
    const std::vector<scalar> x{1, 0}, w{-1, last};
    const oracle::wider sum = oracle::wider(last) - exp(oracle::wider(1));
    const auto actual = logsumexp_signed(x, w);
    CHECK(actual.sign == (sum < 0 ? -1 : 1));
    const oracle::wider expected = log(abs(sum));
    CHECK(abs(oracle::wider(actual.log_abs) - expected) <=
          logsumexp_signed_max_ulp * unit * abs(expected));
  }
}

TEST_CASE("logsumexp_signed: derivatives are w e^x over the total", "[exact][value]") {
  using dual = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  const std::vector<dual> x{dual(1.0, Eigen::Vector2d(1, 0)), dual(0.5, Eigen::Vector2d(0, 1))};
  const std::vector<dual> w{dual(-1.0), dual(3.0)};
  const auto actual = logsumexp_signed(x, w);
  const double first = -std::exp(1.0), second = 3 * std::exp(0.5);
  CHECK(actual.log_abs.value() == Approx(std::log(first + second)));
  CHECK(actual.sign.value() == 1);
  CHECK(actual.log_abs.derivatives()[0] == Approx(first / (first + second)));
  CHECK(actual.log_abs.derivatives()[1] == Approx(second / (first + second)));
}

TEST_CASE("logsumexp_signed: refuses weights and masks of another size", "[exact][edge]") {
  const list x{1, 2, 3}, w{1, -1};
  CHECK(names(refusal([&] { (void)logsumexp_signed(x, w); }), {"logsumexp_signed", "3", "2"}));
  const std::array keep{true, false};
  CHECK(names(refusal([&] { (void)logsumexp_signed(w, w, {.mask = std::array{true}}); }),
              {"logsumexp_signed", "mask", "2", "1"}));
  CHECK_NOTHROW(logsumexp_signed(w, w, {.mask = keep}));
}
