// SPDX-License-Identifier: MIT
//
// A first program: one function and its expansion, order by order.
#include <cumulus/exact.hpp>
#include <cumulus/series.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x{0.5, 1.0, 2.0, 2.5};
  std::printf("exact    %.12f\n", cumulus::logsumexp(x));
  for (int order = 1; order <= 8; ++order) {
    const auto e = cumulus::logsumexp_series(x, order);
    std::printf("order %d  %.12f  +- %.0e\n", order, e.value, e.bound);
  }
}

// Output:
// exact    3.175490262163
// order 1  2.886294361120  +- 4e-01
// order 2  3.198794361120  +- 1e-01
// order 3  3.198794361120  +- 3e-02
// order 4  3.172101652787  +- 7e-03
// order 5  3.172101652787  +- 3e-03
// order 6  3.176062156259  +- 6e-04
// order 7  3.176062156259  +- 6e-04
// order 8  3.175386688419  +- 1e-04
