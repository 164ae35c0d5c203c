// SPDX-License-Identifier: MIT
#include <cumulus/attention/delta_rule.hpp>
#include <cumulus/attention/linear_presets.hpp>
#include <cumulus/detail/attention/positivity.hpp>
#include <cumulus/attention/random_features.hpp>

#include <algorithm>
#include <cmath>
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
using cumulus::linear_way;
using naive::matrix;
using naive::normal;
using naive::real;

namespace {

constexpr index_t n = 90, d = 6, e = 4;

/// The largest distance of causal attention from sum w(u, age) v / sum w(u, age).
double worst(const matrix<double>& q, const matrix<double>& k, const matrix<double>& v,
             linear_attention_options o, const std::function<real(real, index_t)>& weight) {
  double largest = 0;
  for (const linear_way way : {linear_way::features, linear_way::scores}) {
    o.way = way;
    o.chunk = 16;
    const auto result = linear_attention(q, k, v, o);
    REQUIRE(result.without_mass() == 0);
    for (index_t i = 0; i < n; ++i) {
      std::vector<real> w = naive::scores(q.row(i), k, i + 1, 1 / std::sqrt(real(d)));
      for (index_t j = 0; j <= i; ++j) w[std::size_t(j)] = weight(w[std::size_t(j)], i - j);
      const naive::answer expected = naive::average(w, v);
      largest = std::max({largest, naive::distance(result.output.row(i), expected.output),
                          double(std::abs(real(result.log_sum_exp(i, 0)) - expected.log_sum))});
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("linear_presets: each is its published definition", "[attention][value]") {
  const matrix<double> q = 0.7 * normal<double>(n, d, 1u), k = 0.7 * normal<double>(n, d, 2u, 0.3),
                       v = normal<double>(n, e, 3u);
  const auto quadratic = [](real u) { return 1 + u + u * u / 2; };
  CHECK(worst(q, k, v, cumulus::based(),
              [&](real u, index_t age) { return age < 64 ? std::exp(u) : quadratic(u); }) <= 1e-12);
  linear_attention_options alone = cumulus::based();
  alone.window = 0;
  CHECK(worst(q, k, v, alone, [&](real u, index_t) { return quadratic(u); }) <= 1e-12);
  CHECK(cumulus::detail::feature_count(16, cumulus::based().order) == 153);

  const matrix<double> small = 0.3 * q;  // so that the odd degree of SATA's default stays positive
  CHECK(worst(small, k, v, cumulus::sata(),
              [&](real u, index_t) { return quadratic(u) + u * u * u / 6; }) <= 1e-12);
  CHECK(worst(q, k, v, cumulus::sata(5), [&](real u, index_t) {
          return quadratic(u) + u * u * u / 6 + u * u * u * u / 24;
        }) <= 1e-12);
  // of one key whose score is near 0 a power is what is left of rounding: relative to the sum of weights, so positive ones
  for (const int p : {2, 4})
    CHECK(worst(q, k, v, cumulus::power_attention(p),
                [&](real u, index_t) { return std::pow(u, real(p)); }) <= 1e-10);
  for (const int p : {1, 2, 5})
    CHECK(worst(small, k, v, cumulus::limit_form(p),
                [&](real u, index_t) { return std::pow(1 + u / p, real(p)); }) <= 1e-12);
}

TEST_CASE("going_linear: mean v + Cov(v, k) q, with no division by a sum", "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 4u), k = normal<double>(n, d, 5u, 1.0),
                       v = normal<double>(n, e, 6u);
  const auto result = linear_attention(q, k, v, cumulus::going_linear());
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
  cumulus::delta_rule_state<double> state(d, e);
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

TEST_CASE("taylor_shift: cosines, and the factor sqrt(n / d)", "[attention][value]") {
  const matrix<double> q = normal<double>(20, d, 10u), k = normal<double>(n, d, 11u),
                       v = normal<double>(n, e, 12u);
  for (const linear_way way : {linear_way::features, linear_way::scores}) {
    const auto result = cumulus::taylor_shift(q, k, v, {.temperature = 3, .way = way});
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
}

TEST_CASE("performer: its features are its definition, causal or not, and near softmax",
          "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 13u), k = normal<double>(n, d, 14u),
                       v = normal<double>(n, e, 15u);
  for (const bool orthogonal : {true, false}) {
    const index_t count = 37;
    cumulus::positive_random_features<double> map(d, count, 5u, orthogonal);
    for (const bool causal : {true, false}) {
      const auto result = cumulus::performer_attention(
          q, k, v, {.features = count, .seed = 5, .orthogonal = orthogonal, .causal = causal});
      for (index_t i = 0; i < n; ++i) {
        const index_t visible = causal ? i + 1 : n;
        std::vector<real> w(std::size_t(visible), 0);
        const real root = std::sqrt(1 / std::sqrt(real(d)));
        for (index_t r = 0; r < count; ++r) {
          const auto phi = [&](const auto& x) {
            real dot = 0, square = 0;
            for (index_t c = 0; c < d; ++c) {
              dot += real(map.direction(r)[std::size_t(c)]) * root * real(x[c]);
              square += root * root * real(x[c]) * real(x[c]);
            }
            return std::exp(dot - square / 2);
          };
          for (index_t j = 0; j < visible; ++j)
            w[std::size_t(j)] += phi(q.row(i)) * phi(k.row(j)) / real(count);
        }
        const naive::answer expected = naive::average(w, v);
        REQUIRE(naive::distance(result.output.row(i), expected.output) <= 1e-12);
        REQUIRE(std::abs(double(expected.log_sum) - result.log_sum_exp(i, 0)) <= 1e-12);
      }
    }
  }
  cumulus::positive_random_features<double> map(d, 3 * d + 2, 9u, true);
  for (index_t r = 0; r < map.count(); ++r) {  // within a group of d orthogonal
    for (index_t s = r / d * d; s < r; ++s) {
      double dot = 0;
      for (std::size_t c = 0; c < std::size_t(d); ++c)
        dot += map.direction(r)[c] * map.direction(s)[c];
      CHECK(std::abs(dot) <= 1e-13);
    }
  }
  // unbiased: many features come near the softmax
  const matrix<double> mild = 0.5 * q;
  const auto many = cumulus::performer_attention(mild, k, v, {.features = 4000, .seed = 3});
  const auto exact = linear_attention(mild, k, v, {.order = 16, .way = linear_way::scores});
  CHECK((many.output - exact.output).norm() <= 0.25 * exact.output.norm());
  CHECK((many.log_sum_exp - exact.log_sum_exp).cwiseAbs().maxCoeff() <= 0.15);
  CHECK(refusal([&] {
          static_cast<void>(cumulus::performer_attention(q, k.leftCols(2), v));
        }).find("a key has 2") != std::string::npos);
}

TEST_CASE("linear_presets: what they refuse", "[attention][edge]") {
  CHECK(refusal([] { static_cast<void>(cumulus::power_attention(3)); }).find("power 3 is odd") !=
        std::string::npos);
  CHECK(refusal([] { static_cast<void>(cumulus::power_attention(0)); }).find("order 0") !=
        std::string::npos);
  CHECK(refusal([] { static_cast<void>(cumulus::sata(0)); }).find("order 0") != std::string::npos);
  CHECK(refusal([] { static_cast<void>(cumulus::limit_form(17)); }).find("order 17") !=
        std::string::npos);
}

TEST_CASE("positivity: no negative weight, no logarithm of one", "[attention][edge]") {
  const std::vector<double> p = {0.75, -0.25, 0.5, 0.0};
  const auto clipped = cumulus::detail::clip_and_renormalise(p);
  CHECK(clipped.weights == Eigen::Vector4d(0.6, 0, 0.4, 0));
  CHECK(clipped.negative_mass == 0.25);
  CHECK(cumulus::detail::clipped_entropy(p) == Approx(-0.6 * std::log(0.6) - 0.4 * std::log(0.4)));
  CHECK(cumulus::detail::clipped_entropy(std::vector<double>{-1, -2}) == 0);
  CHECK(cumulus::detail::clip_and_renormalise(std::vector<double>{-1, -2}).weights.norm() == 0);
  CHECK(std::isnan(
      cumulus::detail::clipped_entropy(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()})));
  CHECK(cumulus::detail::clipped_entropy(std::vector<float>{2.f, 2.f}) == Approx(std::log(2.f)));
}
