// SPDX-License-Identifier: MIT
//
// What the benchmarks run on: made once, the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace bench {

/// The numbers repeat after this many, so that a long input costs little to make and to check.
inline constexpr std::size_t period = std::size_t{1} << 20;

/// n normal numbers; the same memory at every call with the same arguments.
///
/// Requires  n at most the period, or a multiple of it.
template <class T>
[[nodiscard]] std::span<const T> normal(std::size_t n, double mean, double sigma) {
  static std::map<std::tuple<std::size_t, double, double>, std::vector<T>> made;
  std::vector<T>& x = made[{n, mean, sigma}];
  if (!x.empty()) return x;
  std::uint64_t state = 1;
  const auto uniform = [&state] {  // splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
  };
  x.resize(n);
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

/// n places to write to; the same memory at every call with the same n.
template <class T>
[[nodiscard]] std::span<T> room(std::size_t n) {
  static std::map<std::size_t, std::vector<T>> made;
  std::vector<T>& out = made[n];
  out.resize(n);
  return out;
}

}  // namespace bench
