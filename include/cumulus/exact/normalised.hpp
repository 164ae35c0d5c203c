// SPDX-License-Identifier: MIT
//
// What functions from a vector to one of its size share: checks, memory that overlaps, the lines of
// a matrix one by one.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/arguments.hpp>
#include <vector>

namespace cumulus {

/// An owning vector of x's size and kind.
template <real_vector X>
[[nodiscard]] plain_of<X> plain_like(const X& x) {
  if constexpr (eigen_dense<X>) {
    return plain_of<X>(x.rows(), x.cols());
  } else {
    return plain_of<X>(index_t(std::size(x)));
  }
}

/// Checks a vector call and runs `kernel(terms, out)`.
template <real_vector X, class Out, class Kernel>
void normalised(const char* function, const X& x, Out& out, const options<result_of<X>>& o,
                Kernel kernel) {
  using T = result_of<X>;
  operand<T> values(x);
  const auto result = strided_view(out);
  require_same_size(function, "x", values.size(), "out", result.size);
  require_options(function, values.size(), o);
  if (overlaps(values.view(), result)) values.own();
  auto terms = terms_of(values.view(), o);
  std::vector<T> copied;  // weights that out would overwrite
  if (o.weights.given() && overlaps(o.weights.view(), result)) {
    for (index_t i = 0; i < o.weights.size(); ++i) copied.push_back(o.weights.view()[i]);
    terms.weights = {copied.data(), index_t(copied.size()), 1};
  }
  kernel(terms, result);
}

/// The same, returning a vector of x's kind.
template <real_vector X, class Kernel>
[[nodiscard]] plain_of<X> normalised(const char* function, const X& x,
                                     const options<result_of<X>>& o, Kernel kernel) {
  plain_of<X> out = plain_like(x);
  normalised(function, x, out, o, kernel);
  return out;
}

/// Checks a matrix call and runs `kernel(terms, out)` for each row or column.
template <real_matrix X, direction D, class Out, class Kernel>
void normalised(const char* function, const X& x, Out& out, D,
                const matrix_options<result_of<X>>& o, Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  const auto result = strided_matrix_view(out);
  require_same_shape(function, "x", index_t(x.rows()), index_t(x.cols()), "out", result.rows,
                     result.cols);
  require_options(function, result.rows, result.cols, o, by_columns);
  const auto run = [&](const strided_matrix<const result_of<X>>& values) {
    for_each_line(values, result, o, by_columns, kernel);
  };
  const matrix_operand<X> values(x);
  if (overlaps(values.view(), result)) {
    const plain_of<X> copied = x.template cast<result_of<X>>();
    run(matrix_operand<plain_of<X>>(copied).view());
  } else {
    run(values.view());
  }
}

/// The same, returning a matrix of x's kind.
template <real_matrix X, direction D, class Kernel>
[[nodiscard]] plain_of<X> normalised(const char* function, const X& x, D d,
                                     const matrix_options<result_of<X>>& o, Kernel kernel) {
  plain_of<X> out(x.rows(), x.cols());
  normalised(function, x, out, d, o, kernel);
  return out;
}

}  // namespace cumulus
