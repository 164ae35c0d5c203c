// SPDX-License-Identifier: MIT
//
// Products with the derivatives of softmax, log_softmax and logsumexp, without forming a matrix.
// Layer 2 (exact): uses core, loops and rows.
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
template <class X, class V, class Out, class Options, class Kernel>
  requires(!direction<Out>)
void applied_along(const char* function, const X& x, const V& v, Out& out, const Options& o,
                   Kernel kernel) {
  operand<result_of<X>> direction(v);
  const auto result = strided_view(out);
  require_same_size(function, "x", size_of(x), "the direction", direction.size());
  require_same_size(function, "x", size_of(x), "out", result.size);
  if (overlaps(direction.view(), result) || direction.view().data == result.data) direction.own();
  normalised(function, x, out, o,
             [&](const auto& t, auto view) { kernel(t, direction.view(), view); });
}

template <class X, class V, class Options, class Kernel>
[[nodiscard]] result_like<X> applied_along(const char* function, const X& x, const V& v,
                                           const Options& o, Kernel kernel) {
  result_like<X> out = sized_like(x);
  applied_along(function, x, v, out, o, kernel);
  return out;
}

/// The same for every line of a matrix, v of the matrix's shape. x and v may be out.
template <class X, class V, class Out, direction D, class Options, class Kernel>
void applied_along(const char* function, const X& x, const V& v, Out& out, D d, const Options& o,
                   Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  require_same_shape(function, "x", index_t(x.rows()), index_t(x.cols()), "the direction",
                     index_t(v.rows()), index_t(v.cols()));
  const auto held = v.template cast<result_of<X>>().eval();  // a copy, so that v may be out
  const auto view = strided_matrix_view(held);
  const auto lines = by_columns ? view.transposed() : view;
  normalised_lines(function, x, out, d, o, [&](const auto& t, const auto& result, index_t i) {
    kernel(t, strided<const result_of<X>>(lines.row(i)), result);
  });
}

template <class X, class V, direction D, class Options, class Kernel>
[[nodiscard]] result_like<X> applied_along(const char* function, const X& x, const V& v, D d,
                                           const Options& o, Kernel kernel) {
  result_like<X> out(x.rows(), x.cols());
  applied_along(function, x, v, out, d, o, kernel);
  return out;
}

}  // namespace detail

/// The change of softmax(x, o) along v: scale p_i (v_i - sum_j p_j v_j).
///
/// Shape   x, v: [n]; of matrices, line by line, the same shape.
/// Edges   an entry that is masked, -inf or of weight 0 adds nothing and gives 0, whatever its v. A
///         row whose softmax is constant (a single +inf) gives 0; a row whose softmax is NaN gives
///         NaN.
/// Error   softmax_derivative_max_ulp; exactly 0 for a constant v.
/// Cost    2n exp.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> softmax_jvp(const X& x, const V& v,
                                         const softmax_options<result_of<X>>& o = {}) {
  return detail::applied_along("softmax_jvp", x, v, o, detail::softmax_product(o.degenerate));
}

/// Writes the result to out, of x's size: `softmax_jvp(x, v, into(out))`.
template <real_vector X, real_vector V, out_vector<result_of<X>> Out>
void softmax_jvp(const X& x, const V& v, destination<Out> out,
                 const softmax_options<result_of<X>>& o = {}) {
  detail::applied_along("softmax_jvp", x, v, *out, o, detail::softmax_product(o.degenerate));
}

/// The product for every row or column of a matrix, with v of the matrix's shape.
template <real_matrix X, real_matrix V, direction D>
[[nodiscard]] result_like<X> softmax_jvp(const X& x, const V& v, D d,
                                         const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::applied_along("softmax_jvp", x, v, d, o, detail::softmax_product(o.degenerate));
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, real_matrix V, out_matrix<result_of<X>> Out, direction D>
void softmax_jvp(const X& x, const V& v, destination<Out> out, D d,
                 const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::applied_along("softmax_jvp", x, v, *out, d, o, detail::softmax_product(o.degenerate));
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, real_matrix V, class... Rest>
  requires(!detail::tagged<Rest...>)
void softmax_jvp(const X&, const V&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: softmax_jvp(x, v, rowwise) or softmax_jvp(x, v, colwise)
template <detail::untagged_matrix X, real_matrix V>
void softmax_jvp(const X&, const V&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: softmax_jvp(x, v, rowwise) or softmax_jvp(x, v, colwise)
template <class X, class V, class... Rest>
  requires(detail::foreign_array<X> || detail::foreign_array<V>)
void softmax_jvp(const X&, const V&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <class X, class V, class... Rest>
  requires(detail::without_numbers<X> || detail::without_numbers<V>)
void softmax_jvp(const X&, const V&, const Rest&...) = delete;  // cumulus: an argument holds bool or characters, which are no numbers
template <real_vector X, real_vector V, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void softmax_jvp(const X&, const V&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the third vector is: softmax_jvp(x, v, {.weights = w}), {.mask = keep} or into(out)
template <real_vector X, real_vector V, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void softmax_jvp(const X&, const V&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix V, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void softmax_jvp(const X&, const V&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
// clang-format on

/// The gradient in x of sum_i g_i softmax(x, o)_i: the same product, since the Jacobian is
/// symmetric.
template <real_vector X, real_vector G>
[[nodiscard]] result_like<X> softmax_vjp(const X& x, const G& g,
                                         const softmax_options<result_of<X>>& o = {}) {
  return detail::applied_along("softmax_vjp", x, g, o, detail::softmax_product(o.degenerate));
}

/// Writes the result to out, of x's size: `softmax_vjp(x, g, into(out))`.
template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void softmax_vjp(const X& x, const G& g, destination<Out> out,
                 const softmax_options<result_of<X>>& o = {}) {
  detail::applied_along("softmax_vjp", x, g, *out, o, detail::softmax_product(o.degenerate));
}

/// The product for every row or column of a matrix, with g of the matrix's shape.
template <real_matrix X, real_matrix G, direction D>
[[nodiscard]] result_like<X> softmax_vjp(const X& x, const G& g, D d,
                                         const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::applied_along("softmax_vjp", x, g, d, o, detail::softmax_product(o.degenerate));
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, real_matrix G, out_matrix<result_of<X>> Out, direction D>
void softmax_vjp(const X& x, const G& g, destination<Out> out, D d,
                 const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::applied_along("softmax_vjp", x, g, *out, d, o, detail::softmax_product(o.degenerate));
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, real_matrix G, class... Rest>
  requires(!detail::tagged<Rest...>)
void softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: softmax_vjp(x, g, rowwise) or softmax_vjp(x, g, colwise)
template <detail::untagged_matrix X, real_matrix G>
void softmax_vjp(const X&, const G&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: softmax_vjp(x, g, rowwise) or softmax_vjp(x, g, colwise)
template <class X, class G, class... Rest>
  requires(detail::foreign_array<X> || detail::foreign_array<G>)
void softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <class X, class G, class... Rest>
  requires(detail::without_numbers<X> || detail::without_numbers<G>)
void softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: an argument holds bool or characters, which are no numbers
template <real_vector X, real_vector G, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void softmax_vjp(const X&, const G&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the third vector is: softmax_vjp(x, g, {.weights = w}), {.mask = keep} or into(out)
template <real_vector X, real_vector G, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void softmax_vjp(const X&, const G&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix G, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void softmax_vjp(const X&, const G&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
// clang-format on

/// The gradient in x of sum_i g_i log_softmax(x, o)_i: scale (g_i - p_i sum_j g_j), the sum over
/// the kept entries.
///
/// Shape   x, g: [n]; of matrices, line by line, the same shape.
/// Edges   masked entries and those of weight 0 give 0.
/// Error   softmax_derivative_max_ulp.
template <real_vector X, real_vector G>
[[nodiscard]] result_like<X> log_softmax_vjp(const X& x, const G& g,
                                             const softmax_options<result_of<X>>& o = {}) {
  return detail::applied_along("log_softmax_vjp", x, g, o,
                               detail::log_softmax_product(o.degenerate));
}

/// Writes the result to out, of x's size: `log_softmax_vjp(x, g, into(out))`.
template <real_vector X, real_vector G, out_vector<result_of<X>> Out>
void log_softmax_vjp(const X& x, const G& g, destination<Out> out,
                     const softmax_options<result_of<X>>& o = {}) {
  detail::applied_along("log_softmax_vjp", x, g, *out, o,
                        detail::log_softmax_product(o.degenerate));
}

/// The product for every row or column of a matrix, with g of the matrix's shape.
template <real_matrix X, real_matrix G, direction D>
[[nodiscard]] result_like<X> log_softmax_vjp(const X& x, const G& g, D d,
                                             const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::applied_along("log_softmax_vjp", x, g, d, o,
                               detail::log_softmax_product(o.degenerate));
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, real_matrix G, out_matrix<result_of<X>> Out, direction D>
void log_softmax_vjp(const X& x, const G& g, destination<Out> out, D d,
                     const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::applied_along("log_softmax_vjp", x, g, *out, d, o,
                        detail::log_softmax_product(o.degenerate));
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, real_matrix G, class... Rest>
  requires(!detail::tagged<Rest...>)
void log_softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: log_softmax_vjp(x, g, rowwise) or log_softmax_vjp(x, g, colwise)
template <detail::untagged_matrix X, real_matrix G>
void log_softmax_vjp(const X&, const G&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: log_softmax_vjp(x, g, rowwise) or log_softmax_vjp(x, g, colwise)
template <class X, class G, class... Rest>
  requires(detail::foreign_array<X> || detail::foreign_array<G>)
void log_softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <class X, class G, class... Rest>
  requires(detail::without_numbers<X> || detail::without_numbers<G>)
void log_softmax_vjp(const X&, const G&, const Rest&...) = delete;  // cumulus: an argument holds bool or characters, which are no numbers
template <real_vector X, real_vector G, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void log_softmax_vjp(const X&, const G&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the third vector is: log_softmax_vjp(x, g, {.weights = w}), {.mask = keep} or into(out)
template <real_vector X, real_vector G, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void log_softmax_vjp(const X&, const G&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix G, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void log_softmax_vjp(const X&, const G&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
// clang-format on

/// The Hessian of logsumexp(x, o) times v: scale^2 p_i (v_i - sum_j p_j v_j); 0 where no
/// entry is kept or only -inf.
template <real_vector X, real_vector V>
[[nodiscard]] result_like<X> logsumexp_hvp(const X& x, const V& v,
                                           const options<result_of<X>>& o = {}) {
  return detail::applied_along("logsumexp_hvp", x, v, o, detail::hessian_product);
}

/// Writes the result to out, of x's size: `logsumexp_hvp(x, v, into(out))`.
template <real_vector X, real_vector V, out_vector<result_of<X>> Out>
void logsumexp_hvp(const X& x, const V& v, destination<Out> out,
                   const options<result_of<X>>& o = {}) {
  detail::applied_along("logsumexp_hvp", x, v, *out, o, detail::hessian_product);
}

/// The product for every row or column of a matrix, with v of the matrix's shape.
template <real_matrix X, real_matrix V, direction D>
[[nodiscard]] result_like<X> logsumexp_hvp(const X& x, const V& v, D d,
                                           const matrix_options<result_of<X>>& o = {}) {
  return detail::applied_along("logsumexp_hvp", x, v, d, o, detail::hessian_product);
}

/// Writes the result for every row or column to out, of x's shape.
template <real_matrix X, real_matrix V, out_matrix<result_of<X>> Out, direction D>
void logsumexp_hvp(const X& x, const V& v, destination<Out> out, D d,
                   const matrix_options<result_of<X>>& o = {}) {
  detail::applied_along("logsumexp_hvp", x, v, *out, d, o, detail::hessian_product);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, real_matrix V, class... Rest>
  requires(!detail::tagged<Rest...>)
void logsumexp_hvp(const X&, const V&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logsumexp_hvp(x, v, rowwise) or logsumexp_hvp(x, v, colwise)
template <detail::untagged_matrix X, real_matrix V>
void logsumexp_hvp(const X&, const V&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logsumexp_hvp(x, v, rowwise) or logsumexp_hvp(x, v, colwise)
template <class X, class V, class... Rest>
  requires(detail::foreign_array<X> || detail::foreign_array<V>)
void logsumexp_hvp(const X&, const V&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <class X, class V, class... Rest>
  requires(detail::without_numbers<X> || detail::without_numbers<V>)
void logsumexp_hvp(const X&, const V&, const Rest&...) = delete;  // cumulus: an argument holds bool or characters, which are no numbers
template <real_vector X, real_vector V, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logsumexp_hvp(const X&, const V&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the third vector is: logsumexp_hvp(x, v, {.weights = w}), {.mask = keep} or into(out)
template <real_vector X, real_vector V, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void logsumexp_hvp(const X&, const V&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix V, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void logsumexp_hvp(const X&, const V&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
// clang-format on

}  // namespace cumulus
