// SPDX-License-Identifier: MIT
//
// What a call of attention may say besides Q, K and V, by designated initializers: `{.causal = true, .softcap = 30}`.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/executor.hpp>
#include <cumulus/core/option_values.hpp>
#include <cumulus/core/scaled_rows.hpp>
#include <Eigen/Core>
#include <optional>

namespace cumulus {

namespace detail {

template <class T>
struct score_scalar {
  using type = T;
};
template <>
struct score_scalar<Eigen::half> {
  using type = float;
};
template <>
struct score_scalar<Eigen::bfloat16> {
  using type = float;
};

}  // namespace detail

/// The scalar of scores and weights of tokens of T: T itself, float for the half types.
template <class T>
using score_of = typename detail::score_scalar<T>::type;

namespace detail {

template <class S>
inline constexpr bool is_half_type =
    std::same_as<S, Eigen::half> || std::same_as<S, Eigen::bfloat16>;

}  // namespace detail

/// Queries of a call whose results have the scalar T: of T, or where T is float of half or bfloat16.
template <class Q, class T>
concept query_for =
    token_matrix<Q> && (std::same_as<token_scalar_of<Q>, T> ||
                        (std::same_as<T, float> && detail::is_half_type<token_scalar_of<Q>>));

/// Keys or values of such a call: of T, or where T is float of half or bfloat16, or scaled_rows.
template <class K, class T>
concept cache_for = query_for<K, T> || (std::same_as<T, float> && std::same_as<K, scaled_rows>);

/// How many heads lie side by side in a row of Q, and in one of K and V: query head h reads key head h keys / queries.
struct heads {
  index_t queries = 1;  ///< a multiple of keys
  index_t keys = 1;     ///< at least 1
};

/// The positions that a query sees, or where linear attention is exact: of the query at position t the keys
/// t - before + 1 .. t + after. Made from a number of keys, `.window = 64`, or from both, `.window = window(64, 16)`.
struct window {
  index_t before;  ///< at least 1: the query's own position counts
  index_t after;   ///< at least 0

  /// Sets `before` to back and `after` to ahead.
  template <std::integral I>
  constexpr window(I back, index_t ahead = 0) noexcept : before(index_t(back)), after(ahead) {}
};

/// Of attention: score = softcap tanh(scale q.k / softcap) + bias for the keys that a query sees.
///
/// Not copied nor assigned: bias and mask refer to what they were given. Each call takes its own.
///
/// Shape    bias, mask: [n, m], or [m] for all queries.
/// Edges    a key that is masked, or out of sight by position, never enters the result, whatever it or its value holds. A sink
///          of -inf adds nothing.
template <class T>
struct attention_options {
  matrix_option<bool> mask{};     ///< true keeps
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  std::optional<double>
      sink{};           ///< one more term e^sink, without a value, in the divisor of the weights
  bool causal = false;  ///< a query sees no key after its own position
  std::optional<cumulus::window> window{};  ///< the positions that a query sees; all if not given
  std::optional<index_t>
      first_query{};  ///< position of query 0; m - n if not given: the last query stands at the last key
  matrix_option<score_of<T>> bias{};  ///< added to the scores
  /// Bounds |scale q.k|; 0 for no bound, as from a cap beyond the scalar's range. A cap that vanishes in that range leaves
  /// scores of 0.
  double softcap = 0;
  int threads = 1;               ///< the most threads for the queries: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// Of multi_head_attention: bias and mask are those of all heads.
template <class T>
struct multi_head_options {
  matrix_option<bool> mask{};     ///< true keeps
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  line_option sink{};             ///< as of attention: a number, or one for each query head
  cumulus::heads heads{};         ///< the numbers of query heads and key heads
  bool causal = false;            ///< a query sees no key after its own position
  std::optional<cumulus::window> window{};  ///< the positions that a query sees; all if not given
  std::optional<index_t> first_query{};     ///< position of query 0; m - n if not given
  matrix_option<score_of<T>> bias{};        ///< added to the scores
  double softcap = 0;                       ///< bounds |scale q.k|; 0 for no bound
  int threads = 1;               ///< the most threads for the queries: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

}  // namespace cumulus
