// SPDX-License-Identifier: MIT
//
// What is kept of each block of a cache.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus {

/// How the covariance of a block's keys is kept, in numbers a block of width d.
enum class covariance_kind {
  none,      ///< its trace only
  diagonal,  ///< d
  full,      ///< d (d + 1) / 2
  low_rank   ///< (rank + 1) d: the directions of the largest variance, and the rest's diagonal
};

/// The parts of a summary. Mean, count, largest norm and radius of a block are always kept: d + 3
/// numbers; with them goes the trace of the covariance.
struct block_summary {
  covariance_kind covariance = covariance_kind::none;
  int rank = 4;                      ///< of covariance_kind::low_rank
  int order = 0;                     ///< moment tensors of order 3..order, packed; 0 for none
  bool box = false;                  ///< least and largest of each coordinate: 2 d
  bool landmark = false;             ///< tilted mean and entropy about the mean reference: d + 1
  bool landmark_covariance = false;  ///< and the tilted covariance, kept as `covariance`
  int submeans = 0;                  ///< means of so many runs of tokens: submeans d
  bool calibration = false;          ///< what the score leaves out at the references, averaged: 1
  bool value_mean = false;           ///< e
  bool value_covariance = false;     ///< Cov(value, key): e d
};

}  // namespace cumulus
