// SPDX-License-Identifier: MIT
#include <cumulus/detail/moments/orthonormal_rows.hpp>
#include <Eigen/Core>

#include "catch.hpp"
#include "families.hpp"

using cumulus::index_t;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr double u = 0x1p-53;

matrix normal_rows(index_t rows, index_t n, std::uint64_t seed) {
  families::random r(seed);
  matrix x(rows, n);
  for (index_t i = 0; i < rows * n; ++i) x.data()[i] = r.normal();
  return x;
}

matrix orthonormal(matrix x) {
  cumulus::detail::orthonormalise_rows(x.data(), x.rows(), x.cols());
  return x;
}

double off_identity(const matrix& x) {
  const matrix gram = x.lazyProduct(x.transpose());
  return (gram - matrix::Identity(x.rows(), x.rows())).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("orthonormal rows: of the same span, in the same order", "[moments][value]") {
  for (const auto& [rows, n] :
       {std::pair<index_t, index_t>{1, 1}, {1, 7}, {2, 3}, {5, 5}, {12, 64}, {40, 41}, {64, 64}}) {
    const matrix x = normal_rows(rows, n, 3u), q = orthonormal(x);
    CAPTURE(rows, n);
    CHECK(off_identity(q) <= 16 * u);
    // row i lies in the span of the first i + 1 rows: x = L q with L lower triangular and positive on its diagonal
    const matrix l = x.lazyProduct(q.transpose());
    CHECK((x - l.lazyProduct(q)).norm() <= 64 * u * x.norm());
    for (index_t i = 0; i < rows; ++i) {
      CHECK(l(i, i) > 0);
      for (index_t j = i + 1; j < rows; ++j) CHECK(std::abs(l(i, j)) <= 64 * u * x.norm());
    }
  }
}

TEST_CASE("orthonormal rows: also of rows that nearly lie in each other's span",
          "[moments][value]") {
  for (const double apart : {1e-3, 1e-6, 1e-9}) {
    matrix x = normal_rows(6, 30, 4u);
    const matrix noise = normal_rows(6, 30, 5u);
    for (index_t i = 1; i < 6; ++i) x.row(i) = x.row(0) + apart * noise.row(i);
    CAPTURE(apart);
    CHECK(off_identity(orthonormal(x)) <= 16 * u);
  }
}

TEST_CASE("orthonormal rows: what is left of nothing is 0", "[moments][edge]") {
  matrix x = normal_rows(5, 9, 6u);
  x.row(1) = -3 * x.row(0);
  x.row(2).setZero();
  x(3, 4) = std::nan("");
  const matrix q = orthonormal(x);
  for (const index_t i : {1, 2, 3}) CHECK(q.row(i) == matrix::Zero(1, 9));
  CHECK(std::abs(q.row(4).norm() - 1) <= 16 * u);
  CHECK(std::abs(q.row(4).dot(q.row(0))) <= 16 * u);

  matrix tall = normal_rows(7, 3, 7u);  // more rows than a basis has
  tall = orthonormal(tall);
  CHECK(off_identity(tall.topRows(3)) <= 16 * u);
  CHECK(tall.bottomRows(4) == matrix::Zero(4, 3));

  matrix none(0, 4);
  cumulus::detail::orthonormalise_rows(none.data(), 0, 4);
}
