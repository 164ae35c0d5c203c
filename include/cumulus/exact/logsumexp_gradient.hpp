// SPDX-License-Identifier: MIT
//
// The gradient of logsumexp in x and in its weights, and its Hessian times a vector.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/normalised.hpp>
#include <cumulus/detail/rows/derivatives.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of each entry.
inline constexpr int logsumexp_gradient_max_ulp = 5;

namespace detail {

inline constexpr auto gradient_kernel = [](const auto& t, auto out) {
  using T = typename std::remove_cvref_t<decltype(t)>::scalar;
  kernels::softmax(t, out, degenerate::zero, T(t.given_scale));
};

inline constexpr auto weight_gradient_kernel = [](const auto& t, auto out) {
  kernels::logsumexp_weight_gradient(t, out);
};

}  // namespace detail

/// d logsumexp(x, o) / d x_i = scale times softmax_i.
///
/// Shape   x, out: [n]. out may be x.
/// Edges   as softmax, but 0 where nothing or only -inf is kept.
/// Error   logsumexp_gradient_max_ulp, at |x| = 1e16 as at 1: from the shifted exponentials.
/// Cost    that of softmax.
template <real_vector X>
[[nodiscard]] result_like<X> logsumexp_gradient(const X& x, const options<result_of<X>>& o = {}) {
  return detail::normalised("logsumexp_gradient", x, o, detail::gradient_kernel);
}

/// Writes the result to out, of x's size: `logsumexp_gradient(x, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void logsumexp_gradient(const X& x, destination<Out> out, const options<result_of<X>>& o = {}) {
  detail::normalised("logsumexp_gradient", x, *out, o, detail::gradient_kernel);
}

/// The result for every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> logsumexp_gradient(const X& x, D d,
                                                const matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("logsumexp_gradient", x, d, o, detail::gradient_kernel);
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void logsumexp_gradient(const X& x, destination<Out> out, D d,
                        const matrix_options<result_of<X>>& o = {}) {
  detail::normalised("logsumexp_gradient", x, *out, d, o, detail::gradient_kernel);
}

/// The call with a list of numbers: `logsumexp_gradient({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_like<std::initializer_list<T>> logsumexp_gradient(
    std::initializer_list<T> x, const options<result_of<std::initializer_list<T>>>& o = {}) {
  return logsumexp_gradient<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logsumexp_gradient(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logsumexp_gradient(x, rowwise) or logsumexp_gradient(x, colwise)
template <detail::untagged_matrix X>
void logsumexp_gradient(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logsumexp_gradient(x, rowwise) or logsumexp_gradient(x, colwise)
template <detail::foreign_array X, class... Rest>
void logsumexp_gradient(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logsumexp_gradient(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logsumexp_gradient(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logsumexp_gradient(x, {.weights = w}), logsumexp_gradient(x, {.mask = keep}) or logsumexp_gradient(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void logsumexp_gradient(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void logsumexp_gradient(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void logsumexp_gradient(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: logsumexp_gradient(x, into(out), rowwise)
// clang-format on

/// d logsumexp(x, o) / d w_i = e^{scale x_i} / sum_j w_j e^{scale x_j}, of entries with weight 0
/// too.
///
/// Shape   x, out: [n].
/// Edges   a masked entry gives 0; where the sum is 0, infinite or NaN: NaN, 0 where e^{x_i} is 0
///         beside it.
/// Error   logsumexp_gradient_max_ulp.
template <real_vector X>
[[nodiscard]] result_like<X> logsumexp_gradient_weights(const X& x,
                                                        const options<result_of<X>>& o = {}) {
  return detail::normalised("logsumexp_gradient_weights", x, o, detail::weight_gradient_kernel);
}

/// Writes the result to out, of x's size: `logsumexp_gradient_weights(x, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void logsumexp_gradient_weights(const X& x, destination<Out> out,
                                const options<result_of<X>>& o = {}) {
  detail::normalised("logsumexp_gradient_weights", x, *out, o, detail::weight_gradient_kernel);
}

/// The result for every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> logsumexp_gradient_weights(
    const X& x, D d, const matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("logsumexp_gradient_weights", x, d, o, detail::weight_gradient_kernel);
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void logsumexp_gradient_weights(const X& x, destination<Out> out, D d,
                                const matrix_options<result_of<X>>& o = {}) {
  detail::normalised("logsumexp_gradient_weights", x, *out, d, o, detail::weight_gradient_kernel);
}

/// The call with a list of numbers: `logsumexp_gradient_weights({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_like<std::initializer_list<T>> logsumexp_gradient_weights(
    std::initializer_list<T> x, const options<result_of<std::initializer_list<T>>>& o = {}) {
  return logsumexp_gradient_weights<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logsumexp_gradient_weights(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logsumexp_gradient_weights(x, rowwise) or logsumexp_gradient_weights(x, colwise)
template <detail::untagged_matrix X>
void logsumexp_gradient_weights(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logsumexp_gradient_weights(x, rowwise) or logsumexp_gradient_weights(x, colwise)
template <detail::foreign_array X, class... Rest>
void logsumexp_gradient_weights(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logsumexp_gradient_weights(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logsumexp_gradient_weights(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logsumexp_gradient_weights(x, {.weights = w}), logsumexp_gradient_weights(x, {.mask = keep}) or logsumexp_gradient_weights(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void logsumexp_gradient_weights(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void logsumexp_gradient_weights(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void logsumexp_gradient_weights(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: logsumexp_gradient_weights(x, into(out), rowwise)
// clang-format on

}  // namespace cumulus
