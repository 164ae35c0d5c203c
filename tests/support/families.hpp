// SPDX-License-Identifier: MIT
//
// Named families of inputs. Every one is seeded by a literal and the same on every machine: the generator is ours,
// since the distributions of the standard library differ between implementations.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace families {

/// splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): uniform 64 bits.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double exponential() { return -std::log(uniform()); }
  double normal() { return std::sqrt(2 * exponential()) * std::cos(6.283185307179586 * uniform()); }
  /// In 0..n-1.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }

 private:
  std::uint64_t state_;
};

template <class T, class Draw>
[[nodiscard]] std::vector<T> draws(std::size_t n, Draw draw) {
  std::vector<T> x(n);
  for (T& value : x) value = static_cast<T>(draw());
  return x;
}

template <class T>
[[nodiscard]] std::vector<T> normal(std::size_t n, double mean, double sigma, std::uint64_t seed) {
  random r(seed);
  return draws<T>(n, [&] { return mean + sigma * r.normal(); });
}

template <class T>
[[nodiscard]] std::vector<T> uniform(std::size_t n, double low, double high, std::uint64_t seed) {
  random r(seed);
  return draws<T>(n, [&] { return r.uniform(low, high); });
}

/// One-sided, a long tail above the offset.
template <class T>
[[nodiscard]] std::vector<T> exponential(std::size_t n, double offset, double scale,
                                         std::uint64_t seed) {
  random r(seed);
  return draws<T>(n, [&] { return offset + scale * r.exponential(); });
}

/// All equal.
template <class T>
[[nodiscard]] std::vector<T> ties(std::size_t n, double value) {
  return std::vector<T>(n, static_cast<T>(value));
}

/// From low to high in equal steps: the running maximum moves with every element.
template <class T>
[[nodiscard]] std::vector<T> ascending(std::size_t n, double low, double high) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(
        n == 1 ? low : low + (high - low) * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return x;
}

/// `value` everywhere but for one element, in the middle.
template <class T>
[[nodiscard]] std::vector<T> one_outlier(std::size_t n, double value, double outlier) {
  std::vector<T> x = ties<T>(n, value);
  if (n > 0) x[n / 2] = static_cast<T>(outlier);
  return x;
}

/// Two values, `count_high` of the n elements at the higher one.
template <class T>
[[nodiscard]] std::vector<T> two_points(std::size_t n, double low, double high,
                                        std::size_t count_high) {
  std::vector<T> x = ties<T>(n, low);
  for (std::size_t i = 0; i < count_high && i < n; ++i) x[i] = static_cast<T>(high);
  return x;
}

/// Positive weights over `decades` powers of ten.
template <class T>
[[nodiscard]] std::vector<T> wild_weights(std::size_t n, double decades, std::uint64_t seed) {
  random r(seed);
  return draws<T>(n, [&] { return std::pow(10.0, decades * (r.uniform() - 0.5)); });
}

}  // namespace families
