// SPDX-License-Identifier: MIT
//
// Calls that cannot mean anything, so that a readable message comes first: a matrix without a
// direction, std::vector<bool>, an out argument that cannot be written.
// Layer 2 (exact): uses core.
#pragma once

#include <cumulus/core/options.hpp>

namespace cumulus {

namespace detail {

template <class X, class... Rest>
concept refused = packed_bits<X> ||
    (untagged_matrix<X> && !(std::same_as<std::remove_cvref_t<Rest>, rowwise_t> || ...) &&
     !(std::same_as<std::remove_cvref_t<Rest>, colwise_t> || ...));

template <class Out, class T>
concept unwritable = real_vector<Out> && !out_vector<Out, T>;

template <class Out>
constexpr void explain_unwritable() {
  static_assert(!real_vector<Out>,
                "cumulus: out must be a vector that can be written, not const, with the scalar of "
                "the result");
}

}  // namespace detail

template <class X, class... Rest>
requires detail::refused<X, Rest...>
void logsumexp(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void logsumexp(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void softmax(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void softmax(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void log_softmax(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void log_softmax(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void logmeanexp(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void logmeanexp(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void logvarexp(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void logvarexp(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void softmax_entropy(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void softmax_entropy(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void logsumexp_gradient(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void logsumexp_gradient(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void logsumexp_gradient_weights(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void logsumexp_gradient_weights(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void normalise_log_weights(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void normalise_log_weights(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void effective_sample_size(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void effective_sample_size(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <class X, class... Rest>
requires detail::refused<X, Rest...>
void perplexity(const X&, Rest&&...) { detail::explain_refusal<X>(); }
template <detail::untagged_matrix X>
void perplexity(const X&, const matrix_options<result_of<X>>&) {
  detail::explain_refusal<X>();
}
template <real_vector X, detail::unwritable<result_of<X>> Out>
void softmax(const X&, Out&&, const options<result_of<X>>& = {}) {
  detail::explain_unwritable<Out>();
}
template <real_vector X, detail::unwritable<result_of<X>> Out>
void log_softmax(const X&, Out&&, const options<result_of<X>>& = {}) {
  detail::explain_unwritable<Out>();
}
template <real_vector X, detail::unwritable<result_of<X>> Out>
void logsumexp_gradient(const X&, Out&&, const options<result_of<X>>& = {}) {
  detail::explain_unwritable<Out>();
}
template <real_vector X, detail::unwritable<result_of<X>> Out>
void logsumexp_gradient_weights(const X&, Out&&, const options<result_of<X>>& = {}) {
  detail::explain_unwritable<Out>();
}

}  // namespace cumulus
