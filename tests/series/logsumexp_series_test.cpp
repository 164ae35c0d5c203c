// SPDX-License-Identifier: MIT
#include <cumulus/series/logsumexp_series.hpp>
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <tuple>

#include "catch.hpp"
#include "names.hpp"
#include "oracle.hpp"
#include "series_samples.hpp"
#include "tables.hpp"
#include "ulp.hpp"

namespace {

using cumulus::central_moments;
using cumulus::form;
using cumulus::logsumexp_series;
using oracle::wide;

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr form forms[] = {form::taylor, form::normaliser,
                          form::moment};  // and in expansion_test the others

template <class T>
cumulus::estimate<T> series(const std::vector<T>& x, const std::vector<T>& w, int order,
                            form f = form::taylor) {
  if (w.empty()) return logsumexp_series(x, {.order = order, .form = f});
  return logsumexp_series(x, {.weights = w, .order = order, .form = f});
}

template <class T>
central_moments<T> accumulated(const std::vector<T>& x, const std::vector<T>& w, int order) {
  central_moments<T> m(order);
  if (w.empty())
    m.add(x);
  else
    m.add(x, w);
  return m;
}

template <class T>
bool same(const cumulus::estimate<T>& a, const cumulus::estimate<T>& b) {
  const auto equal = [](T p, T q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return equal(a.value, b.value) && equal(a.bound, b.bound) && a.order == b.order;
}

/// f(order) for a template argument of each order 0..64.
template <class F>
void for_each_order(F f) {
  [&]<int... P>(std::integer_sequence<int, P...>) {
    (f(std::integral_constant<int, P>()), ...);
  }(std::make_integer_sequence<int, cumulus::max_series_order + 1>());
}

}  // namespace

// ---- values

TEST_CASE("logsumexp_series: the 43 tabulated samples", "[series][value]") {
  const auto cases = tables::series_cases();
  REQUIRE(cases.size() == 43);
  const wide u = wide(1) / wide(9007199254740992.0);
  for (const auto& c : cases) {
    CAPTURE(c.id);
    const auto from_data = series(c.x, c.w, c.order);
    const auto moments = accumulated(c.x, c.w, c.order);
    const auto more = accumulated(c.x, c.w, c.order + 6);
    // an error of u k per rounding in every m_k changes K by this (delta log M = delta M / M, |1/M| <= 1/(2 - M))
    const auto absolute = oracle::central_moments(c.x, c.order, c.w);
    std::vector<wide> excess(absolute.size(), wide(0)), sensitive(absolute.size(), wide(0));
    wide factorial = 1, from_moments = 0;
    for (std::size_t k = 2; k < absolute.size(); ++k) {
      sensitive[k] = excess[k] = absolute[k].absolute_value / (factorial *= wide(int(k)));
      for (std::size_t j = 2; j < k; ++j) sensitive[k] += excess[j] * sensitive[k - j];
      from_moments +=
          sensitive[k] * u * int(k) * (cumulus::central_moments_weighted_max_roundings + 3);
    }
    const wide log_weight = c.logsumexp_series - c.logmeanexp_series;
    // log W, the mean and the result are each rounded once or twice
    const wide tolerance = from_moments +
                           2 * u * (abs(c.mean) + abs(log_weight) + abs(c.logsumexp_series)) +
                           wide(1e-30);
    for (const auto& e :
         {from_data, logsumexp_series(moments, c.order), logsumexp_series(more, c.order),
          series(c.x, c.w, c.order, form::normaliser)}) {
      CHECK(abs(wide(e.value) - c.logsumexp_series) <= tolerance);
      CHECK(e.order == c.order);
      CHECK(abs(wide(e.value) - c.logsumexp_exact) <= wide(e.bound));
      // the bound is that of the range and the variance, and rounding of the size of tolerance
      if (std::isfinite(c.bound_b1))
        CHECK(e.bound <= 1.1 * c.bound_b1 + 1e-14 * (4 + std::abs(e.value)) +
                             10 * static_cast<double>(tolerance));
    }
    // which has 12 digits
    CHECK(abs(wide(from_data.value) - c.logsumexp_exact - c.truncation_error) <=
          tolerance + wide(1e-11) * abs(c.truncation_error));
    for (const form f : forms) {
      for (int order = 0; order <= c.order + 6; ++order) {
        const auto e = logsumexp_series(more, {.order = order, .form = f});
        CHECK(abs(wide(e.value) - c.logsumexp_exact) <= wide(e.bound));
        CHECK(std::isfinite(e.bound));
      }
    }
  }
}

TEST_CASE("logsumexp_series: the order as a template argument is the same", "[series][property]") {
  const auto cases = tables::series_cases();
  for (const auto& c : cases) {
    if (!c.w.empty()) continue;
    const central_moments<double> moments = accumulated(c.x, {}, 64);
    for_each_order([&](auto order) {
      constexpr int P = decltype(order)::value;
      const form f = forms[P % 3];
      // the bound may use moments beyond the order, and the moments of a sample held to another order
      // may differ by a rounding
      const double whole = logsumexp_series(moments, {.order = P, .form = f}).value,
                   part = logsumexp_series(c.x, {.order = P, .form = f}).value;
      if (!same(logsumexp_series<P>(c.x, f), logsumexp_series(c.x, {.order = P, .form = f})) ||
          !same(logsumexp_series<P>(moments, f),
                logsumexp_series(moments, {.order = P, .form = f})) ||
          std::abs(whole - part) > 2 * ulp_of(std::max(1.0, std::abs(part)))) {
        CAPTURE(c.id, P);
        FAIL_CHECK("differs");
      }
    });
  }
}

TEST_CASE("logsumexp_series: the moment form is log sum m_k", "[series][value]") {
  families::random r(701);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    const auto s = families::ranged<double>(shape, 1, 15, 3, 2, r);
    const auto moments = oracle::central_moments(s.x, 24, s.w);
    for (int order = 0; order <= 24; ++order) {
      wide factorial = 1, sum = 1;
      for (int k = 2; k <= order - order % 2; ++k)
        sum += moments[std::size_t(k)].signed_value / (factorial *= wide(k));
      if (order < 2) sum = 1;
      factorial = 1;
      const wide expected = log(oracle::weight(s.x, s.w)) + oracle::mean(s.x, s.w) + log(sum);
      const auto e = series(s.x, s.w, order, form::moment);
      CAPTURE(s.name, order);
      CHECK(abs(wide(e.value) - expected) <= 1e-14);
      CHECK(e.order == order - order % 2);
    }
  }
}

TEMPLATE_TEST_CASE("logsumexp_series: no error exceeds its bound", "[series][property]", float,
                   double) {
  const double all[] = {1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.3, 0.5, 1,  1.5, 2,   2.5, 2.9,
                        3.1,  3.14, 3.2,  4,    5,   6,   8,   12, 30,  700, 1e5};
  const double offsets[] = {0, 0, 1e3, -1e6, 1e8};
  families::random r(sizeof(TestType) == 4 ? 711 : 712);
  double closest = 0;
  int vectors = 0, infinite = 0;
  for (int trial = 0; trial < 3; ++trial) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
        for (const double range : all) {
          const std::size_t n = trial == 0 ? 2 + r.below(3) : 2 + r.below(30);
          const auto s =
              families::ranged<TestType>(shape, weighting, n, range, offsets[r.below(5)], r);
          const wide exact = oracle::logsumexp(s.x, s.w);
          const auto moments = accumulated(s.x, s.w, 64);
          ++vectors;
          const auto check = [&](const cumulus::estimate<TestType>& e, form f, const char* way) {
            bool good;
            if (std::isfinite(e.value)) {
              const wide error = abs(wide(e.value) - exact);
              good = e.bound == inf || error <= wide(e.bound);
              if (good && error > wide(1e-3) * abs(exact) + wide(1e-6))
                closest = std::max(closest, static_cast<double>(error / wide(e.bound)));
            } else {
              good = e.bound == inf;
            }
            // finite wherever the powers fit
            const double largest =
                std::pow(range, e.order) * (f == form::moment ? 1 : std::tgamma(e.order + 1));
            if (largest < (sizeof(TestType) == 4 ? 1e30 : 1e290))
              good = good && std::isfinite(e.bound) && std::isfinite(e.value);
            infinite += e.bound == inf;
            if (!good) {
              CAPTURE(way, static_cast<int>(f), e.order, s.hex(), exact, e.value, e.bound);
              FAIL_CHECK("not bounded");
            }
          };
          for (const form f : forms) {
            for (int order = 0; order <= 24; ++order) check(series(s.x, s.w, order, f), f, "data");
            for (const int order : {0, 1, 2, 3, 5, 8, 13, 24, 33, 64})
              check(logsumexp_series(moments, {.order = order, .form = f}), f, "moments");
            check(series(s.x, s.w, 64, f), f, "data");
          }
        }
      }
    }
  }
  CAPTURE(vectors, infinite);
  CHECK(vectors > 2000);
  CHECK(closest > 0.9);  // and the bound is no larger than it need be
}

TEST_CASE("logsumexp_series: bounds of streamed, merged, removed and mapped moments",
          "[series][property]") {
  families::random r(721);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (const double range : {1e-6, 0.1, 1.0, 3.0, 8.0}) {
      for (const double offset : {0.0, 1e6}) {
        const auto s = families::ranged<double>(shape, 1, 60, range, offset, r);
        central_moments<double> streamed(12), left(12), right(12);
        for (std::size_t i = 0; i < s.x.size(); ++i) {
          streamed.add(s.x[i], s.w[i]);
          (i < 23 ? left : right).add(s.x[i], s.w[i]);
        }
        const wide exact = oracle::logsumexp(s.x, s.w);
        auto merged = left + right, back = merged + left - left, mapped = merged;
        mapped.affine(1, -offset);
        mapped.affine(1, offset);
        int way = 0;
        for (const auto& m : {streamed, merged, back, mapped}) {
          for (const form f : forms) {
            for (int order = 0; order <= 12; ++order) {
              const auto e = logsumexp_series(m, {.order = order, .form = f});
              CAPTURE(s.name, range, offset, way, static_cast<int>(f), order, e.value, e.bound);
              if (!(abs(wide(e.value) - exact) <= wide(e.bound))) FAIL_CHECK("not bounded");
            }
          }
          ++way;
        }
      }
    }
  }
}

// ---- laws

TEST_CASE("logsumexp_series: a shift of x shifts the value", "[series][property]") {
  families::random r(731);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    // multiples of 2^-20, so that the shifts are exact
    auto s = families::ranged<double>(shape, 1, 20, 2, 0, r);
    for (double& v : s.x) v = std::ldexp(std::round(std::ldexp(v, 20)), -20);
    for (const double shift : {1.0, -1024.0, 0x1p30}) {
      auto shifted = s.x;
      for (double& v : shifted) v += shift;
      for (int order = 0; order <= 12; ++order) {
        for (const form f : forms) {
          CAPTURE(s.name, shift, order);
          const double a = series(s.x, s.w, order, f).value,
                       b = series(shifted, s.w, order, f).value;
          CHECK(std::abs(b - (a + shift)) <= 1.5 * ulp_of(shift) + 1e-14);
        }
      }
    }
  }
}

TEST_CASE(
    "logsumexp_series: the order of the elements does not matter, the weights' total adds its log",
    "[series][property]") {
  families::random r(741);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    auto s = families::ranged<double>(shape, 1, 200, 2, 1, r);
    auto heavier = s.w;
    for (double& w : heavier) w *= 1024;
    for (int order = 0; order <= 12; ++order) {
      const double value = series(s.x, s.w, order).value;
      CHECK(std::abs(series(s.x, heavier, order).value - (value + std::log(1024.0))) <= 1e-14 * 10);
      auto x = s.x, w = s.w;
      for (std::size_t i = x.size(); i > 1; --i) {
        const std::size_t j = r.below(i);
        std::swap(x[i - 1], x[j]), std::swap(w[i - 1], w[j]);
      }
      CHECK(std::abs(series(x, w, order).value - value) <= 1e-14);
    }
  }
}

TEST_CASE("logsumexp_series: converges to the exact value below pi, and the bound with it",
          "[series][property]") {
  families::random r(751);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    const auto s = families::ranged<double>(shape, 0, 30, 1.5, 10, r);
    const wide exact = oracle::logsumexp(s.x);
    CAPTURE(s.name);
    CHECK(ulps(logsumexp_series(s.x, 60).value, exact) <= 2);
    CHECK(logsumexp_series(s.x, 64).bound <= 100 * ulp_of(10.0));
    // the moment form converges at any range
    auto far = s.x;
    for (double& v : far) v *= 8;
    const auto e = logsumexp_series(far, {.order = 64, .form = form::moment});
    CHECK(std::abs(e.value - static_cast<double>(oracle::logsumexp(far))) <= e.bound);
    CHECK(e.bound <= 1e-9);
  }
}

TEST_CASE("logsumexp_series: order 0 and 1 are log W and the mean, order 2 half the variance more",
          "[series][value]") {
  const std::vector<double> x{0.25, 1, -0.5, 2}, w{1, 2, 0.5, 4};
  const auto m = oracle::central_moments(x, 2, w);
  const wide first = log(oracle::weight(x, w)) + oracle::mean(x, w);
  CHECK(ulps(series(x, w, 0).value, first) <= 1.5);
  CHECK(ulps(series(x, w, 1).value, first) <= 1.5);
  CHECK(ulps(series(x, w, 2).value, wide(first + m[2].signed_value / 2)) <= 1.5);
  CHECK(ulps(series(x, w, 1, form::moment).value, first) <= 1.5);
  CHECK(ulps(series(x, w, 2, form::moment).value, wide(first + log1p(m[2].signed_value / 2))) <=
        1.5);
}

// ---- edges

TEST_CASE("logsumexp_series: empty, infinite and NaN input", "[series][edge]") {
  struct edge {
    std::vector<double> x;
    double value;
    bool from_moments;  // moments alone tell it too
  };
  const std::vector<double> with_minus_infinity{-inf, 1, 2};
  for (const edge& c : {edge{{}, -inf, true},
                        {{-inf}, -inf, true},
                        {{-inf, -inf}, -inf, true},
                        {{1, inf}, inf, true},
                        {{inf, inf}, inf, true},
                        {{inf, -inf, 3}, inf, false},
                        {with_minus_infinity,
                         static_cast<double>(oracle::logsumexp(std::vector<double>{1, 2})), false},
                        {{not_a_number, 1}, not_a_number, true},
                        {{not_a_number, inf}, not_a_number, true}}) {
    CAPTURE(c.x);
    for (const form f : forms) {
      for (const int order : {0, 1, 2, 5, 64}) {
        CAPTURE(order);
        const auto e = logsumexp_series(c.x, {.order = order, .form = f});
        const auto from = logsumexp_series(accumulated(c.x, {}, 64), {.order = order, .form = f});
        if (std::isnan(c.value)) {
          CHECK(std::isnan(e.value));
          CHECK(std::isnan(e.bound));
        } else {
          CHECK(std::abs(ulps(e.value, wide(c.value))) <= 1);
          CHECK(e.bound == 0);
        }
        if (c.from_moments) {
          CHECK(same(cumulus::estimate<double>{from.value, from.bound, 0},
                     cumulus::estimate<double>{e.value, e.bound, 0}));
          CHECK(e.order == from.order);
        } else {
          CHECK((from.bound == 0 || std::isnan(from.value)));
        }
        CHECK(e.order == (f == form::moment ? order - order % 2 : order));
      }
    }
  }
}

TEST_CASE("logsumexp_series: weights of 0, and weights that are none", "[series][edge]") {
  const std::vector<double> x{1, 2, not_a_number, 2.5, inf}, w{1, 2, 0, 3, 0}, y{1, 2, 2.5},
      v{1, 2, 3};
  for (const form f : forms) {
    CHECK(same(series(x, w, 6, f), series(y, v, 6, f)));
    CHECK(series(std::vector<double>{1, not_a_number}, {0, 0}, 3, f).value == -inf);
    CHECK(series(std::vector<double>{1, not_a_number}, {0, -0.0}, 3, f).bound == 0);
    for (const double bad : {-1.0, -1e-300, not_a_number}) {
      const auto e = series(std::vector<double>{1, 2, 3}, {1, bad, 1}, 3, f);
      CHECK(std::isnan(e.value));
      CHECK(std::isnan(e.bound));
      CHECK(std::isnan(logsumexp_series(accumulated(std::vector<double>{1, 2, 3}, {1, bad, 1}, 3),
                                        {.order = 3, .form = f})
                           .value));
    }
  }
}

TEST_CASE("logsumexp_series: constant data are exact", "[series][edge]") {
  for (const double value : {0.0, -3.5, 1e8, 1e-300}) {
    for (const int order : {0, 1, 2, 7, 64}) {
      for (const form f : forms) {
        const auto e = logsumexp_series(std::vector<double>(4, value), {.order = order, .form = f});
        CHECK(ulps(e.value, wide(value) + log(wide(4))) <= 1);
        CHECK(e.bound <= 64 * ulp_of(std::max(1.0, value)));
      }
    }
  }
  CHECK(logsumexp_series(std::vector<double>{7}, 3).value == 7);
}

TEST_CASE("logsumexp_series: what overflows says so", "[series][edge]") {
  const std::vector<double> x{-1.7e308, 1.7e308}, large{-1e200, 0, 1e200};
  for (const int order : {2, 3, 8, 64}) {
    for (const auto& values : {x, large}) {
      for (const form f : forms) {
        const auto e = logsumexp_series(values, {.order = order, .form = f});
        CHECK(e.bound == inf);
      }
    }
  }
  CHECK(std::isfinite(logsumexp_series(large, 1).value));
  CHECK(logsumexp_series(large, 1).bound >= 1e200);
}

TEST_CASE("logsumexp_series: orders and sizes are refused by both values", "[series][edge]") {
  const std::vector<double> x{1, 2, 3}, w{1, 2};
  const auto m = accumulated(x, {}, 4);
  const auto call = [](auto f) { return refusal([&] { static_cast<void>(f()); }); };
  CHECK(names(call([&] { return logsumexp_series(x, -1); }),
              {"logsumexp_series", "order -1", "0..64"}));
  CHECK(names(call([&] { return logsumexp_series(x, 65); }), {"order 65", "0..64"}));
  CHECK(names(call([&] { return logsumexp_series(x, 1ull << 40); }),
              {"order 1099511627776", "0..64"}));
  CHECK(names(call([&] { return logsumexp_series(x, {.order = 65}); }), {"order 65", "0..64"}));
  CHECK(names(call([&] { return logsumexp_series(m, 5); }), {"order 5", "0..4"}));
  CHECK(names(call([&] { return logsumexp_series<5>(m); }), {"order 5", "0..4"}));
  CHECK(names(call([&] { return logsumexp_series(m, -1); }), {"order -1"}));
  CHECK(names(call([&] { return logsumexp_series(accumulated(x, {}, 80), 65); }),
              {"order 65", "0..64"}));
  CHECK(names(call([&] { return logsumexp_series(x, {.weights = w, .order = 2}); }),
              {"x has 3", "weights has 2"}));
  CHECK(call([&] { return logsumexp_series(accumulated(x, {}, 0), 1); }).empty());
  CHECK(call([&] { return logsumexp_series(accumulated(x, {}, 80), 64); }).empty());
}

TEST_CASE("logsumexp_series: scalars, containers, strides, kinds of order", "[series][property]") {
  const std::vector<int> integers{1, 2, 2, 3};
  const std::vector<double> x(integers.begin(), integers.end()), w{1, 2, 1, 0.5};
  const auto expected = logsumexp_series(x, 5);
  static_assert(std::is_same_v<decltype(logsumexp_series(integers, 5)), cumulus::estimate<double>>);
  static_assert(std::is_same_v<decltype(logsumexp_series(std::vector<float>{}, 5)),
                               cumulus::estimate<float>>);
  CHECK(same(logsumexp_series(integers, 5), expected));
  CHECK(same(logsumexp_series(std::array{1.0, 2.0, 2.0, 3.0}, 5u), expected));
  const Eigen::Vector4d dense(1, 2, 2, 3);
  CHECK(same(logsumexp_series(dense, std::size_t(5)), expected));
  CHECK(same(logsumexp_series(dense.transpose(), short(5)), expected));
  CHECK(same(logsumexp_series(dense.array() + 0, 5), expected));
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(3, 4, 99);
  matrix.row(2) = dense.transpose();
  CHECK(same(logsumexp_series(matrix.row(2), 5), expected));
  CHECK(same(logsumexp_series(x, {.order = 5}), expected));
  CHECK(same(logsumexp_series(integers, {.weights = w, .order = 5}), series(x, w, 5)));
  CHECK(
      same(logsumexp_series(dense, {.weights = std::array{1.f, 2.f, 1.f, 0.5f}}), series(x, w, 4)));
  const std::vector<long double> precise(x.begin(), x.end());
  CHECK(std::abs(static_cast<double>(logsumexp_series(precise, 5).value) - expected.value) <=
        1e-15);
  // a float sample is expanded in double and rounded once
  const std::vector<float> single{0.1f, 0.7f, -0.3f};
  const std::vector<double> same_values(single.begin(), single.end());
  for (int order = 0; order <= 12; ++order)
    CHECK(logsumexp_series(single, order).value ==
          static_cast<float>(logsumexp_series(same_values, order).value));
}
