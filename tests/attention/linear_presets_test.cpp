// SPDX-License-Identifier: MIT
#include <cumulus/attention/delta_rule.hpp>
#include <cumulus/attention/linear_presets.hpp>
#include <cumulus/attention/performer.hpp>
#include <concepts>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attention/naive_linear.hpp"
#include "catch.hpp"
#include "refusal.hpp"

using cumulus::index_t;
using cumulus::linear_attention;
using cumulus::linear_attention_options;
using cumulus::linear_method;
namespace presets = cumulus::presets;
using naive::matrix;
using naive::normal;
using naive::real;

namespace {

constexpr index_t n = 90, d = 6, e = 4;

/// The largest distance of causal attention from sum w(u, age) v / sum w(u, age).
double worst(const matrix<double>& q, const matrix<double>& k, const matrix<double>& v,
             linear_attention_options o, const std::function<real(real, index_t)>& weight) {
  double largest = 0;
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    o.method = method;
    o.chunk = 16;
    const auto result = linear_attention(q, k, v, o);
    REQUIRE(result.without_mass() == 0);
    for (index_t i = 0; i < n; ++i) {
      std::vector<real> w = naive::scores(q.row(i), k, i + 1, 1 / std::sqrt(real(d)));
      for (index_t j = 0; j <= i; ++j) w[std::size_t(j)] = weight(w[std::size_t(j)], i - j);
      const naive::answer expected = naive::average(w, v);
      largest = std::max({largest, naive::distance(result.output.row(i), expected.output),
                          double(std::abs(real(result.logsumexp(i, 0)) - expected.log_sum))});
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("linear_presets: each is its published definition", "[attention][value]") {
  const matrix<double> q = 0.7 * normal<double>(n, d, 1u), k = 0.7 * normal<double>(n, d, 2u, 0.3),
                       v = normal<double>(n, e, 3u);
  const auto quadratic = [](real u) { return 1 + u + u * u / 2; };
  CHECK(worst(q, k, v, presets::based(),
              [&](real u, index_t age) { return age < 64 ? std::exp(u) : quadratic(u); }) <= 1e-12);
  linear_attention_options alone = presets::based();
  alone.window.reset();
  CHECK(worst(q, k, v, alone, [&](real u, index_t) { return quadratic(u); }) <= 1e-12);
  CHECK(presets::based().order == 2);

  const matrix<double> small = 0.3 * q;  // so that the odd degree of SATA's default stays positive
  CHECK(worst(small, k, v, presets::sata(),
              [&](real u, index_t) { return quadratic(u) + u * u * u / 6; }) <= 1e-12);
  CHECK(worst(q, k, v, presets::sata(5), [&](real u, index_t) {
          return quadratic(u) + u * u * u / 6 + u * u * u * u / 24;
        }) <= 1e-12);
  // of one key whose score is near 0 a power is what is left of rounding: relative to the sum of weights, so positive ones
  for (const int p : {2, 4})
    CHECK(worst(q, k, v, presets::power(p),
                [&](real u, index_t) { return std::pow(u, real(p)); }) <= 1e-10);
  for (const int p : {1, 2, 5})
    CHECK(worst(small, k, v, presets::limit_form(p),
                [&](real u, index_t) { return std::pow(1 + u / p, real(p)); }) <= 1e-12);
}

TEST_CASE("going_linear: mean v + Cov(v, k) q, with no division by a sum", "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 4u), k = normal<double>(n, d, 5u, 1.0),
                       v = normal<double>(n, e, 6u);
  const auto result = linear_attention(q, k, v, presets::going_linear());
  for (index_t i = 0; i < n; ++i) {
    const auto seen = i + 1;
    const Eigen::RowVectorXd mean_k = k.topRows(seen).colwise().mean(),
                             mean_v = v.topRows(seen).colwise().mean();
    const matrix<double> c = (v.topRows(seen).rowwise() - mean_v).transpose() *
                             (k.topRows(seen).rowwise() - mean_k) / double(seen);
    const Eigen::RowVectorXd expected =
        mean_v + (c * q.row(i).transpose() / std::sqrt(double(d))).transpose();
    REQUIRE((result.output.row(i) - expected).norm() <= 1e-12 * (1 + expected.norm()));
  }
}

TEST_CASE("delta_rule: its recurrence, and that it forgets along a key", "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 7u), k = normal<double>(n, d, 8u),
                       v = normal<double>(n, e, 9u);
  presets::delta_rule_state<double> state(d, e);
  CHECK(state.read(q.row(0)).norm() == 0);
  matrix<double> s = matrix<double>::Zero(e, d);
  for (index_t t = 0; t < n; ++t) {
    const double beta = 0.2 + 1.5 * double(t) / double(n);
    const Eigen::VectorXd key = k.row(t).normalized();
    s = (s * (matrix<double>::Identity(d, d) - beta * key * key.transpose()) +
         beta * v.row(t).transpose() * key.transpose())
            .eval();
    state.add(k.row(t), v.row(t), beta);
    REQUIRE((state.read(q.row(t)) - s * q.row(t).transpose()).norm() <= 1e-12);
  }
  state.add(k.row(3), v.row(5));  // beta 1: what is along the key is now this value
  CHECK((state.read(k.row(3).normalized()) - v.row(5).transpose()).norm() <= 1e-13);
  const auto before = state.read(q.row(0));
  state.add(Eigen::VectorXd::Zero(d), v.row(0));
  CHECK(state.read(q.row(0)) == before);
  CHECK(refusal([&] { state.add(k.row(0), v.row(0), 2.0); }).find("beta 2") != std::string::npos);
  CHECK(refusal([&] { state.add(k.row(0), v.row(0).head(2)); }).find("value has 2") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("delta_rule: a beta of 0 leaves the state as it is", "[attention][edge]", float,
                   double) {
  using T = TestType;
  const matrix<T> k = normal<T>(3, d, 13u), v = normal<T>(3, e, 14u);
  presets::delta_rule_state<T> state(d, e);
  state.add(k.row(0), v.row(0), 0.7);
  const auto before = state.read(k.row(1));
  matrix<T> lost = k, nothing = v;
  lost(2, 0) = std::numeric_limits<T>::quiet_NaN();
  nothing(2, 1) = std::numeric_limits<T>::infinity();
  // 1e-400 underflows before it comes here; 1e-60 does in float
  for (const double beta : {0.0, -0.0, std::same_as<T, float> ? 1e-60 : 0.0}) {
    for (const bool normalise : {true, false}) {
      state.add(k.row(1), v.row(1), beta, normalise);
      state.add(lost.row(2), nothing.row(2), beta, normalise);  // a pad may hold anything
      CHECK(state.read(k.row(1)) == before);
    }
  }
  for (const double beta : {-1e-9, 2.0, std::nan("")})
    CHECK(refusal([&] { state.add(k.row(1), v.row(1), beta); }).find("is outside [0, 2)") !=
          std::string::npos);
  CHECK(refusal([&] { state.add(k.row(1), v.row(1).head(2), 0.0); }).find("value has 2") !=
        std::string::npos);
}

TEST_CASE("taylor_shift: cosines, and the factor sqrt(n / d)", "[attention][value]") {
  const matrix<double> q = normal<double>(20, d, 10u), k = normal<double>(n, d, 11u),
                       v = normal<double>(n, e, 12u);
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    const auto result = presets::taylor_shift(q, k, v, {.temperature = 3, .method = method});
    for (index_t i = 0; i < q.rows(); ++i) {
      std::vector<real> w;
      for (index_t j = 0; j < n; ++j) {
        const real u = 3 * real(q.row(i).dot(k.row(j)) / q.row(i).norm() / k.row(j).norm());
        w.push_back(u * u / 2 + u + 1);
      }
      naive::answer expected = naive::average(w, v);
      for (real& x : expected.output) x *= std::sqrt(real(n) / real(d));
      REQUIRE(naive::distance(result.output.row(i), expected.output) <= 1e-12);
    }
  }
  for (const double temperature : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    CHECK(refusal([&] {
            static_cast<void>(presets::taylor_shift(q, k, v, {.temperature = temperature}));
          }).find("presets::taylor_shift: .temperature is ") != std::string::npos);
}

TEST_CASE("performer: many features come near softmax", "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 13u), k = normal<double>(n, d, 14u),
                       v = normal<double>(n, e, 15u);
  // unbiased: many features come near the softmax; how near varies by seed, from .13 to .6 over 23 of them
  const matrix<double> mild = 0.5 * q;
  const auto many = presets::performer(mild, k, v, {.features = 4000, .seed = 13});
  const auto exact = linear_attention(mild, k, v, {.order = 16, .method = linear_method::scores});
  CHECK((many.output - exact.output).norm() <= 0.25 * exact.output.norm());
  CHECK((many.logsumexp - exact.logsumexp).cwiseAbs().maxCoeff() <= 0.15);
  CHECK(refusal([&] {
          static_cast<void>(presets::performer(q, k.leftCols(2), v));
        }).find("a key has 2") != std::string::npos);
}

TEST_CASE("linear_presets: what they refuse", "[attention][edge]") {
  CHECK(refusal([] { static_cast<void>(presets::power(3)); }).find("the power 3 is odd") !=
        std::string::npos);
  CHECK(refusal([] { static_cast<void>(presets::power(0)); }).find("order 0") != std::string::npos);
  CHECK(refusal([] { static_cast<void>(presets::sata(0)); }).find("order 0") != std::string::npos);
  CHECK(refusal([] { static_cast<void>(presets::limit_form(17)); }).find("order 17") !=
        std::string::npos);
}
