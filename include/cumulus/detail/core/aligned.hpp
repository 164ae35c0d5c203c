// SPDX-License-Identifier: MIT
//
// Memory that begins where a cache line does: a load of a whole line that crosses two costs two.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace cumulus::detail {

/// Bytes of a cache line, and of the widest vector.
inline constexpr std::size_t line_bytes = 64;

template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{alignof(T) < line_bytes ? line_bytes : alignof(T)};

  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, alignment); }
  friend bool operator==(const line_allocator&, const line_allocator&) { return true; }
};

template <class T>
using aligned_vector = std::vector<T, line_allocator<T>>;

/// Rooms for numbers in one piece of memory, each from a line on; what they hold at first is not set.
class aligned_rooms {
 public:
  /// The bytes that n numbers take.
  template <class W>
  [[nodiscard]] static constexpr index_t bytes(index_t n) noexcept {
    constexpr auto line = index_t(line_bytes);
    return (n * index_t(sizeof(W)) + line - 1) / line * line;
  }

  aligned_rooms() = default;
  explicit aligned_rooms(index_t bytes)
      : memory_(line_allocator<std::byte>().allocate(std::size_t(bytes))), next_(memory_) {}
  aligned_rooms(aligned_rooms&& other) noexcept { *this = std::move(other); }
  aligned_rooms& operator=(aligned_rooms&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(next_, other.next_);
    return *this;
  }
  ~aligned_rooms() {
    if (memory_ != nullptr) line_allocator<std::byte>().deallocate(memory_, 0);
  }

  /// The next n numbers. Requires that the sum of all bytes was asked for.
  template <class W>
  [[nodiscard]] W* take(index_t n) noexcept {
    W* const room = reinterpret_cast<W*>(next_);
    next_ += bytes<W>(n);
    return room;
  }

 private:
  std::byte* memory_ = nullptr;
  std::byte* next_ = nullptr;
};

}  // namespace cumulus::detail
