// SPDX-License-Identifier: MIT
//
// The scores a block can have, what each needs of a summary, and its formula.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/blocks/block_summary.hpp>
#include <cumulus/detail/blocks/gaussian_mass.hpp>
#include <cumulus/core/estimate.hpp>
#include <cumulus/detail/core/require.hpp>

namespace cumulus {

/// An approximation of log sum_{t in B} e^(q . k_t). m = q . mean, v = q^T Sigma q, b = |B|.
enum class block_score {
  pooled,      ///< m: MoBA's gate, the one that leaves log b out
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
  T value{};
  /// lower <= log sum e^(q . k_t) <= upper, whatever the score; NaN where a key is NaN or infinite.
  T lower{};
  T upper{};

  /// |log-mass - value| <= bound.
  [[nodiscard]] T bound() const noexcept { return detail::max_of(T(upper - value), T(value - lower)); }
  /// `order` is what the score took: 2 for one of mean and covariance.
  [[nodiscard]] estimate<T> to_estimate(int order = 2) const noexcept {
    return {value, bound(), order, detail::is_nan(bound()) ? bound_kind::none : bound_kind::bracket};
  }
};

struct block_score_options {
  block_score score = block_score::smooth2;
  double scale = 1;  ///< a score is scale q . k: applied to q, once
};

[[nodiscard]] constexpr const char* name_of(block_score score) noexcept {
  constexpr const char* names[] = {"pooled",  "mean",     "taylor2",   "moment2",  "frozen2",
                                   "smooth2", "taylor3",  "taylor",    "landmark", "landmark2",
                                   "box",     "submeans", "calibrated"};
  return names[static_cast<int>(score)];
}

namespace detail {

[[nodiscard]] constexpr bool uses_covariance(block_score s) noexcept {
  return (block_score::taylor2 <= s && s <= block_score::taylor) || s == block_score::calibrated;
}

/// Refuses a score of a summary that lacks what it needs.
inline void require_score(const char* function, block_score score, const block_summary& parts) {
  const auto need = [&](bool kept, const char* part) {
    if (!kept)
      refuse({function, ": ", name_of(score), " needs a summary with ", part});
  };
  if (uses_covariance(score) && score != block_score::calibrated)
    need(parts.covariance != covariance_kind::none, "a covariance");
  if (score == block_score::taylor3 || score == block_score::taylor)
    need(parts.order >= 3, "tensors of order 3 or above");
  if (score == block_score::landmark) need(parts.landmark, "a landmark");
  if (score == block_score::landmark2) need(parts.landmark_covariance, "a landmark_covariance");
  if (score == block_score::box) need(parts.box, "a box");
  if (score == block_score::submeans) need(parts.submeans > 0, "submeans");
  if (score == block_score::calibrated) need(parts.calibration, "a calibration");
}

}  // namespace detail

}  // namespace cumulus
