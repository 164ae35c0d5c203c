// SPDX-License-Identifier: MIT
//
// softmax of a vector, or of each row or column of a matrix, at any spread.
// Layer 2 (exact): uses core and kernels; series, blocks and attention build on it.
#pragma once

#include <cumulus/exact/normalised.hpp>
#include <cumulus/kernels/softmax.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int softmax_max_ulp = 4;

/// w_i e^{x_i} / sum_j w_j e^{x_j}, written to out.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory that overlaps otherwise is copied first.
/// Edges    a kept NaN gives NaN everywhere kept, a row of nothing but -inf as well; one +inf gives a one-hot
///          row, several give NaN there and 0 elsewhere; what is masked or of weight 0 gives 0.
/// Error    softmax_max_ulp for every entry, size and spread, subnormal entries included.
/// Cost     three reads of x, 2n exp, no allocation where x lies in memory.
/// Source   as logsumexp; the rounding of x - max x is compensated, here.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  normalised("softmax", x, out, o,
             [&](const auto& t, auto view) { kernels::softmax(t, view, o.degenerate); });
}

/// The same, returned.
template <real_vector X>
[[nodiscard]] plain_of<X> softmax(const X& x, const options<result_of<X>>& o = {}) {
  plain_of<X> out = plain_like(x);
  softmax(x, out, o);
  return out;
}

/// The same of every row of a matrix, written to out of the same shape.
template <real_matrix X, out_matrix<result_of<X>> Out>
void softmax(const X& x, Out&& out, rowwise_t, const matrix_options<result_of<X>>& o = {}) {
  normalised("softmax", x, out, false, o,
             [&](const auto& t, auto view) { kernels::softmax(t, view, o.degenerate); });
}

/// The same of every column.
template <real_matrix X, out_matrix<result_of<X>> Out>
void softmax(const X& x, Out&& out, colwise_t, const matrix_options<result_of<X>>& o = {}) {
  normalised("softmax", x, out, true, o,
             [&](const auto& t, auto view) { kernels::softmax(t, view, o.degenerate); });
}

template <real_matrix X>
[[nodiscard]] plain_of<X> softmax(const X& x, rowwise_t direction,
                                  const matrix_options<result_of<X>>& o = {}) {
  plain_of<X> out(x.rows(), x.cols());
  softmax(x, out, direction, o);
  return out;
}

template <real_matrix X>
[[nodiscard]] plain_of<X> softmax(const X& x, colwise_t direction,
                                  const matrix_options<result_of<X>>& o = {}) {
  plain_of<X> out(x.rows(), x.cols());
  softmax(x, out, direction, o);
  return out;
}

}  // namespace cumulus
