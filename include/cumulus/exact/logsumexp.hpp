// SPDX-License-Identifier: MIT
//
// log-sum-exp of a vector, or of each row or column of a matrix, without overflow.
// Layer 2 (exact): uses core, loops and rows; series, blocks and attention build on it.
#pragma once

#include <cumulus/detail/exact/arguments.hpp>
#include <cumulus/detail/rows/logsumexp.hpp>
#include <cumulus/detail/rows/vector_lines.hpp>
#include <initializer_list>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp: of max(1, |result|) in float, of
/// max(1, max |x|, |result|) in double and wider; of the result itself where the largest term is 1,
/// so that the other terms alone decide the result ([0, -40] gives 4.25e-18).
inline constexpr int logsumexp_max_ulp = 2;
/// In ulp of the result: the bound where the largest term is 1.
inline constexpr int logsumexp_tail_max_ulp = 3;

namespace detail {

struct logsumexp_of_terms {
  template <class S>
  [[nodiscard]] compute_scalar<S> operator()(const kernels::terms<S>& t) const noexcept {
    return kernels::logsumexp(t);
  }
#if CUMULUS_VECTORS
  template <class T, class Result, class Left>
  [[nodiscard]] bool across(const strided_matrix<const T>& lines, double scale, Result result,
                            Left left) const noexcept {
    return kernels::logsumexp_lines(lines.data, lines.col_stride, lines.rows, lines.cols, scale,
                                    result, left);
  }
#endif
};
inline constexpr logsumexp_of_terms logsumexp_kernel{};

}  // namespace detail

/// log(sum_i w_i e^{scale x_i} + e^sink).
///
/// Shape    x: [n], n >= 0; weights, mask: [n].
/// Units    x and the result in nats.
/// Edges    no kept term, or only -inf, gives -inf; a +inf (without a NaN) gives +inf; a kept NaN
///          gives NaN; a weight of 0 removes its term, whatever the term holds; a negative total
///          gives NaN; a total of 0 gives -inf.
/// Error    logsumexp_max_ulp and logsumexp_tail_max_ulp, for every n, for weights >= 0.
/// Cost     float and double, at most masked and scaled: one read of x; others two and n exp. No allocation where x lies in
///          memory, is contiguous and has at most 2^18 elements.
/// Source   P. Blanchard, D. Higham, N. Higham, IMA J. Numer. Anal. 41 (2021) 2311-2330, the
///          shifted form with log1p; the shift compensated here.
template <real_vector X>
[[nodiscard]] result_of<X> logsumexp(const X& x, const options<result_of<X>>& o) {
  return detail::reduced("logsumexp", x, o, detail::logsumexp_kernel);
}

/// The call without options. It is a separate overload, so that a program without options compiles
/// no code for them.
template <real_vector X>
[[nodiscard]] result_of<X> logsumexp(const X& x) {
  const detail::operand<result_of<X>> values(x);
  return result_of<X>(detail::kernels::logsumexp(values.view()));
}

/// One value for every row, as a column of values, or for every column, as a row of values.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> logsumexp(const X& x, D d,
                                              const matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("logsumexp", x, d, o, detail::logsumexp_kernel);
}

/// The call with a list of numbers: `logsumexp({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_of<std::initializer_list<T>> logsumexp(
    std::initializer_list<T> x, const options<result_of<std::initializer_list<T>>>& o = {}) {
  return logsumexp<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logsumexp(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logsumexp(x, rowwise) or logsumexp(x, colwise)
template <detail::untagged_matrix X>
void logsumexp(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logsumexp(x, rowwise) or logsumexp(x, colwise)
template <detail::foreign_array X, class... Rest>
void logsumexp(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logsumexp(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logsumexp(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logsumexp(x, {.weights = w}) or logsumexp(x, {.mask = keep})
// clang-format on

}  // namespace cumulus
