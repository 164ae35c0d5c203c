// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/sliding_window.hpp>
#include <Eigen/Core>
#include <cmath>
#include <deque>

#include "catch.hpp"
#include "families.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "ulp.hpp"

namespace {

using cumulus::central_moments;
using cumulus::sliding_window;

/// The last `count` of x up to entry i.
std::vector<double> held(const std::vector<double>& x, std::size_t i, std::size_t count) {
  const std::size_t first = i + 1 > count ? i + 1 - count : 0;
  return {x.begin() + std::ptrdiff_t(first), x.begin() + std::ptrdiff_t(i) + 1};
}

/// The largest error of a moment from order 2 on, in parts of E |y|^p.
template <class Moments>
double relative(const Moments& m, const std::vector<double>& sample) {
  const auto exact = oracle::central_moments(sample, m.order());
  double worst = 0;
  for (int p = 2; p <= m.order(); ++p) {
    const auto& e = exact[std::size_t(p)];
    const oracle::wide error = abs(oracle::wide(m.moment(p)) - e.signed_value);
    if (error != 0) worst = std::max(worst, static_cast<double>(error / e.absolute_value));
  }
  return worst;
}

/// Counts its merges, and remembers their order as text.
struct traced {
  std::string text;
  static inline int merges = 0;
  void add(char c) { text += c; }
  traced& operator+=(const traced& other) {
    ++merges;
    text += other.text;
    return *this;
  }
};

}  // namespace

TEST_CASE("sliding_window: an outlier that has left costs no digit", "[moments][value]") {
  // unit noise in a window of 50, one value of 1e6 passing through: what removal would lose (central_moments_test.cpp)
  auto x = families::normal<double>(400, 0, 1, 131);
  x[200] = 1e6;
  sliding_window<central_moments<double, 8>> window(50);
  for (std::size_t i = 0; i < x.size(); ++i) {
    window.add(x[i]);
    CAPTURE(i);
    const auto inside = held(x, i, 50);
    REQUIRE(window.value().weight() == double(inside.size()));
    REQUIRE(relative(window.value(), inside) <= cumulus::central_moments_streaming_error);
    REQUIRE(window.value().min() == *std::min_element(inside.begin(), inside.end()));
    REQUIRE(window.value().max() == *std::max_element(inside.begin(), inside.end()));
  }
}

TEST_CASE("sliding_window: windows that have drifted elsewhere", "[moments][value]") {
  // reported of others: constant and nearly constant windows at large offsets, and a random walk in windows of 3
  families::random r(501);
  std::vector<double> ulps_apart, walk, steps(34, -2.0);
  double at = 0;
  for (int i = 0; i < 300; ++i) {
    ulps_apart.push_back(1e8 + std::ldexp(double(r.below(3)), -26));
    walk.push_back(at += r.normal());
    steps.push_back(i % 60 < 30 ? 7.7e9 + double(r.below(8)) : 1.1);
  }
  const std::size_t count = GENERATE(3u, 4u, 10u);
  for (const auto& x : {ulps_apart, walk, steps}) {
    sliding_window<central_moments<double>> window(count, central_moments<double>(4));
    for (std::size_t i = 0; i < x.size(); ++i) {
      window.add(x[i]);
      CAPTURE(count, i);
      const auto inside = held(x, i, count);
      REQUIRE(relative(window.value(), inside) <= cumulus::central_moments_streaming_error);
      if (std::all_of(inside.begin(), inside.end(), [&](double v) { return v == inside[0]; }))
        REQUIRE(window.value().moment(2) == 0);
    }
  }
}

TEST_CASE("sliding_window: any pushes and pops leave the sum of what is inside, in its order",
          "[moments][property]") {
  families::random r(502);
  for (int trial = 0; trial < 50; ++trial) {
    sliding_window<traced> window;
    std::string expected;
    for (int step = 0; step < 200; ++step) {
      if (!expected.empty() && r.below(5) < 2) {
        window.pop();
        expected.erase(0, 1);
      } else {
        const char c = char('a' + r.below(26));
        window.add(c);
        expected += c;
      }
      REQUIRE(window.size() == expected.size());
      REQUIRE(window.value().text == expected);
    }
    window.clear();
    CHECK(window.empty());
    CHECK(window.value().text.empty());
  }
}

TEST_CASE("sliding_window: at most three merges a state, values and all", "[moments][property]") {
  const int count = GENERATE(1, 2, 50, 1000);
  sliding_window<traced> window(count);
  traced::merges = 0;
  const int steps = 3000;
  for (int i = 0; i < steps; ++i) {
    traced one;  // without text, for speed
    window.push(one);
    static_cast<void>(window.value());
  }
  CHECK(window.size() == std::size_t(count));
  CHECK(traced::merges <= 3 * steps);
}

TEST_CASE("sliding_window: logsumexp and its mean slide", "[moments][value]") {
  auto x = families::normal<double>(300, 700, 5, 503);
  x[100] = 1e5;
  const auto v = families::normal<double>(300, 0, 1, 504);
  sliding_window<cumulus::logsumexp_accumulator<double>> sums(20);
  sliding_window<cumulus::softmax_mean<double, Eigen::VectorXd>> means(
      20, cumulus::softmax_mean<double, Eigen::VectorXd>(2));
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums.add(x[i]);
    means.add(x[i], Eigen::Vector2d(1, v[i]));
    CAPTURE(i);
    const auto inside = held(x, i, 20);
    const auto exact = oracle::logsumexp(inside);
    REQUIRE(ulps(sums.value().value(), exact) <= cumulus::logsumexp_max_ulp);
    REQUIRE(means.value().logsumexp() == sums.value().value());
    REQUIRE(means.value().value()[0] == 1);
    oracle::wide mean = 0, size = 0;
    const auto p = oracle::softmax(inside);
    for (std::size_t k = 0; k < inside.size(); ++k) {
      const oracle::wide term = p[k] * oracle::wide(v[i + 1 - inside.size() + k]);
      mean += term, size += abs(term);
    }
    REQUIRE(ulps(means.value().value()[1], mean, static_cast<double>(size)) <=
            cumulus::softmax_mean_max_ulp);
  }
}

TEST_CASE("sliding_window: comoments slide, and forget an outlier", "[moments][value]") {
  families::random r(506);
  sliding_window<cumulus::comoments<double>> window(10, cumulus::comoments<double>(3));
  std::deque<Eigen::Vector3d> inside;
  for (int i = 0; i < 100; ++i) {
    Eigen::Vector3d x(r.normal(), 1e6 + r.normal(), r.normal());
    if (i == 50) x *= 1e6;
    window.add(x);
    inside.push_back(x);
    if (inside.size() > 10) inside.pop_front();
    Eigen::Vector3d mean =
        Eigen::Vector3d::Zero();  // about the newest, which keeps the offset out of the sums
    for (const auto& v : inside) mean += (v - x) / double(inside.size());
    Eigen::Matrix3d covariance = Eigen::Matrix3d::Zero();
    for (const auto& v : inside)
      covariance += (v - x - mean) * (v - x - mean).transpose() / double(inside.size());
    CAPTURE(i);
    if (50 <= i && i < 60) continue;  // the sums above lose what comoments keep
    const Eigen::Matrix3d found = window.value().covariance();
    REQUIRE((found - covariance).cwiseAbs().maxCoeff() <= 1e-13 * covariance.trace());
  }
}

TEST_CASE("sliding_window: blocks enter as one observation does", "[moments][property]") {
  const auto x = families::exponential<double>(1000, 1e6, 1, 505);
  sliding_window<central_moments<double, 4>> window(3);
  for (std::size_t first = 0; first < x.size(); first += 100) {
    central_moments<double, 4> block;
    block.add(std::vector<double>(x.begin() + std::ptrdiff_t(first),
                                  x.begin() + std::ptrdiff_t(first) + 100));
    window.push(block);
    const auto inside = held(x, first + 99, 300);
    CHECK(relative(window.value(), inside) <= cumulus::central_moments_streaming_error);
  }
}

TEST_CASE("sliding_window: refusals", "[moments][edge]") {
  sliding_window<central_moments<double, 2>> window;
  CHECK(window.value().empty());
  CHECK(refusal([&] { window.pop(); }).find("sliding_window::pop: the window holds 0 states") !=
        std::string::npos);
  using logs = sliding_window<cumulus::logsumexp_accumulator<double>>;
  CHECK(refusal([] { logs none(0); }).find("a count of 0; give 1 or more") != std::string::npos);
  CHECK(refusal([] { logs none(-3); }).find("a count of -3") != std::string::npos);
  sliding_window<central_moments<double>> fours(5, central_moments<double>(4));
  CHECK(refusal([&] {
          fours.push(central_moments<double>(3));
        }).find("has order 4, other has order 3") != std::string::npos);
  CHECK(fours.empty());
  for (int i = 0; i < 5; ++i) fours.add(i);
  CHECK(!refusal([&] { fours.push(central_moments<double>(3)); }).empty());
  CHECK(fours.size() == 5);
  CHECK(fours.value().mean() == 2);
}
