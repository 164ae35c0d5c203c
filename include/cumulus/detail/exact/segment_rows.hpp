// SPDX-License-Identifier: MIT
//
// The segments of a call as rows: one after the other, or short ones side by side.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/core/apart.hpp>
#include <cumulus/detail/exact/arguments.hpp>
#include <cumulus/detail/exact/segments.hpp>

namespace cumulus::detail {

struct softmax_kernel;

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
    const auto range = [&](index_t k, index_t end) {
      for (; k < end; ++k) each(k, o, use);
    };
    run_ranges(places_.count(), line_grain<T>, one() ? 1 : o.threads, o.executor, range);
  }

  /// Runs kernel(segment of x, segment of out).
  template <class Id, class Options, class Kernel>
  void write(const strided<const Id>& ids, const strided<T>& out, const Options& o, Kernel kernel) {
    const strided<T> to = places_.in_runs() ? out : strided<T>{own_x_.data(), out.size, 1};
    const auto run = [&](const auto& row, index_t k) {
      if (places_.size(k) > 0) kernel(row, to.segment(places_.first(k), places_.size(k)));
    };
    bool side_by_side = false;
    if constexpr (tiled_scalar<T> && std::same_as<Kernel, softmax_kernel>) {
      side_by_side = unmixed(o) && 0 < o.scale && kernels::takes_scale(o.scale);
      if (side_by_side) {
        const index_t blocks = (places_.count() + block - 1) / block;
        run_ranges(blocks, 1, o.threads, o.executor, [&](index_t i, index_t end) {
          for (; i < end; ++i) {
            const index_t first = i * block, rest = places_.count() - first;
            write_short(first, rest < block ? rest : block, to, o, kernel, run);
          }
        });
      }
    }
    for_each(o, [&](const auto& row, index_t k) {
      if (!side_by_side || most_lane_elements < places_.size(k)) run(row, k);
    });
    if (places_.in_runs()) return;
    places_.for_each_place(ids, [&](index_t i, index_t place) { out[i] = own_x_[place]; });
  }

 private:
  /// Segments of at most this many elements lie side by side, a lane each, in tiles of up to `lanes`
  /// of one size, found among `block` neighbours: no result depends on the threads. log_softmax would
  /// leave most of them.
  static constexpr index_t most_lane_elements = 32, lanes = 128, least_lanes = 8, block = 2048;

  [[nodiscard]] bool one() const noexcept { return places_.count() == 1; }
  template <class Options>
  [[nodiscard]] bool unmixed(const Options& o) const noexcept {
    return !one() && weights_.data == nullptr && mask_.data == nullptr && !o.sink;
  }

  template <class Options, class Use>
  void each(index_t k, const Options& o, const Use& use) const {
    const index_t first = places_.first(k), size = places_.size(k);
    const auto part = [&](const auto& v) { return v.data == nullptr ? v : v.segment(first, size); };
    bool plain = unmixed(o) && !(o.scale < 1 || 1 < o.scale || is_nan(o.scale));
    if constexpr (requires { o.degenerate; }) plain = plain && o.degenerate == degenerate::limit;
    if (plain) return use(part(x_), k);
    kernels::terms<T> t = make_terms(part(x_), part(weights_), part(mask_), o.scale,
                                     o.sink.has_value(), o.sink.value_or(0));
    if (one()) {
      t.threads = o.threads;
      t.on = executor_for(o.executor);
    }
    use(t, k);
  }

  /// The short ones of `count` segments, sorted by their size.
  template <class Options, class Kernel, class Run>
  void write_short(index_t first, index_t count, const strided<T>& to, const Options& o,
                   const Kernel& kernel, const Run& run) const {
    const auto is_short = [&](index_t k) {
      return 0 < places_.size(k) && places_.size(k) <= most_lane_elements;
    };
    index_t ends[most_lane_elements + 2] = {}, sorted[block];
    for (index_t k = first; k < first + count; ++k) {
      if (is_short(k)) ++ends[places_.size(k) + 1];
    }
    for (index_t s = 1; s <= most_lane_elements; ++s) ends[s + 1] += ends[s];
    for (index_t k = first; k < first + count; ++k) {
      if (is_short(k)) sorted[ends[places_.size(k)]++] = k;
    }
    index_t begin = 0;
    for (index_t s = 1; s <= most_lane_elements; ++s) {
      for (; begin < ends[s]; begin += lanes) {
        const index_t here = ends[s] - begin < lanes ? ends[s] - begin : lanes;
        write_lanes(sorted + begin, here, s, to, o, kernel, run);
      }
      begin = ends[s];
    }
  }

  /// Segments of one size.
  template <class Options, class Kernel, class Run>
  void write_lanes(const index_t* segments, index_t count, index_t size, const strided<T>& to,
                   const Options& o, const Kernel& kernel, const Run& run) const {
    T tile[lanes * most_lane_elements];
    bool left[lanes] = {};
    bool done = least_lanes <= count;
    if (done) {
      for (index_t i = 0; i < count; ++i) {
        const auto row = x_.segment(places_.first(segments[i]), size);
        for (index_t j = 0; j < size; ++j) tile[j * lanes + i] = row[j];
      }
      done = kernel.across(strided_matrix<const T>{tile, count, size, 1, lanes},
                           strided_matrix<T>{tile, count, size, 1, lanes}, o.scale,
                           [&](index_t i) { left[i] = true; });
    }
    for (index_t i = 0; i < count; ++i) {
      const index_t k = segments[i];
      if (!done || left[i]) {
        each(k, o, run);
        continue;
      }
      const auto row = to.segment(places_.first(k), size);
      for (index_t j = 0; j < size; ++j) row[j] = tile[j * lanes + i];
    }
  }

  segment_places places_;
  strided<const T> x_, weights_;
  strided<const bool> mask_;
  array_of<T> own_x_, own_weights_;
  array_of<bool> own_mask_;
};

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
