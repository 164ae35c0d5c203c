// SPDX-License-Identifier: MIT
//
// Attention in vectors: blocks of keys pass by rows of queries, which keep their running sums; no matrix of scores.
// Layer 5 (attention).
//
// A row is a query of one head. For each block of 256 keys a few rows make their scores, those become weights, and weights
// times values is added to running sums in double. Few rows (decoding) read the keys where they lie, as they are kept; many have them laid
// side by side first, so that both products run in tiles of registers. A row's result does not depend on the rows beside it.
#pragma once

#include <cumulus/detail/attention/attention_call.hpp>
#include <cumulus/detail/attention/token_stretch.hpp>
#include <cumulus/detail/core/aligned.hpp>
#include <cumulus/detail/simd/matrix_product.hpp>
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#if CUMULUS_VECTORS

namespace cumulus::detail {

template <class T, class Rows = token_rows<T>>
class attention_stream {
  using W = score_of<T>;
  using call = attention_call<T, Rows>;
  using stretch = token_stretch<W, Rows>;
  static constexpr bool converted = stretch::converted;
  static constexpr index_t block = kernels::attention_block, side_by_side = stretch::side_by_side;
  static constexpr index_t together = 12;  // rows whose scores of a block stay in the nearest cache
  static constexpr index_t many = 12;      // rows that pay for laying keys side by side

  struct row_state : kernels::attention_row<W> {
    key_range seen{};
  };

 public:
  attention_stream(const call& c, index_t most_rows)
      : call_(c),
        group_(c.group),
        packed_(c.queries() * c.group >= many),
        stretch_(packed_ ? block : 4 * block),
        d_(padded(c.d)),
        e_(padded(c.e)),
        rows_(std::size_t(most_rows)),
        keys_(c.k, c.d),
        values_(c.v, c.e) {
    const index_t beside = std::min(most_rows, together), sums = most_rows * sums_each(),
                  q = most_rows * d_, scores = beside * stretch_, part = beside * e_,
                  scales = stretch::has_scales && !packed_ ? stretch_ : 0,
                  keys = packed_ ? stretch_ * c.d : scales,
                  values = packed_ && converted ? stretch_ * c.e : scales,
                  wide = packed_ && converted ? side_by_side * c.d : 0;
    using rooms = aligned_rooms;
    rooms memory(rooms::bytes<double>(sums) + rooms::bytes<W>(q) + rooms::bytes<W>(scores) +
                 rooms::bytes<W>(part) + rooms::bytes<W>(keys) + rooms::bytes<W>(values) +
                 rooms::bytes<W>(wide));
    sums_ = memory.take<double>(sums);
    q_ = memory.take<W>(q);
    scores_ = memory.take<W>(scores);
    part_ = memory.take<W>(part);
    keys_.keep_in(laid_ = memory.take<W>(keys));
    values_.keep_in(memory.take<W>(values));
    wide_ = memory.take<W>(wide);
    memory_ = std::move(memory);
  }

  /// Rows of a head of keys that one pass may take: their sums stay in a cache.
  [[nodiscard]] static index_t rows_a_pass(const call& c) noexcept {
    const index_t most = index_t(16384) / padded(c.e + 1) / together * together;
    return std::clamp(most, together, 21 * together);
  }

  /// Rows first .. first + count - 1 of a head of keys. Requires count <= most_rows.
  void pass(index_t head, index_t first, index_t count) {
    choose(head, first);
    begin(count);
    take_keys(count, {0, call_.keys()});
    for (index_t r = 0; r < count; ++r) finish(r);
  }

  /// Keys of one part of a call of few rows: a multiple of every stretch, so that a part's sums do not depend on the others.
  static constexpr index_t keys_a_part = 8192;
  /// Whether a call's rows are so few that its keys are taken in parts, each on a thread.
  [[nodiscard]] static bool in_parts(const call& c) noexcept {
    return c.queries() * c.group < many && c.keys() >= 2 * keys_a_part;
  }
  /// What one part leaves for a row: its state, and its sums.
  struct part_sums {
    std::vector<row_state> states;
    std::vector<double> sums;
  };
  /// The sums of rows 0 .. count - 1 of a head of keys over the keys of part `index`.
  void pass_part(index_t head, index_t count, index_t index, part_sums& to) {
    choose(head, 0);
    begin(count);
    take_keys(count, {index * keys_a_part, (index + 1) * keys_a_part});
    to.states.assign(rows_.begin(), rows_.begin() + std::ptrdiff_t(count));
    to.sums.assign(sums_, sums_ + count * sums_each());
  }
  /// The results of those rows, from all parts in order.
  void finish_parts(index_t head, index_t count, const part_sums* parts, index_t part_count) {
    choose(head, 0);
    begin(count);
    for (index_t i = 0; i < part_count; ++i) {
      for (index_t r = 0; r < count; ++r)
        merge(r, parts[i].states[std::size_t(r)], parts[i].sums.data() + r * sums_each());
    }
    for (index_t r = 0; r < count; ++r) finish(r);
  }

 private:
  void choose(index_t head, index_t first) noexcept {
    head_ = head;
    first_ = first;
    keys_.choose(head);
    values_.choose(head);
  }

  /// The keys of `range`, which begins at a stretch, for rows 0 .. count - 1.
  void take_keys(index_t count, const key_range& range) {
    const key_range seen = seen_by(0, count);
    const key_range all{std::max(seen.low, range.low), std::min(seen.high, range.high)};
    for (index_t t = all.low / stretch_ * stretch_; t < all.high; t += stretch_) {
      const index_t size = std::min(stretch_, all.high - t);
      if (packed_) {
        keys_.lay_side_by_side(t, size, laid_, wide_);
        values_.load(t, size);
      } else {
        keys_.begin(t, size);
        values_.begin(t, size);
      }
      for (index_t r = 0; r < count; r += together) take(t, r, std::min(together, count - r));
    }
  }

  /// Adds the sums of other keys to those of row r: by powers of two, without rounding, and then in double.
  void merge(index_t r, const row_state& other, const double* other_sums) {
    row_state& state = row(r);
    if (state.irregular || is_nan(state.sum.high)) return;
    if (other.irregular || is_nan(other.sum.high) || !(0 < state.sum.high)) {
      const key_range seen = state.seen;
      if (other.irregular || is_nan(other.sum.high) || 0 < other.sum.high) {
        state = other;
        state.seen = seen;
        std::copy(other_sums, other_sums + sums_each(), sums(r));
      }
      return;
    }
    if (!(0 < other.sum.high)) return;
    const index_t power = std::max(state.power, other.power);
    const double ours = times_power_of_two(1.0, int(state.power - power)),
                 theirs = times_power_of_two(1.0, int(other.power - power));
    state.sum = {state.sum.high * ours, state.sum.low * ours};
    state.add({other.sum.high * theirs, other.sum.low * theirs});
    state.power = power;
    double* const to = sums(r);
    for (index_t c = 0; c < e_; ++c) {
      const double mine = is_finite(to[c]) ? to[c] * ours : to[c],
                   more = is_finite(other_sums[c]) ? other_sums[c] * theirs : other_sums[c];
      if constexpr (kernels::attention_sums<W> == 2) {
        const compensated<double> exact = two_sum(mine, more);
        to[c] = exact.high;
        to[e_ + c] = is_finite(exact.high)
                         ? exact.low + (to[e_ + c] * ours + other_sums[e_ + c] * theirs)
                         : 0.0;
      } else {
        to[c] = mine + more;
      }
    }
  }

  [[nodiscard]] static constexpr index_t padded(index_t n, index_t to = 16) noexcept {
    return (n + to - 1) / to * to;
  }
  [[nodiscard]] index_t sums_each() const noexcept { return kernels::attention_sums<W> * e_; }
  [[nodiscard]] row_state& row(index_t r) noexcept { return rows_[std::size_t(r)]; }
  [[nodiscard]] double* sums(index_t r) const noexcept { return sums_ + r * sums_each(); }
  [[nodiscard]] W* scores(index_t r) const noexcept { return scores_ + r * stretch_; }
  [[nodiscard]] index_t query(index_t r) const noexcept { return (first_ + r) / group_; }
  [[nodiscard]] index_t query_head(index_t r) const noexcept {
    return head_ * group_ + (first_ + r) % group_;
  }

  template <class S>
  static void set_zero(S* x, index_t n) noexcept {
    std::memset(x, 0, std::size_t(n) * sizeof(S));  // in the widest stores, as std::fill is not
  }

  /// From the first to the last key that one of these rows sees; empty where none sees any.
  [[nodiscard]] key_range seen_by(index_t r, index_t count) const noexcept {
    key_range all{call_.keys(), 0};
    for (index_t i = r; i < r + count; ++i) {
      const key_range& seen = rows_[std::size_t(i)].seen;
      if (seen.low == seen.high) continue;
      all = {std::min(all.low, seen.low), std::max(all.high, seen.high)};
    }
    return all;
  }

  void begin(index_t count) {
    const double scale = call_.template scale<double>();
    for (index_t r = 0; r < count; ++r) {
      const T* const from = call_.q.row(query(r)) + query_head(r) * call_.d;
      W* const to = q_ + r * d_;
      for (index_t c = 0; c < call_.d; ++c) to[c] = W(double(W(from[c])) * scale);
      std::fill(to + call_.d, to + d_, W(0));
      set_zero(sums(r), sums_each());
      row(r) = {};
      // q scale may overflow where q . k scale does not
      row(r).irregular =
          !std::all_of(to, to + call_.d, is_finite<W>) &&
          std::all_of(from, from + call_.d, [](const T& x) { return is_finite(W(x)); });
      row(r).seen = call_.sight(query(r));
    }
  }

  /// The keys from t on, as many as a stretch has, for rows r .. r + count - 1.
  void take(index_t t, index_t r, index_t count) {
    const key_range near = seen_by(r, count);
    const index_t size = std::min(near.high - t, stretch_);
    if (size <= 0 || near.low >= t + stretch_) return;
    multiply_keys(r, count, size);

    const index_t whole = padded(size, kernels::weights_together);
    bool any = false;
    for (index_t i = 0; i < count; ++i) {
      row_state& state = row(r + i);
      bool some = false;
      if (!state.done()) {
        set_scores(t, r + i, scores(i), size, whole);
        some = kernels::best::weigh_row<W>(scores(i), whole, state, sums(r + i), sums_each());
      }
      if (!some) set_zero(scores(i), whole);
      if (some && !packed_) values_.scale_by(scores(i), size);
      any = any || some;
    }
    if (!any) return;

    for (index_t j = 0; j < size; j += block) {
      const index_t some = std::min(block, size - j);
      set_zero(part_, count * e_);
      add_values(j, some, count);
      for (index_t i = 0; i < count; ++i) {
        if (!fold(i, r + i)) add_kept_values(t, j, some, i, r + i);
      }
    }
  }

  void multiply_keys(index_t r, index_t count, index_t size) const {
    const W* const q = q_ + r * d_;
    if (!packed_) {
      keys_.in_runs(0, size, [&](index_t j, index_t run, const auto* keys, index_t stride) {
        kernels::best::score_rows<W>(q, d_, count, keys, stride, run, call_.d, scores_ + j,
                                     stretch_);
      });
      for (index_t i = 0; i < count; ++i) keys_.scale_by(scores(i), size);
      return;
    }
    set_zero(scores_, count * stretch_);
    for (index_t j = 0; j < size; j += side_by_side) {
      kernels::add_product<W>(q, d_, 1, laid_ + j * call_.d, side_by_side, scores_ + j, stretch_,
                              count, call_.d, side_by_side);
    }
  }

  void add_values(index_t first, index_t size, index_t count) const {
    if (packed_) {
      return values_.in_converted_runs(
          first, size, [&](index_t j, index_t run, const auto* values, index_t stride) {
            kernels::add_product<W>(scores_ + j, stretch_, 1, values, stride, part_, e_, count, run,
                                    call_.e);
          });
    }
    values_.in_runs(first, size, [&](index_t j, index_t run, const auto* values, index_t stride) {
      kernels::best::add_values<W>(scores_ + j, stretch_, count, values, stride, run, call_.e,
                                   part_, e_);
    });
  }

  /// Row i of the block's sums, of the row r of all; false where one of them is not finite.
  [[nodiscard]] bool fold(index_t i, index_t r) noexcept {
    return kernels::best::fold_row<W>(part_ + i * e_, e_, sums(r));
  }

  /// The same block for one row, some of whose values are infinite or NaN: those of weight 0 must not show.
  void add_kept_values(index_t t, index_t first, index_t size, index_t i, index_t r) {
    W* const part = part_ + i * e_;
    set_zero(part, e_);
    const auto add = [&](index_t j, index_t run, const auto* values, index_t stride) {
      kernels::best::add_kept_values<W>(scores(i) + j, values, stride, run, call_.e, part);
    };
    if (packed_) {
      values_.in_converted_runs(first, size, add);
    } else {
      values_.in_runs(first, size, add);
    }
    if (!fold(i, r)) add_term_by_term(t + first, r, scores(i) + first, size);
  }

  /// From products to scores: cap and bias, and -inf for what row r does not see. `whole` scores have room.
  void set_scores(index_t t, index_t r, W* s, index_t size, index_t whole) const {
    const key_range& seen = rows_[std::size_t(r)].seen;
    const index_t low = std::clamp(seen.low - t, index_t(0), size);
    const index_t high = std::clamp(seen.high - t, low, size);
    adjust(t, r, s, low, high);
    std::fill(s, s + low, -infinity<W>);
    std::fill(s + high, s + whole, -infinity<W>);
  }

  /// The scores from low to high: cap, bias and mask, by the kernel where those lie as it reads them.
  void adjust(index_t t, index_t r, W* s, index_t low, index_t high) const {
    const attention_settings<T>& o = call_.options;
    const auto bias = o.bias.line(query(r), false);
    const auto mask = o.mask.line(query(r), false);
    W cap = W(o.softcap);
    if (o.softcap > 0 && !(W(0x1p-90) < cap && is_finite(cap))) {
      for (index_t j = low; j < high; ++j) s[j] = soft_capped(s[j], cap);
      cap = W(0);
    }
    const W* near_bias = nullptr;
    if constexpr (std::same_as<W, T>) {
      if (bias.data != nullptr && bias.stride == 1) near_bias = bias.data + t + low;
    }
    const bool* near_mask = nullptr;
    if (mask.data != nullptr && mask.stride == 1) near_mask = mask.data + t + low;
    const bool far_bias = bias.data != nullptr && near_bias == nullptr,
               far_mask = mask.data != nullptr && near_mask == nullptr;
    if (far_bias && W(0) < cap) {
      kernels::best::adjust_scores<W>(s + low, high - low, cap, nullptr, nullptr);
      cap = W(0);
    }
    if (far_bias) {
      for (index_t j = low; j < high; ++j) s[j] += W(bias[t + j]);
    }
    if (W(0) < cap || near_bias != nullptr || near_mask != nullptr)
      kernels::best::adjust_scores<W>(s + low, high - low, cap, near_bias, near_mask);
    if (far_mask) {
      for (index_t j = low; j < high; ++j) s[j] = mask[t + j] ? s[j] : -infinity<W>;
    }
  }

  /// The same in double, where what overflows in T is finite.
  void add_term_by_term(index_t t, index_t r, const W* weights, index_t size) {
    double* const to = sums(r);
    bool finite_values = true;
    for (index_t j = 0; j < size; ++j) {
      if (!(W(0) < weights[j])) continue;
      const auto* const v = values_.row(t + j);
      const double weight = double(weights[j]) * double(packed_ ? values_.scale(t + j) : W(1));
      for (index_t c = 0; c < call_.e; ++c) {
        const W value = static_cast<W>(v[c]);
        finite_values = finite_values && is_finite(value);
        to[c] += weight * double(value);
      }
    }
    // the products of doubles above 2^115 may themselves overflow
    if (finite_values && !std::all_of(to, to + call_.e, is_finite<double>)) row(r).irregular = true;
  }

  void finish(index_t r) {
    const row_state& state = row(r);
    if (state.irregular) return attend_by_terms(call_, query(r), query_head(r));
    const double* const from = sums(r);
    const double sum = state.sum.high + state.sum.low, inverse = 0 < sum ? 1 / sum : 0.0;
    call_.write(query(r), query_head(r), state.log_sum(), [&](index_t c) {
      if (is_nan(sum)) return sum;
      double total = from[c];
      if constexpr (kernels::attention_sums<W> == 2) total += is_finite(total) ? from[e_ + c] : 0.0;
      return total * inverse;
    });
  }

  const call& call_;
  index_t group_;
  bool packed_;
  index_t stretch_;  // keys whose scores are made before their values are taken
  index_t d_, e_;    // padded to whole vectors
  std::vector<row_state> rows_;
  aligned_rooms memory_;
  double* sums_;
  W *q_, *scores_, *part_, *laid_, *wide_;
  stretch keys_, values_;
  index_t head_ = 0, first_ = 0;
};

}  // namespace cumulus::detail

#endif  // CUMULUS_VECTORS
