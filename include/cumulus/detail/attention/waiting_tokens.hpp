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
///
/// Keys are read less a reference. Where that may move, each key is kept as it was given as well: a key less a far reference
/// has lost digits, which no later reference would bring back.
template <class T>
class waiting_tokens {
  using C = compute_scalar<T>;
  using numbers = aligned_vector<T>;

 public:
  waiting_tokens(index_t d, index_t e, bool relative) : d_(d), e_(e), relative_(relative) {}

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t capacity() const noexcept { return capacity_; }
  /// How many may still come.
  [[nodiscard]] index_t room() const noexcept { return capacity_ - size_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(T) * (keys_.size() + given_.size() + values_.size());
  }

  /// Side by side from token j on; those from size() on may be written, before push.
  [[nodiscard]] T* given(index_t j) noexcept {
    return (relative_ ? given_ : keys_).data() + j * d_;
  }
  [[nodiscard]] T* value(index_t j) noexcept { return values_.data() + j * e_; }
  [[nodiscard]] const T* given(index_t j) const noexcept {
    return (relative_ ? given_ : keys_).data() + j * d_;
  }
  [[nodiscard]] const T* key(index_t j) const noexcept { return keys_.data() + j * d_; }
  [[nodiscard]] const T* value(index_t j) const noexcept { return values_.data() + j * e_; }

  void reserve(index_t tokens) {
    capacity_ = tokens;
    keys_.resize(std::size_t(tokens * d_));
    if (relative_) given_.resize(std::size_t(tokens * d_));
    values_.resize(std::size_t(tokens * e_));
  }
  void push(index_t count) noexcept { size_ += count; }
  /// Takes out `count` tokens from `first` on.
  void drop(index_t first, index_t count) {
    for_each_part([&](numbers& x, index_t width) {
      std::copy(x.data() + (first + count) * width, x.data() + size_ * width,
                x.data() + first * width);
    });
    size_ -= count;
  }
  /// Moves token j before token `to` <= j, and those between one further.
  void bring(index_t j, index_t to) {
    for_each_part([&](numbers& x, index_t width) {
      std::rotate(x.data() + to * width, x.data() + j * width, x.data() + (j + 1) * width);
    });
  }
  /// Takes the keys of `count` tokens from j on less `reference`.
  void relate(index_t j, index_t count, const T* reference) {
    for (index_t i = j; relative_ && i < j + count; ++i)
      kernels::subtract_rows(given(i), reference, keys_.data() + i * d_, d_);
  }

  /// sum |k|^2 of tokens from j on.
  [[nodiscard]] C square(index_t j, index_t count = 1) const {
    return C(kernels::dot_product(key(j), key(j), count * d_));
  }
  /// The keys a column each, columns[i capacity() + j].
  void transpose(numbers& columns) const {
    if (columns.size() < std::size_t(capacity_ * d_)) columns.resize(std::size_t(capacity_ * d_));
    for (index_t j = 0; j < size_; ++j) {
      for (index_t i = 0; i < d_; ++i) columns[std::size_t(i * capacity_ + j)] = key(j)[i];
    }
  }

 private:
  template <class Part>
  void for_each_part(const Part& part) {
    part(keys_, d_);
    if (relative_) part(given_, d_);
    part(values_, e_);
  }

  index_t d_, e_, size_ = 0, capacity_ = 0;
  bool relative_;
  numbers keys_, given_, values_;
};

}  // namespace cumulus::detail
