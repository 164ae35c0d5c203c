// SPDX-License-Identifier: MIT
//
// The scores of a block: the formula of each score and the parts of a summary that it needs.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/blocks/block_summary_options.hpp>
#include <cumulus/core/estimate.hpp>
#include <cumulus/detail/core/require.hpp>
#include <optional>

namespace cumulus {

/// An approximation of log sum_{t in B} e^(q . k_t). m = q . mean, v = q^T Sigma q, b = |B|.
enum class block_score {
  pooled,      ///< m: MoBA's gate; this score alone leaves log b out
  mean,        ///< log b + m
  taylor2,     ///< log b + m + v / 2; with a low-rank Sigma that of COBS
  moment2,     ///< log b + m + log(1 + v / 2): SPLA's
  frozen2,     ///< log b + m + frozen_mass(v)
  smooth2,     ///< log b + m + smooth_mass(v): the default
  taylor3,     ///< taylor2 + E y^3 / 6
  taylor,      ///< the cumulants up to the order of the tensors
  landmark,    ///< q . k' + b', the tangent at the reference: HiLS's
  landmark2,   ///< and the second order about it
  box,         ///< log b + sum_i max(q_i low_i, q_i high_i): Quest's
  submeans,    ///< log sum over runs of tokens of (their count) e^(q . their mean)
  calibrated,  ///< smooth2 + the block's correction
};

/// A block's score and the interval that its log-mass certainly lies in.
template <class T>
struct scored_block {
  /// The score, as block_score defines it.
  T value{};
  /// lower <= log sum e^(q . k_t) <= upper, whatever the score; NaN where a key is NaN or infinite.
  T lower{};
  /// The upper end of the interval of `lower`.
  T upper{};

  /// |log-mass - value| <= bound.
  [[nodiscard]] T bound() const noexcept {
    return detail::max_of(T(upper - value), T(value - lower));
  }
  /// As an estimate. `order` is the order of the score: 2 for a score of mean and covariance.
  [[nodiscard]] estimate<T> to_estimate(int order = 2) const noexcept {
    return {value, bound(), order,
            detail::is_nan(bound()) ? bound_kind::none : bound_kind::bracket};
  }
};

/// The options of block_scores.
struct block_score_options {
  std::optional<double> scale{};  ///< of q . k; 1 / sqrt(d) if not given. Applied to q, once
  /// The score to compute.
  block_score score = block_score::smooth2;
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(block_score score) noexcept {
  switch (score) {
    case block_score::pooled:
      return "pooled";
    case block_score::mean:
      return "mean";
    case block_score::taylor2:
      return "taylor2";
    case block_score::moment2:
      return "moment2";
    case block_score::frozen2:
      return "frozen2";
    case block_score::smooth2:
      return "smooth2";
    case block_score::taylor3:
      return "taylor3";
    case block_score::taylor:
      return "taylor";
    case block_score::landmark:
      return "landmark";
    case block_score::landmark2:
      return "landmark2";
    case block_score::box:
      return "box";
    case block_score::submeans:
      return "submeans";
    case block_score::calibrated:
      return "calibrated";
  }
  return "?";
}

namespace detail {

/// What a formula reads of the query: its product with the mean key, and the variance it sees.
struct score_needs {
  bool mean, variance;
};
[[nodiscard]] constexpr score_needs needs_of(block_score score) noexcept {
  switch (score) {
    case block_score::pooled:
    case block_score::mean:
      return {true, false};
    case block_score::taylor2:
    case block_score::moment2:
    case block_score::frozen2:
    case block_score::smooth2:
    case block_score::taylor3:
    case block_score::taylor:
    case block_score::calibrated:
      return {true, true};
    case block_score::landmark:
    case block_score::landmark2:
    case block_score::box:
    case block_score::submeans:
      return {false, false};
  }
  return {true, true};
}

/// Refuses a score that rests on a part that the summaries lack.
inline void require_score(const char* function, block_score score,
                          const block_summary_options& kept) {
  const auto need = [&](bool is_kept, const char* part, const char* remedy) {
    if (!is_kept)
      refuse({function, ": ", name_of(score), " needs summaries with ", part,
              "; give block_summary_options ", remedy});
  };
  switch (score) {
    case block_score::taylor3:
    case block_score::taylor:
      need(kept.covariance != covariance_kind::none, "a covariance", ".covariance");
      need(kept.order >= 3, "tensors of order 3 or above", ".order");
      break;
    case block_score::taylor2:
    case block_score::moment2:
    case block_score::frozen2:
    case block_score::smooth2:
      need(kept.covariance != covariance_kind::none, "a covariance", ".covariance");
      break;
    case block_score::landmark:
      need(kept.landmark, "a landmark", ".landmark");
      break;
    case block_score::landmark2:
      need(kept.landmark_covariance, "a landmark_covariance", ".landmark_covariance");
      break;
    case block_score::box:
      need(kept.box, "a box", ".box");
      break;
    case block_score::submeans:
      need(kept.submeans > 0, "submeans", ".submeans");
      break;
    case block_score::calibrated:
      need(kept.calibration, "a calibration", ".calibration");
      break;
    case block_score::pooled:
    case block_score::mean:
      break;
  }
}

}  // namespace detail

}  // namespace cumulus
