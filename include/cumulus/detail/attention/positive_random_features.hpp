// SPDX-License-Identifier: MIT
//
// A sample of directions, and the positive features of queries and keys in them (the Performer).
// Layer 5 (attention): uses core and moments.
//
//     e^{q k} = E_w e^{w q - |q|^2/2} e^{w k - |k|^2/2},  w of independent N(0, 1) entries
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/sum_of_products.hpp>
#include <cumulus/detail/moments/orthonormal_rows.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <cumulus/detail/simd/features.hpp>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace cumulus::detail {

/// A sample of directions w, and the features of queries and keys in them.
///
/// The factor e^{|w|^2/2} of each direction is moved from the key, e^{-|w - k|^2/2}, which so cannot overflow, to the query,
/// whose features are relative to their largest.
template <class T>
class positive_random_features {
 public:
  /// `count` directions of width d. Orthogonal: in groups of d that are so, each as long as a normal vector, which lowers the
  /// variance. The same seed gives the same directions.
  positive_random_features(index_t d, index_t count, std::uint64_t seed, bool orthogonal)
      : d_(d), count_(count) {
    if (d < 1 || count < 1)
      refuse({"positive_random_features: ", count, " features of width ", d, "; at least 1"});
    // SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): <random> is 5,800 lines
    const auto uniform = [&] {
      std::uint64_t word = seed += 0x9E3779B97F4A7C15u;
      word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
      word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
      word ^= word >> 31;
      return (double(word >> 11) + 0.5) * 0x1p-53;
    };
    const auto normal = [&] {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      return radius * std::cos(2 * 3.14159265358979323846 * uniform());
    };
    std::vector<double> w(std::size_t(count * d));
    for (double& x : w) x = normal();
    const auto row = [&](index_t r) { return w.data() + r * d; };
    for (index_t r = 0; r < count && orthogonal; r += d)
      orthonormalise_rows(row(r), std::min(d, count - r), d);
    for (index_t r = 0; r < count && orthogonal; ++r) {
      double square = 0;
      for (index_t i = 0; i < d; ++i) {
        const double x = normal();
        square += x * x;
      }
      const double length = std::sqrt(square);
      for (index_t i = 0; i < d; ++i) row(r)[i] *= length;
    }
    for (index_t r = 0; r < count; ++r)
      half_squares_.push_back(sum_of_products(row(r), row(r), d) / 2);
    directions_.assign(w.begin(), w.end());
    dots_.resize(std::size_t(count));
  }

  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] std::span<const T> direction(index_t r) const noexcept {
    return {directions_.data() + r * d_, std::size_t(d_)};
  }

  /// e^{-|w - k|^2/2} for every direction w.
  void of_key(const T* k, T* out) { features(k, C(-1), out); }
  /// e^{w q - |q|^2/2 + |w|^2/2} / the largest of them; returns the logarithm of the largest.
  compute_scalar<T> of_query(const T* q, T* out) { return features(q, C(1), out); }

 private:
  using C = compute_scalar<T>;

  C features(const T* x, C sign, T* out) {
    const C half = C(kernels::dot_product(x, x, d_)) / C(2);
    kernels::dot_rows(directions_.data(), d_, d_, count_, x, dots_.data());
    C top = C(0);
    for (index_t r = 0; r < count_; ++r) {
      C& exponent = dots_[std::size_t(r)];
      exponent += sign * C(half_squares_[std::size_t(r)]) - half;
      if (sign > C(0) && (r == 0 || top < exponent)) top = exponent;
    }
    for (index_t r = 0; r < count_; ++r) out[r] = T(exponential(C(dots_[std::size_t(r)] - top)));
    return top;
  }

  index_t d_, count_;
  std::vector<T> directions_;
  std::vector<double> half_squares_;
  std::vector<C> dots_;
};

}  // namespace cumulus::detail
