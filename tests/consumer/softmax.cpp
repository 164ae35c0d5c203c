// SPDX-License-Identifier: MIT
#include <cumulus/cumulus.hpp>
#include <vector>

double largest_softmax_of_1_2_3() {
  const auto p = cumulus::softmax(std::vector<double>{1, 2, 3});
  return p[2];
}
