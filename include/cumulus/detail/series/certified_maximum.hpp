// SPDX-License-Identifier: MIT
//
// The largest |f| on an interval or a square, from above: no point between those looked at can
// exceed it.
// Layer 3 (series): uses core; the sharp bounds build on it.
//
// Linear interpolation errs by at most h^2 sup|f''| / 8 on an interval of length h, and bilinear
// interpolation by h^2 sup|f_aa| / 8 + k^2 sup|f_bb| / 8 on an h x k rectangle (interpolate one
// variable, then the other; interpolation does not enlarge a supremum). So |f| is at most its
// largest corner plus that excess. Whatever could still exceed the largest corner seen by more than
// `slack` of it is halved; after `limit` evaluations what is left counts with its excess, so that the
// answer is a bound at any limit.
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <array>

namespace cumulus::detail {

/// At least sup |f| on [0, length], and at most (1 + slack) sup |f| unless the limit is reached.
///
/// Shape     f(a): the function; curvature(a, b): at least sup |f''| on [a, b].
/// Status    proved. Edges: NaN where f is.
template <class T, class Function, class Curvature>
[[nodiscard]] T largest_on_interval(const T& length, const Function& f, const Curvature& curvature,
                                    const T& slack, int limit = 4000) {
  struct piece {
    T a, b, at_a, at_b;
  };
  constexpr int first = 8, depth = 64;
  std::array<piece, first + depth> stack;
  int size = 0, used = first + 1;
  T best(0), bound(0), before = absolute(T(f(T(0))));
  best = before;
  for (int i = 0; i < first; ++i) {
    const T b = length * T(i + 1) / T(first), at = absolute(T(f(b)));
    stack[std::size_t(size++)] = {length * T(i) / T(first), b, before, at};
    best = max_of(best, before = at);
  }
  while (size > 0) {
    const piece p = stack[std::size_t(--size)];
    const T h = p.b - p.a;
    const T top = max_of(p.at_a, p.at_b) + h * h / 8 * curvature(p.a, p.b);
    if (top <= best * (1 + slack) || used >= limit || size + 2 > first + depth || is_nan(top)) {
      bound = max_of(bound, top);
      continue;
    }
    const T c = (p.a + p.b) / 2, at = absolute(T(f(c)));
    ++used;
    best = max_of(best, at);
    stack[std::size_t(size++)] = {p.a, c, p.at_a, at};
    stack[std::size_t(size++)] = {c, p.b, at, p.at_b};
  }
  return bound;
}

/// The same on [0, length]^2.
///
/// Shape     f(a, b); curvature(a, b, c, d): at least |d^2 f / da^2| and |d^2 f / db^2| on [a, c] x
///           [b, d], as a pair.
template <class T, class Function, class Curvature>
[[nodiscard]] T largest_on_square(const T& length, const Function& f, const Curvature& curvature,
                                  const T& slack, int limit = 4000) {
  struct piece {
    T a, b, height, width, corner[4];  // (a, b), (a, b + width), (a + height, b), both
  };
  constexpr int first = 4, depth = 128;
  std::array<piece, first * first + depth> stack;
  T corner[first + 1][first + 1], best(0), bound(0);
  for (int i = 0; i <= first; ++i) {
    for (int j = 0; j <= first; ++j) {
      corner[i][j] = absolute(T(f(T(length * T(i) / T(first)), T(length * T(j) / T(first)))));
      best = max_of(best, corner[i][j]);
    }
  }
  int size = 0, used = (first + 1) * (first + 1);
  const T step = length / T(first);
  for (int i = 0; i < first; ++i) {
    for (int j = 0; j < first; ++j)
      stack[std::size_t(size++)] = {
          step * T(i),
          step * T(j),
          step,
          step,
          {corner[i][j], corner[i][j + 1], corner[i + 1][j], corner[i + 1][j + 1]}};
  }
  while (size > 0) {
    const piece p = stack[std::size_t(--size)];
    const auto bend = curvature(p.a, p.b, T(p.a + p.height), T(p.b + p.width));
    const T along_a = p.height * p.height / 8 * bend[0];
    const T along_b = p.width * p.width / 8 * bend[1];
    const T top = max_of(max_of(p.corner[0], p.corner[1]), max_of(p.corner[2], p.corner[3])) +
                  along_a + along_b;
    if (top <= best * (1 + slack) || used >= limit || size + 2 > first * first + depth ||
        is_nan(top)) {
      bound = max_of(bound, top);
      continue;
    }
    used += 2;
    if (along_b < along_a) {
      const T half = p.height / 2, middle = p.a + half;
      const T left = absolute(T(f(middle, p.b))), right = absolute(T(f(middle, T(p.b + p.width))));
      best = max_of(best, max_of(left, right));
      stack[std::size_t(size++)] = {
          p.a, p.b, half, p.width, {p.corner[0], p.corner[1], left, right}};
      stack[std::size_t(size++)] = {
          middle, p.b, half, p.width, {left, right, p.corner[2], p.corner[3]}};
    } else {
      const T half = p.width / 2, middle = p.b + half;
      const T low = absolute(T(f(p.a, middle))), high = absolute(T(f(T(p.a + p.height), middle)));
      best = max_of(best, max_of(low, high));
      stack[std::size_t(size++)] = {
          p.a, p.b, p.height, half, {p.corner[0], low, p.corner[2], high}};
      stack[std::size_t(size++)] = {
          p.a, middle, p.height, half, {low, p.corner[1], high, p.corner[3]}};
    }
  }
  return bound;
}

}  // namespace cumulus::detail
