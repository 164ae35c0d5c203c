// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp_gradient.hpp>

#include <algorithm>
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
using cumulus::into;
using cumulus::logsumexp_gradient;
using cumulus::logsumexp_gradient_max_ulp;
using cumulus::logsumexp_gradient_weights;
using cumulus::rowwise;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class A, class B>
bool all_same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto x, auto y) { return same(double(x), double(y)); });
}

/// The largest error of an entry of the gradient in x, each in its own ulp.
template <class T>
double error(const call<T>& c) {
  const oracle::distribution<> d(c);
  const std::vector<T> actual =
      with_options(c, [&](const auto& o) { return logsumexp_gradient(c.x, o); });
  double largest = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const double e = ulps(actual[i], wide(wide(c.scale) * d.share[i]));
    if (!(e <= largest)) largest = e;
  }
  return largest;
}

/// The same of the gradient in the weights, e^{scale x_i} / sum.
template <class T>
double weight_error(const call<T>& c) {
  const oracle::distribution<> d(c);
  const std::vector<T> actual =
      with_options(c, [&](const auto& o) { return logsumexp_gradient_weights(c.x, o); });
  double largest = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const bool kept = c.mask.empty() || c.mask[i];
    const wide expected = kept ? wide(exp(d.exponent[i] - d.log_sum)) : wide(0);
    const double e = ulps(actual[i], expected);
    if (!(e <= largest)) largest = e;
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("logsumexp_gradient: every entry within its ulp bound", "[exact][value]", float,
                   double, long double) {
  worst in_x, in_weights;
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 70u}) {
    for (const double offset : {0.0, 1e4, -700.0, 1e16}) {
      for (const double spread : {1e-8, 1.0, 30.0, 1e3}) {
        const call<TestType> c{families::normal<TestType>(n, offset, spread, n + 1)};
        in_x.see(error(c), "n =", n, "offset", offset, "spread", spread);
        in_weights.see(weight_error(c), "n =", n, "offset", offset, "spread", spread);
      }
    }
  }
  CHECK_WORST(in_x, logsumexp_gradient_max_ulp);
  CHECK_WORST(in_weights, logsumexp_gradient_max_ulp);
}

TEMPLATE_TEST_CASE("logsumexp_gradient: options keep the ulp bound", "[exact][value]", float,
                   double) {
  worst in_x, in_weights;
  for (const std::size_t n : {1u, 2u, 5u, 33u}) {
    for (const double decades : {2.0, 60.0}) {
      for (const double spread : {1e-3, 1.0, 30.0}) {
        for (const double scale : {1.0, -1.0, 0.3, 7.0, 1e-3}) {
          for (const bool sink : {false, true}) {
            call<TestType> c{families::normal<TestType>(n, 2.0, spread, n),
                             families::wild_weights<TestType>(n, decades, n + 1),
                             {},
                             scale};
            if (n > 4) c.weights[3] = TestType(0), c.mask.assign(n, 1), c.mask[1] = 0;
            if (sink) c.sink = 1.5;
            in_x.see(error(c), n, decades, spread, scale, sink);
            in_weights.see(weight_error(c), n, decades, spread, scale, sink);
          }
        }
      }
    }
  }
  CHECK_WORST(in_x, logsumexp_gradient_max_ulp);
  CHECK_WORST(in_weights, logsumexp_gradient_max_ulp);
}

TEST_CASE("logsumexp_gradient: a softmax below the scalar's range times a large scale",
          "[exact][value]") {
  worst error_here;
  error_here.see(error<double>({{0.0, -1.0}, {}, {}, 750.0}), "double");
  error_here.see(error<float>({{0.0f, -1.0f}, {}, {}, 105.0}), "float");
  error_here.see(error<float>({{0.0f, -1e-28f}, {}, {}, 1e30}), "float, far");
  CHECK_WORST(error_here, logsumexp_gradient_max_ulp);
}

TEST_CASE("logsumexp_gradient: right where e^(x - logsumexp) has lost its digits",
          "[exact][value]") {
  for (const double size : {1e8, 1e16, -1e16, 1e300}) {
    CAPTURE(size);
    CHECK(all_same(logsumexp_gradient(std::array{size, size}), std::array{0.5, 0.5}));
    CHECK(all_same(logsumexp_gradient_weights(std::array{size, size}), std::array{0.5, 0.5}));
  }
  CHECK(all_same(logsumexp_gradient(std::array{1e8f, 1e8f}), std::array{0.5f, 0.5f}));
  worst error_here;
  error_here.see(error<double>({{1e16, 1e16 + 2, 1e16 - 4}}), "1e16");
  error_here.see(error<float>({{1e6f, 1e6f + 1, 1e6f - 3}}), "1e6 in float");
  CHECK_WORST(error_here, logsumexp_gradient_max_ulp);
}

TEST_CASE("logsumexp_gradient: it is the derivative of the definition", "[exact][property]") {
  // A central difference of the definition in 50 digits, step 1e-15: off by about 1e-30.
  const auto x = families::normal<double>(9, 1.0, 2.0, 5u);
  const auto w = families::wild_weights<double>(9, 2.0, 6u);
  const double scale = -0.75, sink = 0.5;
  const auto value = [&](std::size_t at, const wide& dx, const wide& dw) {
    wide sum = exp(wide(sink));
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += (w[i] + (i == at ? dw : wide(0))) * exp(scale * (x[i] + (i == at ? dx : wide(0))));
    return wide(log(sum));
  };
  const wide step("1e-15");
  const auto in_x = logsumexp_gradient(x, {.weights = w, .scale = scale, .sink = sink});
  const auto in_weights =
      logsumexp_gradient_weights(x, {.weights = w, .scale = scale, .sink = sink});
  worst error_here;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error_here.see(
        ulps(in_x[Eigen::Index(i)], wide((value(i, step, 0) - value(i, -step, 0)) / (2 * step))),
        "x", i);
    error_here.see(ulps(in_weights[Eigen::Index(i)],
                        wide((value(i, 0, step) - value(i, 0, -step)) / (2 * step))),
                   "w", i);
  }
  CHECK_WORST(error_here, logsumexp_gradient_max_ulp);
}

TEST_CASE("logsumexp_gradient: infinities, masks and weights", "[exact][edge]") {
  struct row {
    std::vector<double> x, expected;
  };
  const std::vector<row> table{
      {{}, {}},
      {{-inf}, {0}},
      {{-inf, -inf}, {0, 0}},
      {{-inf, 5}, {0, 1}},
      {{inf, 2}, {1, 0}},
      {{inf, 2, inf}, {qnan, 0, qnan}},
      {{1, qnan}, {qnan, qnan}},
      {{inf, qnan}, {qnan, qnan}},
      {{DBL_MAX, -DBL_MAX}, {1, 0}},
  };
  for (const row& r : table) {
    CAPTURE(r.x);
    CHECK(all_same(logsumexp_gradient(r.x), r.expected));
  }
  const std::vector<double> x{qnan, 2, inf};
  CHECK(all_same(logsumexp_gradient(x, {.mask = std::array{false, true, false}}),
                 std::array{0.0, 1.0, 0.0}));
  CHECK(all_same(logsumexp_gradient(x, {.mask = std::array{false, false, false}}),
                 std::array{0.0, 0.0, 0.0}));
  CHECK(all_same(logsumexp_gradient(x, {.weights = {0, 3, 0}}), std::array{0.0, 1.0, 0.0}));
  CHECK(all_same(logsumexp_gradient(x, {.mask = std::array{false, true, false}, .scale = 3}),
                 std::array{0.0, 3.0, 0.0}));
  // A scale of 0 has no slope; nor has what is left out at an infinite one.
  CHECK(all_same(logsumexp_gradient(std::array{1.0, 2.0}, {.scale = 0}), std::array{0.0, 0.0}));
  CHECK(all_same(logsumexp_gradient(x, {.mask = std::array{false, true, false}, .scale = inf}),
                 std::array{0.0, inf, 0.0}));
  CHECK(all_same(logsumexp_gradient(std::array{1.0, 2.0}, {.scale = inf}), std::array{0.0, inf}));
}

TEST_CASE("logsumexp_gradient_weights: infinities, masks and weights of 0", "[exact][edge]") {
  const auto of = [](const std::vector<double>& x, const std::vector<double>& w) {
    return logsumexp_gradient_weights(x, {.weights = w});
  };
  // A weight of 0 has a derivative: e^{x_i} over the sum of the others.
  CHECK(all_same(of({1, 1}, {0, 2}), std::array{0.5, 0.5}));
  const double e2 = of({3, 1}, {0, 1})[0];
  CHECK(ulps(e2, wide(exp(wide(2)))) <= logsumexp_gradient_max_ulp);
  CHECK(all_same(of({-inf, 1}, {0, 2}), std::array{0.0, 0.5}));
  CHECK(all_same(of({-inf, 1}, {1, 2}), std::array{0.0, 0.5}));
  CHECK(all_same(of({inf, 1}, {1, 1}), std::array{qnan, 0.0}));
  CHECK(all_same(of({qnan, 1}, {1, 1}), std::array{qnan, qnan}));
  CHECK(all_same(of({qnan, 1}, {0, 1}), std::array{qnan, 1.0}));
  CHECK(all_same(of({-inf, -inf}, {1, 1}), std::array{0.0, 0.0}));
  CHECK(all_same(of({-inf, 1}, {1, 0}), std::array{0.0, qnan}));
  CHECK(all_same(of({}, {}), std::array<double, 0>{}));
  CHECK(all_same(logsumexp_gradient_weights(std::array{qnan, 1.0, inf},
                                            {.mask = std::array{false, true, false}}),
                 std::array{0.0, 1.0, 0.0}));
  // Subnormal and huge weights: the sum is their size, the derivative its inverse.
  CHECK(all_same(of({0, 0}, {0x1p-1020, 0x1p-1020}), std::array{0x1p1019, 0x1p1019}));
  CHECK(all_same(of({0, 0}, {0x1p1022, 0x1p1022}), std::array{0x1p-1023, 0x1p-1023}));
  CHECK(all_same(of({700, 0}, {0x1p-1074, 0x1p-1074}),
                 std::array{inf, of({700, 0}, {0x1p-1074, 0x1p-1074})[1]}));
}

TEMPLATE_TEST_CASE("logsumexp_gradient: NaN is seen at every position", "[exact][edge]", float,
                   double) {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<TestType>(n, 0.0, 1.0, n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const TestType kept = x[i];
      x[i] = TestType(qnan);
      for (const TestType y : logsumexp_gradient(x)) all = all && std::isnan(y);
      for (const TestType y : logsumexp_gradient_weights(x)) all = all && std::isnan(y);
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("logsumexp_gradient: infinities raise neither invalid nor divide-by-zero",
          "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {}, {-inf}, {inf}, {-inf, -inf}, {1, -inf, 2}, {inf, 1}, {inf, -inf, inf}, {0, -1000}};
  for (const auto& x : rows) {
    CAPTURE(x);
    std::vector<double> out(x.size());
    const std::vector<double> w(x.size(), 0.0), v(x.size(), 2.5);
    CHECK(spurious_flags([&] { logsumexp_gradient(x, into(out)); }) == 0);
    CHECK(spurious_flags([&] { logsumexp_gradient(x, into(out), {.weights = v, .scale = -2}); }) ==
          0);
    CHECK(spurious_flags([&] { logsumexp_gradient(x, into(out), {.weights = w}); }) == 0);
    CHECK(spurious_flags([&] { logsumexp_gradient_weights(x, into(out)); }) == 0);
    CHECK(spurious_flags([&] { logsumexp_gradient_weights(x, into(out), {.weights = v}); }) == 0);
  }
}

TEST_CASE("logsumexp_gradient: every kind of vector and of place, in place and overlapping",
          "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const std::vector<double> expected = logsumexp_gradient(x, {.scale = 0.5});
  const std::vector<double> in_weights = logsumexp_gradient_weights(x);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(all_same(logsumexp_gradient(argument, {.scale = 0.5}), expected));
    CHECK(all_same(logsumexp_gradient_weights(argument), in_weights));
  });
  kinds::each_out<double>([&](const char* kind, auto&& out, const auto& read) {
    CAPTURE(kind);
    logsumexp_gradient(x, into(out), {.scale = 0.5});
    CHECK(all_same(read(), expected));
    logsumexp_gradient_weights(x, into(out));
    CHECK(all_same(read(), in_weights));
    std::copy(x.begin(), x.end(), std::begin(out));
    logsumexp_gradient_weights(out, into(out));
    CHECK(all_same(read(), in_weights));
  });
  std::vector<double> memory = x;
  logsumexp_gradient(memory, into(memory), {.scale = 0.5});
  CHECK(all_same(memory, expected));
  Eigen::VectorXd longer(kinds::size + 2);
  longer.head(kinds::size) = Eigen::Map<const Eigen::VectorXd>(x.data(), kinds::size);
  logsumexp_gradient_weights(longer.head(kinds::size), into(longer.tail(kinds::size)));
  CHECK(all_same(longer.tail(kinds::size), in_weights));
  // The weights where the result goes.
  const auto w = families::wild_weights<double>(kinds::size, 2.0, 10u);
  const std::vector<double> weighted = logsumexp_gradient_weights(x, {.weights = w});
  memory = w;
  logsumexp_gradient_weights(x, into(memory), {.weights = memory});
  CHECK(all_same(memory, weighted));
}

TEST_CASE("logsumexp_gradient: rows and columns with options by line", "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const Eigen::MatrixXd values = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  const std::vector<double> weights{1, 0, 2, 3, 0.5};
  const Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(7, -1.0, 2.0);
  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const Eigen::MatrixXd rows =
        logsumexp_gradient(x, rowwise, {.weights = weights, .scale = scale});
    const Eigen::MatrixXd cols = logsumexp_gradient(x, colwise);
    const Eigen::MatrixXd rows_w = logsumexp_gradient_weights(x, rowwise, {.weights = weights});
    const Eigen::MatrixXd cols_w = logsumexp_gradient_weights(x, colwise);
    for (int i = 0; i < 7; ++i) {
      CHECK(rows.row(i) ==
            logsumexp_gradient(values.row(i), {.weights = weights, .scale = scale[i]}));
      CHECK(rows_w.row(i) == logsumexp_gradient_weights(values.row(i), {.weights = weights}));
    }
    for (int j = 0; j < 5; ++j) {
      CHECK(cols.col(j) == logsumexp_gradient(values.col(j)));
      CHECK(cols_w.col(j) == logsumexp_gradient_weights(values.col(j)));
    }
  });
}

TEST_CASE("logsumexp_gradient: sizes that differ are refused with both", "[exact][edge]") {
  const std::vector<double> x(3, 0.0);
  std::vector<double> out(4, 7.0);
  CHECK(refusal([&] { logsumexp_gradient(x, into(out)); }) ==
        "cumulus: logsumexp_gradient: x has 3 elements, out has 4");
  CHECK(refusal([&] { logsumexp_gradient_weights(x, into(out)); }) ==
        "cumulus: logsumexp_gradient_weights: x has 3 elements, out has 4");
  CHECK(refusal([&] { (void)logsumexp_gradient(x, {.weights = out}); }) ==
        "cumulus: logsumexp_gradient: x has 3 elements, weights has 4");
  CHECK(out == std::vector<double>(4, 7.0));
  const Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 3);
  CHECK(refusal([&] { (void)logsumexp_gradient(a, colwise, {.mask = std::array{true}}); }) ==
        "cumulus: logsumexp_gradient: a column of x has 2 elements, mask has 1");
}
