// SPDX-License-Identifier: MIT
//
// What linear attention may be told: at once, as a state, and for its gradient.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/series/form.hpp>
#include <Eigen/Core>
#include <vector>

namespace cumulus {

/// The highest order of linear attention.
inline constexpr int linear_attention_max_order = 16;

/// Whether keys go into a state of monomials, or are kept and met by their scores. Both give the same.
enum class linear_method {
  automatic,  ///< whichever takes fewer operations; of a state the features
  features,   ///< a state of fixed size
  scores,     ///< all keys, in blocks of queries: for contexts shorter than the features
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(linear_method method) noexcept {
  switch (method) {
    case linear_method::automatic:
      return "automatic";
    case linear_method::features:
      return "features";
    case linear_method::scores:
      return "scores";
  }
  return "?";
}

/// Of linear_attention_state. The weight of key i for query t, before it is normalised, is decay^(t - i) times e^(scale q k_i)
/// where i is one of the first `first_tokens` or lies in the window of t, and times the truncation of that exponential elsewhere.
struct linear_state_options {
  std::optional<double> scale{};            ///< of q.k, finite; 1 / sqrt(d) if not given
  std::optional<cumulus::window> window{};  ///< the last `before` keys are exact; `after` is 0
  index_t first_tokens = 0;                 ///< this many of the first keys are exact
  int order = 2;                            ///< 0..linear_attention_max_order
  /// form::moment divides by the sum of the weights; form::taylor is the graded softmax, which sums to one. Beside exact
  /// keys the mass of the others is n e^(mean score) e^K, K the cumulant series, but at least 0 and above 1 only 1 + log K.
  cumulus::form form = cumulus::form::moment;
  /// Powers of a score less its mean over the keys; else of the score itself. form::taylor is always centred. Without it an
  /// even power of a score far below zero is large: keys of low scores can then take all from exact ones.
  bool centred = true;
  /// Of form::moment: coefficients of 1, y, y^2 .. y^order in place of 1 / j!.
  std::vector<double> polynomial{};
  double decay = 1;  ///< in (0, 1]
  /// The algorithm for the truncated weights.
  linear_method method = linear_method::automatic;
  /// Keys that wait before the state takes them in, met by their scores; 0: by the size of the state. The first 16 wait in
  /// any case.
  index_t chunk = 0;
  /// The most bytes for the sums of a state, linear_attention_state::bytes(d, e, order); the tokens that wait come on top.
  std::size_t memory_limit = std::size_t(1) << 30;
};

/// Of linear_attention: the weights are those of linear_state_options.
struct linear_attention_options {
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  /// The numbers of query heads and key heads.
  cumulus::heads heads{};
  bool causal = false;  ///< query i sees the keys 0 .. m - n + i
  std::optional<cumulus::window>
      window{};              ///< causal only: the last `before` keys are exact; `after` is 0
  index_t first_tokens = 0;  ///< this many of the first keys are exact
  int order = 2;             ///< 0..linear_attention_max_order
  /// form::moment or form::taylor, as in linear_state_options.
  cumulus::form form = cumulus::form::moment;
  bool centred = true;               ///< powers of a score less its mean over the keys
  std::vector<double> polynomial{};  ///< of form::moment: coefficients in place of 1 / j!
  double decay = 1;                  ///< in (0, 1]
  Eigen::MatrixXd
      projection{};  ///< R, [d, r]: scores (q R) (k R) of keys of width r in place of q k
  /// The algorithm for the truncated weights.
  linear_method method = linear_method::automatic;
  index_t chunk =
      0;  ///< keys that wait before the state takes them in; 0: by the size of the state
  std::size_t memory_limit = std::size_t(1)
                             << 30;  ///< the most bytes for the sums of a key head's state
  int threads = 1;  ///< the most threads for the key heads: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given

  /// Of a state with the same weights: without heads, projection and causality, which are the caller's.
  [[nodiscard]] linear_state_options for_state() const {
    return {.scale = scale,
            .window = window,
            .first_tokens = first_tokens,
            .order = order,
            .form = form,
            .centred = centred,
            .polynomial = polynomial,
            .decay = decay,
            .method = method,
            .chunk = chunk,
            .memory_limit = memory_limit};
  }
};

/// Of linear_attention_vjp: one head, without a window or a projection.
template <class T>
struct linear_attention_vjp_options {
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  bool causal = false;            ///< query i sees the keys 0 .. m - n + i
  int order = 2;                  ///< 0..linear_attention_max_order
  /// form::moment or form::taylor, as in linear_state_options.
  cumulus::form form = cumulus::form::moment;
  bool centred = true;               ///< powers of a score less its mean over the keys
  std::vector<double> polynomial{};  ///< of form::moment: coefficients in place of 1 / j!
  double decay = 1;                  ///< in (0, 1]
  vector_option<T> logsumexp{};      ///< [n]: the cotangent of the log-sum-exp; 0 if not given
};

}  // namespace cumulus
