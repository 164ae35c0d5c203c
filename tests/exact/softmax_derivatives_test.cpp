// SPDX-License-Identifier: MIT
#include <cumulus/exact/softmax_derivatives.hpp>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "any_options.hpp"
#include "calls.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "names.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::degenerate;
using cumulus::into;
using cumulus::log_softmax_vjp;
using cumulus::logsumexp_hvp;
using cumulus::rowwise;
using cumulus::softmax_derivative_max_ulp;
using cumulus::softmax_jvp;
using cumulus::softmax_vjp;
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

/// The largest error in ulp of the size that the header names.
template <class T>
double largest(const std::vector<T>& actual, const std::vector<wide>& expected,
               const std::vector<wide>& size) {
  double result = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = ulps(actual[i], expected[i], T(size[i]));
    if (!(e <= result)) result = e;
  }
  return result;
}

/// factor p_i (v_i - sum p v), as factor p_i sum_j p_j (v_i - v_j), since 50 digits do not hold 1 -
/// 1e-60; and what its error is measured against.
template <class T>
void jacobian_product(const call<T>& c, const std::vector<T>& v, const wide& factor,
                      std::vector<wide>& expected, std::vector<wide>& size) {
  const oracle::distribution<> d(c);
  std::size_t top = 0;
  for (std::size_t i = 1; i < v.size(); ++i)
    if (d.share[i] > d.share[top]) top = i;
  const bool sink_leads = v.empty() || d.sink_share > d.share[top];
  const auto mean = [&](const auto& distance) {  // over the outcomes, of which the sink has v = 0
    wide sum = d.sink_share * distance(wide(0));
    for (std::size_t j = 0; j < v.size(); ++j)
      if (d.share[j] > 0) sum += d.share[j] * distance(wide(v[j]));
    return sum;
  };
  const wide reference = sink_leads ? wide(0) : wide(v[top]);
  const wide spread = mean([&](const wide& y) { return wide(abs(y - reference)); });
  expected.resize(v.size());
  size.resize(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    const wide here = v[i];
    expected[i] = factor * d.share[i] * mean([&](const wide& y) { return wide(here - y); });
    size[i] = abs(factor) * d.share[i] * (abs(here - reference) + spread);
  }
}

struct errors {
  double jvp = 0, vjp = 0, hvp = 0, log_vjp = 0;
};

template <class T>
errors all_errors(const call<T>& c, const std::vector<T>& v) {
  return with_options(c, [&](const auto& o) {
    errors e;
    std::vector<wide> expected, size;
    jacobian_product(c, v, wide(c.scale), expected, size);
    e.jvp = largest<T>(softmax_jvp(c.x, v, o), expected, size);
    e.vjp = largest<T>(softmax_vjp(c.x, v, o), expected, size);
    jacobian_product(c, v, wide(c.scale) * wide(c.scale), expected, size);
    e.hvp = largest<T>(logsumexp_hvp(c.x, v, o), expected, size);

    // scale (g_i - p_i sum g) over what is kept.
    const oracle::distribution<> d(c);
    wide sum = 0, absolute = 0;
    const auto kept = [&](std::size_t i) {
      return (c.mask.empty() || c.mask[i]) && (c.weights.empty() || c.weights[i] != 0);
    };
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (kept(i)) sum += wide(v[i]), absolute += abs(wide(v[i]));
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      expected[i] = kept(i) ? wide(c.scale * (wide(v[i]) - d.share[i] * sum)) : wide(0);
      size[i] = abs(wide(c.scale)) * (abs(wide(v[i])) + d.share[i] * absolute);
    }
    e.log_vjp = largest<T>(log_softmax_vjp(c.x, v, o), expected, size);
    return e;
  });
}

struct worst_errors {
  worst jvp, vjp, hvp, log_vjp;
  template <class... Where>
  void see(const errors& e, const Where&... where) {
    jvp.see(e.jvp, where...);
    vjp.see(e.vjp, where...);
    hvp.see(e.hvp, where...);
    log_vjp.see(e.log_vjp, where...);
  }
  void check() const {
    CHECK_WORST(jvp, softmax_derivative_max_ulp);
    CHECK_WORST(vjp, softmax_derivative_max_ulp);
    CHECK_WORST(hvp, softmax_derivative_max_ulp);
    CHECK_WORST(log_vjp, softmax_derivative_max_ulp);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("softmax_derivatives: every entry within its bound", "[exact][value]", float,
                   double, long double) {
  worst_errors error;
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 40u}) {
    for (const double offset : {0.0, -700.0, 1e16}) {
      for (const double spread : {1e-8, 1.0, 8.0, 300.0}) {
        const call<TestType> c{families::normal<TestType>(n, offset, spread, n + 1)};
        for (const double v_offset : {0.0, 100.0}) {
          error.see(all_errors(c, families::normal<TestType>(n, v_offset, 1.0, n + 2)), "n =", n,
                    "offset", offset, "spread", spread, "v about", v_offset);
        }
        if (spread < 100) {
          error.see(all_errors(c, families::wild_weights<TestType>(n, 12.0, n)), "wild v, n =", n,
                    "offset", offset, "spread", spread);
        }
      }
    }
  }
  error.check();
}

TEMPLATE_TEST_CASE("softmax_derivatives: options keep the bound", "[exact][value]", float, double) {
  worst_errors error;
  for (const std::size_t n : {1u, 2u, 5u, 33u}) {
    for (const double decades : {1.0, 12.0}) {
      for (const double spread : {1e-3, 1.0, 30.0}) {
        for (const double scale : {1.0, -1.0, 0.3, 7.0}) {
          for (const double sink : {-inf, 1.5, 40.0}) {
            call<TestType> c{families::normal<TestType>(n, 2.0, spread, n),
                             families::wild_weights<TestType>(n, decades, n + 1),
                             {},
                             scale};
            if (n > 4) c.weights[3] = TestType(0), c.mask.assign(n, 1), c.mask[1] = 0;
            if (std::isfinite(sink)) c.sink = sink;
            error.see(all_errors(c, families::normal<TestType>(n, 3.0, 1.0, n + 9)), n, decades,
                      spread, scale, sink);
          }
        }
      }
    }
  }
  error.check();
}

TEST_CASE("softmax_derivatives: large scales, whose square or product leaves the range",
          "[exact][value]") {
  worst_errors error;
  error.see(all_errors<double>({{0.0, -1.0}, {}, {}, 1e3}, {0.0, 1.0}), "one-hot");
  error.see(all_errors<double>({{0.0, -1.0}, {}, {}, 1e200}, {0.0, 1.0}), "scale^2 is infinite");
  error.see(all_errors<double>({{0.0, -1e-200}, {}, {}, 1e200}, {0.0, 1e-100}),
            "and not the result");
  error.see(all_errors<float>({{0.0f, -1.0f}, {}, {}, 105.0}, {0.0f, 1.0f}), "share below float");
  error.check();
}

TEST_CASE("softmax_derivatives: large directions times shares below the normal range",
          "[exact][value]") {
  worst_errors error;
  error.see(all_errors<double>({{0.0, -740.0}}, {1e6, 0.0}), "double");
  error.see(all_errors<double>({{0.0, -740.0}}, {0.0, 1e200}), "double, far");
  error.see(all_errors<float>({{0.0f, -100.0f}}, {0.0f, 1e20f}), "float");
  error.check();
}

TEST_CASE("softmax_derivatives: at ties of 1e16", "[exact][value]") {
  const std::array x{1e16, 1e16}, v{1.0, 0.0};
  CHECK(all_same(softmax_jvp(x, v), std::array{0.25, -0.25}));
  CHECK(all_same(softmax_vjp(x, v), std::array{0.25, -0.25}));
  CHECK(all_same(logsumexp_hvp(x, v), std::array{0.25, -0.25}));
  CHECK(all_same(log_softmax_vjp(x, v), std::array{0.5, -0.5}));
}

TEST_CASE("softmax_derivatives: a constant direction gives exactly 0", "[exact][property]") {
  for (const std::size_t n : {1u, 2u, 7u, 64u}) {
    for (const double spread : {0.0, 1.0, 30.0}) {
      for (const double value : {1.0, 0.1, -1e300}) {
        const auto x = families::normal<double>(n, 5.0, spread, n);
        const std::vector<double> v(n, value), zero(n, 0.0);
        CAPTURE(n, spread, value);
        CHECK(all_same(softmax_jvp(x, v), zero));
        CHECK(all_same(softmax_vjp(x, v), zero));
        CHECK(all_same(logsumexp_hvp(x, v), zero));
      }
    }
  }
  // An unkept element and one of -inf may differ.
  CHECK(all_same(softmax_jvp(std::array{1.0, 2.0, qnan, -inf}, std::array{3.0, 3.0, qnan, inf},
                             {.mask = std::array{true, true, false, true}}),
                 std::array{0.0, 0.0, 0.0, 0.0}));
}

TEST_CASE("softmax_derivatives: the transpose of the product, and a symmetric Hessian",
          "[exact][property]") {
  worst error;
  const double unit = 0x1p-53;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto n = std::size_t(1 + seed % 12);
    const auto x = families::normal<double>(n, 2.0, 2.0, seed);
    const auto u = families::normal<double>(n, 0.0, 1.0, seed + 100);
    const auto v = families::normal<double>(n, 0.0, 1.0, seed + 200);
    const auto w = families::wild_weights<double>(n, 2.0, seed);
    const auto dot = [](const auto& a, const auto& b) {
      wide sum = 0;
      for (std::size_t i = 0; i < std::size_t(b.size()); ++i)
        sum += wide(a[Eigen::Index(i)]) * wide(b[i]);
      return sum;
    };
    const any_options<double> o{.weights = w, .scale = 1.5, .sink = 0.25};
    error.see(double(abs(dot(softmax_jvp(x, v, o), u) - dot(softmax_vjp(x, u, o), v))) / unit,
              "jvp and vjp", seed);
    error.see(double(abs(dot(logsumexp_hvp(x, v, o), u) - dot(logsumexp_hvp(x, u, o), v))) / unit,
              "hvp", seed);
    wide trace = dot(softmax_jvp(x, v), std::vector<double>(n, 1.0));
    error.see(double(abs(trace)) / unit, "sum", seed);  // shares sum to one
    trace = dot(log_softmax_vjp(x, v), std::vector<double>(n, 1.0));
    error.see(double(abs(trace)) / unit / 4, "sum of log", seed);
  }
  CHECK_WORST(error, 2 * softmax_derivative_max_ulp * 3);  // sum of p |u| |v| is 3 at most here
}

TEST_CASE("softmax_derivatives: they are the derivatives of the definitions", "[exact][property]") {
  // Central differences in 50 digits, step 1e-15: off by about 1e-30.
  const auto x = families::normal<double>(6, 1.0, 2.0, 5u),
             v = families::normal<double>(6, 0.0, 1.0, 7u);
  const auto w = families::wild_weights<double>(6, 1.0, 6u);
  const double scale = -0.75, sink = 0.5;
  const wide step("1e-15");
  const auto shares = [&](const std::vector<wide>& at) {
    wide sum = exp(wide(sink));
    std::vector<wide> p(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) sum += p[i] = w[i] * exp(scale * at[i]);
    for (wide& q : p) q /= sum;
    return p;
  };
  const auto moved = [&](const wide& t, std::size_t only = std::size_t(-1)) {
    std::vector<wide> at(x.begin(), x.end());
    for (std::size_t i = 0; i < at.size(); ++i)
      if (only > at.size() || only == i) at[i] += t * (only > at.size() ? wide(v[i]) : wide(1));
    return shares(at);
  };
  const any_options<double> o{.weights = w, .scale = scale, .sink = sink};
  const std::vector<double> jvp = softmax_jvp(x, v, o), vjp = softmax_vjp(x, v, o),
                            log_vjp = log_softmax_vjp(x, v, o), hvp = logsumexp_hvp(x, v, o);
  const auto up = moved(step), down = moved(-step);
  worst error;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const wide slope = (up[i] - down[i]) / (2 * step);
    error.see(ulps(jvp[i], slope, 1.0), "jvp", i);
    error.see(ulps(hvp[i], wide(scale * slope), 1.0), "hvp", i);
    const auto above = moved(step, i), below = moved(-step, i);
    wide sum = 0, log_sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      sum += v[j] * (above[j] - below[j]) / (2 * step);
      log_sum += v[j] * (log(above[j]) - log(below[j])) / (2 * step);
    }
    error.see(ulps(vjp[i], sum, 1.0), "vjp", i);
    error.see(ulps(log_vjp[i], log_sum, 4.0), "log vjp", i);
  }
  CHECK_WORST(error, softmax_derivative_max_ulp);
}

TEST_CASE("softmax_derivatives: infinities, NaN and rows without a softmax", "[exact][edge]") {
  struct row {
    std::vector<double> x, v, jvp, hvp, log_vjp;
  };
  const std::vector<row> table{
      {{}, {}, {}, {}, {}},
      {{3}, {7}, {0}, {0}, {0}},
      {{-inf, 0, 0}, {9, 1, 0}, {0, 0.25, -0.25}, {0, 0.25, -0.25}, {9, -4, -5}},
      {{inf, 2}, {3, 4}, {0, 0}, {0, 0}, {-4, 4}},
      {{inf, 2, inf}, {3, 4, 5}, {qnan, 0, qnan}, {qnan, 0, qnan}, {qnan, 4, qnan}},
      {{-inf, -inf}, {3, 4}, {qnan, qnan}, {0, 0}, {qnan, qnan}},
      {{qnan, 1}, {3, 4}, {qnan, qnan}, {qnan, qnan}, {qnan, qnan}},
      {{1, 1}, {qnan, 0}, {qnan, qnan}, {qnan, qnan}, {qnan, qnan}},
      {{DBL_MAX, -DBL_MAX}, {3, 4}, {0, 0}, {0, 0}, {-4, 4}},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.v);
    CHECK(all_same(softmax_jvp(r.x, r.v), r.jvp));
    CHECK(all_same(softmax_vjp(r.x, r.v), r.jvp));
    CHECK(all_same(logsumexp_hvp(r.x, r.v), r.hvp));
    CHECK(all_same(log_softmax_vjp(r.x, r.v), r.log_vjp));
  }
  const std::array two{-inf, -inf}, g{3.0, 5.0};
  const auto zero = std::array{0.0, 0.0};
  CHECK(all_same(softmax_jvp(two, g, {.degenerate = degenerate::zero}), zero));
  CHECK(all_same(softmax_jvp(two, g, {.degenerate = degenerate::uniform}), zero));
  CHECK(all_same(log_softmax_vjp(two, g, {.degenerate = degenerate::zero}), g));
  CHECK(all_same(log_softmax_vjp(two, g, {.degenerate = degenerate::uniform}),
                 std::array{-1.0, 1.0}));
}

TEST_CASE("softmax_derivatives: what is masked or of weight 0 never enters", "[exact][edge]") {
  const std::array x{qnan, 2.0, inf, 2.0}, v{qnan, 1.0, inf, 0.0};
  const std::array mask{false, true, false, true};
  const std::array product{0.0, 0.25, 0.0, -0.25}, half{0.0, 0.5, 0.0, -0.5};
  const std::vector<double> w{0, 3, -0.0, 3};
  CHECK(all_same(softmax_jvp(x, v, {.mask = mask}), product));
  CHECK(all_same(softmax_jvp(x, v, {.weights = w}), product));
  CHECK(all_same(logsumexp_hvp(x, v, {.mask = mask}), product));
  CHECK(all_same(logsumexp_hvp(x, v, {.weights = w}), product));
  CHECK(all_same(log_softmax_vjp(x, v, {.mask = mask}), half));
  CHECK(all_same(log_softmax_vjp(x, v, {.weights = w}), half));
  const std::array none{false, false, false, false};
  const std::array zero{0.0, 0.0, 0.0, 0.0};
  CHECK(all_same(softmax_jvp(x, v, {.mask = none}), zero));
  CHECK(all_same(logsumexp_hvp(x, v, {.mask = none}), zero));
  CHECK(all_same(log_softmax_vjp(x, v, {.mask = none}), zero));
  // At an infinite scale the masked entries stay 0 and so do those that have no share.
  CHECK(all_same(softmax_jvp(x, v, {.mask = std::array{false, true, false, false}, .scale = inf}),
                 zero));
}

TEMPLATE_TEST_CASE("softmax_derivatives: NaN is seen at every position", "[exact][edge]", float,
                   double) {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<TestType>(n, 0.0, 1.0, n), v = x;
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (auto* at : {&x[i], &v[i]}) {
        const TestType kept = *at;
        *at = TestType(qnan);
        for (const TestType y : softmax_jvp(x, v)) all = all && std::isnan(y);
        for (const TestType y : log_softmax_vjp(x, v)) all = all && std::isnan(y);
        *at = kept;
      }
    }
    CAPTURE(n);
    CHECK(all);
  }
}

TEST_CASE("softmax_derivatives: infinities raise neither invalid nor divide-by-zero",
          "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {}, {-inf}, {inf}, {-inf, -inf}, {1, -inf, 2}, {inf, -inf, inf}, {inf, 1}, {0, -1000}};
  for (const auto& x : rows) {
    CAPTURE(x);
    std::vector<double> out(x.size());
    const std::vector<double> v = families::normal<double>(x.size(), 0.0, 1.0, 3u);
    CHECK(spurious_flags([&] { softmax_vjp(x, v, into(out)); }) == 0);
    CHECK(spurious_flags([&] { log_softmax_vjp(x, v, into(out)); }) == 0);
    CHECK(spurious_flags([&] { softmax_vjp(x, v, into(out), {.scale = -2, .sink = 1}); }) == 0);
    CHECK(spurious_flags([&] { log_softmax_vjp(x, v, into(out), {.scale = -2, .sink = 1}); }) == 0);
  }
}

TEST_CASE("softmax_derivatives: every kind of vector, direction and place", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const auto v = families::normal<double>(kinds::size, 0.0, 1.0, 9u);
  const std::vector<double> expected = softmax_vjp(x, v), log_expected = log_softmax_vjp(x, v);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(all_same(softmax_jvp(argument, v), expected));
    CHECK(all_same(logsumexp_hvp(argument, v), expected));
  });
  kinds::each_vector(v, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(all_same(softmax_vjp(x, argument), expected));
    CHECK(all_same(log_softmax_vjp(x, argument), log_expected));
  });
  kinds::each_out<double>([&](const char* kind, auto&& out, const auto& read) {
    CAPTURE(kind);
    softmax_vjp(x, v, into(out));
    CHECK(all_same(read(), expected));
    log_softmax_vjp(x, v, into(out));
    CHECK(all_same(read(), log_expected));
    std::copy(v.begin(), v.end(), std::begin(out));
    softmax_vjp(x, out, into(out));  // the direction in place
    CHECK(all_same(read(), expected));
    std::copy(x.begin(), x.end(), std::begin(out));
    log_softmax_vjp(out, v, into(out));  // x in place
    CHECK(all_same(read(), log_expected));
  });
  CHECK(all_same(softmax_jvp(std::vector<float>{0, 0}, std::vector<int>{1, 0}),
                 std::array{0.25, -0.25}));
}

TEST_CASE("softmax_derivatives: x, direction and result may share their memory", "[exact][edge]") {
  const auto n = Eigen::Index(kinds::size);
  const auto numbers = families::normal<double>(kinds::size + 3, 0.0, 2.0, 8u);
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(numbers.data(), n);
  const Eigen::VectorXd own = softmax_vjp(x, x), log_own = log_softmax_vjp(x, x);
  Eigen::VectorXd memory = x;
  softmax_vjp(memory, memory, into(memory));
  CHECK(memory == own);
  memory = x;
  log_softmax_vjp(memory, memory, into(memory));
  CHECK(memory == log_own);
  memory = x;
  log_softmax_vjp(memory.reverse(), memory, into(memory));
  CHECK(memory == Eigen::VectorXd(log_softmax_vjp(x.reverse(), x)));
  for (const Eigen::Index shift : {1, 3}) {
    CAPTURE(shift);
    Eigen::VectorXd longer = Eigen::Map<const Eigen::VectorXd>(numbers.data(), n + shift);
    const Eigen::VectorXd v = longer.tail(n), expected = softmax_vjp(x, v);
    softmax_vjp(x, longer.tail(n), into(longer.head(n)));
    CHECK(longer.head(n) == expected);
    longer.head(n) = v;
    softmax_vjp(x, longer.head(n), into(longer.tail(n)));
    CHECK(longer.tail(n) == expected);
  }
}

TEST_CASE("softmax_derivatives: rows and columns with options by line", "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const auto directions = families::normal<double>(7 * 5, 0.0, 1.0, 5u);
  const Eigen::MatrixXd values = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  const Eigen::MatrixXd v = Eigen::Map<const Eigen::MatrixXd>(directions.data(), 7, 5);
  const std::vector<double> w{1, 0, 2, 3, 0.5};
  const Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(7, -1.0, 2.0);
  const auto check = [&](const auto& x, const auto& g) {
    const Eigen::MatrixXd rows = softmax_jvp(x, g, rowwise, {.weights = w, .scale = scale}),
                          cols = softmax_vjp(x, g, colwise),
                          log_rows = log_softmax_vjp(x, g, rowwise, {.sink = scale}),
                          hvp = logsumexp_hvp(x, g, colwise, {.scale = 0.5});
    for (int i = 0; i < 7; ++i) {
      CHECK(rows.row(i) == softmax_jvp(values.row(i), v.row(i), {.weights = w, .scale = scale[i]}));
      CHECK(log_rows.row(i) == log_softmax_vjp(values.row(i), v.row(i), {.sink = scale[i]}));
    }
    for (int j = 0; j < 5; ++j) {
      CHECK(cols.col(j) == softmax_vjp(values.col(j), v.col(j)));
      CHECK(hvp.col(j) == logsumexp_hvp(values.col(j), v.col(j), {.scale = 0.5}));
    }
  };
  const kinds::row_major<double> by_row = values, v_by_row = v;
  check(values, v);
  check(by_row, v);
  check(values, v_by_row);
  check(values + Eigen::MatrixXd::Zero(7, 5), v.array().matrix());
  const Eigen::MatrixXd turned = values.transpose();
  check(turned.transpose(), v);
}

TEST_CASE("softmax_derivatives: sizes and shapes that differ are refused with both",
          "[exact][edge]") {
  const std::vector<double> x{1, 2, 3}, v{1, 2};
  std::vector<double> out(4);
  CHECK(names(refusal([&] { (void)softmax_jvp(x, v); }), {"softmax_jvp", "3", "direction", "2"}));
  CHECK(names(refusal([&] { (void)softmax_vjp(x, v); }), {"softmax_vjp", "3", "direction", "2"}));
  CHECK(names(refusal([&] { (void)log_softmax_vjp(x, v); }), {"log_softmax_vjp", "3", "2"}));
  CHECK(names(refusal([&] { (void)logsumexp_hvp(x, v); }), {"logsumexp_hvp", "3", "2"}));
  CHECK(refusal([&] { softmax_vjp(x, x, into(out)); }) ==
        "cumulus: softmax_vjp: x has 3 elements, out has 4");
  CHECK(refusal([&] { (void)softmax_jvp(x, x, {.weights = v}); }) ==
        "cumulus: softmax_jvp: x has 3 elements, weights has 2");
  const Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 3), b = Eigen::MatrixXd::Zero(3, 2);
  CHECK(refusal([&] { (void)softmax_jvp(a, b, rowwise); }) ==
        "cumulus: softmax_jvp: x is 2 x 3, the direction is 3 x 2");
  CHECK(refusal([&] { (void)log_softmax_vjp(a, b, colwise); }) ==
        "cumulus: log_softmax_vjp: x is 2 x 3, the direction is 3 x 2");
  CHECK(refusal([&] { (void)logsumexp_hvp(a, a, rowwise, {.scale = v.size() ? x : v}); }) ==
        "cumulus: logsumexp_hvp: the result has 2 elements, scale has 3");
}

TEMPLATE_TEST_CASE("softmax derivatives: directions near the largest number overflow nowhere",
                   "[exact][edge]", float, double, long double) {
  using T = TestType;
  const T big = std::numeric_limits<T>::max() / 2, half = big / 2;
  const std::array<T, 2> x{0, 0}, v{big, -big};
  const auto same = [](const auto& a, T first, T second) {
    return a[0] == first && a[1] == second;
  };
  CHECK(same(cumulus::softmax_vjp(x, v), half, -half));
  CHECK(same(cumulus::softmax_jvp(x, v), half, -half));
  CHECK(same(cumulus::logsumexp_hvp(x, v), half, -half));
  CHECK(same(cumulus::log_softmax_vjp(x, v), big, -big));
  const std::array<T, 2> both{big, big};
  CHECK(same(cumulus::softmax_vjp(x, both), T(0), T(0)));
  CHECK(same(cumulus::log_softmax_vjp(x, both), T(0), T(0)));
  CHECK(same(cumulus::softmax_vjp(x, v, {.weights = std::array<T, 2>{2, 2}}), half, -half));
  // with one more, left out; with a sink that is another element of direction 0; scaled
  const std::array<T, 3> x3{0, 0, 5}, v3{big, -big, big};
  const auto masked = cumulus::softmax_vjp(x3, v3, {.mask = std::vector<bool>{true, true, false}});
  CHECK(masked[0] == half);
  CHECK(masked[1] == -half);
  CHECK(masked[2] == 0);
  const auto sunk = cumulus::softmax_vjp(x, v, {.sink = 0.0});
  CHECK(std::abs(sunk[0] / (big / 3) - 1) <= 4 * std::numeric_limits<T>::epsilon());
  CHECK(std::abs(sunk[1] / (big / 3) + 1) <= 4 * std::numeric_limits<T>::epsilon());
  CHECK(same(cumulus::softmax_vjp(x, v, {.scale = 2}), big, -big));
  CHECK(same(cumulus::logsumexp_hvp(x, v, {.scale = 0.5}), half / 4, -half / 4));
  // many of one sign
  const std::vector<T> zeros(100, T(0)), bigs(100, big);
  for (const T y : cumulus::log_softmax_vjp(zeros, bigs))
    CHECK(std::abs(y) <= 100 * std::numeric_limits<T>::epsilon() * big);
}

TEST_CASE("softmax derivatives: a large direction meets all digits of a small share",
          "[exact][value]") {
  using oracle::wide;
  for (const double x : {-700.0, -740.0, -760.0, -1000.0, -1100.0, -1200.0, -1400.0}) {
    for (const double v : {1e300, -1e250, 1e200}) {
      CAPTURE(x, v);
      const std::array row{0.0, x}, along{0.0, v};
      const wide share = exp(wide(x)) / (1 + exp(wide(x)));
      const wide right = share * (1 - share) * wide(v);
      CHECK(ulps(cumulus::softmax_vjp(row, along)[1], right) <=
            cumulus::softmax_derivative_max_ulp);
      CHECK(ulps(cumulus::logsumexp_hvp(row, along)[1], right) <=
            cumulus::softmax_derivative_max_ulp);
      // g = 0 there, so that the entry is -p times the sum
      const std::array both{0.0, x, 0.0}, g{v, 0.0, 0.0};
      const wide third = exp(wide(x)) / (2 + exp(wide(x)));
      CHECK(ulps(cumulus::log_softmax_vjp(both, g)[1], wide(-third * wide(v))) <=
            cumulus::softmax_derivative_max_ulp);
    }
  }
}
