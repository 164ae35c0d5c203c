// SPDX-License-Identifier: MIT
//
// Vectors that begin where a cache line does: a load of 64 bytes that crosses two lines costs two.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/scalar.hpp>
#include <new>
#include <vector>

namespace cumulus::detail {

template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t line{alignof(T) < 64 ? 64 : alignof(T)};

  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), line));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, line); }
  friend bool operator==(const line_allocator&, const line_allocator&) { return true; }
};

template <class T>
using aligned_vector = std::vector<T, line_allocator<T>>;

}  // namespace cumulus::detail
