// SPDX-License-Identifier: MIT
//
// The state behind comoments: weight, means (anchored_means.hpp) and sums of products of deviations of vectors z = (x, v).
// Layer 2 (moments): uses core.
//
// The sums C_rc = sum w y_r y_c are about the means, c running over x alone: packed row by row, c <= r for the rows of x, all
// of x for the rows of v. The sums carry their rounding errors.
//
// Two samples at distance h = mean_B - mean_A merge into C_A + C_B + (W_A W_B / W) h h^T. With h from the mean of the whole to
// that of the part, C_A = C - C_B - (W W_B / W_A) h h^T.
#pragma once

#include <cumulus/detail/moments/anchored_means.hpp>
#include <cumulus/detail/moments/mean_steps.hpp>
#include <cumulus/detail/moments/zero_weight.hpp>
#include <vector>

namespace cumulus::detail {

template <class S>
class comoment_state {
 public:
  /// x of d numbers, v of e.
  comoment_state(index_t d, index_t e)
      : d_(d), e_(e), means_(d + e), sums_(static_cast<std::size_t>(row_start(d + e))) {}

  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] index_t second_width() const noexcept { return e_; }
  /// Of both together, and how many sums row r of them has, and where.
  [[nodiscard]] index_t rows() const noexcept { return d_ + e_; }
  [[nodiscard]] index_t row_length(index_t r) const noexcept { return r < d_ ? r + 1 : d_; }
  [[nodiscard]] index_t row_start(index_t r) const noexcept {
    return r < d_ ? r * (r + 1) / 2 : d_ * (d_ + 1) / 2 + (r - d_) * d_;
  }

  [[nodiscard]] bool empty() const noexcept { return means_.empty(); }
  [[nodiscard]] std::uint64_t count() const noexcept { return means_.count; }
  void count_in(index_t vectors) noexcept { means_.count += static_cast<std::uint64_t>(vectors); }
  [[nodiscard]] S weight() const { return means_.weight.value(); }
  [[nodiscard]] S loss() const { return loss_; }

  [[nodiscard]] compensated<S> mean_pair(index_t r) const { return means_.mean_pair(r); }
  [[nodiscard]] S mean(index_t r) const { return means_.mean(r); }
  [[nodiscard]] S deviation(index_t r, const S& x) const { return means_.deviation(r, x); }

  /// Requires c < row_length(r).
  [[nodiscard]] S covariance(index_t r, index_t c) const {
    if (empty() || !means_.finite) return quiet_nan<S>;
    return at(sums_, row_start(r) + c).value() / weight();
  }

  /// One vector of rows() numbers.
  void add(const S* z, const S& w) {
    if (is_zero(w)) return;
    ++means_.count;
    bool plain = means_.finite && S(0) < w && is_finite(w);
    for (index_t r = 0; plain && r < rows(); ++r) plain = is_finite(z[r]);
    if (!plain) return spoil([z](index_t r) { return z[r]; }, w);
    merge_sample({w, S(0)}, z, [](index_t) { return compensated<S>{}; }, nothing);
  }

  void merge(const comoment_state& other) {
    if (other.empty()) return;
    if (this == &other) return merge(comoment_state(other));
    means_.count += other.means_.count;
    if (!means_.finite || !other.means_.finite)
      return spoil([&](index_t r) { return other.mean(r); }, other.weight());
    loss_ = max_of(loss_, other.loss_);
    merge_sample(
        other.means_.weight, other.means_.anchor.data(),
        [&](index_t r) { return at(other.means_.offset, r); },
        [&](index_t r, index_t c) { return at(other.sums_, row_start(r) + c); });
  }

  /// A sample of finite numbers of positive weight: mean_r = anchor[r] + offset(r), and its sums of row r and column c.
  template <class Offset, class Sum>
  void merge_sample(const compensated<S>& w, const S* anchor, Offset offset, Sum sum) {
    constexpr bool has_sums = !std::same_as<Sum, no_sums>;
    if (!means_.finite)
      return spoil([&](index_t r) { return S(anchor[r] + offset(r).value()); }, w.value());
    if (empty()) {
      means_.weight = w;
      for (index_t r = 0; r < rows(); ++r) {
        at(means_.anchor, r) = anchor[r];
        at(means_.offset, r) = offset(r);
        if constexpr (has_sums) {
          for (index_t c = 0; c < row_length(r); ++c) at(sums_, row_start(r) + c) = sum(r, c);
        }
      }
      return;
    }
    vector_buffer<S> h(rows()), rest(rows());
    bool near = true;
    for (index_t r = 0; r < rows(); ++r) {
      const compensated<S> step = means_.distance_to(r, anchor[r], offset(r));
      h[r] = step.high;
      rest[r] = step.low;
      near = near && is_finite(step.value());
    }
    if (!near) return spoil([&](index_t r) { return S(anchor[r] + offset(r).value()); }, w.value());
    const compensated<S> total = means_.weight + w;
    const compensated<S> part = ratio_of(w, total);
    const S factor = weight() * part.high;
    for (index_t r = 0; r < rows(); ++r)
      at(means_.offset, r) += product_of(compensated<S>{h[r], rest[r]}, part);
    for (index_t r = 0; r < rows(); ++r) {
      const S row_factor = factor * h[r];
      compensated<S>* row = sums_.data() + row_start(r);
      for (index_t c = 0; c < row_length(r); ++c) {
        if constexpr (has_sums) row[c] += sum(r, c);
        row[c] += row_factor * h[c];
      }
    }
    means_.weight = total;
  }

  void unmerge(const comoment_state& other) {
    if (other.empty()) return;
    if (this == &other) return unmerge(comoment_state(other));
    means_.count -= other.means_.count;
    const compensated<S> left = means_.weight - other.means_.weight;
    if (left.high < S(0) || (!(S(0) < left.high) && differs(other))) loss_ = infinity<S>;
    if (!means_.finite || !other.means_.finite || left.high < S(0))
      return spoil([](index_t) { return quiet_nan<S>; }, -infinity<S>);
    if (!(S(0) < left.high)) return clear();
    loss_ = max_of(loss_, S(weight() / left.value()));
    const compensated<S> part = ratio_of(other.means_.weight, left);
    const S factor = weight() * part.high;
    vector_buffer<S> h(rows());
    for (index_t r = 0; r < rows(); ++r) {
      const compensated<S> step = means_.distance_to(other.means_, r);
      h[r] = step.value();
      at(means_.offset, r) += -product_of(step, part);
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
        if (S(0) < before)
          loss_ = max_of(loss_, S(0) < s.value() ? S(before / s.value()) : infinity<S>);
      }
    }
    means_.weight = left;
  }

  /// The state of x' = A x + b, A [rows, d] with element (i, j) at a(i, j); v as it was.
  template <class A, class B>
  [[nodiscard]] comoment_state affine(index_t count, A a, B b) const {
    comoment_state out(count, e_);
    out.loss_ = loss_;
    out.means_.count = means_.count;
    if (empty()) return out;
    bool plain = means_.finite;
    for (index_t i = 0; i < count; ++i) {
      compensated<S> image{b(i), S(0)}, moved;
      for (index_t j = 0; j < d_; ++j) {
        const compensated<S> exact = two_product(S(a(i, j)), at(means_.anchor, j));
        const compensated<S>& offset = at(means_.offset, j);
        image += exact.high;
        image += exact.low;
        moved += compensated<S>{S(a(i, j) * offset.high), S(a(i, j) * offset.low)};
      }
      at(out.means_.anchor, i) = image.high;
      at(out.means_.offset, i) = moved += image.low;
      plain = plain && is_finite(image.high) && is_finite(moved.high);
    }
    for (index_t r = 0; r < e_; ++r) {
      at(out.means_.anchor, count + r) = at(means_.anchor, d_ + r);
      at(out.means_.offset, count + r) = at(means_.offset, d_ + r);
    }
    out.means_.weight = means_.weight;
    if (!plain) {
      out.means_.finite = false;
      for (index_t r = 0; r < count; ++r) at(out.means_.anchor, r) = quiet_nan<S>;
      for (index_t r = 0; r < e_; ++r) at(out.means_.anchor, count + r) = mean(d_ + r);
      for (compensated<S>& offset : out.means_.offset) offset = {};
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

  [[nodiscard]] friend bool operator==(const comoment_state&, const comoment_state&) = default;

 private:
  /// The weighted sum of squares of row r, where it is held: of the rows of x.
  [[nodiscard]] S variation(index_t r) const {
    return r < row_length(r) ? at(sums_, row_start(r) + r).value() : S(0);
  }
  /// Whether a sample of the same weight has another mean, or another variance, by more than half of the digits: then it was not
  /// added.
  [[nodiscard]] bool differs(const comoment_state& other) const {
    if (!means_.finite || !other.means_.finite) return false;
    for (index_t r = 0; r < rows(); ++r) {
      const S tolerance = square_root(unit_roundoff<S>),
              step = absolute(means_.distance_to(other.means_, r).value()),
              rounding =
                  8 * unit_roundoff<S> * absolute(means_.anchor[static_cast<std::size_t>(r)]),
              ours = variation(r), theirs = other.variation(r);
      if (rounding < step && tolerance * tolerance * ours < weight() * step * step) return true;
      if (tolerance * max_of(ours, theirs) < absolute(S(ours - theirs))) return true;
    }
    return false;
  }

  struct no_sums {};
  static constexpr no_sums nothing{};

  template <class Numbers>
  [[nodiscard]] static auto& at(Numbers& numbers, index_t i) noexcept {
    return numbers[static_cast<std::size_t>(i)];
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
    for (auto& number : state.means_.offset) pair(number);
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

  template <class Mean>
  void spoil(Mean mean_in, const S& w) {
    means_.spoil(mean_in, w);
    for (compensated<S>& sum : sums_) sum = {};
  }

  index_t d_, e_;
  anchored_means<S> means_;
  std::vector<compensated<S>> sums_;
  S loss_ = S(1);
};

}  // namespace cumulus::detail
