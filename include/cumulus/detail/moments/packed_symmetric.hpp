// SPDX-License-Identifier: MIT
//
// Symmetric tensors of several orders, each component once, and what takes every component in turn.
// Layer 2 (moments): uses core.
//
// A tensor of order p holds its components i1 <= ... <= ip at sum_l C(i_l + l - 1, l): those whose largest index is k lie
// together, and are y_k times the components of order p - 1 up to k, which are the first of that order. So products of all
// orders take one multiplication a component and no table of indices.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <limits>
#include <vector>

namespace cumulus::detail {

/// How many components a symmetric tensor of order p has in d dimensions: C(d + p - 1, p); the greatest index_t where that
/// does not fit.
[[nodiscard]] constexpr index_t packed_count(index_t d, int p) noexcept {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  index_t count = p > 0 ? d : 1;
  for (index_t k = 2; k <= p; ++k) {
    if (d > most / k - k) return most;  // it is d^2 / 2 or more
    const index_t n = d + k - 1,
                  rest = count % k * n / k;  // count n / k, whose product may not fit
    if (count / k > (most - rest) / n) return most;
    count = count / k * n + rest;
  }
  return count;
}

/// The layout of tensors of orders 0..order in d dimensions.
class packed_symmetric {
 public:
  packed_symmetric() = default;
  /// Refuses, in the name of `function`, what has more components than memory could hold.
  packed_symmetric(const char* function, index_t d, int order) : d_(d), order_(order) {
    if (packed_count(d, order) > index_t(1) << 40)
      refuse({function, ": order ", order, " of ", d, " dimensions has more than 2^40 components"});
    counts_.resize(static_cast<std::size_t>((d + 1) * (order + 1)));
    for (index_t k = 0; k <= d; ++k) at(0, k) = 1;
    for (int p = 1; p <= order; ++p) {
      for (index_t k = 1; k <= d; ++k) at(p, k) = at(p, k - 1) + at(p - 1, k);
    }
  }

  [[nodiscard]] index_t dimensions() const noexcept { return d_; }
  [[nodiscard]] int order() const noexcept { return order_; }
  /// How many components of order p the first k dimensions have: C(k + p - 1, p). The components with largest index k start
  /// there, count(p - 1, k + 1) of them.
  [[nodiscard]] index_t count(int p, index_t k) const noexcept {
    return counts_[static_cast<std::size_t>(p * (d_ + 1) + k)];
  }
  [[nodiscard]] index_t count(int p) const noexcept { return count(p, d_); }

  [[nodiscard]] friend bool operator==(const packed_symmetric&, const packed_symmetric&) = default;

  /// Where y_i^p lies.
  [[nodiscard]] index_t power(int p, index_t i) const noexcept { return count(p, i + 1) - 1; }

  /// products[p][...] of order p, p = 1..highest, of one vector.
  template <class S>
  void products(const S* y, int highest, S* const* out) const noexcept {
    for (index_t k = 0; k < d_ && highest > 0; ++k) out[1][k] = y[k];
    for (int p = 2; p <= highest; ++p) {
      for (index_t k = 0; k < d_; ++k) {
        S* const to = out[p] + count(p, k);
        const S* const from = out[p - 1];
        for (index_t i = 0; i < count(p - 1, k + 1); ++i) to[i] = y[k] * from[i];
      }
    }
  }

  /// The same with 1 / (a_1! a_2! ...) of each component's powers a: the coefficients of e^(q y). Those with largest index k
  /// to the power a are q_k^a / a! times those of order p - a below k, one block after the other.
  template <class S>
  void exponential(const S* q, int highest, S* const* out) const noexcept {
    out[0][0] = S(1);
    for (int p = 1; p <= highest; ++p) {
      for (index_t k = 0; k < d_; ++k) {
        S* to = out[p] + count(p, k);
        S factor(1);
        for (int a = 1; a <= p; ++a) {
          factor = factor * q[k] / S(a);
          for (index_t i = 0; i < count(p - a, k); ++i) *to++ = factor * out[p - a][i];
        }
      }
    }
  }

  /// The change of the tensors' components under y -> y + h: change[p], p = 2..order, from sums[p], p = 0..order.
  ///
  /// One factor of every component at a time: after pass s, a component of order p holds the sum of (y + h) in its s lowest
  /// indices times y in the others, so that pass s adds h of index s times the component of order p - 1 without that index.
  /// Those with the same indices above s lie together in both.
  /// Cost    p multiply-adds a component of order p.
  template <class S>
  void shift_change(S* const* sums, const S* h, S* const* change) const noexcept {
    for (int p = 0; p <= order_; ++p) {
      for (index_t i = 0; i < count(p); ++i) change[p][i] = S(0);
    }
    for (int pass = 1; pass <= order_; ++pass) {
      for (int p = order_; p >= pass; --p) {
        shift_below(pass, p, d_, sums[p - 1], change[p - 1], h, change[p]);
      }
    }
  }

 private:
  [[nodiscard]] index_t& at(int p, index_t k) noexcept {
    return counts_[static_cast<std::size_t>(p * (d_ + 1) + k)];
  }

  /// Pass `pass` over the components of order p in the first `limit` dimensions; indices above p are fixed.
  template <class S>
  void shift_below(int pass, int p, index_t limit, const S* sums, const S* before, const S* h,
                   S* change) const noexcept {
    if (p > pass) {
      for (index_t k = 0; k < limit; ++k) {
        const index_t from = count(p - 1, k);
        shift_below(pass, p - 1, k + 1, sums + from, before + from, h, change + count(p, k));
      }
      return;
    }
    if (pass == 1) {
      const S value = sums[0] + before[0];
      for (index_t k = 0; k < limit; ++k) change[k] += h[k] * value;
      return;
    }
    for (index_t k = 0; k < limit; ++k) {
      S* const to = change + count(pass, k);
      const S factor = h[k];
      for (index_t i = 0; i < count(pass - 1, k + 1); ++i) to[i] += factor * (sums[i] + before[i]);
    }
  }

  index_t d_ = 0;
  int order_ = 0;
  std::vector<index_t> counts_;
};

/// Room for tensors of orders 0..order, one after the other.
template <class S>
class packed_tensors {
 public:
  explicit packed_tensors(const packed_symmetric& layout) {
    index_t total = 0;
    for (int p = 0; p <= layout.order(); ++p) total += layout.count(p);
    numbers_.resize(static_cast<std::size_t>(total));
    S* next = numbers_.data();
    for (int p = 0; p <= layout.order(); ++p) {
      orders_.push_back(next);
      next += layout.count(p);
    }
  }
  packed_tensors(const packed_tensors&) = delete;
  packed_tensors& operator=(const packed_tensors&) = delete;
  ~packed_tensors() = default;

  [[nodiscard]] S* operator[](int p) const noexcept { return orders_[static_cast<std::size_t>(p)]; }
  [[nodiscard]] S* const* orders() const noexcept { return orders_.data(); }

 private:
  std::vector<S> numbers_;
  std::vector<S*> orders_;
};

}  // namespace cumulus::detail
