// SPDX-License-Identifier: MIT
//
// An array whose size is set once and whose positions are index_t.
// Layer 0 (core).
#pragma once

#include <cumulus/core/index.hpp>
#include <utility>

namespace cumulus::detail {

/// n elements on the heap, value-initialised. Move-only, and without the headers that std::unique_ptr brings.
template <class T>
class array_of {
 public:
  array_of() = default;
  explicit array_of(index_t n) : data_(new T[static_cast<std::size_t>(n)]()), size_(n) {}
  array_of(array_of&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  array_of& operator=(array_of&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~array_of() { delete[] data_; }

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] T& operator[](index_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](index_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  index_t size_ = 0;
};

}  // namespace cumulus::detail
