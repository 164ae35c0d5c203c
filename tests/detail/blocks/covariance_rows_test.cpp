// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/covariance_rows.hpp>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::covariance_kind;
using cumulus::index_t;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

matrix centred(index_t n, index_t d, families::random& r) {
  matrix y(n, d);
  for (index_t i = 0; i < n * d; ++i) y.data()[i] = r.normal() * (i % 3 == 0 ? 3 : 1);
  y.rowwise() -= y.colwise().mean().eval();
  return y / std::sqrt(double(n));
}

constexpr covariance_kind kinds[] = {covariance_kind::none, covariance_kind::diagonal,
                                     covariance_kind::full, covariance_kind::low_rank};

}  // namespace

TEMPLATE_TEST_CASE(
    "covariance rows: each kind keeps its part, and the variance along q lies within its ends",
    "[blocks][property]", float, double) {
  families::random r(21u);
  for (const index_t d : {1, 2, 5, 19}) {
    for (const covariance_kind kind : kinds) {
      cumulus::detail::covariance_rows<TestType> rows(kind, d, 2);
      std::vector<matrix> sigma;
      for (const index_t n : {1, 2, 9, 40}) {
        const matrix y = centred(n, d, r);
        rows.append(y.data(), n);
        sigma.push_back(y.transpose().lazyProduct(y));
      }
      Eigen::Matrix<TestType, Eigen::Dynamic, 1> q(d);
      for (index_t i = 0; i < d; ++i) q[i] = TestType(r.normal());
      const Eigen::VectorXd wide = q.template cast<double>();
      std::vector<double> v(sigma.size());
      rows.variances(rows.form(q.data()), 0, index_t(v.size()), v.data());
      for (std::size_t B = 0; B < v.size(); ++B) {
        const double exact = wide.dot(sigma[B].lazyProduct(wide));
        const matrix kept = rows.matrix(index_t(B)).template cast<double>();
        const double size = sigma[B].trace() * wide.squaredNorm();
        const double rounding =
            100 * double(cumulus::detail::unit_roundoff<TestType>) * (size + 1e-300);
        CAPTURE(d, int(kind), B);
        CHECK(std::abs(v[B] - wide.dot(kept.lazyProduct(wide))) <= rounding);
        if (kind == covariance_kind::full) CHECK((kept - sigma[B]).norm() <= rounding);
        if (kind != covariance_kind::none)
          CHECK((kept - sigma[B]).diagonal().norm() <= rounding / wide.squaredNorm() + rounding);
        double low = -1, high = -1;
        rows.variance_range(index_t(B), v[B], wide.squaredNorm(), 0.0, low, high);
        CHECK(0 <= low);
        CHECK(low <= exact);
        CHECK(exact <= high);
        if (kind == covariance_kind::low_rank && d == 2) CHECK(high - low <= 10 * rounding);
      }
    }
  }
}

TEST_CASE("covariance rows: sizes count what is kept, and the last block can be dropped",
          "[blocks][edge]") {
  families::random r(22u);
  const index_t sizes[] = {1, 1 + 6, 1 + 21, 2 + 6 + 12};
  for (std::size_t k = 0; k < 4; ++k) {
    cumulus::detail::covariance_rows<double> rows(kinds[k], 6, 2), same(kinds[k], 6, 2);
    CHECK(rows.size() == sizes[k]);
    const matrix a = centred(9, 6, r), b = centred(9, 6, r);
    rows.append(a.data(), 9);
    rows.append(b.data(), 9);
    rows.drop([](auto& numbers, cumulus::index_t count) {
      numbers.resize(numbers.size() - std::size_t(count));
    });
    rows.append(a.data(), 9);
    same.append(a.data(), 9);
    CHECK(rows.matrix(1) == same.matrix(0));
    CHECK(rows.matrix(0) == same.matrix(0));
  }
}
