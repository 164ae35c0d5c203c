// SPDX-License-Identifier: MIT
//
// The program of the README.
#include <cumulus/exact.hpp>
#include <cumulus/series.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x{0.5, 1.0, 2.0, 2.5}, w{1, 2, 2, 1};
  std::printf("logsumexp  %.12f\n", cumulus::logsumexp(x));
  const std::vector<double> p = cumulus::softmax(x, {.weights = w});
  std::printf("softmax    %.4f %.4f %.4f %.4f\n", p[0], p[1], p[2], p[3]);
  const auto e = cumulus::logsumexp_series(x, 4);
  std::printf("order 4    %.12f +- %.0e\n", e.value, e.bound);
}

// Output:
// logsumexp  3.175490262163
// softmax    0.0484 0.1597 0.4341 0.3578
// order 4    3.172101652787 +- 7e-03
