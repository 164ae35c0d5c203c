// SPDX-License-Identifier: MIT
//
// The highest point of a function on a square, by search.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace peaks {

using real = long double;

/// The largest f(a, b) on [0, 1]^2: of a grid, and up from each of its peaks by ever smaller steps.
template <class Function>
real largest(int steps, const Function& f) {
  const int side = steps + 1;
  std::vector<real> grid;
  for (int i = 0; i < side * side; ++i)
    grid.push_back(f(real(i / side) / steps, real(i % side) / steps));
  real best = *std::max_element(grid.begin(), grid.end());
  for (int i = 0; i < side * side; ++i) {
    real a = real(i / side) / steps, b = real(i % side) / steps, here = grid[std::size_t(i)];
    bool peak = here > best - 0.1L * std::abs(best) - 0.05L;
    for (int way = 0; way < 9; ++way) {
      const int row = i / side + way % 3 - 1, column = i % side + way / 3 - 1;
      if (0 <= row && row < side && 0 <= column && column < side)
        peak = peak && grid[std::size_t(row * side + column)] <= here;
    }
    for (real h = real(0.5) / steps; peak && h > 1e-6L;) {
      bool higher = false;
      for (int way = 0; way < 9; ++way) {
        const real c = std::clamp<real>(a + h * (way % 3 - 1), 0, 1);
        const real d = std::clamp<real>(b + h * (way / 3 - 1), 0, 1);
        const real value = f(c, d);
        if (here < value) here = value, a = c, b = d, higher = true;
      }
      if (!higher) h /= 2;
    }
    best = std::max(best, here);
  }
  return best;
}

/// The square's axes as the parameters of a law of two points: x = cos(pi a), d = 1 - 2b.
inline real x_of(real a) {
  return a == 0 ? 1 : a == 1 ? -1 : std::cos(real(3.14159265358979323846L) * a);
}
inline real d_of(real b) { return 1 - 2 * b; }

}  // namespace peaks
