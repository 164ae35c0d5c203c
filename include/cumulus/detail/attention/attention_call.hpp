// SPDX-License-Identifier: MIT
//
// One call of attention after its checks: what its loops share, and the loop that serves any scalar.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/attention/attention_result.hpp>
#include <cumulus/core/scaled_rows.hpp>
#include <cumulus/exact/softmax_mean.hpp>

namespace cumulus::detail {

/// Keys [low, high).
struct key_range {
  index_t low, high;
};

/// The options of a call that its loops read, of attention and of multi_head_attention.
template <class T>
struct attention_settings {
  const broadcast_operand<bool>& mask;
  const broadcast_operand<score_of<T>>& bias;
  const line_number& sink;
  std::optional<double> scale;
  double softcap;
  bool causal;
  std::optional<window> sight;
  std::optional<index_t> first_query;
  int threads;
  executor on;

  template <class Options>
  attention_settings(const Options& o, const line_number& sinks)
      : mask(o.mask),
        bias(o.bias),
        sink(sinks),
        scale(o.scale),
        softcap(o.softcap),
        causal(o.causal),
        sight(o.window),
        first_query(o.first_query),
        threads(o.threads),
        on(executor_for(o.executor)) {}
};

/// T: the scalar of queries and results. Rows: keys and values, token_rows or scaled_rows.
template <class T, class Rows = token_rows<T>>
struct attention_call {
  const token_rows<T>& q;
  const Rows &k, &v;
  const attention_settings<T>& options;
  index_t heads, group;        // of queries; how many of them share a head of k and v
  index_t d, e;                // of one head
  index_t first_query;         // position of query 0
  strided_matrix<T> out;       // [n, heads e]
  strided_matrix<T> log_sums;  // [n, heads]

  [[nodiscard]] index_t queries() const noexcept { return q.size(); }
  [[nodiscard]] index_t keys() const noexcept { return k.size(); }

  template <class C>
  [[nodiscard]] C scale() const {
    if (options.scale) return C(*options.scale);
    return d > 0 ? C(1) / square_root(C(d)) : C(1);
  }

  /// The keys that query i sees by its position.
  [[nodiscard]] key_range sight(index_t i) const noexcept {
    using limits = std::numeric_limits<index_t>;
    const index_t m = keys();
    // sums stop at what index_t holds: beyond all keys, or before them
    const auto sum = [](index_t a, index_t b) {
      if (b < 0) return a < limits::min() - b ? limits::min() : a + b;
      return a > limits::max() - b ? limits::max() : a + b;
    };
    const auto within = [m](index_t t) { return t < 0 ? 0 : t < m ? t : m; };
    key_range seen{0, options.causal ? within(sum(first_query, i + 1)) : m};
    if (options.sight) {
      seen.low = within(sum(sum(first_query, -options.sight->before), i + 1));
      const index_t high = within(sum(sum(first_query, options.sight->after), i + 1));
      if (high < seen.high) seen.high = high;
    }
    if (seen.high < seen.low) seen.high = seen.low;
    return seen;
  }

  /// Writes the mean of a head's values and their log-sum-exp, after the sink has had its share: `mean(c)` is entry c.
  template <class C, class Mean>
  void write(index_t i, index_t head, C log_sum, Mean mean) const {
    C share(1);
    if (options.sink.given()) {
      const C sink = C(options.sink[head]);
      share = share_beside(log_sum, sink);
      log_sum = logaddexp(log_sum, sink);
    }
    const bool none = !is_nan(share) && !(C(0) < share);
    const strided<T> to = out.row(i).segment(head * e, e);
    for (index_t c = 0; c < e; ++c) to[c] = none ? T(0) : static_cast<T>(C(share * mean(c)));
    log_sums.row(i)[head] = static_cast<T>(log_sum);
  }
};

/// What multiplies the numbers of token t: 1, or its scale.
template <class C, class T>
[[nodiscard]] C token_scale(const token_rows<T>&, index_t) {
  return C(1);
}
template <class C>
[[nodiscard]] C token_scale(const scaled_rows& rows, index_t t) {
  return static_cast<C>(rows.scale(t));
}

/// cap tanh(score / cap): the score itself at a cap of +inf, 0 at one of 0.
///
/// Error    4 u |score|, also where score / cap is below the least normal number: there tanh x is x to u / 3.
template <class C>
[[nodiscard]] C soft_capped(const C& score, const C& cap) {
  using std::tanh;
  if (!is_finite(cap) || is_nan(score)) return score;
  if (!(C(0) < cap)) return C(0);
  const C x = score / cap;
  if (x * x < unit_roundoff<C>) return score;
  return C(cap * C(tanh(x)));
}

/// One query of one head, key by key.
///
/// Error   of the score, in the wider of T and double; beyond it that of softmax_mean.
template <class T, class Rows>
void attend_by_terms(const attention_call<T, Rows>& call, index_t i, index_t head) {
  using C = compute_scalar<T>;
  using vector = Eigen::Matrix<C, Eigen::Dynamic, 1>;
  const attention_settings<T>& o = call.options;
  const auto bias = o.bias.line(i, false);
  const auto mask = o.mask.line(i, false);
  const C scale = call.template scale<C>();
  const T* const q = call.q.row(i) + head * call.d;
  const index_t k_at = head / call.group * call.d, v_at = head / call.group * call.e;
  softmax_mean<C, vector> mean(call.e);
  vector value(call.e);
  const key_range seen = call.sight(i);
  for (index_t j = seen.low; j < seen.high; ++j) {
    if (mask.data != nullptr && !mask[j]) continue;
    const auto *const k = call.k.row(j) + k_at, *const v = call.v.row(j) + v_at;
    C score(0);
    for (index_t c = 0; c < call.d; ++c) score += C(q[c]) * static_cast<C>(k[c]);
    score *= scale * token_scale<C>(call.k, j);
    if (o.softcap > 0) score = soft_capped(score, C(o.softcap));
    if (bias.data != nullptr) score += C(bias[j]);
    const C unit = token_scale<C>(call.v, j);
    for (index_t c = 0; c < call.e; ++c) value[c] = static_cast<C>(v[c]) * unit;
    mean.add(score, value);
  }
  const vector result = mean.value();
  call.write(i, head, mean.logsumexp(), [&](index_t c) { return result[c]; });
}

}  // namespace cumulus::detail
