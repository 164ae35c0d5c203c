// SPDX-License-Identifier: MIT
#include <cumulus/core/options.hpp>

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>

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
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::degenerate;
using cumulus::into;
using cumulus::log_softmax;
using cumulus::logsumexp;
using cumulus::rowwise;
using cumulus::softmax;
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

/// The same infinity or NaN, or within an ulp.
bool near(double a, double b) { return same(a, b) || ulps(a, wide(b)) <= 1; }

/// The errors of one call, each over its bound: 1 is just allowed.
struct errors {
  double sum = 0, share = 0, log_share = 0;
};

template <class T>
errors all_errors(const call<T>& c) {
  const oracle::distribution<> d(c);
  return with_options(c, [&](const auto& o) {
    errors e;
    wide size = std::max(wide(1), wide(abs(d.log_sum)));
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (sizeof(T) > 4 && d.share[i] > 0) size = std::max(size, wide(abs(d.exponent[i])));
    }
    if (sizeof(T) > 4 && c.sink.has_value()) size = std::max(size, wide(std::abs(*c.sink)));
    e.sum = ulps(logsumexp(c.x, o), d.log_sum, T(size)) / cumulus::logsumexp_max_ulp;
    const std::vector<T> p = softmax(c.x, o), log_p = log_softmax(c.x, o);
    const auto larger = [](double& a, double b) { a = b <= a ? a : b; };
    const auto top =
        std::size_t(std::max_element(d.share.begin(), d.share.end()) - d.share.begin());
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      larger(e.share, ulps(p[i], d.share[i]) / cumulus::softmax_max_ulp);
      if (d.share[i] == 0) {
        const bool left_out =
            (!c.mask.empty() && !c.mask[i]) || (!c.weights.empty() && c.weights[i] == T(0));
        if (left_out) larger(e.log_share, log_p[i] == -cumulus::detail::infinity<T> ? 0 : inf);
        continue;
      }
      // Where differences of x and of log w cancel, the bound is that of what cancels.
      wide log_size = abs(d.log_share(i));
      if (!c.weights.empty()) {
        log_size = std::max({log_size, wide(abs(d.exponent[i] - d.exponent[top])),
                             wide(abs(log(wide(c.weights[i]) / wide(c.weights[top]))))});
      }
      larger(e.log_share,
             ulps(log_p[i], d.log_share(i), T(log_size)) / cumulus::log_softmax_max_ulp);
    }
    return e;
  });
}

struct worst_errors {
  worst sum, share, log_share;
  template <class... Where>
  void see(const errors& e, const Where&... where) {
    sum.see(e.sum, where...);
    share.see(e.share, where...);
    log_share.see(e.log_share, where...);
  }
  void check() const {
    CHECK_WORST(sum, 1);
    CHECK_WORST(share, 1);
    CHECK_WORST(log_share, 1);
  }
};

/// What a call with a scale gives.
struct limit_row {
  std::vector<double> x;
  double scale;
  double sum;
  std::vector<double> shares;
};

}  // namespace

TEMPLATE_TEST_CASE("options: a scale multiplies the exponents exactly", "[exact][value]", float,
                   double, long double) {
  worst_errors error;
  for (const std::size_t n : {1u, 2u, 7u, 33u}) {
    for (const double offset : {0.0, 1e4, -700.0}) {
      for (const double spread : {1e-3, 1.0, 30.0}) {
        for (const double scale : {1.0, -1.0, 0.3, 7.0, 1e-3, -1e-30, 1e3, 0.0}) {
          error.see(all_errors<TestType>(
                        {families::normal<TestType>(n, offset, spread, n + 1), {}, {}, scale}),
                    "n =", n, "offset", offset, "spread", spread, "scale", scale);
        }
      }
    }
  }
  error.check();
}

TEMPLATE_TEST_CASE("options: a scale times x that overflows or underflows", "[exact][edge]", double,
                   long double) {
  using T = TestType;
  worst_errors error;
  const T most = T(DBL_MAX), tiny = T(DBL_MIN);
  // The product fits, the difference does not.
  error.see(all_errors<T>({{most, -most}, {}, {}, 1e-308}), "difference", 1);
  error.see(all_errors<T>({{-most, most, most / 2}, {}, {}, -3e-308}), "difference", 2);
  error.see(all_errors<T>({{most, most, -most}, {}, {}, 0x1p-1022}), "difference", 3);
  error.see(all_errors<T>({{most, -most}, {}, {}, 0x1p-1074}), "difference", 4);
  // The difference fits and the product is moderate, of numbers far apart.
  error.see(all_errors<T>({{tiny, -tiny, 0}, {}, {}, 1e308}), "product", 1);
  error.see(all_errors<T>({{2 * tiny, 3 * tiny}, {}, {}, -DBL_MAX}), "product", 2);
  error.see(all_errors<T>({{T(0x1p-1074), 0}, {}, {}, DBL_MAX}), "product", 3);
  error.see(all_errors<T>({{T(1e300), T(1e300 * (1 + 0x1p-50))}, {}, {}, 1e-285}), "product", 4);
  error.see(all_errors<T>({{T(1e300), T(1e300 * (1 + 0x1p-50))}, {}, {}, -1e-290}), "product", 5);
  error.check();
}

TEST_CASE("options: where the products overflow the shares are still those of their difference",
          "[exact][edge]") {
  // 1e308 times 1e308 overflows; so does the difference of the products of different x, not of
  // equal ones.
  const std::array x{1e308, 1e308, 1.0};
  CHECK(all_same(softmax(x, {.scale = 1e308}), std::array{0.5, 0.5, 0.0}));
  CHECK(all_same(softmax(x, {.scale = -1e308}), std::array{0.0, 0.0, 1.0}));
  CHECK(logsumexp(x, {.scale = 1e308}) == inf);
  CHECK(logsumexp(std::array{-1e308, -1e308}, {.scale = 1e308}) == -inf);
  CHECK(
      all_same(log_softmax(x, {.scale = 1e308}), std::array{-std::log(2.0), -std::log(2.0), -inf}));
  const std::array far{DBL_MAX, -DBL_MAX};
  CHECK(all_same(softmax(far, {.scale = DBL_MAX}), std::array{1.0, 0.0}));
  CHECK(all_same(log_softmax(far, {.scale = 1}), std::array{0.0, -inf}));
  // A sink beside a product that does not fit takes nothing, or everything.
  CHECK(all_same(softmax(x, {.scale = 1e308, .sink = 1e300}), std::array{0.5, 0.5, 0.0}));
  CHECK(all_same(softmax(std::array{-1e308, -1e308}, {.scale = 1e308, .sink = -1e300}),
                 std::array{0.0, 0.0}));
  CHECK(logsumexp(std::array{-1e308, -1e308}, {.scale = 1e308, .sink = -1e300}) == -1e300);
  const std::array<float, 2> single{1e38f, 1e38f};
  CHECK(logsumexp(single, {.scale = 1e30}) == std::numeric_limits<float>::infinity());
  CHECK(all_same(softmax(single, {.scale = 1e30}), std::array{0.5, 0.5}));
  CHECK(ulps(logsumexp(std::array{1e38f}, {.scale = 1e-38}), wide(1e38f) * wide(1e-38)) <= 1);
}

TEST_CASE("options: rule 7, scales of 0, infinity and NaN, negative scales", "[exact][edge]") {
  const double log_2 = std::log(2.0), log_3 = std::log(3.0), third = 1.0 / 3;
  const std::vector<limit_row> table{
      // 0: the uniform answer over what is kept, finite or not.
      {{5, 1, -3}, 0, log_3, {third, third, third}},
      {{5, 1, -3}, -0.0, log_3, {third, third, third}},
      {{inf, 1, -inf}, 0, log_3, {third, third, third}},
      {{-inf, -inf}, 0, log_2, {0.5, 0.5}},
      {{inf, inf}, 0, log_2, {0.5, 0.5}},
      {{}, 0, -inf, {}},
      {{qnan, 1}, 0, qnan, {qnan, qnan}},
      // Negative: -inf becomes +inf.
      {{-inf, 3}, -1, inf, {1, 0}},
      {{-inf, 3}, -2.5, inf, {1, 0}},
      {{inf, 3}, -1, -3, {0, 1}},
      {{inf, inf}, -1, -inf, {qnan, qnan}},
      {{-inf, -inf, 1}, -1, inf, {qnan, qnan, 0}},
      {{qnan, 1}, -1, qnan, {qnan, qnan}},
      // Infinite: the limit.
      {{5, 1, -3}, inf, inf, {1, 0, 0}},
      {{5, 1, -3}, -inf, inf, {0, 0, 1}},
      {{5, 5, -3}, inf, inf, {0.5, 0.5, 0}},
      {{-5, -5, -7}, inf, -inf, {0.5, 0.5, 0}},
      {{0, -5, 0}, inf, log_2, {0.5, 0, 0.5}},
      {{0, -5}, inf, 0, {1, 0}},
      {{-0.0, 0.0}, inf, log_2, {0.5, 0.5}},
      {{0, 5, 0, 0}, -inf, log_3, {third, 0, third, third}},
      {{0, -inf}, inf, 0, {1, 0}},
      {{inf, 2, -inf}, inf, inf, {1, 0, 0}},
      {{inf, 2, -inf}, -inf, inf, {0, 0, 1}},
      {{inf, inf}, inf, inf, {qnan, qnan}},
      {{-inf, -inf}, inf, -inf, {qnan, qnan}},
      {{inf, inf}, -inf, -inf, {qnan, qnan}},
      {{}, inf, -inf, {}},
      {{qnan, 1}, inf, qnan, {qnan, qnan}},
      {{inf, qnan}, -inf, qnan, {qnan, qnan}},
      {{DBL_MAX, -DBL_MAX}, inf, inf, {1, 0}},
      {{0x1p-1074, 0}, inf, inf, {1, 0}},
      {{0x1p-1074, 0}, -inf, 0, {0, 1}},
      // NaN.
      {{5, 1}, qnan, qnan, {qnan, qnan}},
      {{5}, qnan, qnan, {qnan}},
      {{0}, qnan, qnan, {qnan}},
      {{inf, 1}, qnan, qnan, {qnan, qnan}},
      {{-inf, -inf}, qnan, qnan, {qnan, qnan}},
      {{-inf, 1}, qnan, qnan, {qnan, qnan}},
      {{}, qnan, -inf, {}},
  };
  for (const limit_row& r : table) {
    CAPTURE(r.x, r.scale);
    CHECK(near(logsumexp(r.x, {.scale = r.scale}), r.sum));
    CHECK(all_same(softmax(r.x, {.scale = r.scale}), r.shares));
    const std::vector<double> logs = log_softmax(r.x, {.scale = r.scale});
    for (std::size_t i = 0; i < r.shares.size(); ++i) {
      const double v = r.shares[i];
      CHECK(near(logs[i], v == 0 ? -inf : v == third ? -log_3 : std::log(v)));
    }
    const std::vector<long double> wider(r.x.begin(), r.x.end());
    std::vector<long double> wide_shares(r.shares.begin(), r.shares.end());
    for (long double& v : wide_shares) v = v == (long double)(third) ? 1.0L / 3 : v;
    CHECK(all_same(softmax(wider, {.scale = r.scale}), wide_shares));
  }
}

TEST_CASE("options: an infinite scale with weights and masks", "[exact][edge]") {
  const std::vector<double> x{0, 3, 0, 5, qnan}, w{1, 0, 3, 0, 0};
  CHECK(near(logsumexp(x, {.weights = w, .scale = inf}), std::log(4.0)));
  CHECK(all_same(softmax(x, {.weights = w, .scale = inf}), std::array{0.25, 0.0, 0.75, 0.0, 0.0}));
  const std::array mask{true, true, true, false, false};
  CHECK(logsumexp(x, {.mask = mask, .scale = inf}) == inf);
  CHECK(all_same(softmax(x, {.mask = mask, .scale = inf}), std::array{0.0, 1.0, 0.0, 0.0, 0.0}));
  CHECK(all_same(softmax(x, {.mask = mask, .scale = -inf}), std::array{0.5, 0.0, 0.5, 0.0, 0.0}));
  CHECK(logsumexp(x, {.mask = mask, .scale = -inf}) == std::log(2.0));
  const std::array none{false, false, false, false, false};
  for (const double scale : {0.0, inf, -inf, -1.0, qnan}) {
    CAPTURE(scale);
    CHECK(logsumexp(x, {.mask = none, .scale = scale}) == -inf);
    CHECK(
        all_same(softmax(x, {.mask = none, .scale = scale}), std::array{0.0, 0.0, 0.0, 0.0, 0.0}));
  }
  CHECK(near(logsumexp(std::array{0.0, -inf}, {.weights = {1, 7}, .scale = 0}), std::log(8.0)));
}

TEMPLATE_TEST_CASE("options: a sink is one more term, which the scale leaves alone",
                   "[exact][value]", float, double, long double) {
  worst_errors error;
  for (const std::size_t n : {0u, 1u, 2u, 7u, 33u}) {
    for (const double offset : {0.0, 100.0, -100.0, 1e4}) {
      for (const double scale : {1.0, -0.5, 3.0, 1e-3}) {
        for (const double sink : {0.0, -90.0, 100.0, 12345.678, -1e300}) {
          const call<TestType> c{
              families::normal<TestType>(n, offset, 3.0, n + 1), {}, {}, scale, sink};
          error.see(all_errors(c), "n =", n, "offset", offset, "scale", scale, "sink", sink);
        }
      }
    }
  }
  error.check();
}

TEST_CASE("options: sinks of infinity and NaN, and beside rows without a softmax",
          "[exact][edge]") {
  const std::vector<double> x{1, 2}, none{}, empty_row{-inf, -inf}, top{inf, 1};
  CHECK(logsumexp(x, {.sink = -inf}) == logsumexp(x));
  CHECK(softmax(x, {.sink = -inf}) == softmax(x));
  CHECK(logsumexp(x, {.sink = inf}) == inf);
  CHECK(all_same(softmax(x, {.sink = inf}), std::array{0.0, 0.0}));
  CHECK(all_same(log_softmax(x, {.sink = inf}), std::array{-inf, -inf}));
  CHECK(std::isnan(logsumexp(x, {.sink = qnan})));
  CHECK(all_same(softmax(x, {.sink = qnan}), std::array{qnan, qnan}));
  CHECK(std::isnan(logsumexp(none, {.sink = qnan})));
  CHECK(std::isnan(logsumexp(top, {.sink = qnan})));
  CHECK(logsumexp(none, {.sink = 3}) == 3.0);
  CHECK(logsumexp(none, {.sink = -inf}) == -inf);
  // The sink takes all of a row that is all -inf, or masked.
  CHECK(logsumexp(empty_row, {.sink = 3}) == 3.0);
  CHECK(all_same(softmax(empty_row, {.sink = 3}), std::array{0.0, 0.0}));
  CHECK(all_same(log_softmax(empty_row, {.sink = 3}), std::array{-inf, -inf}));
  CHECK(all_same(softmax(empty_row, {.sink = -inf}), std::array{qnan, qnan}));
  CHECK(logsumexp(x, {.mask = std::array{false, false}, .sink = 3}) == 3.0);
  // +inf beside the sink.
  CHECK(logsumexp(top, {.sink = 3}) == inf);
  CHECK(all_same(softmax(top, {.sink = 3}), std::array{1.0, 0.0}));
  CHECK(all_same(softmax(top, {.sink = inf}), std::array{qnan, 0.0}));
  CHECK(all_same(softmax(std::array{qnan, 1.0}, {.sink = inf}), std::array{qnan, qnan}));
}

TEST_CASE("options: a sink beside a scale of 0 or infinity", "[exact][edge]") {
  const std::vector<double> x{1, 2}, zero{0, -1}, below{-1, -2};
  CHECK(all_same(softmax(x, {.scale = 0, .sink = 0}), std::array{1.0 / 3, 1.0 / 3}));
  CHECK(ulps(logsumexp(x, {.scale = 0, .sink = 1}), wide(log(2 + exp(wide(1))))) <= 2);
  // e^inf beside the sink, e^0, and e^-inf.
  CHECK(logsumexp(x, {.scale = inf, .sink = 3}) == inf);
  CHECK(all_same(softmax(x, {.scale = inf, .sink = 3}), std::array{0.0, 1.0}));
  CHECK(ulps(logsumexp(zero, {.scale = inf, .sink = 1}), wide(log(1 + exp(wide(1))))) <= 2);
  CHECK(all_same(softmax(zero, {.scale = inf, .sink = 0}), std::array{0.5, 0.0}));
  CHECK(logsumexp(below, {.scale = inf, .sink = 3}) == 3.0);
  CHECK(all_same(softmax(below, {.scale = inf, .sink = 3}), std::array{0.0, 0.0}));
  CHECK(all_same(softmax(below, {.scale = -inf, .sink = 3}), std::array{0.0, 1.0}));
  CHECK(all_same(softmax(below, {.scale = inf, .sink = -inf}), std::array{1.0, 0.0}));
  // Two infinite terms: no share has a limit.
  CHECK(logsumexp(x, {.scale = inf, .sink = inf}) == inf);
  CHECK(all_same(softmax(below, {.scale = inf, .sink = inf}), std::array{0.0, 0.0}));
  CHECK(logsumexp(below, {.scale = inf, .sink = inf}) == inf);
  for (const double scale : {0.0, inf, -inf}) {
    CAPTURE(scale);
    CHECK(std::isnan(logsumexp(x, {.scale = scale, .sink = qnan})));
    CHECK(all_same(softmax(x, {.scale = scale, .sink = qnan}), std::array{qnan, qnan}));
  }
}

TEMPLATE_TEST_CASE("options: everything at once, with weights of any ratio", "[exact][value]",
                   float, double) {
  worst_errors error;
  for (const std::size_t n : {1u, 2u, 5u, 33u}) {
    for (const double decades : {0.0, 3.0, sizeof(TestType) > 4 ? 600.0 : 70.0}) {
      for (const double spread : {1e-3, 1.0, 30.0}) {
        for (const double scale : {1.0, -1.0, 0.3, 20.0}) {
          for (const double sink : {-inf, 1.5, 40.0}) {
            call<TestType> c{families::normal<TestType>(n, 2.0, spread, n),
                             families::wild_weights<TestType>(n, decades, n + 1),
                             {},
                             scale};
            if (n > 4) {
              c.weights[3] = TestType(0);
              c.mask.assign(n, 1), c.mask[1] = c.mask[n - 1] = 0;
            }
            if (std::isfinite(sink)) c.sink = sink;
            // Near cancellation of x and log w the sum's bound is that of what cancels.
            const errors e = all_errors(c);
            error.share.see(e.share, n, decades, spread, scale, sink);
            error.log_share.see(e.log_share, n, decades, spread, scale, sink);
            if (decades < 10) error.sum.see(e.sum, n, decades, spread, scale, sink);
          }
        }
      }
    }
  }
  error.check();
}

TEST_CASE("options: weights from subnormal to huge", "[exact][edge]") {
  worst_errors error;
  const std::vector<double> sizes{0x1p-1074, 3e-310, 1e-300, 3e-300, 1.0, 1e300, DBL_MAX};
  for (const double a : sizes) {
    for (const double b : sizes) {
      for (const double gap : {0.0, 1.0, 700.0, -700.0, 1400.0, -1400.0}) {
        const call<double> c{{gap, 0.0}, {a, b}};
        const errors e = all_errors(c);
        error.share.see(e.share, a, b, gap);
        error.log_share.see(e.log_share, a, b, gap);
      }
    }
  }
  error.check();
  CHECK(logsumexp(std::array{0.0, 0.0}, {.weights = {DBL_MAX, DBL_MAX}}) ==
        Approx(std::log(2.0) + std::log(DBL_MAX)).epsilon(1e-15));
  CHECK(all_same(softmax(std::array{0.0, 0.0}, {.weights = {0x1p-1074, 0x1p-1074}}),
                 std::array{0.5, 0.5}));
  CHECK(all_same(softmax(std::array{-1e300, 1e300}, {.weights = {1e300, 1e-300}}),
                 std::array{0.0, 1.0}));
}

TEST_CASE("options: what a mask or a weight of 0 leaves out may be anything", "[exact][edge]") {
  const auto numbers = families::normal<double>(16, 1.0, 2.0, 3u);
  for (const double junk : {qnan, inf, -inf, DBL_MAX, -DBL_MAX, 1e5}) {
    for (const double scale : {1.0, -2.0, 0.0, inf, -inf, 1e300}) {
      for (std::size_t at = 0; at < numbers.size(); ++at) {
        auto x = numbers, w = std::vector<double>(numbers.size(), 1.0);
        std::vector<bool> mask(x.size(), true);
        auto without = numbers;
        without.erase(without.begin() + std::ptrdiff_t(at));
        x[at] = junk;
        w[at] = at % 2 ? 0.0 : -0.0;
        mask[at] = false;
        auto other = x;  // the same, but for what is left out
        other[at] = 0.5;
        CAPTURE(junk, scale, at);
        const auto shares = softmax(x, {.mask = mask, .scale = scale}),
                   weighted_shares = softmax(x, {.weights = w, .scale = scale});
        const double sum = logsumexp(x, {.mask = mask, .scale = scale}),
                     weighted_sum = logsumexp(x, {.weights = w, .scale = scale});
        CHECK(all_same(shares, softmax(other, {.mask = mask, .scale = scale})));
        CHECK(all_same(weighted_shares, softmax(other, {.weights = w, .scale = scale})));
        CHECK(same(sum, logsumexp(other, {.mask = mask, .scale = scale})));
        CHECK(same(weighted_sum, logsumexp(other, {.weights = w, .scale = scale})));
        // the row without the element adds its terms in another order
        auto padded = softmax(without, {.scale = scale});
        padded.insert(padded.begin() + std::ptrdiff_t(at), 0.0);
        for (std::size_t i = 0; i < x.size(); ++i) {
          CHECK(near(shares[i], padded[i]));
          CHECK(near(weighted_shares[i], padded[i]));
        }
        CHECK(near(sum, logsumexp(without, {.scale = scale})));
        CHECK(near(weighted_sum, logsumexp(without, {.scale = scale})));
        CHECK(log_softmax(x, {.mask = mask, .scale = scale})[at] == -inf);
      }
    }
  }
}

TEST_CASE("options: policies of rows without a softmax", "[exact][edge]") {
  struct row {
    degenerate policy;
    std::vector<double> nothing, one_infinite, two_infinite;
  };
  const std::vector<row> table{
      {degenerate::limit, {qnan, qnan, 0}, {1, 0, 0}, {qnan, qnan, 0}},
      {degenerate::zero, {0, 0, 0}, {1, 0, 0}, {qnan, qnan, 0}},
      {degenerate::uniform, {0.5, 0.5, 0}, {1, 0, 0}, {qnan, qnan, 0}},
      {degenerate::ieee, {qnan, qnan, 0}, {qnan, qnan, 0}, {qnan, qnan, 0}},
  };
  const std::array mask{true, true, false};
  const std::array nothing{-inf, -inf, 5.0}, one{inf, 2.0, 5.0}, two{inf, inf, 5.0},
      bad{qnan, -inf, 5.0}, none{1.0, 2.0, 3.0};
  for (const row& r : table) {
    CAPTURE(name_of(r.policy));
    const auto check = [&](const auto& x, std::vector<double> expected) {
      CHECK(all_same(softmax(x, {.mask = mask, .degenerate = r.policy}), expected));
      for (double& v : expected) v = v == 0 ? -inf : std::log(v);
      CHECK(all_same(log_softmax(x, {.mask = mask, .degenerate = r.policy}), expected));
    };
    check(nothing, r.nothing);
    check(one, r.one_infinite);
    check(two, r.two_infinite);
    check(bad, {qnan, qnan, 0});
    CHECK(all_same(softmax(none, {.mask = std::array{false, false, false}, .degenerate = r.policy}),
                   std::array{0.0, 0.0, 0.0}));
    CHECK(logsumexp(nothing, {.mask = mask}) == -inf);  // which takes no policy
    Eigen::MatrixXd both(2, 3);
    both << -inf, -inf, 5, 0, 0, 5;
    const Eigen::MatrixXd p = softmax(both, rowwise, {.mask = mask, .degenerate = r.policy});
    CHECK(all_same(Eigen::VectorXd(p.row(0)), r.nothing));
    CHECK(all_same(Eigen::VectorXd(p.row(1)), std::array{0.5, 0.5, 0.0}));
  }
}

TEST_CASE("options: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{{-inf, -inf}, {inf, inf},  {-inf, 1},
                                              {inf, 1},     {inf, -inf}, {DBL_MAX, -DBL_MAX},
                                              {0, -5},      {-3, -3}};
  const std::vector<double> w{2.5, 0.5}, zero{0, 1};
  for (const auto& x : rows) {
    for (const double scale : {-1.0, 2.0, 0.0, inf, -inf, 1e308, 1e-308}) {
      for (const double sink : {-inf, 0.0, 3.0, inf}) {
        std::vector<double> out(2);
        volatile double sum = 0;
        CAPTURE(x, scale, sink);
        CHECK(spurious_flags([&] { sum = logsumexp(x, {.scale = scale, .sink = sink}); }) == 0);
        CHECK(spurious_flags([&] { softmax(x, into(out), {.scale = scale, .sink = sink}); }) == 0);
        CHECK(spurious_flags([&] {
                log_softmax(x, into(out), {.weights = w, .scale = scale, .sink = sink});
              }) == 0);
        CHECK(spurious_flags([&] { softmax(x, into(out), {.weights = zero, .scale = scale}); }) ==
              0);
      }
    }
  }
}

TEST_CASE("options: rows and columns take each option by line, or one for all", "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const auto weights = families::wild_weights<double>(7 * 5, 2.0, 5u);
  const Eigen::MatrixXd values = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  const Eigen::MatrixXd w = Eigen::Map<const Eigen::MatrixXd>(weights.data(), 7, 5);
  const Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> mask = (w.array() > 0.5).matrix();
  const kinds::row_major<double> w_by_row = w;
  const kinds::row_major<bool> mask_by_row = mask;
  const Eigen::VectorXd by_row_numbers = Eigen::VectorXd::LinSpaced(7, -1.0, 2.0);
  const Eigen::VectorXd by_col_numbers = Eigen::VectorXd::LinSpaced(5, -2.0, 3.0);

  kinds::each_matrix<double>(values, [&](const char* kind, const auto& x) {
    CAPTURE(kind);
    const Eigen::MatrixXd rows = softmax(
        x, rowwise, {.weights = w, .mask = mask, .scale = by_row_numbers, .sink = by_row_numbers});
    const Eigen::MatrixXd cols = log_softmax(
        x, colwise,
        {.weights = w_by_row, .mask = mask_by_row, .scale = by_col_numbers, .sink = 0.5});
    const Eigen::VectorXd row_sums =
        logsumexp(x, rowwise, {.weights = w_by_row, .mask = mask_by_row, .sink = by_row_numbers});
    const Eigen::RowVectorXd col_sums =
        logsumexp(x, colwise, {.weights = w, .mask = mask, .scale = by_col_numbers});
    for (int i = 0; i < 7; ++i) {
      const double s = by_row_numbers[i];
      CHECK(rows.row(i) ==
            softmax(values.row(i),
                    {.weights = w.row(i), .mask = mask.row(i), .scale = s, .sink = s}));
      CHECK(row_sums[i] ==
            logsumexp(values.row(i), {.weights = w.row(i), .mask = mask.row(i), .sink = s}));
    }
    for (int j = 0; j < 5; ++j) {
      const double s = by_col_numbers[j];
      CHECK(cols.col(j) ==
            log_softmax(values.col(j),
                        {.weights = w.col(j), .mask = mask.col(j), .scale = s, .sink = 0.5}));
      CHECK(same(col_sums[j],
                 logsumexp(values.col(j), {.weights = w.col(j), .mask = mask.col(j), .scale = s})));
    }
  });
}

TEST_CASE("options: one line of weights or one mask serves every row or every column",
          "[exact][value]") {
  const auto numbers = families::normal<double>(7 * 5, 2.0, 3.0, 4u);
  const Eigen::MatrixXd x = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 7, 5);
  const std::vector<double> w{1, 0, 2, 3, 0.5};
  const std::array row_mask{true, true, false, true, true};
  const Eigen::Matrix<bool, 7, 1> col_mask{true, false, true, true, false, true, true};
  const Eigen::RowVectorXd tall = Eigen::RowVectorXd::LinSpaced(7, 0.1, 3.0);
  const Eigen::MatrixXd rows = softmax(x, rowwise, {.weights = w, .mask = row_mask});
  const Eigen::MatrixXd cols = softmax(x, colwise, {.weights = tall, .mask = col_mask});
  for (int i = 0; i < 7; ++i)
    CHECK(rows.row(i) == softmax(x.row(i), {.weights = w, .mask = row_mask}));
  for (int j = 0; j < 5; ++j)
    CHECK(cols.col(j) == softmax(x.col(j), {.weights = tall, .mask = col_mask}));
  Eigen::MatrixXd in_place = x;
  softmax(in_place, into(in_place), rowwise, {.weights = w, .mask = row_mask});
  CHECK(in_place == rows);
  // Integers and floats convert.
  const std::array whole{1, 0, 2, 3, 1};
  CHECK(softmax(x, rowwise, {.weights = whole})(2, 1) == 0.0);
  CHECK(logsumexp(x, rowwise, {.scale = std::vector<float>(7, 2.0f)}) ==
        logsumexp(x, rowwise, {.scale = 2}));
  // A scale by row where one row is uniform and one a limit.
  const std::array scales{0.0, inf, -inf, 1.0, -1.0, 2.0, 0.5};
  const Eigen::MatrixXd p = softmax(x, rowwise, {.scale = scales});
  for (int i = 0; i < 7; ++i)
    CHECK(p.row(i) == softmax(x.row(i), {.scale = scales[std::size_t(i)]}));
}

TEST_CASE("options: what does not fit a matrix is refused with both, and nothing is written",
          "[exact][edge]") {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Zero(2, 3);
  Eigen::MatrixXd out = Eigen::MatrixXd::Constant(2, 3, 7.0);
  const std::vector<double> two{1, 2}, four{1, 2, 3, 4};
  const Eigen::MatrixXd turned = Eigen::MatrixXd::Zero(3, 2);
  CHECK(refusal([&] { softmax(x, into(out), rowwise, {.weights = two}); }) ==
        "cumulus: softmax: a row of x has 3 elements, weights has 2");
  CHECK(refusal([&] { softmax(x, into(out), colwise, {.weights = four}); }) ==
        "cumulus: softmax: a column of x has 2 elements, weights has 4");
  CHECK(refusal([&] { softmax(x, into(out), rowwise, {.weights = turned}); }) ==
        "cumulus: softmax: x is 2 x 3, weights is 3 x 2");
  CHECK(refusal([&] { log_softmax(x, into(out), rowwise, {.mask = std::array{true}}); }) ==
        "cumulus: log_softmax: a row of x has 3 elements, mask has 1");
  CHECK(refusal([&] { (void)logsumexp(x, rowwise, {.scale = four}); }) ==
        "cumulus: logsumexp: the result has 2 elements, scale has 4");
  CHECK(refusal([&] { (void)logsumexp(x, colwise, {.sink = two}); }) ==
        "cumulus: logsumexp: the result has 3 elements, sink has 2");
  CHECK(out == Eigen::MatrixXd::Constant(2, 3, 7.0));
}
