// SPDX-License-Identifier: MIT
//
// Mean and covariance by their definition, in long double, and rows of named families to try them on.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <vector>

#include "families.hpp"

namespace oracle {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A sum that carries what long double loses (T. Dekker, Numer. Math. 18 (1971) 224-242).
class long_sum {
 public:
  void add(long double x) {
    const long double next = sum_ + x, big = std::abs(sum_) < std::abs(x) ? x : sum_,
                      small = std::abs(sum_) < std::abs(x) ? sum_ : x;
    rest_ += (big - next) + small;
    sum_ = next;
  }
  [[nodiscard]] long double value() const { return sum_ + rest_; }

 private:
  long double sum_ = 0, rest_ = 0;
};

/// Column j of z less its weighted mean; and the mean, relative to the first row.
struct centred {
  std::vector<std::vector<long double>> y;
  std::vector<long double> mean_from_first;
  long double weight = 0;
};

/// Ones where w is empty. Rows without a weight are left out.
[[nodiscard]] inline centred centre(const rows& z, const std::vector<double>& w = {}) {
  centred out;
  long_sum total;
  for (Eigen::Index i = 0; i < z.rows(); ++i) total.add(w.empty() ? 1 : w[std::size_t(i)]);
  out.weight = total.value();
  for (Eigen::Index j = 0; j < z.cols(); ++j) {
    long_sum moment;  // of the differences to the first row, which long double holds
    std::vector<long double> y(std::size_t(z.rows()));
    for (Eigen::Index i = 0; i < z.rows(); ++i) {
      y[std::size_t(i)] = static_cast<long double>(z(i, j)) - z(0, j);
      moment.add((w.empty() ? 1 : w[std::size_t(i)]) * y[std::size_t(i)]);
    }
    out.mean_from_first.push_back(moment.value() / out.weight);
    for (long double& v : y) v -= out.mean_from_first.back();
    out.y.push_back(y);
  }
  return out;
}

/// sum w y_i y_j / W, and the same of |y_i y_j|.
struct product_pair {
  long double signed_value, absolute_value;
};
[[nodiscard]] inline product_pair covariance(const centred& c, std::size_t i, std::size_t j,
                                             const std::vector<double>& w = {}) {
  long_sum sum, absolute;
  for (std::size_t k = 0; k < c.y[i].size(); ++k) {
    const long double term = (w.empty() ? 1 : w[k]) * c.y[i][k] * c.y[j][k];
    sum.add(term);
    absolute.add(std::abs(term));
  }
  return {sum.value() / c.weight, absolute.value() / c.weight};
}

/// Columns of every shape about an offset: normal, two points, ascending, an outlier, exponential, constant, and again.
[[nodiscard]] inline rows shapes(std::size_t n, Eigen::Index d, double offset, std::uint64_t seed) {
  rows z(Eigen::Index(n), d);
  for (Eigen::Index j = 0; j < d; ++j) {
    const auto s = seed + std::uint64_t(j);
    std::vector<double> column;
    switch (j % 6) {
      case 0:
        column = families::normal<double>(n, offset, 1, s);
        break;
      case 1:
        column = families::ties<double>(n, offset);
        for (std::size_t i = 0; i < n; i += 3) column[i] = offset + 0.7;
        break;
      case 2:
        column = families::ascending<double>(n, offset, offset + 3);
        break;
      case 3:
        column = families::one_outlier<double>(n, offset, offset + 1e3);
        break;
      case 4:
        column = families::exponential<double>(n, -offset, 1, s);
        break;
      default:
        column = families::ties<double>(n, offset + 0.1);
        break;
    }
    for (std::size_t i = 0; i < n; ++i) z(Eigen::Index(i), j) = column[i];
  }
  return z;
}

}  // namespace oracle
