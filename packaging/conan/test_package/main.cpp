// SPDX-License-Identifier: MIT
#include <cumulus/exact.hpp>

#include <cmath>
#include <vector>

int main() {
  const double value = cumulus::logsumexp(std::vector<double>{1, 2, 3});
  return std::abs(value - 3.4076059644443803) < 1e-15 ? 0 : 1;
}
