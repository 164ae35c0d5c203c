// SPDX-License-Identifier: MIT
//
// softmax of a vector, or of each row or column of a matrix, at any spread.
// Layer 2 (exact): uses core, loops and rows; series, blocks and attention build on it.
#pragma once

#include <cumulus/detail/exact/normalised.hpp>
#include <cumulus/detail/rows/softmax.hpp>
#include <cumulus/detail/rows/vector_lines.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int softmax_max_ulp = 4;

namespace detail {

/// The kernel with a call's policy.
struct softmax_kernel {
  degenerate policy = degenerate::limit;

  template <class S>
  void operator()(const strided<const S>& x, const strided<S>& out) const noexcept {
    kernels::softmax(x, out);
  }
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

/// w_i e^{x_i} / sum_j w_j e^{x_j}.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory of x that overlaps
///          out otherwise is copied first.
/// Edges    a kept NaN gives NaN in every kept entry; so does a row that holds only -inf. One +inf
///          gives a one-hot row; several +inf give NaN in their entries and 0 elsewhere. Entries
///          that are masked or have weight 0 give 0.
/// Error    softmax_max_ulp for every entry, size and spread, subnormal entries included.
/// Cost     float and double, at most masked and scaled: one read of x, two passes of out; others two reads of x and n exp, or
///          three and 2n. No allocation where x lies in memory.
/// Source   as logsumexp; here the loops compensate the rounding of x - max x, the vector kernels take e^x 2^-k straight from x.
template <real_vector X>
[[nodiscard]] result_like<X> softmax(const X& x, const softmax_options<result_of<X>>& o) {
  return detail::normalised("softmax", x, o, detail::softmax_kernel{o.degenerate});
}

/// The call without options. It is a separate overload, so that a program without options compiles
/// no code for them.
template <real_vector X>
[[nodiscard]] result_like<X> softmax(const X& x) {
  return detail::normalised("softmax", x, detail::softmax_kernel{});
}

/// Writes the result to out, of x's size: `softmax(x, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax(const X& x, destination<Out> out, const softmax_options<result_of<X>>& o) {
  detail::normalised("softmax", x, *out, o, detail::softmax_kernel{o.degenerate});
}
/// Writes the result to out, without options.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax(const X& x, destination<Out> out) {
  detail::normalised("softmax", x, *out, detail::softmax_kernel{});
}

/// The result for every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> softmax(const X& x, D d,
                                     const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("softmax", x, d, o, detail::softmax_kernel{o.degenerate});
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void softmax(const X& x, destination<Out> out, D d,
             const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::normalised("softmax", x, *out, d, o, detail::softmax_kernel{o.degenerate});
}

/// The call with a list of numbers: `softmax({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_like<std::initializer_list<T>> softmax(
    std::initializer_list<T> x,
    const softmax_options<result_of<std::initializer_list<T>>>& o = {}) {
  return softmax<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void softmax(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: softmax(x, rowwise) or softmax(x, colwise)
template <detail::untagged_matrix X>
void softmax(const X&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: softmax(x, rowwise) or softmax(x, colwise)
template <detail::foreign_array X, class... Rest>
void softmax(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void softmax(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void softmax(const X&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: softmax(x, {.weights = w}), softmax(x, {.mask = keep}) or softmax(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void softmax(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void softmax(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void softmax(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: softmax(x, into(out), rowwise)
// clang-format on

}  // namespace cumulus
