// SPDX-License-Identifier: MIT
//
// What linear attention keeps of the tokens so far, and how they enter, leave for the sums and are moved.
// Layer 5 (attention): uses core; linear_state.hpp builds on it.
#pragma once

#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/attention/feature_sums.hpp>
#include <cumulus/detail/attention/linear_weights.hpp>
#include <cumulus/detail/attention/waiting_tokens.hpp>

namespace cumulus::detail {

/// Tokens in their order: the first ones, as many as are exact; those in the sums; those that wait, of which the last are
/// the window. All keys are taken less a reference.
///
/// In the sums the reference is moved by the exact shift of feature_sums. A merge a += b moves b to a's reference, fills a's
/// first tokens from b's and lets a's waiting ones leave; then a's sums grow old by the tokens of b that are older than
/// those that wait.
template <class T>
class linear_memory {
  using C = compute_scalar<T>;
  static constexpr index_t at_first = 256;  // tokens that it has room for before it must grow

 public:
  linear_memory(index_t d, index_t e, const linear_state_options& o)
      : d_(d),
        e_(e),
        follows_(o.centred),
        keeps_all_(o.method == linear_method::scores),
        weights_(o),
        sums_(d, e, keeps_all_ ? 0 : weights_.order),
        waiting_(d, e),
        reference_(std::size_t(d), T(0)) {
    chunk_ = o.chunk > 0 ? o.chunk : automatic_chunk(sums_.count());
    most_ =
        keeps_all_ ? unbounded : sum_or_most(sum_or_most(o.first_tokens, weights_.window), chunk_);
    reserve(std::min(most_, at_first));
  }

  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] index_t value_width() const noexcept { return e_; }
  /// Tokens so far.
  [[nodiscard]] index_t size() const noexcept { return seen_; }
  /// Of linear_method::scores: no token leaves for the sums.
  [[nodiscard]] bool keeps_all() const noexcept { return keeps_all_; }
  [[nodiscard]] const linear_weights<T>& weights() const noexcept { return weights_; }
  [[nodiscard]] const feature_sums<T>& sums() const noexcept { return sums_; }
  /// The first tokens, then the newest; keys less the reference.
  [[nodiscard]] const waiting_tokens<T>& waiting() const noexcept { return waiting_; }
  [[nodiscard]] const std::vector<T>& reference() const noexcept { return reference_; }
  /// At least max |k - reference|^2.
  [[nodiscard]] const C& longest() const noexcept { return longest_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sums_.bytes() + waiting_.bytes() + sizeof(T) * reference_.size();
  }
  /// One for all of a thread, so that it stays in the caches.
  [[nodiscard]] static feature_workspace<T>& workspace() {
    static thread_local feature_workspace<T> shared;
    return shared;
  }

  /// One token, of strided views.
  template <class K, class V>
  void add(const K& key, const V& value) {
    make_room(1);
    T* const to = waiting_.key(waiting_.size());
    for (index_t i = 0; i < d_; ++i) to[i] = key[i];
    T* const value_to = waiting_.value(waiting_.size());
    for (index_t i = 0; i < e_; ++i) value_to[i] = value[i];
    settle(1);
  }

  /// Takes in tokens t, t + 1, .. of these, at most `most`, as many as can wait together; returns how many.
  index_t append(const token_rows<T>& keys, const token_rows<T>& values, index_t t, index_t most) {
    make_room(most);
    const index_t count = std::min(most, room());
    for (index_t j = 0; j < count; ++j) {
      std::copy_n(keys.row(t + j), d_, waiting_.key(waiting_.size() + j));
      std::copy_n(values.row(t + j), e_, waiting_.value(waiting_.size() + j));
    }
    settle(count);
    return count;
  }

  /// The tokens that wait, but those that are exact, leave for the sums.
  void fold() {
    if (!keeps_all_) fold_open(waiting_.size() - kept() - weights_.window);
  }

  /// The tokens of another after these. Requires that it has some, and equal options.
  void merge(const linear_memory& other) {
    if (seen_ == 0) return void(*this = other);
    linear_memory b = other;
    b.move_to(reference_);
    const index_t kept = b.kept();  // b's first tokens, where they are kept apart
    const index_t folded = b.seen_ - b.waiting_.size();
    index_t taken = 0;  // of b's first, to fill our own
    while (folded > 0 && waiting_.size() == seen_ && seen_ < weights_.first_tokens && taken < kept)
      append_relative(b, taken++);
    if (folded == 0) {
      for (index_t j = 0; j < b.waiting_.size(); ++j) append_relative(b, j);
      return;
    }
    fold_open(waiting_.size() - this->kept());
    b.move_to(reference_);              // ours may have moved on
    const index_t end = folded + kept;  // of b's tokens that are older than those that wait
    const T age = T(linear_weights<T>::power(weights_.decay, end - taken));
    sums_.merge(b.sums_, age);
    squares_ = squares_ * C(age) + b.squares_;
    for (index_t j = taken; j < kept; ++j) {
      const T weight = T(linear_weights<T>::power(weights_.decay, end - 1 - j));
      squares_ += C(weight) * b.waiting_.square(j);
      sums_.fold(b.waiting_.key(j), b.waiting_.value(j), 1, &weight, T(1), workspace());
    }
    seen_ += end - taken;
    longest_ = max_of(longest_, b.longest_);
    for (index_t j = kept; j < b.waiting_.size(); ++j) append_relative(b, j);
  }

 private:
  static constexpr index_t unbounded = std::numeric_limits<index_t>::max();

  [[nodiscard]] static index_t sum_or_most(index_t a, index_t b) noexcept {
    return a > unbounded - b ? unbounded : a + b;
  }
  [[nodiscard]] static index_t automatic_chunk(index_t features) noexcept {
    return features < 128 ? 8 : features < 512 ? 16 : features < 2048 ? 64 : 128;
  }

  void reserve(index_t tokens) {
    waiting_.reserve(tokens);
    weights_.reserve(tokens);
  }
  /// First tokens that are kept.
  [[nodiscard]] index_t kept() const noexcept {
    return std::min(waiting_.size(), weights_.first_tokens);
  }
  /// How many more can wait.
  [[nodiscard]] index_t room() const noexcept { return most_ - waiting_.size(); }

  /// Room for one token at least, for `wanted` as far as that is worth it.
  void make_room(index_t wanted) {
    if (room() < wanted && room() < chunk_) fold();
    const index_t needed = waiting_.size() + std::min(wanted, room());
    if (needed > waiting_.capacity())
      reserve(std::min(most_, std::max(needed, 2 * waiting_.capacity())));
  }

  /// `count` tokens, as they are, have come to the end of those that wait.
  void settle(index_t count) {
    T* const z = waiting_.key(waiting_.size());
    if (seen_ == 0 && follows_) {
      for (index_t i = 0; i < d_ && count > 0; ++i)
        reference_[std::size_t(i)] = is_finite(z[i]) ? z[i] : T(0);
    }
    if (follows_) {
      for (index_t j = 0; j < count; ++j)
        kernels::subtract_rows(z + j * d_, reference_.data(), z + j * d_, d_);
    }
    take_in(count);
  }

  /// The same of keys that are relative to the reference.
  void take_in(index_t count) {
    for (index_t j = waiting_.size(); j < waiting_.size() + count; ++j)
      longest_ = max_of(longest_, waiting_.square(j));
    waiting_.push(count);
    seen_ += count;
  }

  /// A token that waits in another state of the same reference.
  void append_relative(const linear_memory& b, index_t j) {
    make_room(1);
    std::vector<T> key(b.waiting_.key(j), b.waiting_.key(j + 1));
    if (reference_ != b.reference_) {  // ours moved on as room was made
      for (index_t i = 0; i < d_; ++i)
        key[std::size_t(i)] += b.reference_[std::size_t(i)] - reference_[std::size_t(i)];
    }
    std::copy_n(key.data(), d_, waiting_.key(waiting_.size()));
    std::copy_n(b.waiting_.value(j), e_, waiting_.value(waiting_.size()));
    take_in(1);
  }

  /// The oldest `count` tokens that wait, after the first ones, leave for the sums.
  void fold_open(index_t count) {
    if (count <= 0) return;
    const index_t first = kept();
    if (follows_) follow(first, count);
    const T keep = T(linear_weights<T>::power(weights_.decay, count));
    squares_ = squares_ * C(keep) + waiting_.square(first, count);
    sums_.fold(waiting_.key(first), waiting_.value(first), count, weights_.last_ages(count), keep,
               workspace());
    waiting_.drop(first, count);
  }

  /// Moves the reference to the mean of the keys where that lies beyond two of their standard deviations.
  void follow(index_t first, index_t count) {
    if (sums_.order() == 0) return;
    const C total = C(sums_.weight()) + C(double(count));
    std::vector<T> sum(sums_.keys(), sums_.keys() + d_);
    for (index_t j = 0; j < count; ++j)
      kernels::add_row(waiting_.key(first + j), T(1), sum.data(), d_);
    std::vector<C> mean(sum.begin(), sum.end());
    C square(0);
    for (C& x : mean) {
      x /= total;
      square += x * x;
    }
    const C spread = (squares_ + waiting_.square(first, count)) / total - square;
    if (!(square * C(double(d_)) > C(4) * spread) || !is_finite(square)) return;
    std::vector<T> to(reference_);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = T(C(to[i]) + mean[i]);
    move_to(to);
  }

  /// Makes `to` the reference: exact but for rounding.
  void move_to(const std::vector<T>& to) {
    if (reference_ == to) return;
    std::vector<C> by(to.size());  // what keys gain
    C length(0), along(0);
    for (std::size_t i = 0; i < to.size(); ++i) {
      by[i] = C(reference_[i]) - C(to[i]);
      length += by[i] * by[i];
      if (sums_.order() > 0) along += by[i] * C(sums_.keys()[i]);
    }
    squares_ += C(2) * along + C(sums_.weight()) * length;
    reference_ = to;
    if (!sums_.empty()) sums_.shift(by);
    const C before = square_root(longest_);
    longest_ = waiting_.shift(by);
    if (seen_ > waiting_.size()) {  // keys that the sums have taken in may be that much farther
      const C farthest = before + square_root(length);
      longest_ = max_of(longest_, C(farthest * farthest));
    }
  }

  index_t d_, e_;
  bool follows_, keeps_all_;
  index_t chunk_ = 0;
  index_t most_ = 0;  // tokens that can wait
  linear_weights<T> weights_;
  feature_sums<T> sums_;
  waiting_tokens<T> waiting_;

  index_t seen_ = 0;
  std::vector<T> reference_;
  C squares_ = C(0);  // sum |k - c|^2 of what is in the sums
  C longest_ = C(0);
};

}  // namespace cumulus::detail
