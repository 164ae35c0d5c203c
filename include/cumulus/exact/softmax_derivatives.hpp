// SPDX-License-Identifier: MIT
//
// Products with the derivatives of softmax, log_softmax and logsumexp, without forming a matrix.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/logsumexp_gradient.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert: ulp of p_i (|v_i - reference| + mean |v - reference|),
/// reference being v at the largest term; for log_softmax of |g_i| + p_i sum |g|.
inline constexpr int softmax_derivative_max_ulp = 8;

namespace detail {

/// Checks a call with x, a vector v of its size and out, and runs `kernel(terms, v, out)`.
template <class X, class V, class Out, class Kernel>
void derivative(const char* function, const X& x, const V& v, Out& out,
                const options<result_of<X>>& o, Kernel kernel) {
  using T = result_of<X>;
  operand<T> direction(v);
  require_same_size(function, "x", index_t(operand<T>(x).size()), "the direction",
                    direction.size());
  if (overlaps(direction.view(), strided_view(out)) ||
      direction.view().data == strided_view(out).data)
    direction.own();
  normalised(function, x, out, o,
             [&](const auto& t, auto view) { kernel(t, direction.view(), view); });
}

template <class X, class V, class Kernel>
[[nodiscard]] plain_of<X> derivative(const char* function, const X& x, const V& v,
                                     const options<result_of<X>>& o, Kernel kernel) {
  plain_of<X> out = plain_like(x);
  derivative(function, x, v, out, o, kernel);
  return out;
}

[[nodiscard]] inline auto softmax_product(double factor, degenerate policy) {
  return [factor, policy](const auto& t, auto v, auto out) {
    kernels::softmax_jacobian_product(t, v, out, policy);
    scale_by(out, factor);
  };
}

[[nodiscard]] inline auto log_softmax_product(double factor, degenerate policy) {
  return [factor, policy](const auto& t, auto g, auto out) {
    kernels::log_softmax_transposed_product(t, g, out, policy);
    scale_by(out, factor);
  };
}

}  // namespace detail

/// The change of softmax(x, o) along v: scale p_i (v_i - sum_j p_j v_j).
///
/// Shape   x, v: [n].
/// Edges   what is masked, of weight 0 or -inf has no part in it and gives 0, whatever its v; a row whose softmax
///         is constant (a single +inf) gives 0, one whose softmax is NaN gives NaN.
/// Error   softmax_derivative_max_ulp; exactly 0 for a constant v.
/// Cost    2n exp.
template <real_vector X, real_vector V>
[[nodiscard]] plain_of<X> softmax_jvp(const X& x, const V& v, const options<result_of<X>>& o = {}) {
  return detail::derivative("softmax_jvp", x, v, o, detail::softmax_product(o.scale, o.degenerate));
}

/// The gradient in x of sum_i g_i softmax(x, o)_i: the same product, since the Jacobian is symmetric.
template <real_vector X, real_vector G>
[[nodiscard]] plain_of<X> softmax_vjp(const X& x, const G& g, const options<result_of<X>>& o = {}) {
  return detail::derivative("softmax_vjp", x, g, o, detail::softmax_product(o.scale, o.degenerate));
}

template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void softmax_vjp(const X& x, const G& g, Out&& out, const options<result_of<X>>& o = {}) {
  detail::derivative("softmax_vjp", x, g, out, o, detail::softmax_product(o.scale, o.degenerate));
}

/// The gradient in x of sum_i g_i log_softmax(x, o)_i: scale (g_i - p_i sum_j g_j), the sum over what is kept.
///
/// Shape   x, g: [n].
/// Edges   masked entries and those of weight 0 give 0.
/// Error   softmax_derivative_max_ulp.
template <real_vector X, real_vector G>
[[nodiscard]] plain_of<X> log_softmax_vjp(const X& x, const G& g,
                                          const options<result_of<X>>& o = {}) {
  return detail::derivative("log_softmax_vjp", x, g, o,
                            detail::log_softmax_product(o.scale, o.degenerate));
}

template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void log_softmax_vjp(const X& x, const G& g, Out&& out, const options<result_of<X>>& o = {}) {
  detail::derivative("log_softmax_vjp", x, g, out, o,
                     detail::log_softmax_product(o.scale, o.degenerate));
}

/// The Hessian of logsumexp(x, o) times v: scale^2 p_i (v_i - sum_j p_j v_j); 0 where nothing or only -inf is kept.
template <real_vector X, real_vector V>
[[nodiscard]] plain_of<X> logsumexp_hvp(const X& x, const V& v,
                                        const options<result_of<X>>& o = {}) {
  return detail::derivative("logsumexp_hvp", x, v, o,
                            detail::softmax_product(o.scale * o.scale, degenerate::zero));
}

}  // namespace cumulus
