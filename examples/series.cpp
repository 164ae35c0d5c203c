// SPDX-License-Identifier: MIT
//
// logsumexp from moments alone: a partial sum, a bound on its error, and the exact value.
#include <cumulus/cumulus.hpp>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x = {-0.9, -0.2, 0.1, 0.4, 1.2};

  cumulus::central_moments<double, 6> m;  // all that the series needs of x; x may be gone by now
  m.add(x);
  std::printf("radius of convergence at least %.3f\n",
              cumulus::convergence_radius(m.max() - m.min()));
  for (int order = 2; order <= m.order(); ++order) {
    const cumulus::estimate<double> s =
        cumulus::logsumexp_series(m, {.order = order, .form = cumulus::form::taylor});
    std::printf("order %d    %.6f within %.0e\n", order, s.value, s.bound);
  }
  std::printf("exact      %.6f\n", cumulus::logsumexp(x));

  std::printf("softmax, order 6 ");
  for (const double p : cumulus::softmax_series(x, {.order = 6, .form = cumulus::form::taylor}))
    std::printf(" %.5f", p);
  std::printf("\nsoftmax, exact   ");
  for (const double p : cumulus::softmax(x)) std::printf(" %.5f", p);
  std::printf("\n");
}

// Output:
// radius of convergence at least 1.496
// order 2    1.968238 within 2e-03
// order 3    1.974494 within 9e-03
// order 4    1.966477 within 5e-04
// order 5    1.965590 within 5e-04
// order 6    1.965969 within 2e-04
// exact      1.966051
// softmax, order 6  0.05689 0.11440 0.15472 0.20912 0.46487
// softmax, exact    0.05692 0.11463 0.15473 0.20887 0.46485
