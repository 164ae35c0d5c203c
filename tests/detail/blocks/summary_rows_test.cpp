// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/summary_rows.hpp>

#include <Eigen/Core>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::index_t;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

matrix normal(index_t n, index_t d, std::uint64_t seed) {
  families::random r(seed);
  matrix x(n, d);
  for (index_t i = 0; i < n * d; ++i) x.data()[i] = r.normal() + double(i % d);
  return x;
}

}  // namespace

TEST_CASE(
    "summary rows: a tensor keeps each component once, i <= j <= k at i + C(j + 1, 2) + C(k + 2, "
    "3)",
    "[blocks][value]") {
  const matrix k = normal(7, 4, 9u), y = k.rowwise() - k.colwise().mean();
  cumulus::detail::summary_rows<double> rows({.key_width = 4, .block = 7, .order = 4});
  rows.append(k.data(), nullptr, 7, {});
  const auto& tensors = rows.tensors;
  REQUIRE(tensors.size() == 2);
  REQUIRE(tensors[0].size() == 20);
  REQUIRE(tensors[1].size() == 35);
  for (index_t c = 0; c < 4; ++c) {
    for (index_t b = 0; b <= c; ++b) {
      for (index_t a = 0; a <= b; ++a) {
        const auto third = y.col(a).array() * y.col(b).array() * y.col(c).array();
        const std::size_t at = std::size_t(a + b * (b + 1) / 2 + c * (c + 1) * (c + 2) / 6);
        CAPTURE(a, b, c);
        CHECK(std::abs(tensors[0][at] - third.mean()) <= 1e-14);
        // times the last coordinate: among the last 20 of order 4
        const double fourth = (third * y.col(3).array()).mean();
        CHECK(std::abs(tensors[1][15 + at] - fourth) <= 1e-14 * (1 + std::abs(fourth)));
      }
    }
  }
}
