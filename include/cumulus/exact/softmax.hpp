// SPDX-License-Identifier: MIT
//
// softmax of a vector, or of each row or column of a matrix, at any spread.
// Layer 2 (exact): uses core and kernels; series, blocks and attention build on it.
#pragma once

#include <cumulus/exact/normalised.hpp>
#include <cumulus/kernels/softmax.hpp>
#include <cumulus/kernels/vector_lines.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int softmax_max_ulp = 4;

namespace detail {

/// The kernel with a call's policy.
struct softmax_kernel {
  degenerate policy;

  template <class S>
  void operator()(const kernels::terms<S>& t, const strided<S>& out) const noexcept {
    kernels::softmax(t, out, policy);
  }
#if CUMULUS_VECTORS
  template <class T, class Left>
  [[nodiscard]] bool across(const strided_matrix<const T>& lines, const strided_matrix<T>& out,
                            double scale, Left left) const noexcept {
    return kernels::softmax_lines(lines.data, lines.col_stride, out.data, out.col_stride,
                                  lines.rows, lines.cols, scale, left);
  }
#endif
};

}  // namespace detail

/// w_i e^{x_i} / sum_j w_j e^{x_j}, written to out.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory that overlaps otherwise
///          is copied first.
/// Edges    a kept NaN gives NaN everywhere kept, a row of nothing but -inf as well; one +inf gives
///          a one-hot row, several give NaN there and 0 elsewhere; what is masked or of weight 0
///          gives 0.
/// Error    softmax_max_ulp for every entry, size and spread, subnormal entries included.
/// Cost     float and double, at most masked and scaled: one read of x, two passes of out; others two reads of x and n exp, or
///          three and 2n. No allocation
///          where x lies in memory.
/// Source   as logsumexp; here the loops compensate the rounding of x - max x, the vector kernels take e^x 2^-k straight from x.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  normalised("softmax", x, out, o, detail::softmax_kernel{o.degenerate});
}

/// The same, returned.
template <real_vector X>
[[nodiscard]] plain_of<X> softmax(const X& x, const options<result_of<X>>& o = {}) {
  return normalised("softmax", x, o, detail::softmax_kernel{o.degenerate});
}

/// The same of every row or column of a matrix, written to out of the same shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void softmax(const X& x, Out&& out, D d, const matrix_options<result_of<X>>& o = {}) {
  normalised("softmax", x, out, d, o, detail::softmax_kernel{o.degenerate});
}

template <real_matrix X, direction D>
[[nodiscard]] plain_of<X> softmax(const X& x, D d, const matrix_options<result_of<X>>& o = {}) {
  return normalised("softmax", x, d, o, detail::softmax_kernel{o.degenerate});
}

template <std::floating_point T>
[[nodiscard]] auto softmax(std::initializer_list<T> x) {
  return softmax<std::initializer_list<T>>(x);
}

}  // namespace cumulus
