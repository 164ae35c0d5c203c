// SPDX-License-Identifier: MIT
//
// Which blocks a query reads, from their scores.
// Layer 4 (blocks): uses core; block-sparse attention takes the result.
#pragma once

#include <cumulus/blocks/block_score.hpp>
#include <cumulus/detail/core/view.hpp>
#include <algorithm>
#include <limits>
#include <vector>

namespace cumulus {

/// Blocks are taken in the order of their scores until one of the limits is met; forced blocks come first.
struct selection_options {
  /// The most blocks, the forced ones among them.
  index_t top = std::numeric_limits<index_t>::max();
  double mass = 1;  ///< until their share of the scores' mass reaches this, to rounding; 1 for all
  double threshold = -std::numeric_limits<double>::infinity();  ///< no block with a lower score
  index_t first_blocks = 0;  ///< this many of the first blocks are forced
  index_t own =
      -1;  ///< the query's own block, forced and without a score of its own; -1 for no such block
  index_t usable = std::numeric_limits<index_t>::max();  ///< causal: only blocks before this one
};

namespace detail {

/// The order of scores. NaN ranks as high as +inf, so that a block with an unknown score is read.
[[nodiscard]] inline double rank_of(double score) noexcept {
  return is_nan(score) ? infinity<double> : score;
}

/// The first `n` of the candidates with the highest ranks, equal ones by lower index, in that order.
inline void sort_by_rank(std::vector<index_t>& candidates, std::size_t n,
                         const std::vector<double>& rank) {
  const auto above = [&](index_t a, index_t b) {
    const double x = rank[std::size_t(a)], y = rank[std::size_t(b)];
    return x > y || (x == y && a < b);
  };
  const auto middle = candidates.begin() + std::ptrdiff_t(std::min(n, candidates.size()));
  std::nth_element(candidates.begin(), middle, candidates.end(), above);
  std::sort(candidates.begin(), middle, above);
}

template <class X>
[[nodiscard]] std::vector<double> scores_of(const X& x) {
  const operand<scalar_of<X>> held(x);
  std::vector<double> s;
  for (index_t i = 0; i < held.size(); ++i) s.push_back(static_cast<double>(held.view()[i]));
  return s;
}
template <class T>
[[nodiscard]] std::vector<double> scores_of(const std::vector<scored_block<T>>& x) {
  std::vector<double> s;
  for (const auto& block : x) s.push_back(double(block.value));
  return s;
}

/// Whether the blocks taken hold a share of the mass of all.
///
/// Masses are measured by the largest, so that equal scores have equal ones: those of +inf share all, whatever else there is.
/// A NaN leaves every share open, as do scores that are all -inf.
/// Error    of the share: 8 n u of it.
class share_taken {
 public:
  /// Of the blocks before `usable` but `own`.
  share_taken(double wanted, const std::vector<double>& scores, index_t usable, index_t own) {
    if (!(wanted < 1)) return;
    double top = -infinity<double>, whole = 0;
    for (index_t B = 0; B < usable; ++B) {
      const double s = scores[std::size_t(B)];
      if (B == own) continue;
      if (is_nan(s)) return;
      top = max_of(top, s);
    }
    if (!(top > -infinity<double>)) return;
    for (index_t B = 0; B < usable; ++B) {
      const double s = scores[std::size_t(B)];
      mass_.push_back(B == own ? 0 : s == top ? 1 : std::exp(s - top));
      whole += mass_.back();
    }
    wanted_ = wanted * whole * (1 - 8 * double(usable) * unit_roundoff<double>);
  }
  void add(index_t B) noexcept {
    if (!mass_.empty()) taken_ += mass_[std::size_t(B)];
  }
  [[nodiscard]] bool reached() const noexcept { return !mass_.empty() && taken_ >= wanted_; }

 private:
  std::vector<double> mass_;  // empty where no share is asked for, or known
  double taken_ = 0, wanted_ = 0;
};

/// Refuses limits that say nothing, by the name of the function called.
inline void require_selection(const char* function, index_t top, double mass, double threshold,
                              index_t first_blocks) {
  if (top < 1) refuse({function, ": .top is ", top, "; give 1 or more"});
  if (!(mass > 0) || mass > 1) refuse({function, ": .mass is ", mass, "; give a share in (0, 1]"});
  if (is_nan(threshold))
    refuse({function, ": .threshold is ", threshold, "; give a number, or -inf for no threshold"});
  if (first_blocks < 0) refuse({function, ": .first_blocks is ", first_blocks, "; give 0 or more"});
}

[[nodiscard]] inline std::vector<index_t> selected(const std::vector<double>& score,
                                                   const selection_options& options) {
  const char* const name = "select_blocks";
  require_selection(name, options.top, options.mass, options.threshold, options.first_blocks);
  if (options.own < -1)
    refuse({name, ": .own is ", options.own, "; give a block, or -1 for no own block"});
  if (options.usable < 0) refuse({name, ": .usable is ", options.usable, "; give 0 or more"});

  const index_t usable = std::min(options.usable, index_t(score.size()));
  const index_t forced = std::min(options.first_blocks, usable);
  std::vector<index_t> taken, free;
  for (index_t B = 0; B < forced; ++B) taken.push_back(B);
  if (options.own >= forced) taken.push_back(options.own);
  std::vector<double> rank;
  rank.reserve(score.size());
  for (const double s : score) rank.push_back(rank_of(s));
  for (index_t B = 0; B < usable; ++B) {
    if (B >= forced && B != options.own) free.push_back(B);
  }
  const index_t room = std::max(options.top - index_t(taken.size()), index_t(0));
  sort_by_rank(free, std::size_t(std::min(room, index_t(free.size()))), rank);
  share_taken share(options.mass, score, usable, options.own);
  for (index_t B = 0; B < forced; ++B) share.add(B);
  for (std::size_t i = 0; i < free.size() && index_t(i) < room; ++i) {
    if (share.reached()) break;
    const std::size_t B = std::size_t(free[i]);
    if (rank[B] < options.threshold) break;
    taken.push_back(free[i]);
    share.add(free[i]);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace detail

/// The blocks to read, ascending.
///
/// Shape    scores: any vector of log-masses, or the result of block_scores; the result: distinct
///          indices.
/// Edges    ties go to the lower index; NaN is taken first, so that it shows in the output; fewer blocks than asked are
///          all taken. top = 1 with an own block takes the own block alone, as MoBA counts. own may
///          lie past the scores: an open block has no score. Scores of +inf share the whole mass
///          among them.
/// Requires top >= 1, 0 < mass <= 1, first_blocks, usable >= 0: else std::invalid_argument.
/// Cost     n + k log k; for a mass below 1 n exponentials.
template <class Scores>
[[nodiscard]] std::vector<index_t> select_blocks(const Scores& scores,
                                                 const selection_options& options = {}) {
  return detail::selected(detail::scores_of(scores), options);
}

}  // namespace cumulus
