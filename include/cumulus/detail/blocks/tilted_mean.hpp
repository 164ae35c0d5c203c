// SPDX-License-Identifier: MIT
//
// A block as one query sees it: the softmax of its scores, the mean key under that and its entropy.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <vector>

namespace cumulus::detail {

/// mass = log sum e^(q . k_t) = q . key + entropy, for the shares p = softmax(q . k) of the tokens.
struct tilted_mean {
  double mass;
  std::vector<double> share;  ///< p
  std::vector<double> key;    ///< sum p k
  double entropy;             ///< -sum p log p
};

/// Shape   keys: [n, d] rows, n >= 1; q: [d].
/// Edges   all NaN where a score is NaN or +inf.
/// Cost    2 n d multiply-adds, 2 n exponentials and logarithms.
[[nodiscard]] inline tilted_mean tilted_mean_of(const double* keys, index_t n, index_t d,
                                                const double* q) {
  tilted_mean out{0, std::vector<double>(std::size_t(n), 0.0),
                  std::vector<double>(std::size_t(d), 0.0), 0};
  double top = -infinity<double>, sum = 0;
  for (index_t t = 0; t < n; ++t) {
    double& score = out.share[std::size_t(t)];
    for (index_t i = 0; i < d; ++i) score += q[i] * keys[t * d + i];
    top = max_of(top, score);
  }
  for (double& p : out.share) sum += p = std::exp(p - top);
  out.mass = top + std::log(sum);
  for (index_t t = 0; t < n; ++t) {
    const double p = out.share[std::size_t(t)] /= sum;
    out.entropy -= p > 0 ? p * std::log(p) : p;
    for (index_t i = 0; i < d; ++i) out.key[std::size_t(i)] += p * keys[t * d + i];
  }
  return out;
}

}  // namespace cumulus::detail
