// SPDX-License-Identifier: MIT
//
// The state behind comoments: weight, means and sums of products of deviations of vectors z = (x, v).
// Layer 2 (moments): uses core.
//
// The sums C_rc = sum w y_r y_c are about the means, c running over x alone: packed row by row, c <= r for the rows of x, all
// of x for the rows of v. A mean is an anchor (the first value, or a pivot of the first block) plus an offset, so that a common
// offset of 1e12 costs nothing. Sums and offsets carry their rounding errors.
//
// Two samples at distance h = mean_B - mean_A merge into C_A + C_B + (W_A W_B / W) h h^T. With h from the mean of the whole to
// that of the part, C_A = C - C_B - (W W_B / W_A) h h^T.
#pragma once

#include <cumulus/moments/mean_steps.hpp>
#include <vector>

namespace cumulus::detail {

template <class S>
class comoment_state {
 public:
  /// x of d numbers, v of e.
  comoment_state(index_t d, index_t e)
      : d_(d),
        e_(e),
        anchor_(static_cast<std::size_t>(d + e)),
        offset_(static_cast<std::size_t>(d + e)),
        sums_(static_cast<std::size_t>(row_start(d + e))) {}

  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] index_t second_width() const noexcept { return e_; }
  /// Of both together, and how many sums row r of them has, and where.
  [[nodiscard]] index_t rows() const noexcept { return d_ + e_; }
  [[nodiscard]] index_t row_length(index_t r) const noexcept { return r < d_ ? r + 1 : d_; }
  [[nodiscard]] index_t row_start(index_t r) const noexcept {
    return r < d_ ? r * (r + 1) / 2 : d_ * (d_ + 1) / 2 + (r - d_) * d_;
  }

  [[nodiscard]] bool empty() const noexcept { return finite_ && !(S(0) < weight_.high); }
  [[nodiscard]] S weight() const { return weight_.value(); }
  [[nodiscard]] S loss() const { return loss_; }

  [[nodiscard]] compensated<S> mean_pair(index_t r) const {
    if (empty()) return {quiet_nan<S>, S(0)};
    if (!finite_) return {at(anchor_, r), S(0)};
    compensated<S> mean{at(anchor_, r), S(0)};
    return mean += at(offset_, r);
  }
  [[nodiscard]] S mean(index_t r) const { return mean_pair(r).high; }

  /// z_r - mean_r
  [[nodiscard]] S deviation(index_t r, const S& z) const {
    if (empty() || !finite_ || !is_finite(z)) return z - mean(r);
    return (two_sum(z, S(-at(anchor_, r))) - at(offset_, r)).value();
  }

  /// Requires c < row_length(r).
  [[nodiscard]] S covariance(index_t r, index_t c) const {
    if (empty() || !finite_) return quiet_nan<S>;
    return at(sums_, row_start(r) + c).value() / weight();
  }

  /// One vector of rows() numbers.
  void add(const S* z, const S& w) {
    if (!(w < S(0) || S(0) < w || is_nan(w))) return;
    bool plain = finite_ && S(0) < w && is_finite(w);
    for (index_t r = 0; plain && r < rows(); ++r) plain = is_finite(z[r]);
    if (!plain) return spoil([z](index_t r) { return z[r]; }, w);
    merge_sample(
        {w, S(0)}, z, [](index_t) { return compensated<S>{}; }, nothing);
  }

  void merge(const comoment_state& other) {
    if (other.empty()) return;
    if (this == &other) return merge(comoment_state(other));
    if (!finite_ || !other.finite_)
      return spoil([&](index_t r) { return other.mean(r); }, other.weight());
    loss_ = max_of(loss_, other.loss_);
    merge_sample(
        other.weight_, other.anchor_.data(), [&](index_t r) { return at(other.offset_, r); },
        [&](index_t r, index_t c) { return at(other.sums_, row_start(r) + c); });
  }

  /// A sample of finite numbers of positive weight: mean_r = anchor[r] + offset(r), and its sums of row r and column c.
  template <class Offset, class Sum>
  void merge_sample(const compensated<S>& w, const S* anchor, Offset offset, Sum sum) {
    constexpr bool has_sums = !std::same_as<Sum, no_sums>;
    if (!finite_)
      return spoil([&](index_t r) { return S(anchor[r] + offset(r).value()); }, w.value());
    if (empty()) {
      weight_ = w;
      for (index_t r = 0; r < rows(); ++r) {
        at(anchor_, r) = anchor[r];
        at(offset_, r) = offset(r);
        if constexpr (has_sums) {
          for (index_t c = 0; c < row_length(r); ++c) at(sums_, row_start(r) + c) = sum(r, c);
        }
      }
      return;
    }
    const compensated<S> total = weight_ + w;
    const compensated<S> part = ratio_of(w, total);
    const S factor = weight() * part.high;
    vector_buffer<S> h(rows());
    for (index_t r = 0; r < rows(); ++r) {
      const compensated<S> step =
          two_sum(anchor[r], S(-at(anchor_, r))) + offset(r) - at(offset_, r);
      h[r] = step.value();
      at(offset_, r) += product_of(step, part);
    }
    for (index_t r = 0; r < rows(); ++r) {
      const S row_factor = factor * h[r];
      compensated<S>* row = sums_.data() + row_start(r);
      for (index_t c = 0; c < row_length(r); ++c) {
        if constexpr (has_sums) row[c] += sum(r, c);
        row[c] += row_factor * h[c];
      }
    }
    weight_ = total;
  }

  void unmerge(const comoment_state& other) {
    if (other.empty()) return;
    if (this == &other) return unmerge(comoment_state(other));
    const compensated<S> left = weight_ - other.weight_;
    if (!finite_ || !other.finite_ || left.high < S(0))
      return spoil([](index_t) { return quiet_nan<S>; }, -infinity<S>);
    if (!(S(0) < left.high)) return clear();
    loss_ = max_of(loss_, S(weight() / left.value()));
    const compensated<S> part = ratio_of(other.weight_, left);
    const S factor = weight() * part.high;
    vector_buffer<S> h(rows());
    for (index_t r = 0; r < rows(); ++r) {
      const compensated<S> step =
          two_sum(at(other.anchor_, r), S(-at(anchor_, r))) + at(other.offset_, r) - at(offset_, r);
      h[r] = step.value();
      at(offset_, r) += -product_of(step, part);
    }
    for (index_t r = 0; r < rows(); ++r) {
      const S row_factor = factor * h[r];
      const index_t start = row_start(r);
      for (index_t c = 0; c < row_length(r); ++c) {
        compensated<S>& s = at(sums_, start + c);
        const S before = s.value();
        s += -at(other.sums_, start + c);
        s += -row_factor * h[c];
        if (r != c) continue;
        if (s.high < S(0)) s = {};
        if (S(0) < before) loss_ = max_of(loss_, S(before / s.value()));
      }
    }
    weight_ = left;
  }

  /// The state of x' = A x + b, A [rows, d] with element (i, j) at a(i, j); v as it was.
  template <class A, class B>
  [[nodiscard]] comoment_state affine(index_t count, A a, B b) const {
    comoment_state out(count, e_);
    out.loss_ = loss_;
    if (empty()) return out;
    bool plain = finite_;
    for (index_t i = 0; i < count; ++i) {
      compensated<S> image{b(i), S(0)}, moved;
      for (index_t j = 0; j < d_; ++j) {
        const compensated<S> exact = two_product(S(a(i, j)), at(anchor_, j));
        const compensated<S>& offset = at(offset_, j);
        image += exact.high;
        image += exact.low;
        moved += compensated<S>{S(a(i, j) * offset.high), S(a(i, j) * offset.low)};
      }
      at(out.anchor_, i) = image.high;
      at(out.offset_, i) = moved += image.low;
      plain = plain && is_finite(image.high) && is_finite(moved.high);
    }
    for (index_t r = 0; r < e_; ++r) {
      at(out.anchor_, count + r) = at(anchor_, d_ + r);
      at(out.offset_, count + r) = at(offset_, d_ + r);
    }
    out.weight_ = weight_;
    if (!plain) {
      out.finite_ = false;
      for (index_t r = 0; r < count; ++r) at(out.anchor_, r) = quiet_nan<S>;
      for (compensated<S>& offset : out.offset_) offset = {};
      return out;
    }
    // (A C)^T row by row, then A (A C)^T: sums with their errors
    std::vector<compensated<S>> half(static_cast<std::size_t>(count * d_));
    for (index_t i = 0; i < count; ++i) {
      for (index_t k = 0; k < d_; ++k) {
        compensated<S>& sum = at(half, i * d_ + k);
        for (index_t j = 0; j < d_; ++j) add_product(sum, S(a(i, j)), symmetric(j, k));
      }
    }
    for (index_t r = 0; r < count; ++r) {
      for (index_t c = 0; c <= r; ++c) {
        compensated<S>& sum = at(out.sums_, out.row_start(r) + c);
        for (index_t k = 0; k < d_; ++k) add_product(sum, S(a(r, k)), at(half, c * d_ + k));
        if (r == c && sum.high < S(0)) sum = {};
      }
    }
    for (index_t r = 0; r < e_; ++r) {
      for (index_t c = 0; c < count; ++c) {
        compensated<S>& sum = at(out.sums_, out.row_start(count + r) + c);
        for (index_t k = 0; k < d_; ++k)
          add_product(sum, S(a(c, k)), at(sums_, row_start(d_ + r) + k));
      }
    }
    return out;
  }

  /// Every number of the state in a fixed order, a flag as 0 or 1; together with the widths they are the state.
  template <class F>
  void for_each_number(F f) {
    visit(*this, f);
    S flag = finite_ ? S(1) : S(0);
    f(flag);
    finite_ = S(0) < flag;
  }
  template <class F>
  void for_each_number(F f) const {
    visit(*this, f);
    const S flag = finite_ ? S(1) : S(0);
    f(flag);
  }

  [[nodiscard]] friend bool operator==(const comoment_state&, const comoment_state&) = default;

 private:
  struct no_sums {};
  static constexpr no_sums nothing{};

  template <class Numbers>
  [[nodiscard]] static auto& at(Numbers& numbers, index_t i) noexcept {
    return numbers[static_cast<std::size_t>(i)];
  }

  template <class State, class F>
  static void visit(State& state, F& f) {
    const auto pair = [&f](auto& number) {
      f(number.high);
      f(number.low);
    };
    pair(state.weight_);
    for (auto& number : state.anchor_) f(number);
    for (auto& number : state.offset_) pair(number);
    for (auto& number : state.sums_) pair(number);
    f(state.loss_);
  }

  [[nodiscard]] const compensated<S>& symmetric(index_t r, index_t c) const noexcept {
    return at(sums_, r < c ? row_start(c) + r : row_start(r) + c);
  }
  static void add_product(compensated<S>& sum, const S& a, const compensated<S>& b) {
    const compensated<S> exact = two_product(a, b.high);
    sum += exact.high;
    sum += exact.low + a * b.low;
  }

  void clear() {
    const S loss = loss_;
    *this = comoment_state(d_, e_);
    loss_ = loss;
  }

  /// Takes in what is not finite, or of a weight that is no weight.
  template <class Mean>
  void spoil(Mean mean_in, const S& w) {
    const bool good = !(w < S(0)) && is_finite(w);
    const bool first = empty();
    const S part = first ? S(1) : S(w / (weight() + w));
    for (index_t r = 0; r < rows(); ++r) {
      const S before = mean(r), in = mean_in(r);
      const bool finite = is_finite(before) && is_finite(in);
      at(anchor_, r) = !good    ? quiet_nan<S>
                       : first  ? in
                       : finite ? S(before + (in - before) * part)
                                : S(before + in);
    }
    finite_ = false;
    for (compensated<S>& offset : offset_) offset = {};
    for (compensated<S>& sum : sums_) sum = {};
    if (good) {
      weight_ += w;
    } else {
      weight_ = {quiet_nan<S>, S(0)};
    }
  }

  index_t d_, e_;
  compensated<S> weight_;
  std::vector<S> anchor_;
  std::vector<compensated<S>> offset_, sums_;
  S loss_ = S(1);
  bool finite_ = true;
};

}  // namespace cumulus::detail
