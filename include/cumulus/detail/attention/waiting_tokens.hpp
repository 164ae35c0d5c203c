// SPDX-License-Identifier: MIT
//
// Keys and values that wait before sums take them in.
// Layer 5 (attention): uses core; linear_memory.hpp builds on it.
#pragma once

#include <cumulus/detail/core/aligned.hpp>
#include <cumulus/detail/simd/features.hpp>
#include <algorithm>

namespace cumulus::detail {

/// A row of tokens of keys [d] and values [e], in their order: new ones come to its end, old ones leave from within.
template <class T>
class waiting_tokens {
  using C = compute_scalar<T>;
  using numbers = aligned_vector<T>;

 public:
  waiting_tokens(index_t d, index_t e) : d_(d), e_(e) {}

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t capacity() const noexcept { return capacity_; }
  /// How many may still come.
  [[nodiscard]] index_t room() const noexcept { return capacity_ - size_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(T) * (keys_.size() + values_.size());
  }

  /// Side by side from token j on; those from size() on may be written, before push.
  [[nodiscard]] T* key(index_t j) noexcept { return keys_.data() + j * d_; }
  [[nodiscard]] T* value(index_t j) noexcept { return values_.data() + j * e_; }
  [[nodiscard]] const T* key(index_t j) const noexcept { return keys_.data() + j * d_; }
  [[nodiscard]] const T* value(index_t j) const noexcept { return values_.data() + j * e_; }

  void reserve(index_t tokens) {
    capacity_ = tokens;
    keys_.resize(std::size_t(tokens * d_));
    values_.resize(std::size_t(tokens * e_));
  }
  void push(index_t count) noexcept { size_ += count; }
  /// Takes out `count` tokens from `first` on.
  void drop(index_t first, index_t count) {
    std::copy(key(first + count), key(size_), key(first));
    std::copy(value(first + count), value(size_), value(first));
    size_ -= count;
  }

  /// sum |k|^2 of tokens from j on.
  [[nodiscard]] C square(index_t j, index_t count = 1) const {
    return C(kernels::dot_product(key(j), key(j), count * d_));
  }
  /// Adds `by` to all keys; returns the longest's square.
  C shift(const std::vector<C>& by) {
    C longest(0);
    for (index_t j = 0; j < size_; ++j) {
      for (index_t i = 0; i < d_; ++i) key(j)[i] = T(C(key(j)[i]) + by[std::size_t(i)]);
      longest = max_of(longest, square(j));
    }
    return longest;
  }
  /// The keys a column each, columns[i capacity() + j].
  void transpose(numbers& columns) const {
    if (columns.size() < std::size_t(capacity_ * d_)) columns.resize(std::size_t(capacity_ * d_));
    for (index_t j = 0; j < size_; ++j) {
      for (index_t i = 0; i < d_; ++i) columns[std::size_t(i * capacity_ + j)] = key(j)[i];
    }
  }

 private:
  index_t d_, e_, size_ = 0, capacity_ = 0;
  numbers keys_, values_;
};

}  // namespace cumulus::detail
