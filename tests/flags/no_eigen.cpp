// SPDX-License-Identifier: MIT
//
// Vectors of the standard library, in a program whose include path has no Eigen; compiled, never run.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/logsumexp_complex.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/series/logsumexp_series.hpp>

#include <array>
#include <deque>
#include <span>
#include <vector>

#if defined(EIGEN_WORLD_VERSION)
#error \
    "a header of exact/, moments/central_moments.hpp or series/logsumexp_series.hpp includes Eigen"
#endif

using namespace cumulus;

double every_function(const std::vector<double>& x, const std::vector<bool>& keep,
                      std::array<float, 3> fixed) {
  std::vector<double> p = softmax(x),
                      log_p = log_softmax(x, {.weights = x, .mask = keep, .scale = 2});
  fixed = softmax(fixed);
  softmax(x, into(p));
  log_softmax(x, into(std::span<double>(p)), {.sink = 0});
  std::vector<double> running = logcumsumexp(std::deque<int>{1, 2}),
                      sums = segment_logsumexp(x, std::array{0, 1});
  running = logsumexp_gradient(x), running = softmax_vjp(x, p), running = normalise_log_weights(x);
  logsumexp_accumulator<double> sum;
  sum.add(x);
  softmax_mean<double> mean;
  mean.add(x, p);
  central_moments<double, 4> moments;
  moments.add(x);
  return logsumexp(x) + logsumexp({1, 2, 3}) + logmeanexp(x) + logvarexp(x, {.correction = 1}) +
         softmax_entropy(x) + effective_sample_size(x) + perplexity(x) + logaddexp(1.0, 2.0) +
         logsumexp_signed(x, p).log_abs + sum.value() + mean.value() + moments.mean() +
         logsumexp_series(x, 4).value + logsumexp_series(moments, 4).value;
}
