// SPDX-License-Identifier: MIT
//
// What linear attention may be told, and the sizes that follow from it.
// Layer 5 (attention).
#pragma once

#include <cumulus/detail/attention/taylor_features.hpp>
#include <cumulus/detail/attention/truncated_row.hpp>
#include <cumulus/core/executor.hpp>
#include <cumulus/core/token_rows.hpp>
#include <optional>

namespace cumulus {

/// Whether keys go into a state of monomials, or are kept and met by their scores. Both give the same.
enum class linear_way {
  automatic,  ///< whichever takes fewer operations
  features,   ///< a state of fixed size
  scores,     ///< all keys, in blocks of queries: for contexts shorter than the features
};

/// Options of linear attention, by designated initializers. The weight of key i for query t, less what normalises it, is
/// decay^(t - i) times e^(scale q k_i) where i is one of the first `sinks` or the last `window` keys that t may see, and
/// the truncation of that else.
struct linear_attention_options {
  int order = 2;  ///< 0..max_feature_order
  /// form::moment: ratio; form::taylor: graded (truncated_row.hpp).
  cumulus::form form = cumulus::form::moment;
  /// Powers of a score less its mean over the keys; else of the score itself. form::taylor is always centred.
  bool centred = true;
  double decay = 1;               ///< in (0, 1]
  index_t window = 0;             ///< so many last keys are exact: causal only
  index_t sinks = 0;              ///< so many first keys are exact
  std::optional<double> scale{};  ///< 1 / sqrt(d) if not given
  /// Of form::moment: coefficients of 1, y, y^2 .. y^order in place of 1 / j!.
  std::vector<double> polynomial{};
  /// Bytes that the sums of a state may take, linear_state_bytes; the tokens that wait come on top.
  std::size_t memory_limit = std::size_t(1) << 30;
  /// Keys that wait before the state takes them in, met by their scores; 0: by the size of the state.
  index_t chunk = 0;

  // for linear_attention only
  bool causal = false;  ///< query i sees the keys 0 .. m - n + i
  linear_way way = linear_way::automatic;
  /// Side by side in a token: head h reads key head h kv_heads / heads.
  index_t heads = 1, kv_heads = 1;
  Eigen::MatrixXd projection{};  ///< [d, r]: scores (q R) (k R) of keys of width r in place of q k
  int threads = 1;               ///< key heads are spread over so many, with OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// Bytes of a state, without the keys that wait: monomials times (value, 1), each a sum and what it lacks. The greatest size_t
/// where they do not fit.
[[nodiscard]] constexpr std::size_t linear_state_bytes(index_t d, index_t e, int order,
                                                       std::size_t scalar_bytes) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto features = std::size_t(detail::feature_count(d, order));
  if (std::size_t(e) >= most / (2 * scalar_bytes)) return most;
  const std::size_t each = 2 * scalar_bytes * (std::size_t(e) + 1);
  return features > most / each ? most : features * each;
}

/// The context from which a decode step reads fewer bytes of state than of keys and values:
/// binomial(d + order, order) (e + 1) / (d + e).
[[nodiscard]] constexpr double crossover_length(index_t d, index_t e, int order) noexcept {
  return double(detail::feature_count(d, order)) * double(e + 1) / double(d + e);
}

/// The number n of tokens, each a query and a key, from which the state takes fewer operations than the scores, 2 n F (e + 1) <
/// n^2 (d + e + 2 order), or half of those where they are causal. What linear_way::automatic goes by; both ways take equally long
/// there within a sixth (bench/linear_attention_bench.cpp, "switch").
[[nodiscard]] constexpr double switch_length(index_t d, index_t e, int order,
                                             bool causal) noexcept {
  return (causal ? 4 : 2) * double(detail::feature_count(d, order)) * double(e + 1) /
         double(d + e + 2 * order);
}

namespace detail {

inline void require_linear_options(const char* function, index_t d, index_t e,
                                   const linear_attention_options& o, std::size_t scalar_bytes,
                                   bool keeps_state) {
  const auto fail = [&](const std::string& message) {
    refuse({function, ": ", message});
  };
  require_order(function, o.order, 0, max_feature_order, "max_feature_order");
  if (o.form != form::taylor && o.form != form::moment)
    fail(std::string("form ") + name_of(o.form) + "; linear attention has taylor and moment");
  if (!(o.decay > 0 && o.decay <= 1))
    fail("decay " + std::to_string(o.decay) + " is outside (0, 1]");
  if (o.window < 0 || o.sinks < 0 || o.chunk < 0)
    fail("a window of " + std::to_string(o.window) + ", " + std::to_string(o.sinks) +
         " sinks and a chunk of " + std::to_string(o.chunk) + " tokens; at least 0");
  if (o.scale && !is_finite(*o.scale)) fail("a scale of " + std::to_string(*o.scale));
  if (!o.polynomial.empty()) {
    if (o.form != form::moment) fail("a polynomial, but the form taylor, which has its own");
    require_same_size(function, "1, y .. y^order", o.order + 1, "polynomial",
                      index_t(o.polynomial.size()));
  }
  if (d < 1 || e < 1)
    fail("keys of width " + std::to_string(d) + " and values of width " + std::to_string(e) +
         "; at least 1");
  if (!keeps_state) return;
  // no vector can have more bytes than an index_t counts
  const std::size_t limit =
      std::min(o.memory_limit, std::size_t(std::numeric_limits<index_t>::max()));
  const bool knows_mean =
      o.centred || o.form == form::taylor;  // for which order 0 has the sums of 1
  const int order = std::max(o.order, knows_mean ? 1 : 0);
  if (const std::size_t bytes = linear_state_bytes(d, e, order, scalar_bytes); bytes > limit)
    fail("order " + std::to_string(o.order) + " of keys " + std::to_string(d) +
         " wide has a state of " +
         (bytes == std::numeric_limits<std::size_t>::max() ? "more than 2^64"
                                                           : std::to_string(bytes)) +
         " bytes, the limit is " + std::to_string(limit));
}

}  // namespace detail

}  // namespace cumulus
