// SPDX-License-Identifier: MIT
//
// Linear attention: softmax attention with e^score truncated at an order, by a state of fixed size or by scores.
// Layer 5 (attention): uses core, exact and series.
#pragma once

#include <cumulus/attention/linear_state.hpp>
#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/rows/row_parts.hpp>

namespace cumulus {

/// The output of linear attention, with the log-sum-exp and the status of each query and head.
template <class T>
struct linear_attention_result {
  /// The type of `output` and `logsumexp`.
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  matrix output;  ///< [n, heads e]
  matrix
      logsumexp;  ///< [n, heads]; NaN where the mass is not a positive number; -inf without a key
  /// [n, heads]
  Eigen::Array<linear_status, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> status;

  /// How many rows are not linear_status::positive.
  [[nodiscard]] index_t without_mass() const noexcept {
    index_t count = 0;
    for (index_t i = 0; i < status.size(); ++i)
      count += status.data()[i] == linear_status::positive ? 0 : 1;
    return count;
  }
};

namespace detail {

/// Whether n queries of m keys take fewer operations by scores than by features.
[[nodiscard]] inline bool scores_are_fewer(index_t n, index_t m, index_t d, index_t e, int order,
                                           bool causal) noexcept {
  const double met = causal ? double(m) - double(n) / 2 : double(m);  // keys, by a query
  return double(n) * met <= switch_length(d, e, order, false) * double(n + m) / 2;
}

/// The tokens of one head among several side by side.
template <class T>
[[nodiscard]] token_rows<T> head_of(const token_rows<T>& tokens, index_t head, index_t width,
                                    std::vector<T>& room) {
  if (tokens.size() == 0 || tokens.run(0) == tokens.size())
    return {tokens.size() == 0 ? nullptr : tokens.row(0) + head * width, tokens.size(), width,
            tokens.row_stride()};
  room.resize(std::size_t(tokens.size() * width));  // of pages: a copy
  for (index_t t = 0; t < tokens.size(); ++t)
    std::copy_n(tokens.row(t) + head * width, width, room.data() + t * width);
  return {room.data(), tokens.size(), width, width};
}

/// x R for rows of x.
template <class T>
void project(const token_rows<T>& x, const Eigen::MatrixXd& r, std::vector<T>& out) {
  const auto width = index_t(r.cols());
  std::vector<T> factors;
  for (index_t i = 0; i < r.rows(); ++i) {
    for (index_t j = 0; j < width; ++j) factors.push_back(T(r(i, j)));
  }
  out.assign(std::size_t(x.size() * width), T(0));
  for (index_t t = 0; t < x.size(); ++t)
    kernels::add_product(x.row(t), index_t(0), index_t(1), factors.data(), width,
                         out.data() + t * width, width, index_t(1), index_t(r.rows()), width);
}

template <class T>
[[nodiscard]] linear_attention_result<T> attend_linearly(const token_rows<T>& queries,
                                                         const token_rows<T>& keys,
                                                         const token_rows<T>& values,
                                                         const linear_attention_options& o) {
  const char* const name = "linear_attention";
  const index_t query_heads = o.heads.queries, key_heads = o.heads.keys;
  if (query_heads < 1 || key_heads < 1 || query_heads % key_heads != 0)
    refuse({name, ": ", query_heads, " heads of queries can't share ", key_heads,
            " heads of keys; give .heads.queries as a multiple of .heads.keys"});
  const auto per_head = [&](const char* what, index_t width, index_t heads) {
    if (width % heads != 0)
      refuse({name, ": ", what, " of width ", width, " can't be split into ", heads,
              " heads; give a multiple of the heads"});
    return width / heads;
  };
  const index_t n = queries.size(), m = keys.size();
  const index_t width = per_head("queries", queries.width(), query_heads);
  require_same_size(name, "a query", width, "a key", per_head("keys", keys.width(), key_heads));
  require_same_size(name, "K", m, "V", values.size());
  const index_t e = per_head("values", values.width(), key_heads);
  const bool projects = o.projection.rows() > 0 || o.projection.cols() > 0;
  if (projects) {
    if (o.projection.size() == 0)
      refuse({name, ": .projection is ", o.projection.rows(), " x ", o.projection.cols(),
              ", which has no scores; give a column or more"});
    require_same_size(name, "a key", width, "a column of .projection",
                      index_t(o.projection.rows()));
    if (o.window || o.first_tokens > 0)
      refuse({name, ": .projection would change the exact scores of ",
              o.window ? ".window" : ".first_tokens", "; leave one of them out"});
  }
  const index_t d = projects ? index_t(o.projection.cols()) : width;
  if (o.window && !o.causal)
    refuse({name, ": a window of ", o.window->before,
            " keys, but queries that see all keys; give .causal = true"});
  require_threads(name, o.threads);

  const bool by_scores =
      o.method == linear_method::scores ||
      (o.method == linear_method::automatic && scores_are_fewer(n, m, d, e, o.order, o.causal));
  linear_state_options state_options = o.for_state();
  require_linear_options(name, d, e, state_options, sizeof(T), !by_scores);
  if (o.window) state_options.window = std::min(o.window->before, std::max(m, index_t(1)));
  state_options.first_tokens = std::min(o.first_tokens, m);
  state_options.scale = score_scale(o.scale, width);
  state_options.method = by_scores ? linear_method::scores : linear_method::features;
  const index_t features = by_scores ? 1 : feature_count(d, o.order);
  const index_t block = features < 128 ? 96 : 192;
  state_options.chunk = std::min(o.chunk > 0 ? o.chunk : block, std::max(m, index_t(1)));

  linear_attention_result<T> result;
  result.output.setZero(n, query_heads * e);
  result.logsumexp.setConstant(n, query_heads, -infinity<T>);
  result.status.setConstant(n, query_heads, linear_status::empty);
  if (n == 0 || m == 0) return result;
  const index_t group = query_heads / key_heads;
  run_ranges(key_heads, 1, o.threads, o.executor, [&](index_t first, index_t end) {
    std::vector<T> rooms[6];
    for (index_t h = first; h < end; ++h) {
      const token_rows<T> head_keys = head_of(keys, h, width, rooms[0]);
      const token_rows<T> v = head_of(values, h, e, rooms[1]);
      if (projects) project(head_keys, o.projection, rooms[2]);
      const token_rows<T> k(projects ? rooms[2].data()
                            : m > 0  ? head_keys.row(0)
                                     : nullptr,
                            m, d, projects ? d : head_keys.row_stride());
      linear_attention_state<T> state(d, e, state_options);
      const auto answer = [&](index_t g, index_t query, index_t count, bool causal) {
        const index_t head = h * group + g;
        const T* q = queries.row(query) + head * width;
        index_t stride = queries.row_stride();
        if (projects || queries.run(query) < count) {
          rooms[3].resize(std::size_t(count * width));
          for (index_t i = 0; i < count; ++i)
            std::copy_n(queries.row(query + i) + head * width, width, rooms[3].data() + i * width);
          q = rooms[3].data();
          stride = width;
          if (projects) {
            project(token_rows<T>(q, count, width, width), o.projection, rooms[4]);
            q = rooms[4].data();
            stride = d;
          }
        }
        T* const out = result.output.data() + query * query_heads * e + head * e;
        T* const log_sum = result.logsumexp.data() + query * query_heads + head;
        linear_status* const status = result.status.data() + query * query_heads + head;
        linear_prefill::read(state, causal, q, stride, count, out, query_heads * e, log_sum, status,
                             query_heads);
      };
      index_t t = 0;
      const index_t before = o.causal ? m - n : m;  // below 0: the first queries see no key
      while (t < before) t += linear_prefill::append(state, k, v, t, before - t);
      if (!o.causal) {
        state.fold();
        for (index_t g = 0; g < group && n > 0; ++g) answer(g, 0, n, false);
        continue;
      }
      while (t < m) {
        const index_t count = linear_prefill::append(state, k, v, t, m - t);
        for (index_t g = 0; g < group; ++g) answer(g, t - before, count, true);
        t += count;
      }
    }
  });
  return result;
}

}  // namespace detail

/// Attention whose weights are a truncation of softmax(scale q k): linear in the number of tokens.
///
/// Shape    queries [n, heads.queries d], keys [m, heads.keys d], values [m, heads.keys e], a token a row; result
///          [n, heads.queries e]; of the half types in float. With
///          options.causal query i sees the keys 0 .. m - n + i: the last query sees all.
/// Edges    a query that sees no key: zeros, log-sum-exp -inf. Refused: widths or counts that do not fit; a state of more bytes
///          than options.memory_limit for a key head; a decay outside (0, 1]; a window without causal. A NaN in a key or a value, or an infinity, shows in the
///          queries that see it, and in no other; but an exact score of -inf has weight 0. An odd order of form::moment, or one
///          that is not centred, can have a mass of 0 or less, and powers of large scores overflow: status says so.
/// Error    of the sums, as linear_attention_state; of the truncation: README, and examples/linear_attention measures it.
/// Cost     with F = feature_count(d, order): 2 F (e + 1) (n + m) operations and for causal queries 2 (d + e) of a chunk of keys
///          each; by scores 2 n m (d + e + 2 order). One code path: that of the state.
/// Source   as linear_attention_state; chunks as in the implementations of linear attention, e.g. S. Arora et al., arXiv
///          2402.18668.
template <token_matrix Q, token_matrix K, token_matrix V>
[[nodiscard]] linear_attention_result<score_of<token_scalar_of<Q>>> linear_attention(
    const Q& queries, const K& keys, const V& values, const linear_attention_options& o = {}) {
  using T = score_of<token_scalar_of<Q>>;
  const auto &q = detail::tokens_in<T>(queries), &k = detail::tokens_in<T>(keys),
             &v = detail::tokens_in<T>(values);
  return detail::attend_linearly<T>(q, k, v, o);
}

}  // namespace cumulus
