// SPDX-License-Identifier: MIT
//
// A covariance as a few factors and a diagonal.
// Layer 2 (moments): uses core and kernels; blocks and attention build on it.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/moments/symmetric_eigen.hpp>
#include <cumulus/moments/comoments.hpp>

namespace cumulus {

/// C ~ F F^T + diag(D): the eigenpairs of the largest eigenvalues, and of what is left the diagonal. Variances are exact,
/// and of all F F^T of that rank none leaves less. C - F F^T has no negative eigenvalue but by rounding: it is the other
/// eigenpairs, or Y^T (1 - U U^T) Y of centred rows Y and orthonormal U.
template <class T>
struct low_rank_covariance {
  /// [d, r]: eigenvector times root of eigenvalue, largest first.
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> factors;
  Eigen::Matrix<T, Eigen::Dynamic, 1> diagonal;  ///< [d], not negative

  /// q^T (F F^T + diag(D)) q, of q [d].
  template <real_vector Q>
  [[nodiscard]] T quadratic(const Q& given) const {
    const detail::operand<T> values(given);
    const auto q = values.view();
    detail::require_same_size("low_rank_covariance::quadratic", "q", q.size, "the diagonal",
                              index_t(diagonal.size()));
    detail::require_same_size("low_rank_covariance::quadratic", "the diagonal",
                              index_t(diagonal.size()), "a factor", index_t(factors.rows()));
    T sum(0);
    for (index_t i = 0; i < q.size; ++i) sum += q[i] * q[i] * diagonal(i);
    for (Eigen::Index k = 0; k < factors.cols(); ++k) {
      T dot(0);
      for (index_t i = 0; i < q.size; ++i) dot += q[i] * factors(i, k);
      sum += dot * dot;
    }
    return sum;
  }
};

namespace detail {

template <class T, class S>
[[nodiscard]] low_rank_covariance<T> with_rest_of(
    const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>& factors,
    const Eigen::Matrix<S, Eigen::Dynamic, 1>& variance) {
  low_rank_covariance<T> out{factors.template cast<T>(), variance.template cast<T>()};
  for (Eigen::Index i = 0; i < variance.size(); ++i) {
    S rest = variance(i);
    for (Eigen::Index k = 0; k < factors.cols(); ++k) rest -= factors(i, k) * factors(i, k);
    out.diagonal(i) = T(rest < S(0) ? S(0) : rest);
  }
  return out;
}

}  // namespace detail

/// Of the covariance that m holds.
///
/// Requires 0 <= rank <= m.width().
/// Cost     that of all eigenpairs, about 50 d^3 operations; for a sample of fewer than d vectors take low_rank_of_rows.
template <class T>
[[nodiscard]] low_rank_covariance<T> low_rank(const comoments<T>& m, std::integral auto rank) {
  using S = detail::compute_scalar<T>;
  detail::require_order("low_rank", rank, 0, static_cast<int>(m.width()), "the width");
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> covariance(m.width(), m.width());
  for (index_t i = 0; i < m.width(); ++i) {
    for (index_t j = 0; j <= i; ++j) covariance(i, j) = detail::moment_access::covariance(m, i, j);
  }
  const detail::symmetric_eigen<S> pairs = detail::eigen_of_symmetric(covariance);
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> factors(m.width(), Eigen::Index(rank));
  for (Eigen::Index k = 0; k < factors.cols(); ++k) {
    const S value = pairs.values(k) < S(0) ? S(0) : pairs.values(k);
    factors.col(k) = pairs.vectors.col(k) * detail::square_root(value);
  }
  return detail::with_rest_of<T, S>(factors, covariance.diagonal());
}

/// Of the covariance of the rows of X, [n, d], each of weight one: by their Gram matrix, [n, n].
///
/// Requires 0 <= rank <= n and d; rows beyond finite numbers give NaN.
/// Cost     n^2 d and about 50 n^3 operations: for blocks of fewer rows than numbers in one.
template <real_matrix X>
[[nodiscard]] low_rank_covariance<result_of<X>> low_rank_of_rows(const X& x,
                                                                 std::integral auto rank) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  using wide_matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
  detail::require_order("low_rank_of_rows", rank, 0, static_cast<int>(std::min(x.rows(), x.cols())),
                        "the smaller side");
  wide_matrix y = x.template cast<S>();
  const Eigen::Index n = y.rows();
  if (n == 0) {
    return {Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>(y.cols(), 0),
            Eigen::Matrix<T, Eigen::Dynamic, 1>::Constant(y.cols(), detail::quiet_nan<T>)};
  }
  for (Eigen::Index j = 0; j < y.cols();
       ++j) {  // from the first row on, so that a common offset costs nothing
    const S first = y(0, j);
    S mean(0);
    for (Eigen::Index i = 0; i < n; ++i) mean += y(i, j) - first;
    mean /= S(n);
    for (Eigen::Index i = 0; i < n; ++i)
      y(i, j) = ((y(i, j) - first) - mean) / detail::square_root(S(n));
  }
  wide_matrix gram = wide_matrix::Zero(n, n);
  const wide_matrix transposed = y.transpose();  // [d, n]: its columns are contiguous
  detail::kernels::add_product(y.data(), 1, n, y.data(), n, gram.data(), n, n, index_t(y.cols()),
                               n);
  const detail::symmetric_eigen<S> pairs = detail::eigen_of_symmetric(gram);
  const wide_matrix factors = transposed * pairs.vectors.leftCols(Eigen::Index(rank));
  const Eigen::Matrix<S, Eigen::Dynamic, 1> variance = y.colwise().squaredNorm();
  return detail::with_rest_of<T, S>(factors, variance);
}

}  // namespace cumulus
