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

/// log w_i - logsumexp(log w): log weights that sum to one.
///
/// Shape   log_weights: [n].
/// Edges, Error, Cost   those of log_softmax.
template <real_vector X>
[[nodiscard]] result_like<X> normalise_log_weights(const X& log_weights) {
  return log_softmax(log_weights);
}

/// Written to out, of their size: `normalise_log_weights(log_weights, into(out))`.
template <real_vector X, out_vector<result_of<X>> Out>
void normalise_log_weights(const X& log_weights, destination<Out> out) {
  log_softmax(log_weights, out);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: normalise_log_weights takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void normalise_log_weights(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, real_vector Y>
void normalise_log_weights(const X&, const Y&) = delete;  // cumulus: say that the result goes there: normalise_log_weights(log_weights, into(out))
template <real_vector X, class Out>
  requires(!out_vector<Out, result_of<X>>)
void normalise_log_weights(const X&, destination<Out>) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
// clang-format on

/// (sum w)^2 / sum w^2, between 1 and the number of samples.
///
/// Shape   log_weights: [n], normalised or not.
/// Edges   no weights, or only -inf: 0; one +inf: 1; several +inf, or a NaN: NaN.
/// Error   effective_sample_size_max_ulp.
/// Source  L. Kish, Survey Sampling, 1965, 8.2.
template <real_vector X>
[[nodiscard]] result_of<X> effective_sample_size(const X& log_weights) {
  const detail::operand<result_of<X>> values(log_weights);
  return result_of<X>(detail::kernels::effective_count_of(detail::terms_of(values.view())));
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: effective_sample_size takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void effective_sample_size(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
// clang-format on

/// e^entropy of the normalised weights, between 1 and the number of samples.
///
/// Shape   log_weights: [n], normalised or not.
/// Edges   those of softmax_entropy.
/// Error   that of softmax_entropy, times the entropy, and 1 ulp.
template <real_vector X>
[[nodiscard]] result_of<X> perplexity(const X& log_weights) {
  const detail::operand<result_of<X>> values(log_weights);
  return result_of<X>(
      detail::exponential(detail::kernels::entropy_of(detail::terms_of(values.view()))));
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
void perplexity(const X&, const Rest&...) = delete;  // cumulus: perplexity takes a vector: give a row or column of the matrix
template <detail::foreign_array X, class... Rest>
void perplexity(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void perplexity(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
// clang-format on

}  // namespace cumulus
