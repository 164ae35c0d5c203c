// SPDX-License-Identifier: MIT
//
// MoBA, mixture of block attention, as its authors publish it: each query sees its own block and the best of those before it.
// Layer 5 (attention): uses core and dense.
#pragma once

#include <cumulus/attention/dense.hpp>
#include <algorithm>
#include <vector>

namespace cumulus {

/// The defaults are those of the published scaling runs (8K tokens, blocks of 512, 3 blocks a query).
struct moba_options {
  index_t block = 512;  ///< tokens a block; the last may be shorter
  index_t top = 3;      ///< blocks that a query sees, its own counted: 1 is the own block alone
  /// Of q.k in the softmax; 1 / sqrt(d) if not given. The gate is not scaled.
  std::optional<double> scale{};
};

namespace detail {

template <class Q, class K, class V>
void require_moba(const char* function, const Q& q, const K& k, const V& v, const moba_options& o) {
  require_same_size(function, "Q", q.rows(), "K", k.rows());
  require_same_size(function, "K", k.rows(), "V", v.rows());
  require_same_size(function, "a query", q.cols(), "a key", k.cols());
  if (o.block < 1)
    refuse({function, ": a block of ", o.block, " tokens"});
  if (o.top < 1) refuse({function, ": ", o.top, " blocks a query"});
}

/// For each query the blocks before its own that it sees, in order: the top - 1 of the largest q . (mean key), the earlier of
/// equal ones. A NaN gate is never chosen before a number.
template <class Q, class K>
[[nodiscard]] std::vector<std::vector<index_t>> moba_gate(const Q& queries, const K& keys,
                                                          const moba_options& o) {
  using T = attention_scalar<scalar_of<K>>;
  const index_t n = index_t(queries.rows()), blocks = n / o.block;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> means(blocks, keys.cols());
  for (index_t b = 0; b < blocks; ++b)
    means.row(b) = keys.middleRows(b * o.block, o.block).template cast<T>().colwise().mean();
  std::vector<std::vector<index_t>> seen(static_cast<std::size_t>(n));
  std::vector<std::pair<T, index_t>> gate;
  for (index_t t = 0; t < n; ++t) {
    gate.clear();
    for (index_t b = 0; b < t / o.block; ++b) {
      const T score = queries.row(t).template cast<T>().dot(means.row(b));
      gate.push_back({is_nan(score) ? -infinity<T> : score, b});
    }
    const std::size_t chosen = std::min(gate.size(), std::size_t(o.top - 1));
    std::partial_sort(gate.begin(), gate.begin() + std::ptrdiff_t(chosen), gate.end(),
                      [](const auto& a, const auto& b) {
                        return b.first < a.first || (!(a.first < b.first) && a.second < b.second);
                      });
    for (std::size_t i = 0; i < chosen; ++i) seen[std::size_t(t)].push_back(gate[i].second);
    std::sort(seen[std::size_t(t)].begin(), seen[std::size_t(t)].end());
  }
  return seen;
}

}  // namespace detail

/// Causal attention of each query over its own block and those that its gate chooses, by dense attention under a mask: the
/// definition, to compare with.
///
/// Shape    Q, K: [n, d]; V: [n, e]; query t stands at token t.
/// Edges    a block that starts after the query is never chosen; with fewer than `top` blocks it sees all there are. Ties go to
///          the earlier block. top = 1 is local attention: the published efficient code falls back to full attention there.
/// Error    as attention; the gate's means and products are sums in the scalar of the scores.
/// Cost     n^2 scores and a mask of n^2 bytes.
/// Source   E. Lu et al., arXiv 2502.13189 (2025), section 2.2.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] attention_result<scalar_of<K>> moba_attention_naive(const Q& q, const K& k,
                                                                  const V& v,
                                                                  const moba_options& o = {}) {
  detail::require_moba("moba_attention_naive", q, k, v, o);
  const auto seen = detail::moba_gate(q, k, o);
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> keep =
      decltype(keep)::Constant(q.rows(), k.rows(), false);
  for (index_t t = 0; t < index_t(q.rows()); ++t) {
    const index_t own = t / o.block * o.block;
    keep.row(t).segment(own, t + 1 - own).setConstant(true);
    for (const index_t b : seen[std::size_t(t)])
      keep.row(t).segment(b * o.block, o.block).setConstant(true);
  }
  return attention(q, k, v, {.scale = o.scale, .mask = keep});
}

/// The same, block by block: causal attention of each block on itself, and of the queries that chose a block on all of it,
/// merged by log-sum-exp.
///
/// Shape    as moba_attention_naive, and its edges.
/// Error    as attention and merge, `top` merges a query.
/// Cost     n (top block) scores and a gate of n^2 / block products.
/// Source   as moba_attention_naive, section 2.3.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] attention_result<scalar_of<K>> moba_attention(const Q& q, const K& k, const V& v,
                                                            const moba_options& o = {}) {
  using T = scalar_of<K>;
  detail::require_moba("moba_attention", q, k, v, o);
  const index_t n = index_t(q.rows());
  const auto seen = detail::moba_gate(q, k, o);
  std::vector<std::vector<index_t>> chosen_by(static_cast<std::size_t>(n / o.block + 1));
  for (index_t t = 0; t < n; ++t) {
    for (const index_t b : seen[std::size_t(t)]) chosen_by[std::size_t(b)].push_back(t);
  }
  attention_result<T> result = no_attention<T>(n, index_t(v.cols()));
  using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (index_t first = 0; first < n; first += o.block) {
    const index_t count = std::min(o.block, n - first);
    const auto keys = k.middleRows(first, count);
    const auto values = v.middleRows(first, count);
    const auto own =
        attention(q.middleRows(first, count), keys, values, {.causal = true, .scale = o.scale});
    for (index_t i = 0; i < count; ++i) detail::merge_row(result, first + i, own, i);
    const std::vector<index_t>& from = chosen_by[std::size_t(first / o.block)];
    if (from.empty()) continue;
    rows gathered(index_t(from.size()), q.cols());
    for (std::size_t i = 0; i < from.size(); ++i) gathered.row(index_t(i)) = q.row(from[i]);
    const auto part = attention(gathered, keys, values, {.scale = o.scale});
    for (std::size_t i = 0; i < from.size(); ++i) detail::merge_row(result, from[i], part, index_t(i));
  }
  return result;
}

}  // namespace cumulus
