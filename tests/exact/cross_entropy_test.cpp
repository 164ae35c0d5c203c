// SPDX-License-Identifier: MIT
#include <cumulus/exact/cross_entropy.hpp>
#include <cumulus/exact/log_softmax.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"
#include "refusal.hpp"
#include "wide.hpp"
#include <Eigen/Core>

namespace {

using namespace cumulus;
using wide = oracle::wide;
template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// -sum t_j log softmax_j, t = (1 - smoothing) at the label and smoothing / n everywhere.
template <class T>
wide loss_of(const std::vector<T>& x, std::size_t label, double smoothing = 0) {
  wide top = wide(x[0]);
  for (const T v : x) top = std::max(top, wide(v));
  std::size_t at = 0;
  while (wide(x[at]) != top) ++at;
  wide rest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) rest += i == at ? wide(0) : exp(wide(x[i]) - top);
  const wide excess = log1p(rest);
  wide mean = 0;
  for (const T v : x) mean += (top - wide(v)) / double(x.size());
  return excess + (1 - wide(smoothing)) * (top - wide(x[label])) + wide(smoothing) * mean;
}

/// In ulp of T at this size, at least the least number's.
template <class T>
double ulps_of(const T& value, const wide& right, const wide& size) {
  const double s = double(abs(size));
  const double ulp = std::max(
      double(std::numeric_limits<T>::denorm_min()),
      std::ldexp(1.0, std::ilogb(std::max(s, 1e-300)) - (std::numeric_limits<T>::digits - 1)));
  return double(abs(wide(value) - right)) / ulp;
}

}  // namespace

TEMPLATE_TEST_CASE("cross_entropy: within its ulp bound at every size and spread", "[exact][value]",
                   float, double) {
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    std::mt19937_64 engine(11);
    std::normal_distribution<double> normal;
    for (const std::size_t n : std::vector<std::size_t>{1, 2, 3, 7, 8, 15, 16, 31, 64, 70, 1000}) {
      for (const double spread : {1e-3, 1.0, 30.0, 1e4}) {
        for (const double offset : {0.0, 1e3}) {
          std::vector<TestType> x(n);
          for (TestType& v : x) v = TestType(offset + spread * normal(engine));
          const std::size_t top = std::size_t(std::max_element(x.begin(), x.end()) - x.begin());
          for (const std::size_t label : {std::size_t(0), n - 1, top}) {
            CAPTURE(n, spread, offset, label);
            const wide right = loss_of(x, label);
            CHECK(ulps_of(cross_entropy(x, label), right, right) <= cross_entropy_max_ulp);
            const auto g = cross_entropy_gradient(x, label);
            const wide others = -expm1(wide(-right));
            CHECK(ulps_of(g[label], -others, others) <= 8);
            for (std::size_t i = 0; i < n; ++i) {
              if (i != label) CHECK(g[i] == softmax(x)[i]);
            }
          }
        }
      }
    }
  });
}

TEST_CASE("cross_entropy: a certain label keeps the digits of its loss", "[exact][value]") {
  // e^-40 and e^-90: what 1 - p would lose
  CHECK(ulps_of(cross_entropy(std::vector<double>{0, -40}, 0), loss_of<double>({0, -40}, 0),
                loss_of<double>({0, -40}, 0)) <= 1);
  CHECK(ulps_of(cross_entropy(std::vector<float>{0, -90}, 0), loss_of<float>({0, -90}, 0),
                loss_of<float>({0, -90}, 0)) <= 1);
  CHECK(cross_entropy_gradient(std::vector<double>{0, -40}, 0)[0] ==
        Approx(-std::exp(-40.0)).epsilon(1e-15));
}

TEST_CASE("cross_entropy: the label's gradient in half keeps what many small shares add up to",
          "[exact][value]") {
  Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1> x(32000);
  x.setConstant(Eigen::half(-18));
  x[7] = Eigen::half(0);
  const double right = -31999 * std::exp(-18.0) / (1 + 31999 * std::exp(-18.0));
  CHECK(double(cross_entropy_gradient(x, 7)[7]) == Approx(right).epsilon(1e-3));
}

TEST_CASE("cross_entropy: label smoothing", "[exact][value]") {
  std::mt19937_64 engine(12);
  std::normal_distribution<double> normal;
  for (const double smoothing : {0.05, 0.5, 1.0}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<double> x(std::size_t(2 + round));
      for (double& v : x) v = 5 * normal(engine);
      const wide right = loss_of(x, 1, smoothing);
      CHECK(ulps_of(cross_entropy(x, 1, {.label_smoothing = smoothing}), right, wide(20)) <=
            cross_entropy_max_ulp);
      // the gradient sums to 0, and is that of differences
      const auto g = cross_entropy_gradient(x, 1, {.label_smoothing = smoothing});
      double sum = 0;
      for (const double v : g) sum += v;
      CHECK(std::abs(sum) < 1e-14);
      const double h = 1e-5;
      std::vector<double> up = x, down = x;
      up[0] += h;
      down[0] -= h;
      const double slope = (cross_entropy(up, 1, {.label_smoothing = smoothing}) -
                            cross_entropy(down, 1, {.label_smoothing = smoothing})) /
                           (2 * h);
      CHECK(g[0] == Approx(slope).margin(1e-8));
    }
  }
}

TEST_CASE("cross_entropy: special logits are those of log_softmax", "[exact][edge]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  using vector = std::vector<double>;
  CHECK(cross_entropy(vector{0, -inf}, 0) == 0);
  CHECK(cross_entropy(vector{0, -inf}, 1) == inf);
  CHECK(cross_entropy(vector{0, inf}, 1) == 0);
  CHECK(cross_entropy(vector{0, inf}, 0) == inf);
  CHECK(std::isnan(cross_entropy(vector{inf, inf}, 0)));
  CHECK(std::isnan(cross_entropy(vector{-inf, -inf}, 0)));
  CHECK(std::isnan(cross_entropy(vector{nan, inf}, 1)));
  CHECK(cross_entropy(vector{1e308, -1e308}, 1) == inf);
  CHECK(cross_entropy(vector{7}, 0) == 0);
  CHECK(cross_entropy(vector{0, -inf}, 0, {.label_smoothing = 0.1}) == inf);
  CHECK(std::isnan(cross_entropy(vector{0, nan}, 0, {.label_smoothing = 0.1})));
  const auto g = cross_entropy_gradient(vector{0, inf}, 1);
  CHECK(g[0] == 0);
  CHECK(g[1] == 0);
}

TEMPLATE_TEST_CASE("cross_entropy: lines, scalars, threads, in place", "[exact][value]", float,
                   double, long double, Eigen::half, Eigen::bfloat16) {
  std::mt19937_64 engine(13);
  std::normal_distribution<double> normal;
  rows<TestType> x(9, 21);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = TestType(3 * normal(engine));
  const std::vector<int> labels{0, 3, 20, 7, -100, 1, 2, 9, 15};
  const cross_entropy_options o{.ignored = -100, .threads = 3};
  const auto losses = cross_entropy(x, labels, rowwise, o);
  const auto gradient = cross_entropy_gradient(x, labels, rowwise, o);
  rows<TestType> in_place = x;
  cross_entropy_gradient(in_place, labels, into(in_place), rowwise, o);
  CHECK(in_place == gradient);
  const Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> turned = x.transpose();
  CHECK(cross_entropy(turned, labels, colwise, o).transpose() == losses);
  CHECK(cross_entropy_gradient(turned, labels, colwise, o).transpose() == gradient);
  for (index_t i = 0; i < 9; ++i) {
    CAPTURE(i);
    const Eigen::Matrix<TestType, Eigen::Dynamic, 1> line = x.row(i).transpose();
    if (i == 4) {
      CHECK(losses[i] == TestType(0));
      CHECK(gradient.row(i).isZero(TestType(0)));
      continue;
    }
    CHECK(losses[i] == cross_entropy(line, labels[std::size_t(i)]));
    CHECK(gradient.row(i).transpose() == cross_entropy_gradient(line, labels[std::size_t(i)]));
    const double plain = -double(log_softmax(line)[labels[std::size_t(i)]]);
    CHECK(double(losses[i]) == Approx(plain).epsilon(0.02));
  }
  const std::deque<int> few{1, 2, 3};
  CHECK(cross_entropy(few, 1) == Approx(std::log(1 + std::exp(1.0) + std::exp(-1.0))));
}

TEST_CASE("cross_entropy: what does not fit is refused before any work", "[exact][edge]") {
  const std::vector<double> x{1, 2, 3};
  CHECK(
      refusal([&] { static_cast<void>(cross_entropy(x, 3)); }) ==
      "cumulus: cross_entropy: label 0 is 3, there are 3 classes; a label lies in 0..classes - 1, "
      "or is .ignored");
  CHECK(cross_entropy(x, 7, {.ignored = 7}) == 0);
  CHECK(refusal([&] { static_cast<void>(cross_entropy(x, 0, {.label_smoothing = 1.5})); }) ==
        "cumulus: cross_entropy: .label_smoothing is 1.5; give 0 to 1");
  const rows<double> m = rows<double>::Zero(2, 3);
  CHECK(refusal([&] { static_cast<void>(cross_entropy(m, std::vector{0, -1}, rowwise)); }) ==
        "cumulus: cross_entropy: label 1 is -1, there are 3 classes; a label lies in 0..classes - "
        "1, or is .ignored");
  CHECK(refusal([&] { static_cast<void>(cross_entropy(m, std::vector{0}, rowwise)); }) != "");
  rows<double> out = rows<double>::Ones(2, 3);
  CHECK(refusal([&] { cross_entropy_gradient(m, std::vector{0, 5}, into(out), rowwise); }) != "");
  CHECK(out == rows<double>::Ones(2, 3));
}
