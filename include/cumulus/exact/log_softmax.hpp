// SPDX-License-Identifier: MIT
//
// log softmax of a vector, or of each row or column of a matrix, accurate at the maximum too.
// Layer 2 (exact): uses core, loops and rows; series, blocks and attention build on it.
#pragma once

#include <cumulus/detail/exact/normalised.hpp>
#include <cumulus/detail/rows/softmax.hpp>
#include <cumulus/detail/rows/vector_lines.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int log_softmax_max_ulp = 3;

namespace detail {

/// The kernel with a call's policy.
struct log_softmax_kernel {
  degenerate policy = degenerate::limit;

  template <class S>
  void operator()(const strided<const S>& x, const strided<S>& out) const noexcept {
    kernels::log_softmax(x, out);
  }
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

/// log(w_i e^{x_i} / sum_j w_j e^{x_j}).
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory of x that overlaps
///          out otherwise is copied first.
/// Edges    a kept NaN gives NaN in every kept entry; so does a row that holds only -inf. One +inf
///          gives 0 in its entry and -inf elsewhere; several +inf give NaN in their entries.
///          Entries that are masked or have weight 0 give -inf.
/// Error    log_softmax_max_ulp for every entry, size and spread (weighted: where x and log w do
///          not cancel).
/// Cost     float and double, at most masked and scaled: two reads of x; others three and n exp. No allocation where x lies
///          in memory, is contiguous and has at most 2^18 elements.
/// Source   as logsumexp: (x - max x) - log1p(the sum without the maximum).
template <real_vector X>
[[nodiscard]] result_like<X> log_softmax(const X& x, const softmax_options<result_of<X>>& o) {
  return detail::normalised("log_softmax", x, o, detail::log_softmax_kernel{o.degenerate});
}

/// The call without options. It is a separate overload, so that a program without options compiles
/// no code for them.
template <real_vector X>
[[nodiscard]] result_like<X> log_softmax(const X& x) {
  return detail::normalised("log_softmax", x, detail::log_softmax_kernel{});
}

/// Writes the result to out, of x's size: `log_softmax(x, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void log_softmax(const X& x, destination<Out> out, const softmax_options<result_of<X>>& o) {
  detail::normalised("log_softmax", x, *out, o, detail::log_softmax_kernel{o.degenerate});
}
/// Writes the result to out, without options.
template <real_vector X, out_vector<result_of<X>> Out>
void log_softmax(const X& x, destination<Out> out) {
  detail::normalised("log_softmax", x, *out, detail::log_softmax_kernel{});
}

/// The result for every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> log_softmax(const X& x, D d,
                                         const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("log_softmax", x, d, o, detail::log_softmax_kernel{o.degenerate});
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void log_softmax(const X& x, destination<Out> out, D d,
                 const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::normalised("log_softmax", x, *out, d, o, detail::log_softmax_kernel{o.degenerate});
}

/// The call with a list of numbers: `log_softmax({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_like<std::initializer_list<T>> log_softmax(
    std::initializer_list<T> x,
    const softmax_options<result_of<std::initializer_list<T>>>& o = {}) {
  return log_softmax<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void log_softmax(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: log_softmax(x, rowwise) or log_softmax(x, colwise)
template <detail::untagged_matrix X>
void log_softmax(const X&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: log_softmax(x, rowwise) or log_softmax(x, colwise)
template <detail::foreign_array X, class... Rest>
void log_softmax(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void log_softmax(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void log_softmax(const X&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: log_softmax(x, {.weights = w}), log_softmax(x, {.mask = keep}) or log_softmax(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void log_softmax(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void log_softmax(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void log_softmax(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: log_softmax(x, into(out), rowwise)
// clang-format on

}  // namespace cumulus
