// SPDX-License-Identifier: MIT
//
// Eigen's expressions, compiled once for each set of flags (CUMULUS_PEER_FLAGS).
#include "support/eigen.hpp"
#include "peers/peer.hpp"
#include "support/eigen_attention.hpp"

#include <Eigen/Core>
#include <array>
#include <cmath>

#define CUMULUS_TEXT_OF(x) #x
#define CUMULUS_TEXT(x) CUMULUS_TEXT_OF(x)
#define CUMULUS_EIGEN_VERSION       \
  CUMULUS_TEXT(EIGEN_WORLD_VERSION) \
  "." CUMULUS_TEXT(EIGEN_MAJOR_VERSION) "." CUMULUS_TEXT(EIGEN_MINOR_VERSION)

namespace {

using index = std::ptrdiff_t;

template <class T>
T logsumexp(const T* x, std::size_t n) {
  const bench::const_array<T> a(x, index(n));
  const T max = a.maxCoeff();
  return max + std::log((a - max).exp().sum());
}

template <class T>
void softmax(const T* x, T* out, std::size_t n) {
  const bench::const_array<T> a(x, index(n));
  bench::array<T> p(out, index(n));
  p = (a - a.maxCoeff()).exp();
  p /= p.sum();
}

template <class T>
void log_softmax(const T* x, T* out, std::size_t n) {
  const bench::const_array<T> a(x, index(n));
  const T max = a.maxCoeff();
  bench::array<T>(out, index(n)) = a - (max + std::log((a - max).exp().sum()));
}

template <class T>
void moments(const T* x, std::size_t n, T* mu) {
  const bench::const_array<T> a(x, index(n));
  mu[1] = a.mean();
  bench::power_means<4>(a - mu[1], mu);
}

template <class T>
void rank_update(const T* x, std::size_t n, std::size_t d, T* out) {
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> c(out, index(d), index(d));
  c.setZero();
  c.template selfadjointView<Eigen::Lower>().rankUpdate(
      bench::const_rows<T>(x, index(n), index(d)).transpose());
}

template <class T>
constexpr bench::peer_calls<T> calls{
    .logsumexp = logsumexp<T>,
    .softmax = softmax<T>,
    .log_softmax = log_softmax<T>,
    .moments = moments<T>,
    .attention = bench::eigen_attention<T>,
    .rank_update = rank_update<T>,
};

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* CUMULUS_PEER_FUNCTION() {
#if defined(CUMULUS_PEER_NEEDS_AVX2)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
#endif
  static constexpr peer all{"Eigen-" CUMULUS_EIGEN_VERSION "-" CUMULUS_PEER_FLAGS, calls<float>,
                            calls<double>};
  return &all;
}
}  // namespace bench::peer_list
