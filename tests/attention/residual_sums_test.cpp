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

double distance(const cumulus::attention_part& part, const Eigen::VectorXd& direct) {
  double most = std::abs(part.log_sum - direct[e]);
  for (int j = 0; j < e; ++j)
    most = std::max(most, std::abs(part.output[std::size_t(j)] - direct[j]));
  return most;
}

}  // namespace

TEST_CASE("residual_sums: what is left of the sums is the sum of what is left",
          "[attention][value]") {
  const auto kernel = GENERATE(residual_kernel::softmax_pair, residual_kernel::taylor2);
  const sample s;
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums<double> sums(d, e, kernel, s.scale, {s.centre.begin(), s.centre.end()});
  sums.add(keys, values, 0, 17);
  sums.add(keys, values, 17, n);
  CHECK(sums.size() == n);

  std::vector<std::pair<cumulus::index_t, cumulus::index_t>> selected;
  CHECK(distance(sums.rest(s.q.data(), keys, values, selected),
                 s.direct(kernel, [](int) { return true; })) <= 1e-13);
  selected = {{8, 16}, {40, 44}};
  CHECK(distance(sums.rest(s.q.data(), keys, values, selected), s.direct(kernel, [](int t) {
          return !((8 <= t && t < 16) || (40 <= t && t < 44));
        })) <= 1e-13);
  selected = {{0, n}};
  const auto nothing = sums.rest(s.q.data(), keys, values, selected);
  CHECK(nothing.log_sum == -cumulus::detail::infinity<double>);
  CHECK(nothing.output == std::vector<double>(e, 0.0));
}

TEST_CASE("residual_sums: a rest of a millionth of the whole keeps its digits",
          "[attention][value]") {
  sample s;
  s.centre.setZero();
  s.keys.topRows(4) = s.keys.topRows(4).eval() * 1e-3;
  s.keys.bottomRows(n - 4).rowwise() = 3e4 * s.q.transpose() / s.q.squaredNorm();
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums<double> sums(d, e, residual_kernel::taylor2, s.scale);
  sums.add(keys, values, 0, n);
  const std::vector<std::pair<cumulus::index_t, cumulus::index_t>> selected{{4, n}};
  const auto direct = s.direct(residual_kernel::taylor2, [](int t) { return t < 4; });
  CHECK(distance(sums.rest(s.q.data(), keys, values, selected), direct) <= 1e-14);
}

TEST_CASE("residual_sums: refuses shapes that differ", "[attention][edge]") {
  const sample s;
  const cumulus::token_rows<double> keys(s.keys), values(s.values);
  cumulus::residual_sums<double> sums(d + 1, e, residual_kernel::softmax_pair);
  CHECK(refusal([&] { sums.add(keys, values, 0, n); }) ==
        "cumulus: residual_sums::add: a key of the sums has 6 elements, a key has 5");
  cumulus::residual_sums<double> right(d, e, residual_kernel::softmax_pair);
  CHECK(refusal([&] { right.add(keys, values, 3, n + 1); }) ==
        "cumulus: residual_sums::add: rows 3..61 of 60");
  CHECK(refusal([&] { cumulus::residual_sums<float>(0, 1, residual_kernel::taylor2); }) ==
        "cumulus: residual_sums: a key width of 0");
}
