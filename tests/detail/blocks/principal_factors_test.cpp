// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/principal_factors.hpp>

#include <Eigen/Core>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::index_t;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

/// Orthonormal columns, [n, k].
matrix directions(index_t n, index_t k, std::uint64_t seed) {
  families::random r(seed);
  matrix u(n, k);
  for (index_t i = 0; i < n * k; ++i) u.data()[i] = r.normal();
  for (index_t j = 0; j < k; ++j) {
    for (int twice = 0; twice < 2; ++twice) {
      for (index_t i = 0; i < j; ++i) u.col(j) -= u.col(i).dot(u.col(j)) * u.col(i);
    }
    u.col(j).normalize();
  }
  return u;
}

/// n rows in d dimensions whose Y^T Y has the eigenvalues decay^(2i), i < min(n, d).
matrix sample(index_t n, index_t d, double decay) {
  const index_t k = std::min(n, d);
  matrix u = directions(n, k, 5u);
  for (index_t i = 0; i < k; ++i) u.col(i) *= std::pow(decay, double(i));
  return u.lazyProduct(directions(d, k, 6u).transpose());
}

matrix factors_of(const matrix& y, index_t r) {
  matrix f(r, y.cols());
  cumulus::detail::principal_factors(y.data(), y.rows(), y.cols(), r, f.data());
  return f;
}

}  // namespace

TEST_CASE("principal factors: nearly all that r directions can hold, and never more than there is",
          "[blocks][value]") {
  for (const double decay : {0.5, 0.9, 1.0}) {
    for (const auto& [n, d] : {std::pair<index_t, index_t>{64, 32}, {20, 40}, {3, 5}, {200, 8}}) {
      for (const index_t r : {1, 4}) {
        const matrix y = sample(n, d, decay), whole = y.transpose().lazyProduct(y),
                     f = factors_of(y, r);
        CAPTURE(decay, n, d, r);
        double best = 0;
        for (index_t i = 0; i < std::min(r, std::min(n, d)); ++i)
          best += std::pow(decay, 2 * double(i));
        CHECK(f.squaredNorm() <= best * (1 + 1e-12));
        CHECK(f.squaredNorm() >= 0.99 * best);
        const matrix x = directions(d, d, 7u), across = y.lazyProduct(x), along = f.lazyProduct(x);
        for (index_t i = 0; i < d; ++i)
          CHECK(across.col(i).squaredNorm() - along.col(i).squaredNorm() >= -1e-13 * whole.trace());
      }
    }
  }
}

TEST_CASE("principal factors: a sample of rank below r is held whole", "[blocks][edge]") {
  const matrix y = directions(64, 3, 8u).lazyProduct(directions(20, 3, 9u).transpose()),
               f = factors_of(y, 5);
  CHECK((y.transpose().lazyProduct(y) - f.transpose().lazyProduct(f)).norm() <=
        1e-12 * y.squaredNorm());
  CHECK(f.row(4).norm() <= 1e-7 * y.norm());
  CHECK(factors_of(matrix::Zero(8, 4), 2).norm() == 0);
  matrix bad = y;
  bad(3, 3) = std::nan("");
  CHECK(factors_of(bad, 2).array().isNaN().all());
}
