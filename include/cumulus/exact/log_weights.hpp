// SPDX-License-Identifier: MIT
//
// Importance weights as logarithms: their normalised values and their effective number of samples.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert, in ulp of the result.
inline constexpr int effective_sample_size_max_ulp = 6;

namespace detail {

inline constexpr auto effective_count_kernel = [](const auto& t) {
  return kernels::effective_count_of(t);
};
inline constexpr auto perplexity_kernel = [](const auto& t) {
  return exponential(kernels::entropy_of(t));
};

}  // namespace detail

/// log w_i - logsumexp(log w): log weights that sum to one.
///
/// Shape   log_weights: [n].
/// Edges, Error, Cost   those of log_softmax.
template <real_vector X>
[[nodiscard]] result_like<X> normalise_log_weights(const X& log_weights,
                                                   const softmax_options<result_of<X>>& o) {
  return detail::normalised("normalise_log_weights", log_weights, o,
                            detail::log_softmax_kernel{o.degenerate});
}

/// The same without options: apart, so that a program that gives none compiles no code for them.
template <real_vector X>
[[nodiscard]] result_like<X> normalise_log_weights(const X& log_weights) {
  return detail::normalised("normalise_log_weights", log_weights, detail::log_softmax_kernel{});
}

/// Written to out, of their size: `normalise_log_weights(log_weights, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void normalise_log_weights(const X& log_weights, destination<Out> out,
                           const softmax_options<result_of<X>>& o) {
  detail::normalised("normalise_log_weights", log_weights, *out, o,
                     detail::log_softmax_kernel{o.degenerate});
}
/// Writes them to out, without options.
template <real_vector X, out_vector<result_of<X>> Out>
void normalise_log_weights(const X& log_weights, destination<Out> out) {
  detail::normalised("normalise_log_weights", log_weights, *out, detail::log_softmax_kernel{});
}

/// Normalises each row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] result_like<X> normalise_log_weights(
    const X& log_weights, D d, const softmax_matrix_options<result_of<X>>& o = {}) {
  return detail::normalised("normalise_log_weights", log_weights, d, o,
                            detail::log_softmax_kernel{o.degenerate});
}

/// Of every row or column, written to out, of their shape.
template <real_matrix X, out_matrix<result_of<X>> Out, direction D>
void normalise_log_weights(const X& log_weights, destination<Out> out, D d,
                           const softmax_matrix_options<result_of<X>>& o = {}) {
  detail::normalised("normalise_log_weights", log_weights, *out, d, o,
                     detail::log_softmax_kernel{o.degenerate});
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: normalise_log_weights(x, rowwise) or normalise_log_weights(x, colwise)
template <detail::untagged_matrix X>
void normalise_log_weights(const X&, const softmax_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: normalise_log_weights(x, rowwise) or normalise_log_weights(x, colwise)
template <detail::foreign_array X, class... Rest>
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void normalise_log_weights(const X&, const Y&, const softmax_options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: normalise_log_weights(x, {.weights = w}), normalise_log_weights(x, {.mask = keep}) or normalise_log_weights(x, into(out))
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>> && !detail::tagged<Rest...>)
void normalise_log_weights(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <real_matrix X, class Out, direction D, class... Rest>
  requires(!out_matrix<Out, result_of<X>>)
void normalise_log_weights(const X&, destination<Out>, const D&, const Rest&...) = delete;  // cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
template <real_matrix X, real_matrix Out, direction D, class... Rest>
void normalise_log_weights(const X&, const Out&, const D&, const Rest&...) = delete;  // cumulus: say that the result goes there: normalise_log_weights(x, into(out), rowwise)
// clang-format on

/// (sum w)^2 / sum w^2, between 1 and the number of samples; a sink is one more sample.
///
/// Shape   log_weights: [n], normalised or not; weights, mask: [n]. A weight multiplies w.
/// Edges   no weights, none kept, or only -inf: 0; one +inf: 1; several +inf, a NaN, or a total of the
///         weights that is not positive: NaN.
/// Error   effective_sample_size_max_ulp.
/// Source  L. Kish, Survey Sampling, 1965, 8.2.
template <real_vector X>
[[nodiscard]] result_of<X> effective_sample_size(const X& log_weights,
                                                 const options<result_of<X>>& o = {}) {
  return detail::reduced("effective_sample_size", log_weights, o, detail::effective_count_kernel);
}

/// Of every row, as a column of values, or of every column, as a row of them.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> effective_sample_size(
    const X& log_weights, D d, const matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("effective_sample_size", log_weights, d, o,
                         detail::effective_count_kernel);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: effective_sample_size(x, rowwise) or effective_sample_size(x, colwise)
template <detail::untagged_matrix X>
void effective_sample_size(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: effective_sample_size(x, rowwise) or effective_sample_size(x, colwise)
template <detail::foreign_array X, class... Rest>
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void effective_sample_size(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: effective_sample_size(x, {.weights = w}) or effective_sample_size(x, {.mask = keep})
// clang-format on

/// e^entropy of the normalised weights, between 1 and the number of samples; a sink is one of them.
///
/// Shape   log_weights: [n], normalised or not; weights, mask: [n]. A weight multiplies w.
/// Edges   those of softmax_entropy.
/// Error   that of softmax_entropy, times the entropy, and 1 ulp.
template <real_vector X>
[[nodiscard]] result_of<X> perplexity(const X& log_weights, const options<result_of<X>>& o = {}) {
  return detail::reduced("perplexity", log_weights, o, detail::perplexity_kernel);
}

/// Of every row, as a column of values, or of every column, as a row of them.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> perplexity(const X& log_weights, D d,
                                               const matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("perplexity", log_weights, d, o, detail::perplexity_kernel);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void perplexity(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: perplexity(x, rowwise) or perplexity(x, colwise)
template <detail::untagged_matrix X>
void perplexity(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: perplexity(x, rowwise) or perplexity(x, colwise)
template <detail::foreign_array X, class... Rest>
void perplexity(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void perplexity(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void perplexity(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: perplexity(x, {.weights = w}) or perplexity(x, {.mask = keep})
// clang-format on

}  // namespace cumulus
