// SPDX-License-Identifier: MIT
//
// The state behind moment_tensor: weight, mean, box and the sums of all products of deviations up to an order.
// Layer 2 (moments): uses core.
//
// The sums are about the mean (anchored_means.hpp) and carry their rounding errors. To merge, both samples' sums are moved to
// the common mean and added; to unmerge, the part is moved to the mean of the whole, subtracted, and the rest is moved to its
// own mean. All orders are moved at once (packed_symmetric.hpp).
#pragma once

#include <cumulus/detail/moments/anchored_means.hpp>
#include <cumulus/detail/moments/mean_steps.hpp>
#include <cumulus/detail/moments/packed_symmetric.hpp>
#include <cumulus/detail/moments/zero_weight.hpp>

namespace cumulus::detail {

template <class S>
class moment_tensor_state {
 public:
  moment_tensor_state(const char* function, index_t d, int order)
      : layout_(function, d, order),
        means_(d),
        low_(static_cast<std::size_t>(d), infinity<S>),
        high_(static_cast<std::size_t>(d), -infinity<S>),
        sums_(static_cast<std::size_t>(start(order + 1))) {}

  [[nodiscard]] const packed_symmetric& layout() const noexcept { return layout_; }
  [[nodiscard]] index_t width() const noexcept { return layout_.dimensions(); }
  [[nodiscard]] int order() const noexcept { return layout_.order(); }
  [[nodiscard]] bool empty() const noexcept { return means_.empty(); }
  [[nodiscard]] bool finite() const noexcept { return means_.finite; }
  [[nodiscard]] std::uint64_t count() const noexcept { return means_.count; }
  [[nodiscard]] S weight() const { return means_.weight.value(); }
  [[nodiscard]] const compensated<S>& weight_pair() const { return means_.weight; }
  [[nodiscard]] S loss() const { return loss_; }
  [[nodiscard]] S low(index_t i) const { return at(low_, i); }
  [[nodiscard]] S high(index_t i) const { return at(high_, i); }

  [[nodiscard]] compensated<S> mean_pair(index_t i) const { return means_.mean_pair(i); }
  [[nodiscard]] S mean(index_t i) const { return means_.mean(i); }
  [[nodiscard]] S deviation(index_t i, const S& x) const { return means_.deviation(i, x); }

  /// Component i of order p, and its sum.
  [[nodiscard]] S moment(int p, index_t i) const {
    if (empty() || (!means_.finite && p > 0)) return quiet_nan<S>;
    if (p < 2) return S(1 - p);
    return sum(p, i).value() / weight();
  }
  [[nodiscard]] const compensated<S>& sum(int p, index_t i) const noexcept {
    return at(sums_, start(p) + i);
  }

  /// One vector.
  void add(const S* x, const S& w) {
    if (is_zero(w)) return;
    ++means_.count;
    bool plain = means_.finite && S(0) < w && is_finite(w);
    for (index_t i = 0; plain && i < width(); ++i) plain = is_finite(x[i]);
    widen(x, x);
    if (!plain) return spoil([x](index_t i) { return x[i]; }, w);
    if (empty()) {
      for (index_t i = 0; i < width(); ++i) at(means_.anchor, i) = x[i];
      means_.weight = {w, S(0)};
      return;
    }
    vector_buffer<S> step(width()), rest(width());
    const packed_tensors<S> change(layout_), products(layout_);
    if (!approach(
            {w, S(0)}, [&](index_t i) { return means_.distance_to(i, x[i], {}); }, step.data(),
            rest.data(), change))
      return spoil([x](index_t i) { return x[i]; }, w);
    layout_.products(rest.data(), order(), products.orders());
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i)
        at(sums_, start(p) + i) += S(change[p][i] + w * products[p][i]);
    }
  }

  void merge(const moment_tensor_state& other) {
    if (other.empty()) return;
    if (this == &other) return merge(moment_tensor_state(other));
    const std::uint64_t count = means_.count + other.means_.count;
    merge_numbers(other);
    means_.count = count;
  }

  /// A sample of `count` vectors with its sums about `anchor`, plain, and its mean less the anchor; its box.
  void merge_block(index_t count, const compensated<S>& w, const S* anchor, const S* mean,
                   const packed_tensors<S>& sums, const S* low, const S* high) {
    widen(low, high);
    if (!means_.finite) {
      means_.count += static_cast<std::uint64_t>(count);
      return spoil([&](index_t i) { return S(anchor[i] + mean[i]); }, w.value());
    }
    moment_tensor_state part("", width(), order());
    part.means_.weight = w;
    part.means_.count = static_cast<std::uint64_t>(count);
    for (index_t i = 0; i < width(); ++i) {
      at(part.means_.anchor, i) = anchor[i];
      at(part.means_.offset, i) = {mean[i], S(0)};
    }
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i)
        at(part.sums_, start(p) + i) = {sums[p][i], S(0)};
    }
    vector_buffer<S> h(width());
    for (index_t i = 0; i < width(); ++i) h[i] = -mean[i];
    part.move_self(h.data(), mean);
    part.low_ = low_;
    part.high_ = high_;
    merge(part);
  }

  void unmerge(const moment_tensor_state& other) {
    if (other.empty()) return;
    if (this == &other) return unmerge(moment_tensor_state(other));
    means_.count -= other.means_.count;
    const compensated<S> left = means_.weight - other.means_.weight;
    if (left.high < S(0) || !includes(other) || (!(S(0) < left.high) && differs(other)))
      loss_ = infinity<S>;
    if (!means_.finite || !other.means_.finite || left.high < S(0))
      return spoil([](index_t) { return quiet_nan<S>; }, -infinity<S>);
    if (!(S(0) < left.high)) return clear();
    std::vector<S> before;
    for_each_even_power([&](const compensated<S>& s) { before.push_back(s.value()); });
    vector_buffer<S> h(width()), first(width());
    const packed_tensors<S> moved(layout_);
    for (index_t i = 0; i < width(); ++i) h[i] = means_.distance_to(other.means_, i).value();
    other.move(h.data(), nullptr, moved);  // the rest is still about the mean of the whole
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i) {
        compensated<S>& s = at(sums_, start(p) + i);
        s += -other.sum(p, i);
        s += -moved[p][i];
      }
    }
    const compensated<S> part = ratio_of(other.means_.weight, left);
    for (index_t i = 0; i < width(); ++i) {
      const compensated<S> step = product_of(means_.distance_to(other.means_, i), part);
      h[i] = step.value();
      first[i] = -h[i];
      at(means_.offset, i) += -step;
    }
    loss_ = max_of(loss_, S(weight() / left.value()));
    means_.weight = left;
    move_self(h.data(), first.data());
    std::size_t k = 0;
    for_each_even_power([&](compensated<S>& s) {
      if (s.high < S(0)) s = {};
      if (S(0) < before[k])
        loss_ = max_of(loss_, S(0) < s.value() ? S(before[k] / s.value()) : infinity<S>);
      ++k;
    });
  }

  /// Every number of the state in a fixed order, a flag as 0 or 1; together with width and order they are the state.
  template <class F>
  void for_each_number(F f) {
    visit(*this, f);
    S flag = means_.finite ? S(1) : S(0);
    f(flag);
    means_.finite = S(0) < flag;
  }
  template <class F>
  void for_each_number(F f) const {
    visit(*this, f);
    const S flag = means_.finite ? S(1) : S(0);
    f(flag);
  }

  [[nodiscard]] friend bool operator==(const moment_tensor_state&,
                                       const moment_tensor_state&) = default;

 private:
  /// By how much rounding may have moved an end of the range of coordinate i.
  [[nodiscard]] S end_rounding(index_t i) const {
    return 8 * unit_roundoff<S> * max_of(absolute(at(low_, i)), absolute(at(high_, i)));
  }
  /// Whether the range holds that of a sample, as it does where that was added before.
  [[nodiscard]] bool includes(const moment_tensor_state& other) const {
    for (index_t i = 0; i < width(); ++i) {
      if (at(other.low_, i) < at(low_, i) - end_rounding(i) ||
          at(high_, i) + end_rounding(i) < at(other.high_, i))
        return false;
    }
    return true;
  }
  /// Whether a sample of the same weight is another one, by more than half of the digits: by its mean or by an even power.
  [[nodiscard]] bool differs(const moment_tensor_state& other) const {
    if (!means_.finite || !other.means_.finite) return false;
    const S tolerance = square_root(unit_roundoff<S>);
    for (index_t i = 0; i < width(); ++i) {
      const S step = absolute(means_.distance_to(other.means_, i).value());
      if ((at(high_, i) - at(low_, i)) * tolerance + end_rounding(i) < step) return true;
      for (int p = 2; p <= order(); p += 2) {
        const index_t place = layout_.power(p, i);
        const S ours = sum(p, place).value(), theirs = other.sum(p, place).value();
        if (tolerance * max_of(ours, theirs) < absolute(S(ours - theirs))) return true;
      }
    }
    return false;
  }

  template <class Numbers>
  [[nodiscard]] static auto& at(Numbers& numbers, index_t i) noexcept {
    return numbers[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] index_t start(int p) const noexcept {
    index_t sum = 0;
    for (int l = 2; l < p; ++l) sum += layout_.count(l);
    return sum;
  }

  void merge_numbers(const moment_tensor_state& other) {
    widen(other.low_.data(), other.high_.data());
    if (!means_.finite || !other.means_.finite)
      return spoil([&](index_t i) { return other.mean(i); }, other.weight());
    loss_ = max_of(loss_, other.loss_);
    if (empty()) {
      const S loss = loss_;
      *this = other;
      loss_ = loss;
      return;
    }
    vector_buffer<S> step(width()), rest(width());
    const packed_tensors<S> change(layout_), moved(layout_);
    if (!approach(
            other.means_.weight, [&](index_t i) { return means_.distance_to(other.means_, i); },
            step.data(), rest.data(), change))
      return spoil([&](index_t i) { return other.mean(i); }, other.weight());
    other.move(rest.data(), nullptr, moved);
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i) {
        compensated<S>& s = at(sums_, start(p) + i);
        s += other.sum(p, i);
        s += S(change[p][i] + moved[p][i]);
      }
    }
  }

  template <class State, class F>
  static void visit(State& state, F& f) {
    f(state.means_.count);
    const auto pair = [&f](auto& number) {
      f(number.high);
      f(number.low);
    };
    pair(state.means_.weight);
    for (auto& number : state.means_.anchor) f(number);
    for (auto& number : state.low_) f(number);
    for (auto& number : state.high_) f(number);
    for (auto& number : state.means_.offset) pair(number);
    for (auto& number : state.sums_) pair(number);
    f(state.loss_);
  }

  template <class F>
  void for_each_even_power(F f) {
    for (int p = 2; p <= order(); p += 2) {
      for (index_t i = 0; i < width(); ++i) f(at(sums_, start(p) + layout_.power(p, i)));
    }
  }

  void widen(const S* low, const S* high) {
    for (index_t i = 0; i < width(); ++i) {
      at(low_, i) = min_of(at(low_, i), low[i]);
      at(high_, i) = max_of(at(high_, i), high[i]);
    }
  }

  /// Moves the mean to that which this and a sample of weight w at these distances have together, and counts w in. `change`
  /// becomes that of the sums, `rest` how far the sample has to move. False, and nothing changed, where a distance is no
  /// number.
  template <class Distance>
  [[nodiscard]] bool approach(const compensated<S>& w, Distance distance, S* step, S* rest,
                              const packed_tensors<S>& change) {
    bool near = true;
    for (index_t i = 0; i < width(); ++i) {
      const compensated<S> whole = distance(i);
      step[i] = whole.high;
      rest[i] = whole.low;
      near = near && is_finite(whole.value());
    }
    if (!near) return false;
    const compensated<S> total = means_.weight + w, part = ratio_of(w, total);
    for (index_t i = 0; i < width(); ++i) {
      const compensated<S> whole{step[i], rest[i]}, moved = product_of(whole, part);
      step[i] = -moved.value();
      rest[i] = (whole - moved).value();
      at(means_.offset, i) += moved;
    }
    move(step, nullptr, change);
    means_.weight = total;
    return true;
  }

  /// The change of the sums under y -> y + h, first[i] the mean of y_i, 0 where null. Per unit of weight in between, so that
  /// large weights do not overflow.
  void move(const S* h, const S* first, const packed_tensors<S>& change) const {
    const packed_tensors<S> work(layout_);
    const S w = weight();
    work[0][0] = S(1);
    for (index_t i = 0; i < width() && order() > 0; ++i)
      work[1][i] = first == nullptr ? S(0) : first[i];
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i) work[p][i] = sum(p, i).value() / w;
    }
    layout_.shift_change(work.orders(), h, change.orders());
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i) change[p][i] *= w;
    }
  }
  void move_self(const S* h, const S* first) {
    const packed_tensors<S> change(layout_);
    move(h, first, change);
    for (int p = 2; p <= order(); ++p) {
      for (index_t i = 0; i < layout_.count(p); ++i) at(sums_, start(p) + i) += change[p][i];
    }
  }

  void clear() {
    const S loss = loss_;
    *this = moment_tensor_state("", width(), order());
    loss_ = loss;
  }

  template <class Mean>
  void spoil(Mean mean_in, const S& w) {
    means_.spoil(mean_in, w);
    for (compensated<S>& sum : sums_) sum = {};
  }

  packed_symmetric layout_;
  anchored_means<S> means_;
  std::vector<S> low_, high_;
  std::vector<compensated<S>> sums_;  // of orders from 2 on, one after the other
  S loss_ = S(1);
};

}  // namespace cumulus::detail
