// SPDX-License-Identifier: MIT
//
// The state behind central_moments, and what keeps its digits: anchor, scale, compensation.
// Layer 2 (moments): uses core and kernels.
//
// The sums M_p = sum w y^p are about the mean, y in units of 2^e, the power of two just above max -
// min, so that no power overflows. The mean is an anchor (the first value, or the pivot of the
// first range) plus an offset in the same units, so that a common offset of 1e12 costs nothing.
// Sums and offset carry their rounding errors.
//
// To merge, both samples' sums are moved to the common mean, a distance h away, and added:
// sum w (y + h)^p = sum_k C(p, k) h^k M_{p-k}. To unmerge, the part is moved to the mean of the
// whole, subtracted, and the rest is moved to its own mean.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/order_storage.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/loops/power_sums.hpp>
#include <cumulus/detail/moments/range_sums.hpp>
#include <cumulus/detail/moments/wide_integers.hpp>
#include <cstdint>
#include <utility>

namespace cumulus::detail {

template <class S, int P>
class moment_state {
 public:
  moment_state() = default;
  explicit moment_state(int order)
    requires(P == dynamic)
      : sums_(static_cast<std::size_t>(order) + 1) {}

  /// The sample of `count` values whose sums, sums[0] their weight, are about its mean. Requires finite numbers.
  [[nodiscard]] static moment_state from_sums(order_array<compensated<S>, P> sums,
                                              const compensated<S>& mean, const S& low,
                                              const S& high, std::uint64_t count) {
    moment_state state;
    state.sums_ = std::move(sums);
    state.anchor_ = mean.high;
    state.offset_ = {mean.low, S(0)};
    state.min_ = low;
    state.max_ = high;
    state.count_ = count;
    return state;
  }

  [[nodiscard]] int order() const noexcept { return static_cast<int>(sums_.size()) - 1; }
  [[nodiscard]] bool empty() const noexcept { return finite_ && !(S(0) < sums_[0].high); }
  /// How many values with a weight other than 0: those added less those removed, in arithmetic modulo 2^64.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  void set_count(std::uint64_t count) noexcept { count_ = count; }
  [[nodiscard]] S weight() const { return sums_[0].value(); }
  /// Includes x in the range, for an element whose weight is too small for the scalar. The unit of y stays: a range that is far wider
  /// than the sums are large would take their digits.
  void include_in_range(const S& x) {
    if (empty() || !finite_) return;
    min_ = min_of(min_, x);
    max_ = max_of(max_, x);
  }

  [[nodiscard]] S min() const { return min_; }
  [[nodiscard]] S max() const { return max_; }
  [[nodiscard]] S loss() const { return loss_; }

  [[nodiscard]] S mean() const { return mean_pair().high; }
  [[nodiscard]] compensated<S> mean_pair() const {
    if (empty()) return {quiet_nan<S>, S(0)};
    if (!finite_) return {anchor_, S(0)};
    compensated<S> mean{anchor_, S(0)};
    return mean += times_power_of_two(offset_, exponent_);
  }

  [[nodiscard]] S deviation(const S& x) const {
    if (empty() || !finite_ || !is_finite(x)) return x - mean();
    return (two_sum(x, S(-anchor_)) - times_power_of_two(offset_, exponent_)).value();
  }

  [[nodiscard]] S moment(int k) const {
    if (empty() || (!finite_ && k > 0)) return quiet_nan<S>;
    return k == 0 ? S(1) : times_power_of_two(scaled_moment(k), k * exponent_);
  }

  [[nodiscard]] S standardized_moment(int k) const {
    if (empty() || (!finite_ && k > 0)) return quiet_nan<S>;
    if (k == 0) return S(1);
    const S deviation = square_root(scaled_moment(2));
    if (!(S(0) < deviation)) return quiet_nan<S>;
    if (k <= 2) return S(k - 1);
    S ratio = scaled_moment(k);
    for (int i = 0; i < k; ++i) ratio /= deviation;
    return ratio;
  }

  void add(const S& x, const S& w) {
    if (is_zero(w)) return;
    ++count_;
    if (!is_finite(x) || !(S(0) < w) || !is_finite(w)) return spoil(x, w, x, x);
    if (empty()) return start(x, w);
    if (!finite_) return spoil(x, w, x, x);
    widen(x, x);
    const S delta = (scaled_difference(x, anchor_, exponent_) - offset_).value();
    const S h = approach(delta, compensated<S>{w, S(0)});
    S power = w * h;
    for (std::size_t p = 2; p < sums_.size(); ++p) sums_[p] += power *= h;
  }

  /// All elements, ones where weights are null: in fixed blocks, whose sums are added with their errors (range_sums.hpp).
  template <class X, class W>
  void add_range(const strided<const X>& x, const strided<const W>& weights) {
    if constexpr (may_exceed<X, S>) {
      if (any_exceeds<S>(x)) {
        const based_integers<S, X> values(
            x, [&](index_t i) { return !is_zero(weight_at<S>(weights, i)); });
        moment_state part;
        if constexpr (P == dynamic) part.sums_.resize(sums_.size());
        part.add_range(strided<const S>{values.differences.data(), x.size, 1}, weights);
        part.affine(S(1), values.base);
        return merge(part);
      }
    }
    range_sums<S, P> range(order());
    if (range.assign(x, weights)) return merge(moment_state(std::move(range)));
    for (index_t i = 0; i < x.size; ++i) {
      add(static_cast<S>(x[i]), weight_at<S>(weights, i));
    }
  }

  void merge(const moment_state& other) {
    if (other.empty()) return;
    if (this == &other) return merge(moment_state(other));
    const std::uint64_t count = count_ + other.count_;
    merge_numbers(other);
    count_ = count;
  }

  void unmerge(const moment_state& other) {
    if (other.empty()) return;
    if (this == &other) return unmerge(moment_state(other));
    count_ -= other.count_;
    unmerge_numbers(other);
  }

  void affine(const S& a, const S& b) {
    if (empty()) return;
    if (!is_finite(a) || !is_finite(b) || !finite_) {
      return spoil(quiet_nan<S>, S(0), S(a * min_ + b), S(a * max_ + b));
    }
    const bool constant = !(a < S(0) || S(0) < a);
    const compensated<S> product = two_product(a, anchor_), sum = two_sum(product.high, b);
    const int shift = binary_exponent(a);
    const S fraction = times_power_of_two(a, -shift);
    S power = S(1);
    for (int p = 1; p <= order(); ++p) {
      power *= fraction;
      at(p) = constant ? compensated<S>{} : compensated<S>{at(p).high * power, at(p).low * power};
    }
    offset_ = {offset_.high * fraction, offset_.low * fraction};
    exponent_ += shift;
    anchor_ = sum.high;
    const S ends[] = {S(a * min_ + b), S(a * max_ + b)};
    min_ = min_of(ends[0], ends[1]);
    max_ = max_of(ends[0], ends[1]);
    if (!is_finite(anchor_) || !is_finite(min_) || !is_finite(max_))
      return spoil(anchor_, S(0), min_, max_);
    if (constant) offset_ = {};
    offset_ += times_power_of_two(S(sum.low + product.low), -exponent_);
    rescale();
  }

  [[nodiscard]] friend bool operator==(const moment_state&, const moment_state&) = default;

  /// Shows f the numbers of `self`, a state.
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    f(self.count_);
    for (auto& sum : self.sums_) f(sum.high), f(sum.low);
    f(self.anchor_), f(self.offset_.high), f(self.offset_.low), f(self.exponent_);
    f(self.min_), f(self.max_), f(self.loss_), f(self.finite_);
  }

 private:
  [[nodiscard]] compensated<S>& at(int p) noexcept { return sums_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] const compensated<S>& at(int p) const noexcept {
    return sums_[static_cast<std::size_t>(p)];
  }

  /// mu_k in units of 2^(k e).
  [[nodiscard]] S scaled_moment(int k) const { return at(k).value() / weight(); }

  void merge_numbers(const moment_state& other) {
    if (!finite_ || !other.finite_)
      return spoil(other.mean(), other.weight(), other.min_, other.max_);
    if (empty()) {
      const S loss = max_of(loss_, other.loss_);
      *this = other;
      loss_ = loss;
      return;
    }
    widen(other.min_, other.max_);
    loss_ = max_of(loss_, other.loss_);
    const S h = approach(distance_to(other), other.sums_[0]);
    add_moved(other, h, S(1));
  }

  void unmerge_numbers(const moment_state& other) {
    const compensated<S> left = sums_[0] - other.sums_[0];
    if (left.high < S(0) || !includes(other) || (!(S(0) < left.high) && differs(other)))
      loss_ = infinity<S>;
    if (!finite_ || !other.finite_ || left.high < S(0))
      return spoil(quiet_nan<S>, -infinity<S>, min_, max_);
    if (!(S(0) < left.high)) {
      clear();
      return;
    }
    order_buffer<S, P> before(order());
    for (int p = 0; p <= order(); ++p) before.data()[p] = at(p).value();
    const S delta = distance_to(other);
    add_moved(other, delta, S(-1));  // the rest, still about the mean of the whole
    sums_[0] = left;
    const S h = delta * (other.weight() / weight());
    move(h, S(-h));
    offset_ += S(-h);
    for (int p = 0; p <= order(); p += 2) {
      if (at(p).high < S(0)) at(p) = {};
      if (S(0) < before.data()[p]) loss_ = max_of(loss_, S(before.data()[p] / at(p).value()));
    }
    // a mean beyond the range by more than rounding is that of no sample
    const S slack = (max_ - min_) * square_root(unit_roundoff<S>) + end_rounding();
    if (mean() < min_ - slack || max_ + slack < mean()) loss_ = infinity<S>;
  }

  /// By how much affine may have rounded the ends of the range.
  [[nodiscard]] S end_rounding() const {
    return 8 * unit_roundoff<S> * max_of(absolute(min_), absolute(max_));
  }
  /// Whether the range holds that of a sample, as it does where that was added before.
  [[nodiscard]] bool includes(const moment_state& other) const {
    return !(other.min_ < min_ - end_rounding()) && !(max_ + end_rounding() < other.max_);
  }
  /// Whether a sample of the same weight is another one, by more than half of the digits: by its mean or by an even moment.
  [[nodiscard]] bool differs(const moment_state& other) const {
    if (!finite_ || !other.finite_) return false;
    const S tolerance = square_root(unit_roundoff<S>);
    if ((max_ - min_) * tolerance + end_rounding() < absolute(S(mean() - other.mean())))
      return true;
    for (int p = 2; p <= order(); p += 2) {
      const S ours = at(p).value(),
              theirs = times_power_of_two(other.at(p).value(), p * (other.exponent_ - exponent_));
      if (tolerance * max_of(ours, theirs) < absolute(S(ours - theirs))) return true;
    }
    return false;
  }

  void clear() {
    for (compensated<S>& sum : sums_) sum = {};
    offset_ = {};
    exponent_ = 0;
    anchor_ = S(0);
    min_ = infinity<S>;
    max_ = -infinity<S>;
    count_ = 0;
  }

  void start(const S& x, const S& w) {
    anchor_ = min_ = max_ = x;
    sums_[0] = {w, S(0)};
  }

  /// Absorbs a non-finite value or an invalid weight (negative, infinite, NaN): from then on the moments are NaN.
  void spoil(const S& mean_in, const S& w, const S& low, const S& high) {
    const bool good = !(w < S(0)) && is_finite(w);
    anchor_ = !good ? quiet_nan<S> : empty() ? mean_in : S(mean() + mean_in);
    finite_ = false;
    offset_ = {};
    min_ = min_of(min_, low);
    max_ = max_of(max_, high);
    if (good)
      sums_[0] += w;
    else
      sums_[0] = {quiet_nan<S>, S(0)};
    for (int p = 1; p <= order(); ++p) at(p) = {};
  }

  /// Includes [low, high] in the range, and the unit of y with it.
  void widen(const S& low, const S& high) {
    if (!(low < min_) && !(max_ < high)) return;
    min_ = min_of(min_, low);
    max_ = max_of(max_, high);
    rescale();
  }

  void rescale() {
    if (!(min_ < max_)) return;
    const int unit = exponent_of_range(min_, max_);
    if (unit == exponent_) return;
    for (int p = 2; p <= order(); ++p) at(p) = times_power_of_two(at(p), p * (exponent_ - unit));
    offset_ = times_power_of_two(offset_, exponent_ - unit);
    exponent_ = unit;
  }

  /// The other mean minus this one, in units of this.
  [[nodiscard]] S distance_to(const moment_state& other) const {
    return (scaled_difference(other.anchor_, anchor_, exponent_) +
            times_power_of_two(other.offset_, other.exponent_ - exponent_) - offset_)
        .value();
  }

  /// Moves the sums to the mean that this and a sample of weight w at distance delta have together,
  /// counts w in, and returns how far that sample has to move.
  S approach(const S& delta, const compensated<S>& w) {
    const compensated<S> total = sums_[0] + w;
    const S step = delta * (w.value() / total.value());
    const S rest = delta * (weight() / total.value());
    move(S(-step), S(0));
    offset_ += step;
    sums_[0] = total;
    return rest;
  }

  /// y -> y + h for sums whose first moment is `first`; both the sums and the change are taken per
  /// unit of weight, so that large weights do not overflow.
  void move(const S& h, const S& first) {
    if (order() < 2) return;
    order_buffer<S, P> work(order()), change(order());
    for (int p = 2; p <= order(); ++p) work.data()[p] = scaled_moment(p);
    work.data()[0] = S(1);
    work.data()[1] = first;
    kernels::shift_change(work.data(), h, order(), change.data());
    for (int p = 2; p <= order(); ++p) at(p) += change.data()[p] * weight();
  }

  /// Adds (sign 1) or subtracts (sign -1) the other's sums after y -> y + h, in units of this; not
  /// its weight.
  void add_moved(const moment_state& other, const S& h, const S& sign) {
    if (order() < 2) return;
    order_buffer<S, P> work(order()), change(order());
    const int shift = other.exponent_ - exponent_;
    for (int p = 2; p <= order(); ++p)
      work.data()[p] = times_power_of_two(other.scaled_moment(p), p * shift);
    work.data()[0] = S(1);
    work.data()[1] = S(0);
    kernels::shift_change(work.data(), h, order(), change.data());
    for (int p = 2; p <= order(); ++p) {
      const compensated<S> moved = times_power_of_two(other.at(p), p * shift);
      at(p) += compensated<S>{sign * moved.high, sign * moved.low};
      at(p) += sign * change.data()[p] * other.weight();
    }
  }

  /// The sample of a range whose sums are about its anchor, the mean so far from it. The change is the larger by so much.
  explicit moment_state(range_sums<S, P>&& range)
      : sums_(std::move(range.sums)),
        anchor_(range.anchor),
        exponent_(range.exponent),
        count_(range.count),
        min_(range.min),
        max_(range.max) {
    if (!(min_ < max_)) return;
    offset_ = {range.mean, S(0)};
    if (order() < 2) return;
    order_buffer<S, P> work(order()), change(order());
    for (int p = 2; p <= order(); ++p) work.data()[p] = scaled_moment(p);
    work.data()[0] = S(1);
    work.data()[1] = range.mean;
    kernels::shift_change(work.data(), S(-range.mean), order(), change.data());
    for (int p = 2; p <= order(); ++p) at(p) += change.data()[p] * weight();
  }

  order_array<compensated<S>, P> sums_{};  // M_p; M_0 is the weight, M_1 is 0
  S anchor_ = S(0);                        // the mean is anchor + offset 2^e
  compensated<S> offset_{};
  int exponent_ = 0;  // e
  std::uint64_t count_ = 0;
  S min_ = infinity<S>;
  S max_ = -infinity<S>;
  S loss_ = S(1);
  bool finite_ = true;
};

}  // namespace cumulus::detail
