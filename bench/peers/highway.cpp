// SPDX-License-Identifier: MIT
//
// Loops around Highway's Exp, for the instruction set of the flags: a pass for the maximum, one for the exponentials and their
// sum, one to scale.
#include "peers/peer.hpp"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#define CUMULUS_TEXT_OF(x) #x
#define CUMULUS_TEXT(x) CUMULUS_TEXT_OF(x)

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T maximum(const T* x, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Set(d, -std::numeric_limits<T>::infinity()), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
    c = hn::Max(c, hn::LoadU(d, x + i + 2 * lanes));
    e = hn::Max(e, hn::LoadU(d, x + i + 3 * lanes));
  }
  T result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(a, b), hn::Max(c, e))));
  for (; i < n; ++i) result = std::max(result, x[i]);
  return result;
}

/// sum exp(x - max); the exponentials to `out` if they are to be stored.
template <bool Store, class T>
T exp_sum(const T* x, T* out, std::size_t n, T max) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, max);
  const auto term = [&](std::size_t i) HWY_ATTR {
    const auto v = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), shift));
    if constexpr (Store) hn::StoreU(v, d, out + i);
    return v;
  };
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, term(i));
    b = hn::Add(b, term(i + lanes));
    c = hn::Add(c, term(i + 2 * lanes));
    e = hn::Add(e, term(i + 3 * lanes));
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) {
    const T v = std::exp(x[i] - max);
    if constexpr (Store) out[i] = v;
    sum += v;
  }
  return sum;
}

template <class T>
T logsumexp(const T* x, std::size_t n) {
  const T max = maximum(x, n);
  return max + std::log(exp_sum<false, T>(x, nullptr, n, max));
}

template <class T>
void softmax(const T* x, T* out, std::size_t n) {
  const T factor = 1 / exp_sum<true>(x, out, n, maximum(x, n));
  for (std::size_t i = 0; i < n; ++i) out[i] *= factor;
}

template <class T>
void log_softmax(const T* x, T* out, std::size_t n) {
  const T total = logsumexp(x, n);
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] - total;
}

template <class T>
constexpr peer_calls<T> calls{
    .logsumexp = logsumexp<T>, .softmax = softmax<T>, .log_softmax = log_softmax<T>};

}  // namespace
}  // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* highway() {
  static constexpr peer all{"Highway-" CUMULUS_TEXT(HWY_MAJOR) "." CUMULUS_TEXT(HWY_MINOR),
                            HWY_NAMESPACE::calls<float>, HWY_NAMESPACE::calls<double>};
  return &all;
}
}  // namespace bench::peer_list
