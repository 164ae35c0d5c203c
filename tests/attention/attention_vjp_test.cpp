// SPDX-License-Identifier: MIT
#include <cumulus/attention/attention_vjp.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "attention/naive_linear.hpp"
#include "catch.hpp"
#include "refusal.hpp"

using cumulus::attention_gradient;
using cumulus::form;
using cumulus::index_t;
using cumulus::linear_attention_options;
using naive::matrix;
using naive::normal;
using naive::real;

namespace {

constexpr index_t n = 6, m = 9, d = 3, e = 2;

struct problem {
  matrix<double> q = normal<double>(n, d, 1u), k = normal<double>(m, d, 2u, 0.4),
                 v = normal<double>(m, e, 3u), g = normal<double>(n, e, 4u);
  Eigen::VectorXd b = normal<double>(n, 1, 5u).col(0);
};

/// sum g o + b L by the definition, in long double.
template <class M>
real value_of(const M& q, const M& k, const M& v, const problem& p,
              const linear_attention_options& o) {
  real sum = 0;
  for (index_t i = 0; i < n; ++i) {
    const auto a = naive::attend(q.row(i), k, v, o.causal ? m - n + i + 1 : m, o);
    for (index_t c = 0; c < e; ++c) sum += real(p.g(i, c)) * a.output[std::size_t(c)];
    sum += real(p.b[i]) * a.log_sum;
  }
  return sum;
}

/// The largest distance from differences of sixth order in long double, of the largest slope.
double worst(const problem& p, const attention_gradient<double>& gradient,
             const linear_attention_options& o) {
  using wide = matrix<real>;
  wide x[3] = {p.q.cast<real>(), p.k.cast<real>(), p.v.cast<real>()};
  const matrix<double>* slopes[3] = {&gradient.queries, &gradient.keys, &gradient.values};
  double error = 0, size = 0;
  const real h = 0x1p-9L;
  for (int part = 0; part < 3; ++part) {
    REQUIRE(slopes[part]->rows() == x[part].rows());
    for (index_t i = 0; i < x[part].size(); ++i) {
      real& at = x[part].data()[i];
      const real before = at;
      real slope = 0;
      const real weights[] = {45.0L / 60, -9.0L / 60, 1.0L / 60};
      for (int step = 1; step <= 3; ++step) {
        at = before + h * step;
        const real up = value_of(x[0], x[1], x[2], p, o);
        at = before - h * step;
        slope += weights[step - 1] * (up - value_of(x[0], x[1], x[2], p, o)) / h;
      }
      at = before;
      error = std::max(error, double(std::abs(slope - real(slopes[part]->data()[i]))));
      size = std::max(size, double(std::abs(slope)));
    }
  }
  return error / size;
}

}  // namespace

TEST_CASE("attention_vjp: the slopes of exact attention and its log-sum-exp",
          "[attention][value]") {
  const problem p;
  for (const bool causal : {true, false}) {
    // all keys exact: the definition's softmax
    const linear_attention_options exact{.scale = 0.8, .causal = causal, .first_tokens = m};
    const auto gradient = cumulus::attention_vjp(
        p.q, p.k, p.v, p.g, {.scale = 0.8, .causal = causal, .logsumexp = p.b});
    CHECK(worst(p, gradient, exact) <= 1e-12);
  }
  const auto narrow = cumulus::attention_vjp(p.q.cast<float>().eval(), p.k.cast<float>().eval(),
                                             p.v.cast<float>().eval(), p.g.cast<float>().eval());
  const auto wide = cumulus::attention_vjp(p.q, p.k, p.v, p.g);
  CHECK((narrow.keys.cast<double>() - wide.keys).norm() <= 1e-6 * wide.keys.norm());
}

TEST_CASE("linear_attention_vjp: the slopes of every form, order and centring",
          "[attention][value]") {
  const problem p;
  for (int order = 0; order <= 5; ++order) {
    for (const int kind : {0, 1, 2, 3}) {
      linear_attention_options o{.scale = 0.3,
                                 .causal = order % 2 == 0,
                                 .order = order,
                                 .form = kind == 0 ? form::taylor : form::moment,
                                 .centred = kind != 2,
                                 .decay = kind == 1 ? 0.8 : 1.0};
      if (kind == 3)
        for (int j = 0; j <= order; ++j) o.polynomial.push_back(1.0 / (1 + j * j));
      INFO("order " << order << ", kind " << kind);
      CHECK(worst(p,
                  cumulus::linear_attention_vjp(p.q, p.k, p.v, p.g,
                                                {.scale = o.scale,
                                                 .causal = o.causal,
                                                 .order = o.order,
                                                 .form = o.form,
                                                 .centred = o.centred,
                                                 .polynomial = o.polynomial,
                                                 .decay = o.decay,
                                                 .logsumexp = p.b}),
                  o) <= 1e-12);
    }
  }
}

TEST_CASE("attention_vjp: what does not fit is refused", "[attention][edge]") {
  const problem p;
  const auto refused = [&](const std::string& text, const std::function<void()>& call) {
    const std::string message = refusal(call);
    INFO(message);
    CHECK(message.find(text) != std::string::npos);
  };
  refused("the output is 6 x 2, its cotangent is 5 x 2",
          [&] { static_cast<void>(cumulus::attention_vjp(p.q, p.k, p.v, p.g.topRows(5))); });
  refused("K has 9",
          [&] { static_cast<void>(cumulus::attention_vjp(p.q, p.k, p.v.topRows(3), p.g)); });
  refused("decay is 2", [&] {
    static_cast<void>(cumulus::linear_attention_vjp(p.q, p.k, p.v, p.g, {.decay = 2}));
  });
  for (const double scale : {std::nan(""), HUGE_VAL}) {
    refused("attention_vjp: .scale is ", [&] {
      static_cast<void>(cumulus::attention_vjp(p.q, p.k, p.v, p.g, {.scale = scale}));
    });
    refused("linear_attention_vjp: .scale is ", [&] {
      static_cast<void>(cumulus::linear_attention_vjp(p.q, p.k, p.v, p.g, {.scale = scale}));
    });
  }
}

TEST_CASE("attention_vjp: a query that sees no key has no slope", "[attention][edge]") {
  const problem p;
  const matrix<double> few_k = p.k.topRows(4),
                       few_v = p.v.topRows(4);  // of 6 queries the first 2 see no key
  const auto check = [&](const attention_gradient<double>& all,
                         const attention_gradient<double>& seeing) {
    CHECK(all.queries.topRows(2).isZero(0));
    CHECK(all.queries.bottomRows(4) == seeing.queries);
    CHECK(all.keys == seeing.keys);
    CHECK(all.values == seeing.values);
  };
  const matrix<double> last_q = p.q.bottomRows(4), last_g = p.g.bottomRows(4), no_k(0, d),
                       no_v(0, e);
  check(cumulus::attention_vjp(p.q, few_k, few_v, p.g, {.causal = true}),
        cumulus::attention_vjp(last_q, few_k, few_v, last_g, {.causal = true}));
  check(cumulus::linear_attention_vjp(p.q, few_k, few_v, p.g, {.causal = true}),
        cumulus::linear_attention_vjp(last_q, few_k, few_v, last_g, {.causal = true}));
  CHECK(cumulus::attention_vjp(p.q, no_k, no_v, p.g).queries.isZero(0));
  CHECK(cumulus::linear_attention_vjp(p.q, no_k, no_v, p.g).queries.isZero(0));
}

namespace {

/// Of one query of 1, keys and values of width 1 and a scale of 1: the keys are the scores.
template <class T>
struct scalar_gradient {
  T query;
  std::vector<T> keys, values;
};
template <class T>
scalar_gradient<T> gradient_of(const std::vector<T>& keys, const std::vector<T>& values, T g, T b) {
  using column = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const auto as_column = [](const std::vector<T>& x) {
    column c(index_t(x.size()), 1);
    for (index_t i = 0; i < c.rows(); ++i) c(i, 0) = x[std::size_t(i)];
    return c;
  };
  const Eigen::Matrix<T, Eigen::Dynamic, 1> cotangent =
      Eigen::Matrix<T, Eigen::Dynamic, 1>::Constant(1, b);
  const auto result = cumulus::attention_vjp(column(column::Constant(1, 1, T(1))), as_column(keys),
                                             as_column(values), column(column::Constant(1, 1, g)),
                                             {.scale = 1.0, .logsumexp = cotangent});
  scalar_gradient<T> x{result.queries(0, 0), {}, {}};
  for (index_t i = 0; i < result.keys.rows(); ++i) {
    x.keys.push_back(result.keys(i, 0));
    x.values.push_back(result.values(i, 0));
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("attention_vjp: a key that scores -inf has no part", "[attention][edge]", float,
                   double, long double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const T& value : {T(3), inf, nan}) {  // what it holds is not looked at
    const auto x = gradient_of<T>({-inf, T(2.5)}, {value, T(4)}, T(2), T(0.5));
    CHECK(x.query == T(1.25));
    CHECK(x.keys == std::vector<T>{0, T(0.5)});
    CHECK(x.values == std::vector<T>{0, T(2)});
  }
  // among others: as if it were not there
  const auto with = gradient_of<T>({1, -inf, 2, -inf}, {3, 5, 4, nan}, T(2), T(0.5));
  const auto without = gradient_of<T>({1, 2}, {3, 4}, T(2), T(0.5));
  CHECK(with.query == without.query);
  CHECK(with.keys == std::vector<T>{without.keys[0], 0, without.keys[1], 0});
  CHECK(with.values == std::vector<T>{without.values[0], 0, without.values[1], 0});
  // nothing but such keys: no slope
  const auto none = gradient_of<T>({-inf, -inf}, {1, nan}, T(2), T(0.5));
  CHECK(none.query == 0);
  CHECK(none.keys == std::vector<T>{0, 0});
  CHECK(none.values == std::vector<T>{0, 0});
  // an underflowed weight is one as well
  const auto tiny = gradient_of<T>({T(-1e30), T(2.5)}, {inf, T(4)}, T(2), T(0.5));
  CHECK(tiny.query == T(1.25));
  CHECK(tiny.values == std::vector<T>{0, T(2)});
}

TEMPLATE_TEST_CASE("attention_vjp: a score of +inf takes all", "[attention][edge]", float, double,
                   long double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto x = gradient_of<T>({1, inf, -inf}, {3, 4, nan}, T(2), T(0));
  CHECK(x.query == 0);
  CHECK(x.keys == std::vector<T>{0, 0, 0});
  CHECK(x.values == std::vector<T>{0, 2, 0});
  const auto b =
      gradient_of<T>({1, inf}, {3, 4}, T(2), T(0.5));  // the log-sum-exp follows that score
  CHECK(b.query == inf);
  CHECK(b.keys == std::vector<T>{0, T(0.5)});
  CHECK(b.values == std::vector<T>{0, 2});
  const auto several = gradient_of<T>({inf, 1, inf}, {3, 4, 5}, T(2), T(0));
  CHECK(std::isnan(several.query));
  CHECK(std::isnan(several.keys[0]));
  CHECK(several.keys[1] == 0);
  CHECK(std::isnan(several.values[2]));
  CHECK(several.values[1] == 0);
  const auto lost = gradient_of<T>({nan, inf, 1}, {3, 4, 5}, T(2), T(0));
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::isnan(lost.values[i]));
  CHECK(std::isnan(lost.query));
}

TEST_CASE("attention_vjp: slopes that fit do not overflow on the way", "[attention][edge]") {
  // scores 0: p = 1/n each; the difference from the mean, -1.02e308 of the five, does not always fit
  const auto two = gradient_of<double>({0, 0}, {1e308, -1e308}, 1, 0);
  CHECK(two.keys == std::vector<double>{5e307, -5e307});
  const double a = 1.7e308;
  const auto five = gradient_of<double>({0, 0, 0, 0, 0}, {a, -a, -a, -a, -a}, 1, 0);
  CHECK(five.keys[0] == Approx(0.2 * 1.6 * a));  // (a + .6 a) / 5
  CHECK(five.keys[1] == Approx(-0.2 * 0.4 * a));
  // order 1 of either form, and more, has these slopes where all scores are equal
  const matrix<double> query = matrix<double>::Ones(1, 1), keys = matrix<double>::Zero(5, 1),
                       cotangent = query;
  matrix<double> values = matrix<double>::Constant(5, 1, -a);
  values(0, 0) = a;
  for (const int order : {1, 2, 4}) {
    for (const form f : {form::taylor, form::moment}) {
      const auto linear = cumulus::linear_attention_vjp(query, keys, values, cotangent,
                                                        {.scale = 1.0, .order = order, .form = f});
      INFO("order " << order << ", " << name_of(f));
      CHECK(linear.keys(0, 0) == Approx(five.keys[0]));
      CHECK(linear.keys(1, 0) == Approx(five.keys[1]));
    }
  }
}
