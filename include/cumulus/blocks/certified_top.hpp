// SPDX-License-Identifier: MIT
//
// Finds the blocks of the k largest log-masses. It evaluates only the blocks whose rank their
// intervals leave open.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/blocks/select_blocks.hpp>

namespace cumulus {

/// The exact top k, the blocks whose keys were read, and the proof.
struct certified_selection {
  std::vector<index_t> blocks;     ///< ascending
  std::vector<index_t> evaluated;  ///< whose keys were read, in that order
  double least_inside = std::numeric_limits<
      double>::infinity();  ///< the least that a selected block can have: at least
  double largest_outside = -std::numeric_limits<
      double>::infinity();  ///< the largest that any other can have. The proof.
};

/// The k blocks of largest exact score, ties to the lower index and NaN as +inf: select_blocks of all exact scores.
///
/// A block is in where its lower end is above the upper ends of all but k - 1 others, out where k lower ends are
/// above its upper end. While one is neither, the undecided block of the largest upper end is evaluated: its interval becomes
/// a point.
///
/// Shape    scores: intervals that contain exact(B); exact: a block's index to its exact log-mass, called once a block at most.
/// Requires k >= 1, usable >= 0: else std::invalid_argument. usable as in selection_options.
/// Edges    a NaN end is no information.
/// Cost     n a call of exact, and the calls.
template <class T, class Exact>
[[nodiscard]] certified_selection certified_top(
    const std::vector<scored_block<T>>& scores, index_t k, Exact exact,
    index_t usable = std::numeric_limits<index_t>::max()) {
  if (k < 1) detail::refuse({"certified_top: k is ", k, "; give 1 or more"});
  if (usable < 0) detail::refuse({"certified_top: usable is ", usable, "; give 0 or more"});
  struct state {
    index_t block;
    double low, high;
    bool known;
  };
  std::vector<state> open;
  const index_t n = std::min(usable, index_t(scores.size()));
  for (index_t B = 0; B < n; ++B) {
    const auto& s = scores[std::size_t(B)];
    open.push_back({B, detail::is_nan(s.lower) ? -detail::infinity<double> : double(s.lower),
                    detail::rank_of(double(s.upper)), false});
  }
  certified_selection out;
  // whether a is certainly ranked before b
  const auto before = [](const state& a, const state& b) {
    return a.low > b.high || (a.low == b.high && a.block < b.block);
  };
  const auto take = [&](const state& s) {
    out.blocks.push_back(s.block);
    out.least_inside = std::min(out.least_inside, s.low);
  };
  while (!open.empty()) {
    const index_t wanted = k - index_t(out.blocks.size());
    if (wanted >= index_t(open.size())) {
      for (const state& s : open) take(s);
      break;
    }
    // the wanted-th by lower ends, and the first beyond `wanted` by upper ends: what the others are held against
    const auto by_low = [](const state& a, const state& b) {
      return a.low > b.low || (a.low == b.low && a.block < b.block);
    };
    const auto by_high = [](const state& a, const state& b) {
      return a.high > b.high || (a.high == b.high && a.block < b.block);
    };
    if (wanted > 0) std::nth_element(open.begin(), open.begin() + (wanted - 1), open.end(), by_low);
    const state last_in = wanted > 0 ? open[std::size_t(wanted - 1)] : state{};
    std::nth_element(open.begin(), open.begin() + wanted, open.end(), by_high);
    const state first_out = open[std::size_t(wanted)];
    std::vector<state> left;
    for (const state& s : open) {
      // s itself is among the first by lower ends, so `wanted` others must come before it to put it out
      if (wanted == 0 || (before(last_in, s) && last_in.block != s.block)) {
        out.largest_outside = std::max(out.largest_outside, s.high);
      } else if (before(s, first_out) && s.block != first_out.block) {
        take(s);
      } else {
        left.push_back(s);
      }
    }
    const bool moved = left.size() < open.size();
    open.swap(left);
    if (moved) continue;
    state* next = nullptr;
    for (state& s : open) {
      if (!s.known && (next == nullptr || s.high > next->high)) next = &s;
    }
    if (next == nullptr) break;  // points are totally ordered: not reached
    const double value = detail::rank_of(static_cast<double>(exact(next->block)));
    out.evaluated.push_back(next->block);
    *next = {next->block, value, value, true};
  }
  std::sort(out.blocks.begin(), out.blocks.end());
  return out;
}

}  // namespace cumulus
