// SPDX-License-Identifier: MIT
//
// What block-sparse attention may be told, and what it gives.
// Layer 5 (attention): uses core and blocks.
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/attention/attention_result.hpp>
#include <cumulus/attention/residual_sums.hpp>
#include <cumulus/blocks/block_score.hpp>
#include <cumulus/core/executor.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace cumulus {

/// What stands for the blocks that a query leaves out.
enum class left_out {
  none,         ///< nothing: the softmax is over what is read
  value_mean,   ///< each block by its mass (.mass_score) and the mean of its values
  first_order,  ///< the same, with value_covariance q added to the mean: MomentKV
  residual      ///< linear attention over all past keys less those that are read: SPLA
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(left_out by) noexcept {
  switch (by) {
    case left_out::none:
      return "none";
    case left_out::value_mean:
      return "value_mean";
    case left_out::first_order:
      return "first_order";
    case left_out::residual:
      return "residual";
  }
  return "?";
}

/// Of block_sparse_attention. A position is a row of Q: its heads share the blocks that they read.
struct block_sparse_options {
  std::optional<double> scale{};  ///< of q.k, finite; 1 / sqrt(d) if not given
  cumulus::heads heads{};         ///< .keys is 1: summaries are those of one head of keys
  /// The last `before` tokens are read whatever their scores; only the query's own block if not given. `after` is 0.
  std::optional<cumulus::window> window{};
  std::optional<index_t>
      first_query{};  ///< position of row 0 of Q; if not given, the last row stands at the last key
  /// The score that ranks the past blocks.
  block_score score = block_score::smooth2;
  /// What counts as a block's mass where left_out or surrogate_mass needs one: `score` if not given. box, an upper end, and
  /// pooled, which leaves log b out, are refused.
  std::optional<block_score> mass_score{};
  index_t top = 8;  ///< the most past blocks, the forced ones among them
  double mass = 1;  ///< past blocks until their share of the scores' mass reaches this; 1 for all
  double threshold =
      -std::numeric_limits<double>::infinity();  ///< no past block with a lower score
  index_t first_blocks = 0;  ///< this many of the first blocks are read whatever their scores
  bool own_counts = true;    ///< whether the query's own block is one of `top`
  /// What stands in for the past blocks that are not read.
  cumulus::left_out left_out = cumulus::left_out::none;
  residual_kernel kernel = residual_kernel::taylor2;  ///< of left_out::residual
  /// Of left_out::residual at one position: the sums of its past blocks, which decoding keeps; made anew if not given.
  const residual_sums* past_sums = nullptr;
  bool surrogate_mass =
      false;           ///< blocks that are read count by .mass_score, not by their mass, as in HiLS
  bool bounds = true;  ///< whether the intervals of the blocks are found too
  int threads =
      1;  ///< the most threads for the positions: needs OpenMP or the executor. One for left_out::residual
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// Of n positions: output and logsumexp are those of all that was read or stood in.
template <class T>
struct block_sparse_result : multi_head_result<T> {
  /// Bounds of the share of the exact mass that was read; 0 and 1 where nothing is known.
  Eigen::MatrixXd kept_low,  ///< [n, heads.queries]: the lower bound
      kept_high;             ///< [n, heads.queries]: the upper bound
  /// [n, heads.queries]: |output - exact attention| is at most this, in the Euclidean norm; infinite where nothing is known.
  Eigen::MatrixXd error_bound;
  /// Of each position the past blocks that were read, ascending.
  std::vector<std::vector<index_t>> selected;
};

}  // namespace cumulus
