// SPDX-License-Identifier: MIT
//
// The table of measured errors that the README quotes: the largest of each exact function over families, sizes,
// offsets and spreads, against 50 digits. Prints, and fails where a header's bound is exceeded.

#include <cumulus/cumulus.hpp>

#include <algorithm>
#include <cstdio>

#include "support/families.hpp"
#include "support/oracle.hpp"
#include "support/ulp.hpp"

namespace {

using oracle::wide;

struct row {
  const char* name;
  double bound;
  double worst[2] = {0, 0};  // float, double
};

row rows[] = {{"logsumexp", cumulus::logsumexp_max_ulp},
              {"logsumexp, weighted", cumulus::logsumexp_max_ulp},
              {"softmax", cumulus::softmax_max_ulp},
              {"softmax, weighted", cumulus::softmax_max_ulp},
              {"log_softmax", cumulus::log_softmax_max_ulp},
              {"logsumexp_gradient", cumulus::logsumexp_gradient_max_ulp},
              {"logmeanexp (roundings)", cumulus::logmeanexp_max_roundings},
              {"softmax_entropy", cumulus::softmax_entropy_max_ulp},
              {"effective_sample_size", cumulus::effective_sample_size_max_ulp}};

/// log of each entry, from the others over it: near the largest, 1 - p has more digits than p.
template <class T>
[[nodiscard]] std::vector<wide> log_softmax(const std::vector<T>& x) {
  std::vector<wide> e(x.size()), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) e[i] = exp(wide(x[i]));
  for (std::size_t i = 0; i < x.size(); ++i) {
    wide others = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (j != i) others += e[j];
    }
    const wide r = others / e[i];
    out[i] = r < wide(1e-20) ? wide(-r * (1 - r / 2)) : wide(-log(1 + r));
  }
  return out;
}

template <class T>
void measure(const std::vector<T>& x, const std::vector<T>& w) {
  constexpr int type = std::is_same_v<T, double>;
  const auto see = [](int i, double error) {
    rows[i].worst[type] = std::max(rows[i].worst[type], error);
  };
  T largest = 1;
  wide mean_size = 0;
  for (const T& v : x) largest = std::max(largest, std::abs(v)), mean_size += abs(wide(v));
  mean_size /= wide(x.size());
  const wide log_sum = oracle::logsumexp(x), weighted = oracle::logsumexp(x, w);
  const T scale = type ? largest : T(1);
  see(0, ulps(cumulus::logsumexp(x), log_sum, std::max(scale, std::abs(T(log_sum)))));
  see(1, ulps(cumulus::logsumexp(x, {.weights = w}), weighted,
              std::max(scale, std::abs(T(weighted)))));
  const auto p = oracle::softmax(x), q = oracle::softmax(x, w);
  const auto soft = cumulus::softmax(x), soft_weighted = cumulus::softmax(x, {.weights = w}),
             log_soft = cumulus::log_softmax(x), gradient = cumulus::logsumexp_gradient(x);
  const auto log_p = log_softmax(x);
  wide entropy = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Eigen::Index j = Eigen::Index(i);
    see(2, ulps(soft[j], p[i]));
    see(3, ulps(soft_weighted[j], q[i]));
    see(4, ulps(log_soft[j], log_p[i]));
    see(5, ulps(gradient[j], p[i]));
    entropy -= p[i] * log_p[i];
    squares += p[i] * p[i];
  }
  const wide log_mean = log_sum - log(wide(x.size()));
  const wide size = std::max(mean_size, wide(abs(log_mean)));
  const wide u = wide(std::numeric_limits<T>::epsilon()) / 2;
  if (size > 0) see(6, double(abs(wide(cumulus::logmeanexp(x)) - log_mean) / (u * size)));
  see(7, ulps(cumulus::softmax_entropy(x), entropy));
  see(8, ulps(cumulus::effective_sample_size(x), wide(1 / squares)));
}

template <class T>
void measure_all() {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 33u, 70u, 200u}) {
    const auto w = families::wild_weights<T>(n, 6, n);
    for (const double offset : {0.0, 1e4, -1e4, 88.0, 700.0}) {
      for (const double spread : {1e-8, 1e-3, 1.0, 10.0, 60.0, 1e3}) {
        measure(families::normal<T>(n, offset, spread, 7u), w);
        measure(families::exponential<T>(n, offset, -spread, 8u), w);
        measure(families::ascending<T>(n, offset, offset + spread), w);
        measure(families::one_outlier<T>(n, offset, offset + spread), w);
        measure(families::two_points<T>(n, offset, offset + spread, (n + 1) / 2), w);
      }
      measure(families::ties<T>(n, offset), w);
    }
  }
}

}  // namespace

int main() {
  measure_all<float>();
  measure_all<double>();
  bool good = true;
  std::printf("| largest error, ulp | float | double | bound |\n|---|---|---|---|\n");
  for (const row& r : rows) {
    std::printf("| %s | %.2f | %.2f | %g |\n", r.name, r.worst[0], r.worst[1], r.bound);
    good = good && r.worst[0] <= r.bound && r.worst[1] <= r.bound;
  }
  return good ? 0 : 1;
}
