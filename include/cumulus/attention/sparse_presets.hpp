// SPDX-License-Identifier: MIT
//
// Published configurations of block-sparse attention: the block length, what is kept of a block, and the options; in namespace presets.
// Layer 5 (attention): uses blocks.
#pragma once

#include <cumulus/attention/block_sparse_options.hpp>
#include <cumulus/blocks/block_summary_options.hpp>
#include <algorithm>

namespace cumulus::presets {

/// What to keep of a cache, and how to attend to it: `block_summaries<T> blocks(p.summary_of(d, e))` and
/// `block_sparse_attention(q, k, v, blocks, p.options)`.
struct block_sparse_preset {
  /// The parts of a block to keep; summary_of adds the widths.
  block_summary_options summary;
  /// The options of block_sparse_attention.
  block_sparse_options options;

  /// Of a cache of these widths.
  [[nodiscard]] block_summary_options summary_of(index_t key_width, index_t value_width = 0) const {
    block_summary_options o = summary;
    o.key_width = key_width;
    o.value_width = value_width;
    return o;
  }
};

/// MoBA: mean keys by a product that counts no tokens, the own block one of `top`. The published gate is not scaled; a scale above
/// 0 does not change which blocks are chosen.
/// Source   E. Lu et al., arXiv 2502.13189 (2025): 8K tokens, blocks of 512, 3 of them.
[[nodiscard]] inline block_sparse_preset moba(index_t block = 512, index_t top = 3) {
  block_sparse_preset p{.summary = {.block = block}, .options = {}};
  p.options.score = block_score::pooled;
  p.options.top = top;
  return p;
}

/// Quest: the box's upper end of every score, a budget of tokens, the last page always; at least 3 pages.
/// Source   J. Tang et al., arXiv 2406.10774 (2024): pages of 16; budgets of 64 to 2048 tokens.
[[nodiscard]] inline block_sparse_preset quest(index_t budget = 1024, index_t page = 16) {
  if (page < 1) detail::refuse({"presets::quest: a page of ", page, " tokens; give 1 or more"});
  block_sparse_preset p{.summary = {.block = page, .box = true}, .options = {}};
  p.options.score = block_score::box;
  p.options.top = std::max(budget / page, index_t(3));
  p.options.own_counts = false;
  return p;
}

/// HiLS: the tangent of a block's log-mass at a landmark query (block_summaries::set_references), which is also the mass that the
/// block's output gets; a sliding window beside them.
/// Source   X. Hu et al., arXiv 2607.02980 (2026) and its code: blocks of 64, 32 of them, a window of 512.
[[nodiscard]] inline block_sparse_preset hils(index_t top = 32, index_t block = 64,
                                              index_t window = 512) {
  block_sparse_preset p{.summary = {.block = block, .landmark = true}, .options = {}};
  p.options.score = block_score::landmark;
  p.options.top = top;
  p.options.own_counts = false;
  p.options.window = window;
  p.options.surrogate_mass = true;
  return p;
}

/// COBS: the second cumulant from a low-rank covariance, a sliding window beside the blocks.
/// Source   Tian et al., arXiv 2607.09052 (2026): blocks of 32, 16 of them, a window of 256, rank 4 (or 6).
[[nodiscard]] inline block_sparse_preset cobs(int rank = 4, index_t top = 16, index_t block = 32,
                                              index_t window = 256) {
  block_sparse_preset p{
      .summary = {.block = block, .covariance = covariance_kind::low_rank, .rank = rank},
      .options = {}};
  p.options.score = block_score::taylor2;
  p.options.top = top;
  p.options.own_counts = false;
  p.options.window = window;
  return p;
}

/// SPLA: log(1 + q Sigma q / 2), a quarter of the blocks, the rest by linear attention over φ(x) = [softmax(x), softmax(-x)] less that
/// of the chosen blocks. Its own block length and number are known at second hand only; the output is merged by log-sum-exp,
/// where the authors add normalised outputs.
/// Source   B. Wang et al., arXiv 2601.22379 (2026).
[[nodiscard]] inline block_sparse_preset spla(index_t tokens, double share = 0.25,
                                              index_t block = 32) {
  if (block < 1) detail::refuse({"presets::spla: a block of ", block, " tokens; give 1 or more"});
  if (!(share > 0) || share > 1)
    detail::refuse({"presets::spla: a share of ", share, "; give a number in (0, 1]"});
  block_sparse_preset p{.summary = {.block = block, .covariance = covariance_kind::full},
                        .options = {}};
  p.options.score = block_score::moment2;
  const index_t blocks = tokens / block;
  p.options.top = std::max(index_t(share * double(blocks)), index_t(1));
  p.options.left_out = left_out::residual;
  p.options.kernel = residual_kernel::softmax_pair;
  return p;
}

}  // namespace cumulus::presets
