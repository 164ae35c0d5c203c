// SPDX-License-Identifier: MIT
//
// What softmax and log_softmax share: checks, memory that overlaps, rows one by one.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/core/tags.hpp>
#include <cumulus/exact/arguments.hpp>

namespace cumulus {

/// An owning vector of x's size and kind.
template <real_vector X>
[[nodiscard]] plain_of<X> plain_like(const X& x) {
  if constexpr (eigen_dense<X>) {
    return plain_of<X>(x.rows(), x.cols());
  } else {
    return plain_of<X>(index(std::size(x)));
  }
}

/// Checks a vector call and runs `kernel(terms, out)`.
template <real_vector X, class Out, class Kernel>
void normalised(const char* function, const X& x, Out& out, const options<result_of<X>>& o,
                Kernel kernel) {
  operand<result_of<X>> values(x);
  const auto result = strided_view(out);
  require_same_size(function, "x", values.size(), "out", result.size);
  require_options(function, values.size(), o);
  if (overlaps(values.view(), result)) values.own();
  kernel(terms_of(values.view(), o), result);
}

/// Checks a matrix call and runs `kernel(terms, out)` for each row.
template <real_matrix X, class Out, class Kernel>
void normalised(const char* function, const X& x, Out& out, rowwise_t, Kernel kernel) {
  const auto result = strided_matrix_view(out);
  require_same_shape(function, "x", index(x.rows()), index(x.cols()), "out", result.rows,
                     result.cols);
  const auto run = [&](const auto& values) {
    for (index i = 0; i < result.rows; ++i) kernel(terms_of(values.row(i)), result.row(i));
  };
  const matrix_operand<X> values(x);
  if (overlaps(values.view(), result)) {
    const plain_of<X> copied = x.template cast<result_of<X>>();
    run(matrix_operand<plain_of<X>>(copied).view());
  } else {
    run(values.view());
  }
}

}  // namespace cumulus
