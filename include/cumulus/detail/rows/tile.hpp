// SPDX-License-Identifier: MIT
//
// Lines that lie across the memory of a matrix, some at a time into contiguous ones and back.
// Layer 1 (rows): over raw memory; unchecked, noexcept.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

#if CUMULUS_VECTORS

/// Four lines by four elements: the columns of what the rows were.
#if CUMULUS_BODIES
template <class T>
inline void transpose_four(const T* from, index_t from_stride, T* to, index_t to_stride) noexcept {
  using P = baseline::pack<T>;
  if constexpr (std::same_as<T, float>) {
    const auto a = P::load(from), b = P::load(from + from_stride),
               c = P::load(from + 2 * from_stride), d = P::load(from + 3 * from_stride);
    const auto ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
               ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    P::store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    P::store(to + to_stride, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    P::store(to + 2 * to_stride, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    P::store(to + 3 * to_stride, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
  } else {
    for (index_t i = 0; i < 4; i += 2) {
      for (index_t j = 0; j < 4; j += 2) {
        const T* const at = from + i * from_stride + j;
        const auto a = P::load(at), b = P::load(at + from_stride);
        P::store(to + j * to_stride + i, __builtin_shufflevector(a, b, 0, 2));
        P::store(to + (j + 1) * to_stride + i, __builtin_shufflevector(a, b, 1, 3));
      }
    }
  }
}
#else
template <class T>
void transpose_four(const T* from, index_t from_stride, T* to, index_t to_stride) noexcept;
#endif

#endif

/// to(j, i) = from(i, j) for i < rows, j < cols; rows of `from` and of `to` are contiguous.
template <class T>
void transpose(const T* from, index_t from_stride, index_t rows, index_t cols, T* to,
               index_t to_stride) noexcept {
  index_t i = 0;
#if CUMULUS_VECTORS
  for (; i + 4 <= rows; i += 4) {
    index_t j = 0;
    for (; j + 4 <= cols; j += 4)
      transpose_four(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
    for (; j < cols; ++j) {
      for (index_t k = i; k < i + 4; ++k) to[j * to_stride + k] = from[k * from_stride + j];
    }
  }
#endif
  for (; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

/// Room for some lines of n elements: as many as stay in a second-level cache, at least a cache line's worth.
template <class T>
class line_tile {
 public:
  explicit line_tile(index_t n) noexcept : n_(n) {
    constexpr index_t least = index_t(64 / sizeof(T)), most = 4 * least;
    constexpr index_t bytes = index_t(1) << 19;
    const index_t fitting = bytes / (stride() * index_t(sizeof(T))) / least * least;
    lines_ = fitting < least ? least : fitting < most ? fitting : most;
    memory_.allocate(lines_ * stride());
  }
  /// How many lines it takes; 0 where there was no memory.
  [[nodiscard]] index_t lines() const noexcept { return memory_.get() == nullptr ? 0 : lines_; }
  [[nodiscard]] T* line(index_t i) const noexcept { return memory_.get() + i * stride(); }

  /// Lines whose element j lies at from[j from_stride].
  void read(const T* from, index_t from_stride, index_t lines) const noexcept {
    transpose(from, from_stride, n_, lines, memory_.get(), stride());
  }
  void write(T* to, index_t to_stride, index_t lines) const noexcept {
    transpose(static_cast<const T*>(memory_.get()), stride(), lines, n_, to, to_stride);
  }

 private:
  // apart by no power of two, so that equal places in the lines do not compete for one place in a cache
  [[nodiscard]] index_t stride() const noexcept { return n_ + index_t(64 / sizeof(T)); }

  index_t n_, lines_ = 0;
  scratch_array<T> memory_;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
