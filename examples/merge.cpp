// SPDX-License-Identifier: MIT
//
// Moments of two halves, merged, are those of the whole: add where the data are, sum where they meet.
#include <cumulus/cumulus.hpp>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

int main() {
  std::vector<double> x;
  for (int i = 0; i < 1000; ++i) x.push_back(1e6 + 0.001 * i);
  const std::span<const double> all(x);

  cumulus::central_moments<double, 4> left, right, whole;
  left.add(all.first(300));
  for (const double value : all.subspan(300)) right.add(value);
  whole.add(all);
  left += right;

  std::printf("          merged         whole\n");
  std::printf("n         %-14td %td\n", left.count(), whole.count());
  std::printf("mean      %-14.4f %.4f\n", left.mean(), whole.mean());
  for (int k = 2; k <= 4; k += 2)
    std::printf("moment %d  %-14.8f %.8f\n", k, left.moment(k), whole.moment(k));
  std::printf("range     %-14.3f %.3f\n", left.max() - left.min(), whole.max() - whole.min());
}

// Output:
//           merged         whole
// n         1000           1000
// mean      1000000.4995   1000000.4995
// moment 2  0.08333325     0.08333325
// moment 4  0.01249996     0.01249996
// range     0.999          0.999
