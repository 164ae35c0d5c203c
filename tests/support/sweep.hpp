// SPDX-License-Identifier: MIT
//
// The inputs that every exact function of a vector must get right: every length 0..70 at every offset and spread.
#pragma once

#include <cstddef>
#include <vector>

#include "families.hpp"

/// f(x, n, offset, spread); of the lengths above 16 each takes a third of the offsets and spreads, in turn.
template <class T, class Function>
void sweep(Function f) {
  for (std::size_t n = 0; n <= 70; ++n) {
    std::size_t turn = n;
    for (const double offset : {0.0, 1e4, -1e4, 88.0, 700.0, 1e16}) {
      for (const double spread : {1e-8, 1e-3, 1.0, 30.0, 1e3}) {
        if (n <= 16 || ++turn % 3 == 0)
          f(families::normal<T>(n, offset, spread, n + 1), n, offset, spread);
      }
    }
  }
}
