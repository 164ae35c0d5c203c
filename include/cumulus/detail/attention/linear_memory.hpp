// SPDX-License-Identifier: MIT
//
// What linear attention keeps of the tokens so far, and how they enter, leave for the sums and are moved.
// Layer 5 (attention): uses core; linear_state.hpp builds on it.
#pragma once

#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/attention/far_tokens.hpp>
#include <cumulus/detail/attention/feature_sums.hpp>
#include <cumulus/detail/attention/linear_weights.hpp>
#include <cumulus/detail/attention/waiting_tokens.hpp>

namespace cumulus::detail {

/// Tokens in their order: the first ones, as many as are exact; those in the sums; those that wait, of which the last are
/// the window. All keys are taken less a reference. A few far tokens (far_tokens.hpp) stay after the first ones in place of
/// entering the sums.
///
/// The reference is the median of the keys until some enter the sums; then it follows the mean of those, by the exact shift of
/// feature_sums. A merge a += b brings both to one reference, fills a's first tokens from b's and lets a's waiting ones leave;
/// then a's sums grow old by the tokens of b that are older than those that wait.
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
        waiting_(d, e, follows_),
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
  /// The first tokens, the far ones, then the newest; keys less the reference.
  [[nodiscard]] const waiting_tokens<T>& waiting() const noexcept { return waiting_; }
  [[nodiscard]] const std::vector<T>& reference() const noexcept { return reference_; }
  /// The positions of the far tokens that stay out of the sums, ascending.
  [[nodiscard]] const std::vector<index_t>& far_positions() const noexcept {
    return far_positions_;
  }
  /// Those that wait whose scores need full precision, ascending.
  [[nodiscard]] const std::vector<index_t>& far() const noexcept { return far_; }
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
    T* const to = waiting_.given(waiting_.size());
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
      std::copy_n(keys.row(t + j), d_, waiting_.given(waiting_.size() + j));
      std::copy_n(values.row(t + j), e_, waiting_.value(waiting_.size() + j));
    }
    settle(count);
    return count;
  }

  /// The tokens that wait, but those that are exact, leave for the sums.
  void fold() {
    if (!keeps_all_) fold_open(waiting_.size() - kept() - stay() - weights_.window);
  }

  /// The tokens of another after these. Requires that it has some, and equal options.
  void merge(const linear_memory& other) {
    if (seen_ == 0) return void(*this = other);
    linear_memory b = other;
    if (b.has_all()) {
      for (index_t j = 0; j < b.waiting_.size(); ++j) append_from(b, j);
      return;
    }
    if (has_all()) {
      centred_at_ = unbounded;  // b's tokens are more, or at least judged
      typical_ = b.typical_;
      move_to(b.reference_);
    } else if (sums_.weight() < b.sums_.weight()) {
      move_to(b.reference_);
    }
    const index_t kept = b.kept();  // b's first tokens, where they are kept apart
    const index_t before = seen_;
    index_t taken = 0;  // of b's first, to fill our own
    while (has_all() && seen_ < weights_.first_tokens && taken < kept) append_from(b, taken++);
    fold_open(waiting_.size() - this->kept() - stay());
    b.move_to(reference_);                                      // ours may have moved on
    const index_t first = kept + b.stay();                      // of b's tokens that wait
    const index_t end = b.seen_ - (b.waiting_.size() - first);  // of those that are older
    const T age = T(linear_weights<T>::power(weights_.decay, end - taken));
    sums_.merge(b.sums_, age);
    squares_ = squares_ * C(age) + b.squares_;
    seen_ += end - taken;
    longest_ = max_of(longest_, b.longest_);
    for (index_t j = taken; j < first; ++j) {
      const index_t position = before + (j < kept ? j : b.far_positions_[std::size_t(j - kept)]);
      if (is_far(b.waiting_.square(j))) {
        ensure(waiting_.size() + 1);
        copy_from(b, j);
        waiting_.push(1);
        waiting_.relate(waiting_.size() - 1, 1, reference_.data());
        far_positions_.push_back(position);
      } else {
        fold_one(b.waiting_, j, position);
      }
    }
    while (stay() > most_far_tokens) {
      index_t nearest = this->kept();
      for (index_t j = nearest; j < waiting_.size(); ++j)
        nearest = waiting_.square(j) < waiting_.square(nearest) ? j : nearest;
      const auto at = far_positions_.begin() + (nearest - this->kept());
      fold_one(waiting_, nearest, *at);
      waiting_.drop(nearest, 1);
      far_positions_.erase(at);
    }
    find_far(0);
    for (index_t j = first; j < b.waiting_.size(); ++j) append_from(b, j);
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
  /// Far tokens that stay out of the sums.
  [[nodiscard]] index_t stay() const noexcept { return index_t(far_positions_.size()); }
  /// Whether no token is in the sums.
  [[nodiscard]] bool has_all() const noexcept { return waiting_.size() == seen_; }
  [[nodiscard]] bool is_far(const C& square) const noexcept {
    return weights_.order > 0 && C(far_token_square) * typical_ < square && is_finite(square);
  }
  /// How many more can wait.
  [[nodiscard]] index_t room() const noexcept {
    const index_t more =
        has_all() && chunk_ < least_judged_tokens ? least_judged_tokens - chunk_ : 0;
    return sum_or_most(most_, stay() + more) - waiting_.size();
  }

  /// Room for one token at least, for `wanted` as far as that is worth it.
  void make_room(index_t wanted) {
    if (room() < wanted && room() < chunk_) fold();
    ensure(waiting_.size() + std::min(wanted, room()));
  }
  void ensure(index_t tokens) {
    if (tokens > waiting_.capacity())
      reserve(std::max(tokens, std::min(most_, 2 * waiting_.capacity())));
  }

  /// `count` tokens, as they are, have come to the end of those that wait.
  void settle(index_t count) {
    const index_t before = waiting_.size();
    const bool alone = has_all();
    waiting_.push(count);
    seen_ += count;
    if (alone && seen_ / 2 >= centred_at_) return centre();
    waiting_.relate(before, count, reference_.data());
    find_far(before);
  }
  /// The same of a token that waits in another state.
  void append_from(const linear_memory& b, index_t j) {
    make_room(1);
    copy_from(b, j);
    settle(1);
  }
  void copy_from(const linear_memory& b, index_t j) {
    std::copy_n(b.waiting_.given(j), d_, waiting_.given(waiting_.size()));
    std::copy_n(b.waiting_.value(j), e_, waiting_.value(waiting_.size()));
  }

  /// Makes the median of the keys the reference. Requires that none is in the sums.
  void centre() {
    centred_at_ = seen_;
    if (follows_) median_key(waiting_, reference_);
    waiting_.relate(0, waiting_.size(), reference_.data());
    typical_ = median_square(waiting_);
    longest_ = C(0);
    find_far(0);
  }
  /// Looks at the tokens that wait from `first` on.
  void find_far(index_t first) {
    while (!far_.empty() && far_.back() >= first) far_.pop_back();
    for (index_t j = first; j < waiting_.size(); ++j) {
      const C square = waiting_.square(j);
      longest_ = max_of(longest_, square);
      if (is_far(square) && far_.size() < most_full_scores) far_.push_back(j);
    }
  }

  /// The oldest `count` tokens that wait, after the first ones and the far ones, leave for the sums; but the farthest stay, and
  /// some that stayed may leave.
  void fold_open(index_t count) {
    if (count <= 0) return;
    if (has_all() && centred_at_ < seen_) centre();
    const index_t before = kept(), end = before + stay() + count;
    const index_t last = seen_ - waiting_.size() + end - 1;  // the position of the newest
    std::vector<index_t> positions = far_positions_;
    const bool in_order = !set_apart(end, positions);
    const index_t first = before + stay();  // of those that leave
    std::vector<T> own;                     // weights
    for (index_t j = 0; !in_order && weights_.decay < 1 && j < end - first; ++j)
      own.push_back(T(linear_weights<T>::power(weights_.decay, last - positions[std::size_t(j)])));
    if (follows_) follow(first, end - first);
    const T keep = T(linear_weights<T>::power(weights_.decay, count));
    squares_ = squares_ * C(keep) + waiting_.square(first, end - first);
    sums_.fold(waiting_.key(first), waiting_.value(first), end - first,
               own.empty() ? weights_.last_ages(end - first) : own.data(), keep, workspace());
    waiting_.drop(first, end - first);
    if (C(0) < C(sums_.weight())) typical_ = squares_ / C(sums_.weight());
    // those that stay, and the newer ones where they now stand
    std::vector<index_t> far;
    far.swap(far_);
    for (index_t j = before; j < first; ++j) far_.push_back(j);
    for (const index_t j : far) {
      if (j < before) far_.push_back(j);
      if (j >= end) far_.push_back(j - (end - first));
    }
    std::sort(far_.begin(), far_.end());
  }
  /// Moves the farthest tokens before `end` to the front of those that are not exact, as those that stay. False where there are
  /// none, and were none; else `positions` becomes those of the tokens that leave.
  [[nodiscard]] bool set_apart(index_t end, std::vector<index_t>& positions) {
    const index_t first = kept();
    std::vector<index_t> chosen;
    for (index_t j = first; j < end; ++j) {
      if (is_far(waiting_.square(j))) chosen.push_back(j);
    }
    if (chosen.empty() && positions.empty()) return false;
    for (index_t j = first + stay(); j < end; ++j) positions.push_back(seen_ - waiting_.size() + j);
    if (index_t(chosen.size()) > most_far_tokens) {
      std::sort(chosen.begin(), chosen.end(),
                [&](index_t a, index_t b) { return waiting_.square(a) > waiting_.square(b); });
      chosen.resize(std::size_t(most_far_tokens));
      std::sort(chosen.begin(), chosen.end());
    }
    far_positions_.clear();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      waiting_.bring(chosen[i], first + index_t(i));
      const auto at = positions.begin() + (chosen[i] - first) - std::ptrdiff_t(i);
      far_positions_.push_back(*at);
      positions.erase(at);
    }
    return true;
  }
  /// Token j of `tokens`, whose reference is ours, enters the sums, which are at the last token.
  void fold_one(const waiting_tokens<T>& tokens, index_t j, index_t position) {
    const T weight = T(linear_weights<T>::power(weights_.decay, seen_ - 1 - position));
    squares_ += C(weight) * tokens.square(j);
    sums_.fold(tokens.key(j), tokens.value(j), 1, &weight, T(1), workspace());
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
    waiting_.relate(0, waiting_.size(), reference_.data());
    longest_ = C(0);
    if (!has_all()) {  // keys that the sums have taken in may be that much farther
      const C farthest = before + square_root(length);
      longest_ = C(farthest * farthest);
    }
    find_far(0);
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
  C typical_ = C(0);        // |k - c|^2 of a token that is not far
  index_t centred_at_ = 0;  // tokens that the median was taken of
  std::vector<index_t> far_positions_, far_;
};

}  // namespace cumulus::detail
