// SPDX-License-Identifier: MIT
//
// Products with the derivatives of softmax, log_softmax and logsumexp, without forming a matrix.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/logsumexp_gradient.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert: ulp of p_i (|v_i - reference| + mean |v -
/// reference|), reference being v at the largest term; for log_softmax of |g_i| + p_i sum |g|.
inline constexpr int softmax_derivative_max_ulp = 8;

namespace detail {

template <class Terms>
[[nodiscard]] auto factor_of(const Terms& t) noexcept {
  return typename Terms::scalar(t.given_scale);
}

/// Kernels of a call with x, a direction v and out.
[[nodiscard]] inline auto softmax_product(degenerate policy) {
  return [policy](const auto& t, auto v, auto out) {
    kernels::softmax_jacobian_product(t, v, out, policy, factor_of(t), false);
  };
}

[[nodiscard]] inline auto log_softmax_product(degenerate policy) {
  return [policy](const auto& t, auto g, auto out) {
    kernels::log_softmax_transposed_product(t, g, out, policy, factor_of(t));
  };
}

inline constexpr auto hessian_product = [](const auto& t, auto v, auto out) {
  kernels::softmax_jacobian_product(t, v, out, degenerate::zero, factor_of(t), true);
};

/// Checks a vector call and runs `kernel(terms, v, out)`; v may be out, or share its memory.
template <class X, class V, class Out, class Kernel>
void along(const char* function, const X& x, const V& v, Out& out, const options<result_of<X>>& o,
           Kernel kernel) {
  operand<result_of<X>> direction(v);
  const auto result = strided_view(out);
  require_same_size(function, "x", size_of(x), "the direction", direction.size());
  require_same_size(function, "x", size_of(x), "out", result.size);
  if (overlaps(direction.view(), result) || direction.view().data == result.data) direction.own();
  normalised(function, x, out, o,
             [&](const auto& t, auto view) { kernel(t, direction.view(), view); });
}

template <class X, class V, class Kernel>
[[nodiscard]] plain_of<X> along(const char* function, const X& x, const V& v,
                                const options<result_of<X>>& o, Kernel kernel) {
  plain_of<X> out = plain_like(x);
  along(function, x, v, out, o, kernel);
  return out;
}

/// The same for every line of a matrix, v of its shape.
template <class X, class V, direction D, class Kernel>
[[nodiscard]] plain_of<X> along(const char* function, const X& x, const V& v, D,
                                const matrix_options<result_of<X>>& o, Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  require_same_shape(function, "x", index_t(x.rows()), index_t(x.cols()), "the direction",
                     index_t(v.rows()), index_t(v.cols()));
  require_options(function, index_t(x.rows()), index_t(x.cols()), o, by_columns);
  using directions_type = Eigen::Matrix<result_of<X>, Eigen::Dynamic, Eigen::Dynamic>;
  const directions_type held = v.template cast<result_of<X>>().matrix();
  const matrix_operand<directions_type> directions(held);
  const matrix_operand<X> values(x);
  plain_of<X> out(x.rows(), x.cols());
  const auto result = strided_matrix_view(out);
  for_each_line(values.view(), o, by_columns, [&](const auto& t, index_t i) {
    const auto v_lines = by_columns ? directions.view().transposed() : directions.view();
    kernel(t, v_lines.row(i), (by_columns ? result.transposed() : result).row(i));
  });
  return out;
}

}  // namespace detail

/// The change of softmax(x, o) along v: scale p_i (v_i - sum_j p_j v_j).
///
/// Shape   x, v: [n]; of matrices, line by line, the same shape.
/// Edges   what is masked, of weight 0 or -inf has no part in it and gives 0, whatever its v; a row
///         whose softmax is constant (a single +inf) gives 0, one whose softmax is NaN gives NaN.
/// Error   softmax_derivative_max_ulp; exactly 0 for a constant v.
/// Cost    2n exp.
template <real_vector X, real_vector V>
[[nodiscard]] plain_of<X> softmax_jvp(const X& x, const V& v, const options<result_of<X>>& o = {}) {
  return detail::along("softmax_jvp", x, v, o, detail::softmax_product(o.degenerate));
}

template <real_matrix X, real_matrix V, direction D>
[[nodiscard]] plain_of<X> softmax_jvp(const X& x, const V& v, D d,
                                      const matrix_options<result_of<X>>& o = {}) {
  return detail::along("softmax_jvp", x, v, d, o, detail::softmax_product(o.degenerate));
}

/// The gradient in x of sum_i g_i softmax(x, o)_i: the same product, since the Jacobian is
/// symmetric.
template <real_vector X, real_vector G>
[[nodiscard]] plain_of<X> softmax_vjp(const X& x, const G& g, const options<result_of<X>>& o = {}) {
  return detail::along("softmax_vjp", x, g, o, detail::softmax_product(o.degenerate));
}

template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void softmax_vjp(const X& x, const G& g, Out&& out, const options<result_of<X>>& o = {}) {
  detail::along("softmax_vjp", x, g, out, o, detail::softmax_product(o.degenerate));
}

template <real_matrix X, real_matrix G, direction D>
[[nodiscard]] plain_of<X> softmax_vjp(const X& x, const G& g, D d,
                                      const matrix_options<result_of<X>>& o = {}) {
  return detail::along("softmax_vjp", x, g, d, o, detail::softmax_product(o.degenerate));
}

/// The gradient in x of sum_i g_i log_softmax(x, o)_i: scale (g_i - p_i sum_j g_j), the sum over
/// what is kept.
///
/// Shape   x, g: [n]; of matrices, line by line, the same shape.
/// Edges   masked entries and those of weight 0 give 0.
/// Error   softmax_derivative_max_ulp.
template <real_vector X, real_vector G>
[[nodiscard]] plain_of<X> log_softmax_vjp(const X& x, const G& g,
                                          const options<result_of<X>>& o = {}) {
  return detail::along("log_softmax_vjp", x, g, o, detail::log_softmax_product(o.degenerate));
}

template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void log_softmax_vjp(const X& x, const G& g, Out&& out, const options<result_of<X>>& o = {}) {
  detail::along("log_softmax_vjp", x, g, out, o, detail::log_softmax_product(o.degenerate));
}

template <real_matrix X, real_matrix G, direction D>
[[nodiscard]] plain_of<X> log_softmax_vjp(const X& x, const G& g, D d,
                                          const matrix_options<result_of<X>>& o = {}) {
  return detail::along("log_softmax_vjp", x, g, d, o, detail::log_softmax_product(o.degenerate));
}

/// The Hessian of logsumexp(x, o) times v: scale^2 p_i (v_i - sum_j p_j v_j); 0 where nothing or
/// only -inf is kept.
template <real_vector X, real_vector V>
[[nodiscard]] plain_of<X> logsumexp_hvp(const X& x, const V& v,
                                        const options<result_of<X>>& o = {}) {
  return detail::along("logsumexp_hvp", x, v, o, detail::hessian_product);
}

template <real_matrix X, real_matrix V, direction D>
[[nodiscard]] plain_of<X> logsumexp_hvp(const X& x, const V& v, D d,
                                        const matrix_options<result_of<X>>& o = {}) {
  return detail::along("logsumexp_hvp", x, v, d, o, detail::hessian_product);
}

}  // namespace cumulus
