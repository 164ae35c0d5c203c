// SPDX-License-Identifier: MIT
//
// Memory for a while, whose lack is no exception.
// Layer 0 (core).
#pragma once

#include <cumulus/core/index.hpp>
#include <new>

namespace cumulus::detail {

/// An array on the heap, default-initialised; null where there was no memory. Without the headers that std::unique_ptr brings.
template <class T>
class scratch_array {
 public:
  scratch_array() = default;
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  ~scratch_array() { delete[] data_; }

  void allocate(index_t n) noexcept {
    release();
    data_ = new (std::nothrow) T[static_cast<std::size_t>(n)];
  }
  void release() noexcept {
    delete[] data_;
    data_ = nullptr;
  }
  [[nodiscard]] T* get() const noexcept { return data_; }
  [[nodiscard]] T& operator[](index_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
};

}  // namespace cumulus::detail
