// SPDX-License-Identifier: MIT
//
// Scratch memory for a loop: many rooms of one allocation.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/scalar.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cumulus::detail {

/// Rooms for numbers in one piece of memory, each from a cache line on; what they hold at first is not set.
class aligned_rooms {
 public:
  /// The bytes that n numbers take.
  template <class W>
  [[nodiscard]] static constexpr index_t bytes(index_t n) noexcept {
    return (n * index_t(sizeof(W)) + line - 1) / line * line;
  }

  aligned_rooms() = default;
  explicit aligned_rooms(index_t bytes) : memory_(new std::byte[std::size_t(bytes + line)]) {
    const auto from = reinterpret_cast<std::uintptr_t>(memory_.get());
    next_ = memory_.get() + (std::uintptr_t(line) - from % std::uintptr_t(line));
  }

  /// The next n numbers. Requires that the sum of all bytes was asked for.
  template <class W>
  [[nodiscard]] W* take(index_t n) noexcept {
    W* const room = reinterpret_cast<W*>(next_);
    next_ += bytes<W>(n);
    return room;
  }

 private:
  static constexpr index_t line = 64;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* next_ = nullptr;
};

}  // namespace cumulus::detail
