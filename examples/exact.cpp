// SPDX-License-Identifier: MIT
//
// logsumexp, softmax and log_softmax of a vector, where the formulas as written would fail.
#include <cumulus/cumulus.hpp>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x = {1000.0, 1001.0, 1002.0};  // e^1000 does not fit a double
  std::printf("logsumexp    %.6f\n", cumulus::logsumexp(x));
  std::printf("softmax     ");
  for (const double p : cumulus::softmax(x)) std::printf(" %.6f", p);
  std::printf("\nlog_softmax ");
  for (const double p : cumulus::log_softmax(x)) std::printf(" %.6f", p);

  const std::vector<double> counts = {2.0, 0.0, 1.0};  // a weight multiplies e^x, 0 removes it
  std::printf("\nweighted     %.6f\n", cumulus::logsumexp(x, {.weights = counts}));

  const std::vector<double> tail = {0.0, -40.0};  // the answer is the tail: log(1 + e^-40)
  std::printf("tail         %.6e\n", cumulus::logsumexp(tail));
  std::printf("two terms    %.6f\n", cumulus::logaddexp(-1000.0, -1000.0));
  std::printf("empty        %g\n", cumulus::logsumexp(std::vector<double>{}));
}

// Output:
// logsumexp    1002.407606
// softmax      0.090031 0.244728 0.665241
// log_softmax  -2.407606 -1.407606 -0.407606
// weighted     1002.239545
// tail         4.248354e-18
// two terms    -999.306853
// empty        -inf
