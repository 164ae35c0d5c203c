// SPDX-License-Identifier: MIT
//
// Which tokens lie far from all others, and a centre that they do not move.
// Layer 5 (attention): uses core; linear_memory.hpp builds on it.
//
// A sum of monomials of degree p has an error of u times its largest term. One key at 1000 times the distance of the others, such
// as the first key of many trained models, brings 1000^p: in float all digits of the others. So a few far tokens never enter
// sums. Each query meets them by their scores, under the same truncated weights.
#pragma once

#include <cumulus/detail/attention/waiting_tokens.hpp>
#include <algorithm>
#include <array>
#include <vector>

namespace cumulus::detail {

/// The most tokens that are kept out of sums, and the most whose scores are taken in full precision.
inline constexpr index_t most_far_tokens = 8;
inline constexpr std::size_t most_full_scores = 16;
/// A state takes in so many tokens before it judges which of them are far.
inline constexpr index_t least_judged_tokens = 16;
/// |k - c|^2 of a far token over that of the others.
inline constexpr int far_token_square = 64;

/// The median of each coordinate of the keys as they were given, in a sample of at most 15, of which half may lie anywhere.
/// Of two middle numbers the smaller one in magnitude; 0 where no key is finite.
template <class T>
void median_key(const waiting_tokens<T>& tokens, std::vector<T>& centre) {
  constexpr index_t most = 15;
  const index_t step = (tokens.size() + most - 1) / most;
  std::array<T, std::size_t(most)> column;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    std::size_t n = 0;
    for (index_t j = 0; j < tokens.size(); j += step) {
      const T& x = tokens.given(j)[i];
      if (is_finite(x)) column[n++] = x;
    }
    centre[i] = T(0);
    if (n == 0) continue;
    const auto first = column.begin(), middle = first + std::ptrdiff_t(n / 2);
    std::nth_element(first, middle, first + std::ptrdiff_t(n));
    centre[i] = *middle;
    if (n % 2 == 1) continue;
    const T lower = *std::max_element(first, middle);
    if (absolute(lower) < absolute(centre[i])) centre[i] = lower;
  }
}

/// The median of |k - c|^2 over the finite ones, in a sample of at most 63; 0 where none is finite.
template <class T>
[[nodiscard]] compute_scalar<T> median_square(const waiting_tokens<T>& tokens) {
  using C = compute_scalar<T>;
  constexpr index_t most = 63;
  const index_t step = (tokens.size() + most - 1) / most;
  std::array<C, std::size_t(most)> squares;
  std::size_t n = 0;
  for (index_t j = 0; j < tokens.size(); j += step) {
    const C s = tokens.square(j);
    if (is_finite(s)) squares[n++] = s;
  }
  if (n == 0) return C(0);
  const auto first = squares.begin(), middle = first + std::ptrdiff_t(n / 2);
  std::nth_element(first, middle, first + std::ptrdiff_t(n));
  return *middle;
}

}  // namespace cumulus::detail
