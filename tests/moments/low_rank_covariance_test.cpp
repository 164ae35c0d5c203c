// SPDX-License-Identifier: MIT
#include <cumulus/moments/low_rank_covariance.hpp>
#include <limits>

#include "catch.hpp"
#include "refusal.hpp"
#include "vector_oracle.hpp"

namespace {

using cumulus::comoments;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using oracle::rows;

constexpr double u = 0x1p-53;

comoments<double> of_rows(const rows& z) {
  comoments<double> m(z.cols());
  m.add_rows(z);
  return m;
}

/// a v = v diag, v orthogonal, values descending.
void check_eigen(const MatrixXd& a) {
  const auto e = cumulus::detail::eigen_of_symmetric(a);
  const double n = double(a.rows());
  const double size = e.values.size() == 0 ? 0 : e.values.cwiseAbs().maxCoeff();
  const MatrixXd residual = a * e.vectors - e.vectors * e.values.asDiagonal();
  const MatrixXd angles = e.vectors.transpose() * e.vectors;
  CHECK(residual.norm() <= cumulus::detail::symmetric_eigen_max_roundings * n * u * size);
  CHECK((angles - MatrixXd::Identity(a.rows(), a.rows())).norm() <=
        cumulus::detail::symmetric_eigen_max_roundings * n * u);
  for (Eigen::Index k = 1; k < e.values.size(); ++k) CHECK(e.values(k) <= e.values(k - 1));
}

}  // namespace

TEST_CASE("eigen_of_symmetric: the defining residual", "[moments][value]") {
  for (const int n : {0, 1, 2, 3, 10, 40}) {
    const MatrixXd x = oracle::shapes(60, n, 0, 3);
    check_eigen(x.transpose() * x);
    check_eigen(MatrixXd::Identity(n, n));
    check_eigen(MatrixXd::Zero(n, n));
    check_eigen(MatrixXd::Constant(n, n, -3));
    check_eigen(VectorXd::LinSpaced(n, -1, 5).asDiagonal());
    MatrixXd graded = x.transpose() * x;
    for (int i = 0; i < n; ++i)
      graded.row(i) *= std::pow(0.1, i), graded.col(i) *= std::pow(0.1, i);
    check_eigen(graded);
  }
  MatrixXd known(2, 2);
  known << 2, 1, 1, 2;
  const auto e = cumulus::detail::eigen_of_symmetric(known);
  CHECK(e.values(0) == Approx(3).epsilon(1e-15));
  CHECK(e.values(1) == Approx(1).epsilon(1e-15));
  known(1, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(cumulus::detail::eigen_of_symmetric(known).values.sum()));
}

TEST_CASE("low_rank: variances are exact, and what is left is the rest of the spectrum",
          "[moments][value]") {
  const auto m = of_rows(oracle::shapes(500, 12, 1e6, 4));
  const MatrixXd c = m.covariance();
  const auto pairs = cumulus::detail::eigen_of_symmetric(c);
  for (int rank = 0; rank <= 12; ++rank) {
    const auto low = cumulus::low_rank(m, rank);
    REQUIRE(low.factors.cols() == rank);
    const MatrixXd product = low.factors * low.factors.transpose();
    const VectorXd variance = product.diagonal() + low.diagonal;
    CHECK((variance - c.diagonal()).norm() <= 1e-13 * c.diagonal().norm());
    CHECK(low.diagonal.minCoeff() >= 0);
    const double rest = pairs.values.tail(12 - rank).norm();  // Eckart, Young
    CHECK((c - product).norm() <= rest + 1e-12 * c.norm());
    const VectorXd q = VectorXd::LinSpaced(12, -1, 2);
    const double expected = q.dot(product * q) + low.diagonal.dot(q.cwiseProduct(q));
    CHECK(low.quadratic(q) == Approx(expected).epsilon(1e-13));
  }
}

TEST_CASE("low_rank_of_rows: the Gram matrix gives the same", "[moments][property]") {
  for (const double offset : {0.0, 1e9}) {
    const rows z = oracle::shapes(20, 50, offset, 5);
    const auto direct = cumulus::low_rank(of_rows(z), 4), gram = cumulus::low_rank_of_rows(z, 4);
    const MatrixXd a = direct.factors * direct.factors.transpose(),
                   b = gram.factors * gram.factors.transpose();
    CHECK((a - b).norm() <= 1e-12 * a.norm());
    CHECK((direct.diagonal - gram.diagonal).norm() <= 1e-12 * a.norm());
  }
  const auto one = cumulus::low_rank_of_rows(rows::Constant(1, 3, 2.5), 1);
  CHECK(one.factors.isZero(0));
  CHECK(one.diagonal.isZero(0));
  CHECK(cumulus::low_rank_of_rows(rows(0, 3), 0).diagonal.array().isNaN().all());
  const auto floats = cumulus::low_rank_of_rows(Eigen::MatrixXf::Random(5, 9), 2);
  CHECK(floats.factors.rows() == 9);
}

TEST_CASE("low_rank: a rank beyond the width is refused", "[moments][edge]") {
  comoments<double> m(3);
  CHECK(refusal([&] { static_cast<void>(cumulus::low_rank(m, 4)); }) ==
        "cumulus: low_rank: order 4 is outside 0..3 (the width)");
  CHECK(refusal([] { static_cast<void>(cumulus::low_rank_of_rows(rows(2, 3), 3)); }) ==
        "cumulus: low_rank_of_rows: order 3 is outside 0..2 (the smaller side)");
  CHECK(refusal([&] {
          static_cast<void>(cumulus::low_rank(m, 2).quadratic(Eigen::Vector2d(1, 2)));
        }) == "cumulus: low_rank_covariance::quadratic: q has 2 elements, the diagonal has 3");
  CHECK(cumulus::low_rank(m, 2).factors.array().isNaN().all());
}

TEST_CASE("low_rank_covariance: factors that do not fit the diagonal are refused",
          "[moments][edge]") {
  cumulus::low_rank_covariance<double> c;
  c.diagonal = Eigen::VectorXd::Ones(3);
  c.factors = Eigen::MatrixXd::Ones(2, 1);
  CHECK_THROWS_AS(c.quadratic(Eigen::VectorXd::Ones(3)), std::invalid_argument);
}
