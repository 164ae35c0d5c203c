// SPDX-License-Identifier: MIT
//
// Elements numbered by segment: the checks of a call, and where each segment lies.
// Layer 2 (exact): uses core.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <limits>

namespace cumulus::detail {

/// Refuses a count of segments below 0 or above `most`, and ids outside 0..segment_count - 1.
template <class Id>
void require_segments(const char* function, const strided<const Id>& ids, std::integral auto given,
                      index_t most) {
  const auto count = +given;
  if (std::cmp_less(count, 0)) refuse({function, ": segment_count is ", count, "; give 0 or more"});
  if (std::cmp_less(most, count))
    refuse({function, ": segment_count is ", count, ", at most ", most,
            " segments have addresses; number the segments from 0 on"});
  for (index_t i = 0; i < ids.size; ++i) {
    const auto id = +ids[i];
    if (std::cmp_less(id, 0) || std::cmp_greater_equal(id, count)) {
      refuse({function, ": segment_ids[", i, "] is ", id, ", segment_count is ", count,
              "; an id lies in 0..segment_count - 1"});
    }
  }
}

/// The least number of segments that has all ids; none for no elements.
template <class Id>
[[nodiscard]] index_t least_segment_count(const char* function, const strided<const Id>& ids,
                                          index_t most) {
  index_t count = 0;
  for (index_t i = 0; i < ids.size; ++i) {
    const auto id = +ids[i];
    if (std::cmp_less_equal(most, id))
      refuse({function, ": segment_ids[", i, "] is ", id, ", at most ", most,
              " segments have addresses; number the segments from 0 on"});
    if (std::cmp_greater_equal(id, count)) count = index_t(id) + 1;
  }
  return count;
}

/// Where the elements of each segment lie: where they stand in the vector, if the ids of every
/// segment are one run; else sorted by segment, the elements of a segment in their order.
class segment_places {
 public:
  /// Requires ids in 0..count - 1.
  template <class Id>
  segment_places(const strided<const Id>& ids, index_t count) : first_(count), size_(count) {
    for (index_t i = 0; i < ids.size;) {
      const auto id = ids[i];
      const index_t begin = i, k = index_t(id);
      while (++i < ids.size && ids[i] == id) {
      }
      in_runs_ = in_runs_ && size_[k] == 0;
      first_[k] = begin;
      size_[k] += i - begin;
    }
    if (in_runs_) return;
    index_t begin = 0;
    for (index_t k = 0; k < count; ++k) {
      first_[k] = begin;
      begin += size_[k];
    }
  }

  [[nodiscard]] bool in_runs() const noexcept { return in_runs_; }
  [[nodiscard]] index_t count() const noexcept { return size_.size(); }
  [[nodiscard]] index_t first(index_t k) const noexcept { return first_[k]; }
  [[nodiscard]] index_t size(index_t k) const noexcept { return size_[k]; }

  /// Calls use(i, place of element i) for each element, in the order of the vector.
  template <class Id, class Use>
  void for_each_place(const strided<const Id>& ids, Use use) const {
    array_of<index_t> next = copied(strided<const index_t>{first_.data(), first_.size(), 1});
    for (index_t i = 0; i < ids.size; ++i) use(i, next[index_t(ids[i])]++);
  }

 private:
  array_of<index_t> first_, size_;
  bool in_runs_ = true;
};

/// More segments than this have no addresses.
inline constexpr index_t most_placed_segments =
    std::numeric_limits<std::ptrdiff_t>::max() / index_t(sizeof(index_t));

/// As many segments as the largest id of a call asks for.
template <class Ids>
[[nodiscard]] index_t segments_in(const char* function, const Ids& segment_ids) {
  const operand<scalar_of<Ids>> numbers(segment_ids);
  return least_segment_count(function, numbers.view(), most_placed_segments);
}

}  // namespace cumulus::detail
