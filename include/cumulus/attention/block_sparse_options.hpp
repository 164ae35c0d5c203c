// SPDX-License-Identifier: MIT
//
// What block-sparse attention may be told, and what it gives.
// Layer 5 (attention): uses core and blocks.
#pragma once

#include <cumulus/attention/attention_result.hpp>
#include <cumulus/attention/residual_sums.hpp>
#include <cumulus/blocks/block_score.hpp>
#include <cumulus/blocks/select_blocks.hpp>
#include <cumulus/core/executor.hpp>
#include <optional>

namespace cumulus {

/// What stands for the blocks that a query leaves out.
enum class left_out {
  none,         ///< nothing: the softmax is over what is read
  value_mean,   ///< each block by its score and the mean of its values
  first_order,  ///< the same, with value_covariance q added to the mean: MomentKV
  residual      ///< linear attention over all past keys less those that are read: SPLA
};

struct block_sparse_options {
  block_score score = block_score::smooth2;
  selection select{.top = 8};  ///< of the past blocks; own and usable are set for each query
  bool own_counts = true;      ///< whether the query's own block is one of select.top
  /// So many of the last tokens are read whatever their scores: 0 for none but the query's own block, where
  /// attention_options leave the window out.
  index_t window = 0;
  cumulus::left_out left_out = cumulus::left_out::none;
  residual_kernel kernel = residual_kernel::taylor2;  ///< of left_out::residual
  /// Blocks that are read count by their scores, not by their mass, as in HiLS.
  bool surrogate_mass = false;
  std::optional<double> scale{};  ///< of q.k; 1 / sqrt(d) if not given
  /// The position of the first queries; if not given, the last stand at the last key.
  std::optional<index_t> first_query{};
  /// So many rows of Q stand at one position and share their blocks: heads that share keys.
  index_t group = 1;
  bool bounds = true;  ///< whether the intervals of the blocks are found too
  /// Positions are spread over so many, with OpenMP or the executor; not with left_out::residual.
  int threads = 1;
  cumulus::executor executor{};
};

/// Of n queries: output and log_sum_exp are those of all that was read or stood in.
template <class T>
struct block_sparse_result : attention_result<T> {
  /// The share of the exact mass that was read lies between them; 0 and 1 where nothing is known.
  Eigen::VectorXd kept_low, kept_high;
  /// |output - exact attention| is at most this, in the Euclidean norm; infinite where nothing is known.
  Eigen::VectorXd error_bound;
  /// Of each position the past blocks that were read, ascending.
  std::vector<std::vector<index_t>> selected;
};

}  // namespace cumulus
