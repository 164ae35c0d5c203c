// SPDX-License-Identifier: MIT
//
// Linear attention: softmax attention with e^score truncated at an order, by a state of fixed size or by scores.
// Layer 5 (attention): uses core, kernels, exact and series.
#pragma once

#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/attention/attention_options.hpp>
#include <cumulus/attention/linear_state.hpp>
#include <cumulus/core/options.hpp>

namespace cumulus {

template <class T>
struct linear_attention_result {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  matrix output;       ///< [n, heads e]
  matrix log_sum_exp;  ///< [n, heads]; NaN where the mass is no positive number
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

}  // namespace detail

/// Attention whose weights are a truncation of softmax(scale q k): linear in the number of tokens.
///
/// Shape    queries [n, heads d], keys [m, kv_heads d], values [m, kv_heads e], a token a row; result [n, heads e]. With
///          options.causal query i sees the keys 0 .. m - n + i: the last query sees all.
/// Edges    refused: a query without a key; widths or counts that do not fit; a state of more bytes than options.memory_limit,
///          a key head; a decay outside (0, 1]; a window without causal. A NaN in a key or a value, or an infinity, shows in the
///          queries that see it, and in no other; but an exact score of -inf has weight 0. An odd order of form::moment, or one
///          that is not centred, can have a mass of 0 or less, and powers of large scores overflow: status says so.
/// Error    of the sums, as linear_attention_state; of the truncation: README, and examples/linear_attention measures it.
/// Cost     with F = feature_count(d, order): 2 F (e + 1) (n + m) operations and for causal queries 2 (d + e) of a chunk of keys
///          each; by scores 2 n m (d + e + 2 order). One code path: the state's.
/// Source   as linear_attention_state; chunks as in the implementations of linear attention, e.g. S. Arora et al., arXiv
///          2402.18668.
template <class T>
[[nodiscard]] linear_attention_result<T> linear_attention(const token_rows<T>& queries,
                                                          const token_rows<T>& keys,
                                                          const token_rows<T>& values,
                                                          const linear_attention_options& o = {}) {
  const char* const name = "linear_attention";
  if (o.heads < 1 || o.kv_heads < 1 || o.heads % o.kv_heads != 0)
    detail::refuse({"linear_attention: ", o.heads, " heads, not a multiple of the keys' ", o.kv_heads});
  const auto per_head = [&](const char* what, index_t width, index_t heads) {
    if (width % heads != 0)
      detail::refuse({name, ": ", what, " of width ", width, " in ", heads, " heads"});
    return width / heads;
  };
  const index_t n = queries.size(), m = keys.size();
  const index_t width = per_head("queries", queries.width(), o.heads);
  detail::require_same_size(name, "a query", width, "a key", per_head("keys", keys.width(), o.kv_heads));
  detail::require_same_size(name, "keys", m, "values", values.size());
  const index_t e = per_head("values", values.width(), o.kv_heads);
  const bool projects = o.projection.rows() > 0 || o.projection.cols() > 0;
  if (projects) {
    if (o.projection.size() == 0)
      detail::refuse({name, ": a projection of ", o.projection.rows(), " x ", o.projection.cols(), ", which has no scores"});
    detail::require_same_size(name, "a key", width, "projection", index_t(o.projection.rows()));
    if (o.window > 0 || o.sinks > 0)
      detail::refuse({name, ": a projection, and a window of ", o.window, " and ", o.sinks, " sinks, whose scores it would change"});
  }
  const index_t d = projects ? index_t(o.projection.cols()) : width;
  if (o.window > 0 && !o.causal)
    detail::refuse({name, ": a window of ", o.window, " tokens, but queries that see all keys"});
  if (n > 0 && (m == 0 || (o.causal && n > m)))
    detail::refuse({name, ": ", n, " queries, but ", m, " keys; each needs one"});
  detail::require_threads(name, o.threads);

  const bool by_scores =
      o.way == linear_way::scores ||
      (o.way == linear_way::automatic && detail::scores_are_fewer(n, m, d, e, o.order, o.causal));
  detail::require_linear_options(name, d, e, o, sizeof(T), !by_scores);
  linear_attention_options state_options{
      .order = o.order,
      .form = o.form,
      .centred = o.centred,
      .decay = o.decay,
      .window = std::min(o.window, m),
      .sinks = std::min(o.sinks, m),
      .scale = o.scale ? *o.scale : 1 / std::sqrt(double(width)),
      .polynomial = o.polynomial,
      .memory_limit = o.memory_limit,
      .way = by_scores ? linear_way::scores : linear_way::features,
  };
  const index_t features = by_scores ? 1 : detail::feature_count(d, o.order);
  const index_t block = features < 128 ? 96 : 192;
  state_options.chunk = std::min(o.chunk > 0 ? o.chunk : block, std::max(m, index_t(1)));

  linear_attention_result<T> result;
  result.output.resize(n, o.heads * e);
  result.log_sum_exp.resize(n, o.heads);
  result.status.resize(n, o.heads);
  const index_t group = o.heads / o.kv_heads;
  detail::run_ranges(o.kv_heads, 1, o.threads, o.executor, [&](index_t first, index_t end) {
    std::vector<T> rooms[6];
    for (index_t h = first; h < end; ++h) {
      const token_rows<T> head_keys = detail::head_of(keys, h, width, rooms[0]);
      const token_rows<T> v = detail::head_of(values, h, e, rooms[1]);
      if (projects) detail::project(head_keys, o.projection, rooms[2]);
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
            detail::project(token_rows<T>(q, count, width, width), o.projection, rooms[4]);
            q = rooms[4].data();
            stride = d;
          }
        }
        T* const out = result.output.data() + query * o.heads * e + head * e;
        T* const log_sum = result.log_sum_exp.data() + query * o.heads + head;
        linear_status* const status = result.status.data() + query * o.heads + head;
        if (causal) {
          state.read_causal(q, stride, count, out, o.heads * e, log_sum, status, o.heads);
        } else {
          state.read_rows(q, stride, count, out, o.heads * e, log_sum, status, o.heads);
        }
      };
      index_t t = 0;
      const index_t before = o.causal ? m - n : m;
      while (t < before) t += state.append(k, v, t, before - t);
      if (!o.causal) {
        state.fold();
        for (index_t g = 0; g < group && n > 0; ++g) answer(g, 0, n, false);
        continue;
      }
      while (t < m) {
        const index_t count = state.append(k, v, t, m - t);
        for (index_t g = 0; g < group; ++g) answer(g, t - before, count, true);
        t += count;
      }
    }
  });
  return result;
}

/// The same of matrices; of the half types in float, which the result is in.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] auto linear_attention(const Q& queries, const K& keys, const V& values,
                                    const linear_attention_options& o = {}) {
  using T = detail::attention_scalar<result_of<Q>>;
  const token_rows<T> q(queries), k(keys), v(values);
  return linear_attention<T>(q, k, v, o);
}

}  // namespace cumulus
