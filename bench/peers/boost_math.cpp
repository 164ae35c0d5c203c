// SPDX-License-Identifier: MIT
//
// Boost.Math: logsumexp (from 1.80 on) and first_four_moments.
#include "peers/peer.hpp"

#include <boost/math/statistics/univariate_statistics.hpp>
#include <boost/version.hpp>
#include <string>
#include <tuple>
#if __has_include(<boost/math/special_functions/logsumexp.hpp>)
#include <boost/math/special_functions/logsumexp.hpp>
#define CUMULUS_BOOST_LOGSUMEXP 1
#endif

namespace {

template <class T>
void moments(const T* x, std::size_t n, T* mu) {
  std::tie(mu[1], mu[2], mu[3], mu[4]) = boost::math::statistics::first_four_moments(x, x + n);
}

template <class T>
bench::peer_calls<T> calls() {
  bench::peer_calls<T> c;
#if defined(CUMULUS_BOOST_LOGSUMEXP)
  c.logsumexp = [](const T* x, std::size_t n) { return boost::math::logsumexp(x, x + n); };
#endif
  c.moments = moments<T>;
  return c;
}

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* boost_math() {
  static const std::string name = "Boost.Math-" + std::to_string(BOOST_VERSION / 100000) + "." +
                                  std::to_string(BOOST_VERSION / 100 % 1000);
  static const peer all{name.c_str(), calls<float>(), calls<double>()};
  return &all;
}
}  // namespace bench::peer_list
