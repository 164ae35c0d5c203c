// SPDX-License-Identifier: MIT
//
// One of two translation units that include the whole of cumulus; the program returns 0 where both are right.
#include <cumulus/cumulus.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

double largest_softmax_of_1_2_3();  // softmax.cpp

int main() {
  const double value = cumulus::logsumexp(std::vector<double>{1, 2, 3});
  const double largest = largest_softmax_of_1_2_3();
  std::printf("logsumexp %.17g, largest softmax %.17g\n", value, largest);
  const bool right = std::abs(value - 3.4076059644443803) < 1e-15 &&
                     std::abs(largest - 0.6652409557748219) < 1e-15;
  return right ? 0 : 1;
}
