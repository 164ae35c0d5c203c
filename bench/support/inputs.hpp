// SPDX-License-Identifier: MIT
//
// What the benchmarks run on: made once, the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bench {

/// The numbers repeat after this many, so that a long input costs little to make and to check.
inline constexpr std::size_t period = std::size_t{1} << 20;

/// Room for n numbers in huge pages where the system has them, so that no contender waits for the translation of addresses.
/// `offset` bytes after such a boundary, a multiple of 64.
template <class T>
class buffer {
 public:
  buffer() = default;
  buffer(std::size_t n, std::size_t offset) : size_(n) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = (n * sizeof(T) + offset + page - 1) / page * page;
    memory_.reset(std::aligned_alloc(page, bytes));
    if (!memory_) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    madvise(memory_.get(), bytes, MADV_HUGEPAGE);
#endif
    first_ = reinterpret_cast<T*>(static_cast<std::byte*>(memory_.get()) + offset);
    std::fill_n(first_, n, T(0));
  }
  [[nodiscard]] std::span<T> span() const { return {first_, size_}; }

 private:
  struct release {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, release> memory_;
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

/// n normal numbers; the same memory at every call with the same arguments.
///
/// Requires  n at most the period, or a multiple of it.
template <class T>
[[nodiscard]] std::span<const T> normal(std::size_t n, double mean, double sigma) {
  static std::map<std::tuple<std::size_t, double, double>, buffer<T>> made;
  const auto [place, is_new] = made.try_emplace({n, mean, sigma});
  if (!is_new) return place->second.span();
  place->second = buffer<T>(n, 0);
  const std::span<T> x = place->second.span();
  std::uint64_t state = 1;
  const auto uniform = [&state] {  // splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
  };
  for (std::size_t i = 0; i < std::min(n, period); ++i) {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    x[i] = static_cast<T>(mean + sigma * radius * std::cos(6.283185307179586 * uniform()));
  }
  for (std::size_t i = period; i < n; ++i) x[i] = x[i - period];
  return x;
}

/// Scores as attention sees them: a spread of 3, about 30 from end to end.
template <class T>
[[nodiscard]] std::span<const T> scores(std::size_t n) {
  return normal<T>(n, 0.0, 3.0);
}

/// What is hard for a sum that follows the maximum.
enum class kind {
  scores,  ///< none of that: N(0, 3)
  wide,    ///< N(0, 21)
  ramp,    ///< from 0 upwards, 20 in each 1024 elements
  spiked,  ///< N(0, 3), and every 4096th 60 higher
};
[[nodiscard]] constexpr const char* name_of(kind k) {
  return k == kind::wide ? "wide" : k == kind::ramp ? "ramp" : k == kind::spiked ? "spiked" : "";
}

/// n numbers of a kind; the same memory at every call with the same arguments.
///
/// Requires  n at most the period, where they are not the scores.
template <class T>
[[nodiscard]] std::span<const T> input(kind k, std::size_t n) {
  if (k == kind::scores) return scores<T>(n);
  if (k == kind::wide) return normal<T>(n, 0.0, 21.0);
  static std::map<std::pair<kind, std::size_t>, buffer<T>> made;
  const auto [place, is_new] = made.try_emplace({k, n});
  if (!is_new) return place->second.span();
  place->second = buffer<T>(n, 0);
  const std::span<T> x = place->second.span();
  const std::span<const T> base = scores<T>(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = k == kind::ramp ? static_cast<T>(static_cast<double>(i) * (20.0 / 1024))
                           : base[i] + static_cast<T>(i % 4096 == 4095 ? 60 : 0);
  }
  return x;
}

/// n places to write to; the same memory at every call with the same n. Half a page and a cache line after the boundary that
/// the inputs begin at, so that a store does not wait for the load of an address that ends alike.
template <class T>
[[nodiscard]] std::span<T> room(std::size_t n) {
  static std::map<std::size_t, buffer<T>> made;
  const auto [place, is_new] = made.try_emplace(n);
  if (is_new) place->second = buffer<T>(n, 2048 + 64);
  return place->second.span();
}

}  // namespace bench
