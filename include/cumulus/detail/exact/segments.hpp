// SPDX-License-Identifier: MIT
//
// Elements numbered by segment: the checks of a call, where each segment lies, and the loop over
// segments as rows.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/core/apart.hpp>
#include <cumulus/detail/exact/arguments.hpp>

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

/// The vectors of a call with the elements of every segment side by side: copies, unless every
/// segment is one run.
template <class T>
class segment_rows {
 public:
  template <class Id, class Options>
  segment_rows(const strided<const T>& x, const strided<const Id>& ids, index_t count,
               const Options& o)
      : places_(ids, count), x_(x), weights_(o.weights.view()), mask_(o.mask.view()) {
    if (places_.in_runs()) return;
    own_x_ = array_of<T>(x.size);
    if (o.weights.given()) own_weights_ = array_of<T>(x.size);
    if (o.mask.given()) own_mask_ = array_of<bool>(x.size);
    places_.for_each_place(ids, [&](index_t i, index_t place) {
      own_x_[place] = x[i];
      if (weights_.data != nullptr) own_weights_[place] = weights_[i];
      if (mask_.data != nullptr) own_mask_[place] = mask_[i];
    });
    x_ = {own_x_.data(), x.size, 1};
    if (weights_.data != nullptr) weights_ = {own_weights_.data(), x.size, 1};
    if (mask_.data != nullptr) mask_ = {own_mask_.data(), x.size, 1};
  }

  /// Calls use(segment k, k): of a vector where nothing but x is given, else of terms. Threads share
  /// the segments, or the parts of a single segment.
  template <class Options, class Use>
  void for_each(const Options& o, Use use) const {
    const bool one = places_.count() == 1;
    bool plain = !one && weights_.data == nullptr && mask_.data == nullptr && !o.sink &&
                 !(o.scale < 1 || 1 < o.scale || is_nan(o.scale));
    if constexpr (requires { o.degenerate; }) plain = plain && o.degenerate == degenerate::limit;
    const auto range = [&](index_t k, index_t end) {
      for (; k < end; ++k) {
        const index_t first = places_.first(k), size = places_.size(k);
        const auto part = [&](const auto& v) {
          return v.data == nullptr ? v : v.segment(first, size);
        };
        if (plain) {
          use(part(x_), k);
          continue;
        }
        kernels::terms<T> t = make_terms(part(x_), part(weights_), part(mask_), o.scale,
                                         o.sink.has_value(), o.sink.value_or(0));
        if (one) {
          t.threads = o.threads;
          t.on = executor_for(o.executor);
        }
        use(t, k);
      }
    };
    run_ranges(places_.count(), line_grain<T>, one ? 1 : o.threads, o.executor, range);
  }

  /// Runs kernel(segment of x, segment of out).
  template <class Id, class Options, class Kernel>
  void write(const strided<const Id>& ids, const strided<T>& out, const Options& o, Kernel kernel) {
    const strided<T> sorted = places_.in_runs() ? out : strided<T>{own_x_.data(), out.size, 1};
    for_each(o, [&](const auto& row, index_t k) {
      if (places_.size(k) > 0) kernel(row, sorted.segment(places_.first(k), places_.size(k)));
    });
    if (places_.in_runs()) return;
    places_.for_each_place(ids, [&](index_t i, index_t place) { out[i] = own_x_[place]; });
  }

 private:
  segment_places places_;
  strided<const T> x_, weights_;
  strided<const bool> mask_;
  array_of<T> own_x_, own_weights_;
  array_of<bool> own_mask_;
};

/// As many segments as the largest id of a call asks for.
template <class Ids>
[[nodiscard]] index_t segments_in(const char* function, const Ids& segment_ids) {
  const operand<scalar_of<Ids>> numbers(segment_ids);
  return least_segment_count(function, numbers.view(), most_placed_segments);
}

/// Checks a call and runs kernel(segment of x, segment of out) for each segment.
template <class X, class Ids, class Out, class Options, class Kernel>
void normalised_segments(const char* function, const X& x, const Ids& segment_ids,
                         std::integral auto count, Out& out, const Options& o, Kernel kernel) {
  using T = result_of<X>;
  operand<T> values(x);
  const operand<scalar_of<Ids>> numbers(segment_ids);
  const auto ids = numbers.view();
  const auto result = strided_view(out);
  require_same_size(function, "x", values.size(), "out", result.size);
  require_same_size(function, "x", values.size(), "segment_ids", ids.size);
  require_options(function, values.size(), o);
  require_segments(function, ids, count, most_placed_segments);
  if (overlaps(values.view(), result)) values.own();
  const auto write = [&](const auto& to) {
    segment_rows<T>(values.view(), ids, static_cast<index_t>(count), o).write(ids, to, o, kernel);
  };
  write_apart(o, write, result);
}

/// Checks a call and returns kernel(segment of x) for each segment.
template <class X, class Ids, class Options, class Kernel>
[[nodiscard]] result_list<X> reduced_segments(const char* function, const X& x,
                                              const Ids& segment_ids, std::integral auto count,
                                              const Options& o, Kernel kernel) {
  using T = result_of<X>;
  const operand<T> values(x);
  const operand<scalar_of<Ids>> numbers(segment_ids);
  const auto ids = numbers.view();
  require_same_size(function, "x", values.size(), "segment_ids", ids.size);
  require_options(function, values.size(), o);
  require_segments(function, ids, count, most_placed_segments);
  result_list<X> out(static_cast<std::size_t>(count));
  const auto result = strided_view(out);
  const segment_rows<T> rows(values.view(), ids, static_cast<index_t>(count), o);
  rows.for_each(o, [&](const auto& row, index_t k) {
    if constexpr (requires { row.plain(); }) {
      result[k] = T(kernel(row));
    } else {
      result[k] = T(kernel(terms_of(row)));
    }
  });
  return out;
}

}  // namespace cumulus::detail
