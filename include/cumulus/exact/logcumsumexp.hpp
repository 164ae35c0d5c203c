// SPDX-License-Identifier: MIT
//
// log-sum-exp of every prefix of a vector.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/normalised.hpp>
#include <cumulus/detail/rows/running_log_sum.hpp>
#include <cumulus/exact/logsumexp.hpp>

namespace cumulus {

namespace detail {

inline constexpr auto cumulative_kernel = [](const auto& t, auto out) {
  kernels::running_log_sum_of(t, out);
};

}  // namespace detail

/// log sum_{j<=i} w_j e^{scale x_j}; with a sink, e^sink is a term of every sum.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory of x that overlaps
///          out otherwise is copied first.
/// Units    x and the result in nats.
/// Edges    an element that is masked, -inf or of weight 0 repeats the value before it; the first
///          element repeats -inf, or the sink. After a +inf every value is +inf, and after a NaN
///          every value is NaN. A weight that is negative or NaN gives NaN; so does a weight of
///          +inf on -inf.
/// Error    each as logsumexp of its prefix: logsumexp_max_ulp and logsumexp_tail_max_ulp.
/// Cost     one read of x, n exp, n log; no allocation where x lies in memory.
/// Source   detail/loops/running_exp_sum.hpp
template <real_vector X>
[[nodiscard]] result_like<X> logcumsumexp(const X& x, const options<result_of<X>>& o = {}) {
  return detail::normalised("logcumsumexp", x, o, detail::cumulative_kernel);
}

/// Writes the result to out, of x's size: `logcumsumexp(x, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void logcumsumexp(const X& x, destination<Out> out, const options<result_of<X>>& o = {}) {
  detail::normalised("logcumsumexp", x, *out, o, detail::cumulative_kernel);
}

/// The result for every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> logcumsumexp(const X& x, D d,
                                          const matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("logcumsumexp", x, d, o, detail::cumulative_kernel);
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void logcumsumexp(const X& x, destination<Out> out, D d,
                  const matrix_options<result_of<X>>& o = {}) {
  detail::normalised("logcumsumexp", x, *out, d, o, detail::cumulative_kernel);
}

/// The call with a list of numbers: `logcumsumexp({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_like<std::initializer_list<T>> logcumsumexp(
    std::initializer_list<T> x, const options<result_of<std::initializer_list<T>>>& o = {}) {
  return logcumsumexp<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logcumsumexp(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logcumsumexp(x, rowwise) or logcumsumexp(x, colwise)
template <detail::untagged_matrix X>
void logcumsumexp(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logcumsumexp(x, rowwise) or logcumsumexp(x, colwise)
template <detail::foreign_array X, class... Rest>
void logcumsumexp(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logcumsumexp(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logcumsumexp(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logcumsumexp(x, {.weights = w}), logcumsumexp(x, {.mask = keep}) or logcumsumexp(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void logcumsumexp(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void logcumsumexp(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void logcumsumexp(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: logcumsumexp(x, into(out), rowwise)
// clang-format on

}  // namespace cumulus
