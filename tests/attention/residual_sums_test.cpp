// SPDX-License-Identifier: MIT
#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"

#include <cumulus/attention/residual_sums.hpp>
#include <Eigen/Core>

namespace {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using cumulus::residual_kernel;

constexpr int n = 60, d = 5, e = 3;

rows normal_rows(int count, int width, double mean, double sigma, unsigned seed) {
  const auto x = families::normal<double>(std::size_t(count * width), mean, sigma, seed);
  return Eigen::Map<const rows>(x.data(), count, width);
}

/// The kernels by their definitions.
double naive_kernel(residual_kernel kernel, const Eigen::VectorXd& q, const Eigen::VectorXd& k,
                    double scale, const Eigen::VectorXd& centre) {
  if (kernel == residual_kernel::taylor2) {
    const double u = scale * q.dot(k - centre);
    return std::exp(scale * q.dot(centre)) * (1 + u + u * u / 2);
  }
  double f = 0;
  for (const double sign : {1.0, -1.0}) {
    Eigen::VectorXd a = (sign * q.array()).exp(), b = (sign * k.array()).exp();
    f += (a / a.sum()).dot(b / b.sum());
  }
  return f;
}

struct sample {
  rows keys = normal_rows(n, d, 0.4, 1, 11), values = normal_rows(n, e, 0, 1, 12);
  Eigen::VectorXd q = normal_rows(1, d, 0, 1, 13).row(0);
  Eigen::VectorXd centre = keys.colwise().mean();
  double scale = 0.7;

  /// The log-sum and the average over the rows that `keep` says.
  template <class Keep>
  Eigen::VectorXd direct(residual_kernel kernel, Keep keep) const {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(e + 1);
    for (int t = 0; t < n; ++t) {
      if (!keep(t)) continue;
      const double f = naive_kernel(kernel, q, keys.row(t), scale, centre);
      sums.head(e) += f * values.row(t).transpose();
      sums[e] += f;
    }
    sums.head(e) /= sums[e];
    sums[e] = std::log(sums[e]);
    return sums;
  }
};

double distance(const cumulus::attention_result<double>& part, const Eigen::VectorXd& direct) {
  double most = std::abs(part.logsumexp[0] - direct[e]);
  for (int j = 0; j < e; ++j) most = std::max(most, std::abs(part.output(0, j) - direct[j]));
  return most;
}

}  // namespace

TEST_CASE("residual_sums: what is left of the sums is the sum of what is left",
          "[attention][value]") {
  const auto kernel = GENERATE(residual_kernel::softmax_pair, residual_kernel::taylor2);
  const sample s;
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums sums(
      d, e, {.scale = s.scale, .kernel = kernel, .centre = {s.centre.begin(), s.centre.end()}});
  sums.add(keys, values, 0, 17);
  sums.add(keys, values, 17, n);
  CHECK(sums.size() == n);

  std::vector<std::pair<cumulus::index_t, cumulus::index_t>> selected;
  CHECK(distance(sums.rest(s.q, keys, values, selected),
                 s.direct(kernel, [](int) { return true; })) <= 1e-13);
  selected = {{8, 16}, {40, 44}};
  CHECK(distance(sums.rest(s.q, keys, values, selected), s.direct(kernel, [](int t) {
          return !((8 <= t && t < 16) || (40 <= t && t < 44));
        })) <= 1e-13);
  selected = {{0, n}};
  const auto nothing = sums.rest(s.q, keys, values, selected);
  CHECK(nothing.logsumexp[0] == -HUGE_VAL);
  CHECK(nothing.output.isZero(0));
}

TEST_CASE("residual_sums: a rest of a millionth of the whole keeps its digits",
          "[attention][value]") {
  sample s;
  s.centre.setZero();
  s.keys.topRows(4) = s.keys.topRows(4).eval() * 1e-3;
  s.keys.bottomRows(n - 4).rowwise() = 3e4 * s.q.transpose() / s.q.squaredNorm();
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums sums(d, e, {.scale = s.scale});
  sums.add(keys, values, 0, n);
  const std::vector<std::pair<cumulus::index_t, cumulus::index_t>> selected{{4, n}};
  const auto direct = s.direct(residual_kernel::taylor2, [](int t) { return t < 4; });
  CHECK(distance(sums.rest(s.q, keys, values, selected), direct) <= 1e-14);
}

TEST_CASE("residual_sums: refuses shapes that differ", "[attention][edge]") {
  const sample s;
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums sums(d + 1, e, {.kernel = residual_kernel::softmax_pair});
  CHECK(refusal([&] { sums.add(keys, values, 0, n); }) ==
        "cumulus: residual_sums::add: a key of the sums has 6 elements, a key has 5");
  cumulus::residual_sums right(d, e, {.kernel = residual_kernel::softmax_pair});
  CHECK(refusal([&] { right.add(keys, values, 3, n + 1); }) ==
        "cumulus: residual_sums::add: rows 3..61, but there are 60; give a range within them");
  CHECK(refusal([&] { cumulus::residual_sums(0, 1); }) ==
        "cumulus: residual_sums: key_width is 0; give 1 or more");
  CHECK(refusal([&] { cumulus::residual_sums(1, 1, {.scale = HUGE_VAL}); }) ==
        "cumulus: residual_sums: .scale is inf; give a finite number");
  CHECK(std::string(name_of(residual_kernel::taylor2)) == "taylor2");
}

TEST_CASE("residual_sums: without a scale it is that of attention, 1 / sqrt(d)",
          "[attention][value]") {
  const sample s;
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums sums(d, e), same(d, e, {.scale = 1 / std::sqrt(double(d))});
  sums.add(keys, values, 0, n);
  same.add(keys, values, 0, n);
  CHECK(sums.rest(s.q, keys, values, {}).output == same.rest(s.q, keys, values, {}).output);
}
