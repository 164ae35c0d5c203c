// SPDX-License-Identifier: MIT
//
// softmax of bfloat16 numbers, written as one would and by cumulus.
#include <cumulus/cumulus.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using Eigen::bfloat16;

std::vector<bfloat16> textbook(const std::vector<bfloat16>& x) {
  const bfloat16 largest = *std::max_element(x.begin(), x.end());
  std::vector<bfloat16> p;
  bfloat16 sum(0);
  for (const bfloat16 v : x) sum += p.emplace_back(exp(v - largest));
  for (bfloat16& v : p) v /= sum;
  return p;
}

template <class P>
void print(const char* name, const P& p, double exact) {
  double total = 0;
  for (const bfloat16 v : p) total += double(v);
  std::printf("  %-8s  first %.6f (off by %.1f %%), total %.3f\n", name, double(p[0]),
              100 * std::abs(double(p[0]) / exact - 1), total);
}

int main() {
  for (const std::size_t n : {100u, 1000u, 4096u}) {
    const std::vector<bfloat16> x(n, bfloat16(2));  // equal scores, so that every share is 1/n
    std::printf("%zu equal scores, 1/n = %.6f\n", n, 1.0 / double(n));
    print("textbook", textbook(x), 1.0 / double(n));
    print("cumulus", cumulus::softmax(x), 1.0 / double(n));
  }
  const double score = 100.3, kept = double(bfloat16(float(score)));
  std::printf("but %.1f is %.1f in bfloat16: e^x is off by %.0f %% before anyone begins\n", score,
              kept, 100 * (std::exp(kept - score) - 1));
}

// Output:
// 100 equal scores, 1/n = 0.010000
//   textbook  first 0.010010 (off by 0.1 %), total 1.001
//   cumulus   first 0.010010 (off by 0.1 %), total 1.001
// 1000 equal scores, 1/n = 0.001000
//   textbook  first 0.003906 (off by 290.6 %), total 3.906
//   cumulus   first 0.000999 (off by 0.1 %), total 0.999
// 4096 equal scores, 1/n = 0.000244
//   textbook  first 0.003906 (off by 1500.0 %), total 16.000
//   cumulus   first 0.000244 (off by 0.0 %), total 1.000
// but 100.3 is 100.5 in bfloat16: e^x is off by 22 % before anyone begins
