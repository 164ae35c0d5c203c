// SPDX-License-Identifier: MIT
//
// Attention in Eigen's expressions: two products and a softmax between them.
#pragma once

#include "support/eigen.hpp"

#include <cmath>
#include <cstddef>

namespace bench {

/// Rows of scores become softmax(scale scores).
template <class Rows, class T>
void softmax_rows(Rows& scores, T scale) {
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    auto row = scores.row(i).array();
    row = ((row - row.maxCoeff()) * scale).exp();
    row /= row.sum();
  }
}

template <class T>
void eigen_attention(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t n,
                     std::size_t m, std::size_t d) {
  using index = Eigen::Index;
  const const_rows<T> keys(k, index(m), index(d)), values(v, index(m), index(d));
  const T scale = 1 / std::sqrt(T(d));
  if (n == 1) {
    using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const Eigen::Map<const column> query(q, index(d));
    Eigen::Map<column> s(scores, index(m)), o(out, index(d));
    s.noalias() = keys * (query * scale).eval();
    s.array() = (s.array() - s.maxCoeff()).exp();
    const T sum = s.sum();
    o.noalias() = values.transpose() * s;
    o /= sum;
    return;
  }
  const const_rows<T> queries(q, index(n), index(d));
  rows<T> s(scores, index(n), index(m)), o(out, index(n), index(d));
  s.noalias() = queries * keys.transpose();
  softmax_rows(s, scale);
  o.noalias() = s * values;
}

}  // namespace bench
