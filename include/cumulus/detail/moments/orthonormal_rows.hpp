// SPDX-License-Identifier: MIT
//
// An orthonormal basis of the span of a few rows.
// Layer 2 (moments): uses core; blocks and attention build on it.
#pragma once

#include <cumulus/detail/core/sum_of_products.hpp>
#include <cmath>

namespace cumulus::detail {

/// Rows of x [rows, n], n apart, become orthonormal: each is what Gram and Schmidt leave of it beside those before.
///
/// Edges   a row of which 1e-10 of its length or less is left becomes 0, as does one whose square is not a finite number.
/// Error   of |x x^T - 1|: a few u. Each row is taken twice, which is enough for any row that is kept.
/// Cost    2 rows^2 n multiply-adds.
/// Source  L. Giraud, J. Langou, M. Rozloznik, E. van den Eshof, Numer. Math. 101 (2005) 87-100.
inline void orthonormalise_rows(double* x, index_t rows, index_t n) noexcept {
  for (index_t i = 0; i < rows; ++i) {
    double* const row = x + i * n;
    const double before = sum_of_products(row, row, n);
    for (int twice = 0; twice < 2; ++twice) {
      for (const double* other = x; other != row; other += n) {
        const double share = sum_of_products(row, other, n);
        for (index_t t = 0; t < n; ++t) row[t] -= share * other[t];
      }
    }
    const double left = sum_of_products(row, row, n);
    const double factor = left > 1e-20 * before && left > 0 ? 1 / std::sqrt(left) : 0.0;
    for (index_t t = 0; t < n; ++t) row[t] = factor > 0 ? row[t] * factor : 0.0;
  }
}

}  // namespace cumulus::detail
