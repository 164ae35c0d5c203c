// SPDX-License-Identifier: MIT
//
// log softmax of a vector, or of each row or column of a matrix, accurate at the maximum too.
// Layer 2 (exact): uses core and kernels; series, blocks and attention build on it.
#pragma once

#include <cumulus/exact/normalised.hpp>
#include <cumulus/kernels/softmax.hpp>
#include <cumulus/kernels/vector_lines.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int log_softmax_max_ulp = 3;

namespace detail {

/// The kernel with a call's policy.
struct log_softmax_kernel {
  degenerate policy;

  template <class S>
  void operator()(const kernels::terms<S>& t, const strided<S>& out) const noexcept {
    kernels::log_softmax(t, out, policy);
  }
#if CUMULUS_VECTORS
  template <class T, class Left>
  [[nodiscard]] bool across(const strided_matrix<const T>& lines, const strided_matrix<T>& out,
                            double scale, Left left) const noexcept {
    return kernels::log_softmax_lines(lines.data, lines.col_stride, out.data, out.col_stride,
                                      lines.rows, lines.cols, scale, left);
  }
#endif
};

}  // namespace detail

/// log(w_i e^{x_i} / sum_j w_j e^{x_j}), written to out.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory that overlaps otherwise
///          is copied first.
/// Edges    a kept NaN gives NaN everywhere kept, a row of nothing but -inf as well; one +inf gives
///          0 there and -inf elsewhere, several give NaN there; what is masked or of weight 0 gives
///          -inf.
/// Error    log_softmax_max_ulp for every entry, size and spread (weighted: where x and log w do
///          not cancel).
/// Cost     float and double, at most masked and scaled: two reads of x; others three and n exp. No allocation where x lies
///          in memory, is contiguous and has at most 2^18 elements.
/// Source   as logsumexp: (x - max x) - log1p(the sum without the maximum).
template <real_vector X, out_vector<result_of<X>> Out>
void log_softmax(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  normalised("log_softmax", x, out, o, detail::log_softmax_kernel{o.degenerate});
}

/// The same, returned.
template <real_vector X>
[[nodiscard]] plain_of<X> log_softmax(const X& x, const options<result_of<X>>& o = {}) {
  return normalised("log_softmax", x, o, detail::log_softmax_kernel{o.degenerate});
}

/// The same of every row or column of a matrix, written to out of the same shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void log_softmax(const X& x, Out&& out, D d, const matrix_options<result_of<X>>& o = {}) {
  normalised("log_softmax", x, out, d, o, detail::log_softmax_kernel{o.degenerate});
}

template <real_matrix X, direction D>
[[nodiscard]] plain_of<X> log_softmax(const X& x, D d, const matrix_options<result_of<X>>& o = {}) {
  return normalised("log_softmax", x, d, o, detail::log_softmax_kernel{o.degenerate});
}

template <std::floating_point T>
[[nodiscard]] auto log_softmax(std::initializer_list<T> x) {
  return log_softmax<std::initializer_list<T>>(x);
}

}  // namespace cumulus
