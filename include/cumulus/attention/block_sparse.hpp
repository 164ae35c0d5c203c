// SPDX-License-Identifier: MIT
//
// Attention that reads the best blocks of a cache, and takes summaries for the rest or leaves it out.
// Layer 5 (attention): uses blocks and dense.
#pragma once

#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/attention/block_sparse_position.hpp>

namespace cumulus {

namespace detail {

template <class T>
inline constexpr bool block_sparse_scalar =
    std::same_as<attention_scalar<T>, float> || std::same_as<T, double>;

template <class T, class S>
void require_block_sparse(const block_sparse_call<T, S>& call) {
  const char* const name = "block_sparse_attention";
  const auto text = [](index_t n) { return std::to_string(n); };
  const auto fail = [&](const std::string& what) { refuse({name, ": ", what}); };
  const block_sparse_options& o = call.o;
  const block_summary& parts = call.blocks.parts();
  require_same_size(name, "a key", call.k.width(), "a query", call.q.width());
  require_same_size(name, "K", call.k.size(), "V", call.v.size());
  require_same_size(name, "a key", call.k.width(), "a key of the summaries", call.blocks.width());
  if (call.blocks.value_width() > 0)
    require_same_size(name, "a value", call.v.width(), "a value of the summaries",
                      call.blocks.value_width());
  if (o.window < 0) fail("a window of " + text(o.window) + " tokens");
  if (call.first_query < 0 || call.first_query > call.k.size() - call.positions())
    fail(text(call.positions()) + " positions from " + text(call.first_query) + " on, of " +
         text(call.k.size()) + " tokens");
  const index_t last = call.first_query + call.positions() - 1;
  const index_t b = call.blocks.block_size();
  for (const index_t page : {call.k.page(), call.v.page()}) {
    if (page % b != 0) fail("blocks of " + text(b) + " tokens in pages of " + text(page));
  }
  if (call.past(last) > call.blocks.blocks())
    fail("summaries of " + text(call.blocks.blocks()) + " blocks, but the last query has " +
         text(call.past(last)) + " past ones");
  require_score(name, o.score, parts);
  const bool by_summary = o.left_out == left_out::value_mean || o.left_out == left_out::first_order;
  if (by_summary && !parts.value_mean) fail("what is left out needs a summary with a value_mean");
  if (o.left_out == left_out::first_order && !parts.value_covariance)
    fail("left_out::first_order needs a summary with a value_covariance");
  if (!is_finite(call.scale)) fail("a scale of " + std::to_string(call.scale));
  require_threads(name, o.threads);
  static_cast<void>(select_blocks(std::vector<double>{}, o.select));  // refuses what it would
}

/// A centre that no query looks ahead for.
template <class S>
[[nodiscard]] std::vector<double> first_mean(const block_moments<S>& blocks) {
  std::vector<double> centre(std::size_t(blocks.width()), 0.0);
  for (std::size_t i = 0; i < centre.size() && blocks.blocks() > 0; ++i)
    centre[i] = double(blocks.mean(0)[index_t(i)]);
  return centre;
}

}  // namespace detail

/// Causal attention of each query over its own block, the window, and the past blocks that its scores choose; the others by what
/// `left_out` says.
///
/// Shape    Q: [n group, d]; K: [m, d], V: [m, e], of one scalar: Eigen matrices, or token_rows over a cache. blocks: the summaries
///          of these keys (and values) in order, as far as the last query's past blocks; a summary serves queries after its
///          end only. past_sums: for left_out::residual at one position, the sums of its past blocks, which decoding keeps; they
///          are made anew where they are not given.
/// Edges    with all blocks chosen it is dense attention, to rounding, but for surrogate_mass. A block of NaN scores is chosen first, so that it shows.
///          Queries with no past block see their own tokens.
/// Error    error_bound, for the options and numbers as given; kept_low and kept_high rest on the blocks' intervals. Bounds need
///          summaries that know the values' width (they keep the longest value), and are infinite without.
/// Cost     a query: the scores, (top + own + window) tokens of exact attention, and for what is left out
///          e (first_order: d e) operations a block, residual: its features times e + 1.
/// Source   selection: the scores' (block_score.hpp); the rest by value_mean + value_covariance q: Y. Li, B. Li, T. Lan, arXiv
///          2606.01563 (2026); by residual_sums: its header; parts are merged by their log-sum-exp.
template <class Q, class K, class V, class S>
requires(detail::attention_arguments<Q, K, V>)
    [[nodiscard]] block_sparse_result<detail::token_scalar_of<Q>> block_sparse_attention(
        const Q& q, const K& k, const V& v, const block_moments<S>& blocks,
        const block_sparse_options& o = {},
        const residual_sums<detail::token_scalar_of<Q>>* past_sums = nullptr) {
  using T = detail::token_scalar_of<Q>;
  static_assert(detail::block_sparse_scalar<T>,
                "cumulus: block_sparse_attention takes float, double, half or bfloat16");
  const token_rows<T>&qs = detail::tokens_of<T>(q), &ks = detail::tokens_of<T>(k),
        &vs = detail::tokens_of<T>(v);
  if (o.group < 1 || qs.size() % o.group != 0)
    detail::refuse({"block_sparse_attention: ", qs.size(), " queries in groups of ", o.group});
  const index_t positions = qs.size() / o.group;
  const detail::block_sparse_call<T, S> call{
      qs,
      ks,
      vs,
      blocks,
      o,
      o.scale.value_or(1 / std::sqrt(double(std::max(ks.width(), index_t(1))))),
      o.first_query.value_or(ks.size() - positions)};
  if (positions > 0) detail::require_block_sparse(call);
  if (past_sums != nullptr) {
    if (positions != 1)
      detail::refuse({"block_sparse_attention: sums of one position for ", positions});
    detail::require_same_size("block_sparse_attention", "the past blocks",
                      call.past(call.first_query) * blocks.block_size(), "past_sums",
                      past_sums->size());
  }

  block_sparse_result<T> result;
  static_cast<attention_result<T>&>(result) = no_attention<T>(qs.size(), vs.width());
  result.kept_low.setZero(qs.size());
  result.kept_high.setOnes(qs.size());
  result.error_bound.setConstant(qs.size(), detail::infinity<double>);
  result.selected.resize(std::size_t(positions));
  const bool residual = o.left_out == left_out::residual;
  std::optional<residual_sums<T>> own_sums;
  if (residual && past_sums == nullptr)
    own_sums.emplace(ks.width(), vs.width(), o.kernel, call.scale, detail::first_mean(blocks));
  detail::run_ranges(
      positions, 1, residual ? 1 : o.threads, o.executor, [&](index_t first, index_t end) {
        for (index_t i = first; i < end; ++i) {
          detail::block_sparse_position<T, S> position(call, i);
          if (own_sums)
            own_sums->add(ks, vs, own_sums->size(), position.past() * blocks.block_size());
          position.attend(own_sums ? &*own_sums : past_sums, result);
          result.selected[std::size_t(i)] = position.chosen();
        }
      });
  return result;
}

}  // namespace cumulus
