// SPDX-License-Identifier: MIT
//
// Attention that reads the best blocks of a cache, and takes summaries for the rest or leaves it out.
// Layer 5 (attention): uses blocks and dense.
#pragma once

#include <cumulus/detail/attention/block_sparse_position.hpp>
#include <cumulus/detail/attention/require_window.hpp>
#include <cumulus/detail/core/require_options.hpp>

namespace cumulus {

namespace detail {

template <class T, class S, class Rows>
void require_block_sparse(const char* name, const block_sparse_call<T, S, Rows>& call) {
  const block_sparse_options& o = call.o;
  const block_summary_options& kept = call.blocks.options();
  require_same_size(name, "a key of the summaries", call.blocks.width(), "a key", call.k.width());
  require_same_size(name, "a key", call.k.width(), "a query", call.q.width() / o.heads.queries);
  require_same_size(name, "K", call.k.size(), "V", call.v.size());
  if (call.blocks.value_width() > 0)
    require_same_size(name, "a value of the summaries", call.blocks.value_width(), "a value",
                      call.v.width());
  require_past_window(name, o.window);
  if (call.first_query < 0 || call.first_query > call.k.size() - call.positions())
    refuse({name, ": ", call.positions(), " positions from ", call.first_query,
            " on, but there are ", call.k.size(), " keys; give each position its own key"});
  const index_t last = call.first_query + call.positions() - 1;
  if (call.past(last) > call.blocks.blocks())
    refuse({name, ": ", call.blocks.blocks(), " blocks are summarised, but the last query has ",
            call.past(last), " past ones; append their keys to the summaries"});
  require_score(name, o.score, kept);
  if (call.takes_mass()) {
    const block_score mass = call.mass_score();
    const char* const use = o.surrogate_mass ? ".surrogate_mass" : ".left_out";
    if (mass == block_score::box)
      refuse({name, ": ", use,
              " takes block_score::box for a mass, but that is an upper end of it; give ",
              ".mass_score = block_score::mean or another estimate"});
    if (mass == block_score::pooled)
      refuse(
          {name, ": ", use,
           " takes block_score::pooled for a mass, but that leaves out how many keys a block has; "
           "give .mass_score = block_score::mean or another estimate"});
    require_score(name, mass, kept);
  }
  if ((o.left_out == left_out::value_mean || o.left_out == left_out::first_order) &&
      !kept.value_mean)
    refuse({name, ": left_out::", name_of(o.left_out),
            " needs summaries with a value_mean; give block_summary_options .value_mean"});
  if (o.left_out == left_out::first_order && !kept.value_covariance)
    refuse({name,
            ": left_out::first_order needs summaries with a value_covariance; give "
            "block_summary_options .value_covariance"});
  if constexpr (std::same_as<Rows, scaled_rows>) {
    if (o.left_out == left_out::residual)
      refuse({name,
              ": left_out::residual does not read scaled_rows; give keys of another kind, or ",
              "left_out::value_mean"});
  }
  require_threads(name, o.threads);
  require_selection(name, o.top, o.mass, o.threshold, o.first_blocks);
}

/// A centre that no query looks ahead for.
template <class S>
[[nodiscard]] std::vector<double> first_mean(const block_summaries<S>& blocks) {
  std::vector<double> centre(std::size_t(blocks.width()), 0.0);
  for (std::size_t i = 0; i < centre.size() && blocks.blocks() > 0; ++i)
    centre[i] = double(blocks.mean(0)[index_t(i)]);
  return centre;
}

}  // namespace detail

/// Causal attention of each query over its own block, the window, and the past blocks that its scores choose; the others by what
/// `left_out` says.
///
/// Shape    Q: [n, heads.queries d]; K: [m, d], V: [m, e], of one scalar: Eigen matrices, or token_rows over a cache, in pages of any
///          size; with queries of float, K and V may be kept as half, bfloat16 or scaled_rows. blocks: the
///          summaries of these keys (and values) in order, as far as the last query's past blocks; a summary serves queries after
///          its end only. The result: [n, heads.queries e].
/// Requires of left_out::value_mean, first_order and of surrogate_mass a .mass_score that estimates a mass: box and pooled
/// are refused.
/// Edges    with all blocks chosen it is dense attention, to rounding, but for surrogate_mass. A block of NaN scores is chosen first, so that it shows.
///          Queries with no past block see their own tokens.
/// Error    error_bound, for the options and numbers as given; kept_low and kept_high rest on the blocks' intervals. Bounds need
///          summaries that know the values' width (they keep the longest value), and are infinite without.
/// Cost     a query: the scores, (top + own + window) tokens of exact attention, and for what is left out
///          e (first_order: d e) operations a block, residual: its features times e + 1.
/// Source   selection: the scores' (block_score.hpp); the rest by value_mean + value_covariance q: Y. Li, B. Li, T. Lan, arXiv
///          2606.01563 (2026); by residual_sums: its header; parts are merged by their log-sum-exp.
template <token_matrix Q, cache_for<token_scalar_of<Q>> K, token_matrix<K> V, class S>
  requires(std::same_as<score_of<token_scalar_of<Q>>, float> ||
           std::same_as<token_scalar_of<Q>, double>)
[[nodiscard]] block_sparse_result<token_scalar_of<Q>> block_sparse_attention(
    const Q& q, const K& k, const V& v, const block_summaries<S>& blocks,
    const block_sparse_options& o = {}) {
  using T = token_scalar_of<Q>;
  const char* const name = "block_sparse_attention";
  const auto& qs = detail::tokens_in<T>(q);
  const auto &ks = detail::cache_in(k), &vs = detail::cache_in(v);
  using rows = std::remove_cvref_t<decltype(ks)>;
  const index_t positions = qs.size(), heads = o.heads.queries;
  if (o.heads.keys != 1)
    detail::refuse({name, ": .heads.keys is ", o.heads.keys,
                    ", but summaries are those of one head of keys; call it for each of them"});
  if (heads < 1) detail::refuse({name, ": .heads.queries is ", heads, "; give 1 or more"});
  if (qs.width() % heads != 0)
    detail::refuse({name, ": queries of width ", qs.width(), " can't be split into ", heads,
                    " heads; give a multiple of .heads.queries"});
  detail::require_scale(name, o.scale);
  const detail::block_sparse_call<T, S, rows> call{qs,
                                                   ks,
                                                   vs,
                                                   blocks,
                                                   o,
                                                   detail::score_scale(o.scale, ks.width()),
                                                   o.first_query.value_or(ks.size() - positions)};
  if (positions > 0) detail::require_block_sparse(name, call);
  if (o.past_sums != nullptr) {
    if (positions != 1)
      detail::refuse({name, ": .past_sums are those of one position, but there are ", positions,
                      "; leave them out"});
    detail::require_same_size(name, "the past of the query",
                              call.past(call.first_query) * blocks.block_size(), "past_sums",
                              o.past_sums->size());
  }

  block_sparse_result<T> result;
  result.output.setZero(positions, heads * vs.width());
  result.logsumexp.setConstant(positions, heads, -detail::infinity<T>);
  result.kept_low.setZero(positions, heads);
  result.kept_high.setOnes(positions, heads);
  result.error_bound.setConstant(positions, heads, detail::infinity<double>);
  result.selected.resize(std::size_t(positions));
  const bool residual = o.left_out == left_out::residual;
  std::optional<residual_sums> own_sums;
  if (residual && o.past_sums == nullptr && positions > 0)
    own_sums.emplace(
        ks.width(), vs.width(),
        residual_sums_options{
            .scale = call.scale, .kernel = o.kernel, .centre = detail::first_mean(blocks)});
  detail::run_ranges(
      positions, 1, residual ? 1 : o.threads, o.executor, [&](index_t first, index_t end) {
        for (index_t i = first; i < end; ++i) {
          detail::block_sparse_position<T, S, rows> position(call, i);
          if constexpr (!std::same_as<rows, scaled_rows>) {
            if (own_sums)
              own_sums->add(ks, vs, own_sums->size(), position.past() * blocks.block_size());
          }
          position.attend(own_sums ? &*own_sums : o.past_sums, result);
          result.selected[std::size_t(i)] = position.chosen();
        }
      });
  return result;
}

// clang-format off
// Refused: each line says what to write instead.
template <token_matrix Q, token_matrix K, token_matrix V, class S, class... Rest>
  requires(!cache_for<K, token_scalar_of<Q>> || !token_matrix<V, K>)
void block_sparse_attention(const Q&, const K&, const V&, const block_summaries<S>&, const Rest&...) = delete;  // cumulus: queries, keys and values must have one scalar, or float queries a cache of half, bfloat16 or scaled_rows: cast, such as k.cast<float>()
template <token_matrix Q, token_matrix<Q> K, token_matrix<K> V, class S, class... Rest>
  requires(!std::same_as<score_of<token_scalar_of<Q>>, float> && !std::same_as<token_scalar_of<Q>, double>)
void block_sparse_attention(const Q&, const K&, const V&, const block_summaries<S>&, const Rest&...) = delete;  // cumulus: block_sparse_attention takes float, double, half or bfloat16
// clang-format on

}  // namespace cumulus
