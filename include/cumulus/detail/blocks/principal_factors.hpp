// SPDX-License-Identifier: MIT
//
// The r directions in which a small sample varies most.
// Layer 4 (blocks): uses kernels and moments.
#pragma once

#include <cumulus/detail/moments/orthonormal_rows.hpp>
#include <cumulus/detail/moments/symmetric_eigen.hpp>
#include <cumulus/detail/simd/matrix_product.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace cumulus::detail {

/// F with F^T F the part of Y^T Y in r directions, nearly its r largest eigenvalues with their eigenvectors.
///
/// Shape   y: [n, d] rows; factors: [r, d], zero rows where the rank of Y is below r. r >= 1.
/// Edges   all NaN where y holds a NaN or overflows. Directions whose fourth powers vanish or overflow in double are lost: scale y.
/// Method  F = U^T Y for orthonormal U [n, r]: block power iteration on the Gram matrix Y Y^T, applied as Y (Y^T U), from
///         r + 4 fixed starts, then a Rayleigh-Ritz step. So Y^T Y - F^T F = Y^T (1 - U U^T) Y has no negative eigenvalue
///         whether or not the iteration has converged.
/// Cost    16 (r + 4) n d multiply-adds.
template <class T>
void principal_factors(const T* y, index_t n, index_t d, index_t r, T* factors) {
  constexpr int rounds = 8;
  const index_t p = std::min(r + 4, std::min(n, d));
  std::fill(factors, factors + r * d, T(0));
  if (p < 1) return;
  std::vector<T> across(std::size_t(d * n)), x(std::size_t(p * n)), z(std::size_t(p * d));
  for (index_t t = 0; t < n; ++t) {
    for (index_t i = 0; i < d; ++i) across[std::size_t(i * n + t)] = y[t * d + i];
  }
  std::uint64_t state = 1;
  for (T& value : x) {  // a fixed sequence with no direction of its own
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = T(double(state >> 40) * 0x1p-24 - 0.5);
  }
  for (int round = 0;; ++round) {
    orthonormalise_rows(x.data(), p, n);
    std::fill(z.begin(), z.end(), T(0));
    kernels::add_product<T>(x.data(), n, 1, y, d, z.data(), d, p, n, d);
    if (round == rounds) break;
    std::fill(x.begin(), x.end(), T(0));
    kernels::add_product<T>(z.data(), d, 1, across.data(), n, x.data(), n, p, d, n);
  }
  const Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> rows(
      z.data(), p, d);
  const symmetric_eigen<T> pairs = eigen_of_symmetric<T>(rows.lazyProduct(rows.transpose()));
  if (is_nan(pairs.values(0)))
    return static_cast<void>(std::fill(factors, factors + r * d, quiet_nan<T>));
  kernels::add_product<T>(pairs.vectors.data(), p, 1, z.data(), d, factors, d, std::min(r, p), p,
                          d);
}

}  // namespace cumulus::detail
