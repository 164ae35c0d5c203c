// SPDX-License-Identifier: MIT
//
// Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations.
// Layer 2 (moments): uses core.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <vector>

namespace cumulus::detail {

/// values(0) >= values(1) >= ...; column k of vectors belongs to values(k).
template <class T>
struct symmetric_eigen {
  Eigen::Matrix<T, Eigen::Dynamic, 1> values;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> vectors;
};

/// The most sweeps over all pairs; convergence is quadratic, 6 to 10 are usual.
inline constexpr int symmetric_eigen_max_sweeps = 40;
/// What the Error line promises, in u n times the largest eigenvalue's size.
inline constexpr int symmetric_eigen_max_roundings = 16;

/// Of the lower triangle of a, [n, n].
///
/// Edges    what is not finite in a gives NaN.
/// Error    a vectors - vectors diag(values), and vectors' departure from orthogonality: symmetric_eigen_max_roundings.
/// Cost     about 6 n^3 operations a sweep; for n up to a few hundred.
/// Source   G. Golub, C. Van Loan, Matrix Computations, 8.5: cyclic Jacobi.
template <class T>
[[nodiscard]] symmetric_eigen<T> eigen_of_symmetric(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& matrix) {
  using index = Eigen::Index;
  const index n = matrix.rows();
  require_same_size("eigen_of_symmetric", "a row", index_t(matrix.cols()), "a column", index_t(n));
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> a = matrix;
  for (index i = 0; i < n; ++i) {
    for (index j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  }
  auto v = a;
  for (index k = 0; k < a.size(); ++k) {
    if (is_finite(a(k))) continue;
    v.setConstant(quiet_nan<T>);
    return {v.col(0), v};
  }
  v.setIdentity();
  for (int sweep = 0, rotated = 1; rotated > 0 && sweep < symmetric_eigen_max_sweeps; ++sweep) {
    rotated = 0;
    for (index p = 0; p < n; ++p) {
      for (index q = p + 1; q < n; ++q) {
        const T off = a(p, q), size = max_of(absolute(a(p, p)), absolute(a(q, q)));
        if (!(unit_roundoff<T> / T(4) * size < absolute(off))) continue;
        ++rotated;
        const T theta = (a(q, q) - a(p, p)) / (T(2) * off);
        const T root = square_root(T(theta * theta + T(1)));
        const T t = is_finite(theta * theta)
                        ? (theta < T(0) ? T(-1) : T(1)) / (absolute(theta) + root)
                        : T(1) / (T(2) * theta);
        const T c = T(1) / square_root(T(t * t + T(1))), s = t * c;
        const auto turn = [&](auto&& x, auto&& y) {
          for (index k = 0; k < n; ++k) {
            const T xk = x(k), yk = y(k);
            x(k) = c * xk - s * yk;
            y(k) = s * xk + c * yk;
          }
        };
        turn(a.col(p), a.col(q));
        turn(a.row(p), a.row(q));
        a(p, q) = a(q, p) = T(0);
        turn(v.col(p), v.col(q));
      }
    }
  }
  std::vector<index> order(static_cast<std::size_t>(n));
  for (index k = 0; k < n; ++k) order[std::size_t(k)] = k;
  std::stable_sort(order.begin(), order.end(), [&](index i, index j) { return a(j, j) < a(i, i); });
  symmetric_eigen<T> out{a.diagonal(), v};
  for (index k = 0; k < n; ++k) {
    out.values(k) = a(order[std::size_t(k)], order[std::size_t(k)]);
    out.vectors.col(k) = v.col(order[std::size_t(k)]);
  }
  return out;
}

}  // namespace cumulus::detail
