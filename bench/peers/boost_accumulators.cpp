// SPDX-License-Identifier: MIT
//
// Boost.Accumulators: mean, variance, skewness and kurtosis, and from them the moments.
#include "peers/peer.hpp"

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/kurtosis.hpp>
#include <boost/accumulators/statistics/mean.hpp>
#include <boost/accumulators/statistics/skewness.hpp>
#include <boost/accumulators/statistics/stats.hpp>
#include <boost/accumulators/statistics/variance.hpp>
#include <boost/version.hpp>
#include <cmath>
#include <string>

namespace {

namespace acc = boost::accumulators;

template <class T>
void moments(const T* x, std::size_t n, T* mu) {
  acc::accumulator_set<T, acc::stats<acc::tag::mean, acc::tag::lazy_variance, acc::tag::skewness,
                                     acc::tag::kurtosis>>
      sums;
  for (std::size_t i = 0; i < n; ++i) sums(x[i]);
  mu[1] = static_cast<T>(acc::mean(sums));
  mu[2] = static_cast<T>(acc::lazy_variance(sums));
  mu[3] = static_cast<T>(acc::skewness(sums)) * mu[2] * std::sqrt(mu[2]);
  mu[4] = (static_cast<T>(acc::kurtosis(sums)) + 3) * mu[2] * mu[2];
}

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* boost_accumulators() {
  static const std::string name = "Boost.Accumulators-" + std::to_string(BOOST_VERSION / 100000) +
                                  "." + std::to_string(BOOST_VERSION / 100 % 1000);
  static const peer all{name.c_str(), {.moments = moments<float>}, {.moments = moments<double>}};
  return &all;
}
}  // namespace bench::peer_list
