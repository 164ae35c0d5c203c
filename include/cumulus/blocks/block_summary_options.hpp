// SPDX-License-Identifier: MIT
//
// What is kept of each block of a cache.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/core/index.hpp>

namespace cumulus {

/// How the covariance of a block's keys is kept, in numbers for a block of width d.
enum class covariance_kind {
  none,      ///< its trace only
  diagonal,  ///< d
  full,      ///< d (d + 1) / 2
  low_rank   ///< (rank + 1) d: the directions of the largest variance, and the diagonal of the rest
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(covariance_kind kind) noexcept {
  switch (kind) {
    case covariance_kind::none:
      return "none";
    case covariance_kind::diagonal:
      return "diagonal";
    case covariance_kind::full:
      return "full";
    case covariance_kind::low_rank:
      return "low_rank";
  }
  return "?";
}

/// The sizes of a cache, and the parts that block_summaries keep of each block of it, in numbers a block: d is key_width, e is
/// value_width. Mean, count, largest norm and radius of a block are always kept: d + 3 numbers; with them goes the trace of the
/// covariance.
struct block_summary_options {
  index_t key_width = 0;    ///< d >= 1: must be given
  index_t value_width = 0;  ///< e; 0 where no values are appended
  index_t block = 64;       ///< tokens of a block
  /// How the covariance of the keys is kept.
  covariance_kind covariance = covariance_kind::none;
  int rank = 4;                      ///< of covariance_kind::low_rank
  int order = 0;                     ///< moment tensors of order 3..order, packed; 0 for no tensor
  bool box = false;                  ///< least and largest of each coordinate: 2 d
  bool landmark = false;             ///< tilted mean and entropy about the mean reference: d + 1
  bool landmark_covariance = false;  ///< the tilted covariance, in the form of `covariance`
  int submeans = 0;                  ///< the means of this many runs of tokens: submeans d
  bool calibration = false;       ///< the mean error of block_score::smooth2 at the references: 1
  bool value_mean = false;        ///< e
  bool value_covariance = false;  ///< Cov(value, key): e d
};

}  // namespace cumulus
