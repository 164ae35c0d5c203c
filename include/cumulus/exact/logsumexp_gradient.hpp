// SPDX-License-Identifier: MIT
//
// The gradient of logsumexp in x and in its weights, and its Hessian times a vector.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/normalised.hpp>
#include <cumulus/kernels/derivatives.hpp>

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

/// d logsumexp(x, o) / d x_i = scale times softmax_i, written to out.
///
/// Shape   x, out: [n]. out may be x.
/// Edges   as softmax, but 0 where nothing or only -inf is kept.
/// Error   logsumexp_gradient_max_ulp, at |x| = 1e16 as at 1: from the shifted exponentials.
/// Cost    that of softmax.
template <real_vector X, out_vector<result_of<X>> Out>
void logsumexp_gradient(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  normalised("logsumexp_gradient", x, out, o, detail::gradient_kernel);
}

template <real_vector X>
[[nodiscard]] plain_of<X> logsumexp_gradient(const X& x, const options<result_of<X>>& o = {}) {
  return normalised("logsumexp_gradient", x, o, detail::gradient_kernel);
}

/// The same of every row or column, written to out of the same shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void logsumexp_gradient(const X& x, Out&& out, D d, const matrix_options<result_of<X>>& o = {}) {
  normalised("logsumexp_gradient", x, out, d, o, detail::gradient_kernel);
}

template <real_matrix X, direction D>
[[nodiscard]] plain_of<X> logsumexp_gradient(const X& x, D d,
                                             const matrix_options<result_of<X>>& o = {}) {
  return normalised("logsumexp_gradient", x, d, o, detail::gradient_kernel);
}

/// d logsumexp(x, o) / d w_i = e^{scale x_i} / sum_j w_j e^{scale x_j}, of entries with weight 0
/// too.
///
/// Shape   x, out: [n].
/// Edges   a masked entry gives 0; where the sum is 0, infinite or NaN: NaN, 0 where e^{x_i} is 0
///         beside it.
/// Error   logsumexp_gradient_max_ulp.
template <real_vector X, out_vector<result_of<X>> Out>
void logsumexp_gradient_weights(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  normalised("logsumexp_gradient_weights", x, out, o, detail::weight_gradient_kernel);
}

template <real_vector X>
[[nodiscard]] plain_of<X> logsumexp_gradient_weights(const X& x,
                                                     const options<result_of<X>>& o = {}) {
  return normalised("logsumexp_gradient_weights", x, o, detail::weight_gradient_kernel);
}

/// The same of every row or column, written to out of the same shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void logsumexp_gradient_weights(const X& x, Out&& out, D d,
                                const matrix_options<result_of<X>>& o = {}) {
  normalised("logsumexp_gradient_weights", x, out, d, o, detail::weight_gradient_kernel);
}

template <real_matrix X, direction D>
[[nodiscard]] plain_of<X> logsumexp_gradient_weights(const X& x, D d,
                                                     const matrix_options<result_of<X>>& o = {}) {
  return normalised("logsumexp_gradient_weights", x, d, o, detail::weight_gradient_kernel);
}

}  // namespace cumulus
