// SPDX-License-Identifier: MIT
//
// What a call of attention may say besides Q, K and V, by designated initializers: `{.causal = true, .softcap = 30}`.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/options.hpp>
#include <optional>

namespace cumulus {

namespace detail {

template <class T>
struct attention_scalar_of {
  using type = T;
};
template <>
struct attention_scalar_of<Eigen::half> {
  using type = float;
};
template <>
struct attention_scalar_of<Eigen::bfloat16> {
  using type = float;
};

/// The scalar of scores and weights: T itself, float for the half types.
template <class T>
using attention_scalar = typename attention_scalar_of<T>::type;

}  // namespace detail

/// score = softcap tanh(scale q.k / softcap) + bias for the keys that a query sees.
///
/// Not copied nor assigned: bias, mask and sink refer to what they were given. Each call takes its own.
///
/// Shape    bias, mask: [n, m], or [m] for all queries; the same for all heads. sink: a number, or one for each query head.
/// Edges    a key that is masked, or out of sight by position, never enters the result, whatever it or its value holds. A sink
///          of -inf is none.
template <class T>
struct attention_options {
  bool causal = false;            ///< a query sees no key after its own position
  std::optional<double> scale{};  ///< of q.k; 1 / sqrt(d) if not given. Requires a finite one
  matrix_option<detail::attention_scalar<T>> bias{};
  matrix_option<bool> mask{};  ///< true keeps
  line_option sink{};  ///< one more term e^sink, of no value, in what the weights are divided by
  /// Bounds |scale q.k|; 0 for no bound, as from a cap beyond the scalar's range; one that vanishes in it leaves scores of 0.
  double softcap = 0;
  /// A query sees only keys less than so many tokens from its own position: at least 1, not given for no window, where
  /// block_sparse_options have 0.
  std::optional<index_t> window{};
  /// The position of query 0; if not given m - n: the last query stands at the last key.
  std::optional<index_t> first_query{};
  int threads = 1;               ///< queries are spread over so many, with OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// How many heads lie side by side in a row of Q, and in one of K and V.
struct head_counts {
  index_t queries = 1;  ///< a multiple of keys; neighbours share a head of K and V
  index_t keys = 1;
};

}  // namespace cumulus
