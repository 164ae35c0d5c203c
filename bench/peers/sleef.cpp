// SPDX-License-Identifier: MIT
//
// Loops around SLEEF's exp of at most 1 ulp: a pass for the maximum, one for the exponentials and their sum, one to scale.
// AVX-512 or AVX2, as the flags say.
#include "peers/peer.hpp"

#include <immintrin.h>
#include <sleef.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#define CUMULUS_TEXT_OF(x) #x
#define CUMULUS_TEXT(x) CUMULUS_TEXT_OF(x)
#define CUMULUS_SLEEF_VERSION       \
  CUMULUS_TEXT(SLEEF_VERSION_MAJOR) \
  "." CUMULUS_TEXT(SLEEF_VERSION_MINOR) "." CUMULUS_TEXT(SLEEF_VERSION_PATCHLEVEL)

namespace {

template <class T>
struct simd;

#if defined(__AVX512F__)
template <>
struct simd<float> {
  using pack = __m512;
  static pack load(const float* x) { return _mm512_loadu_ps(x); }
  static void store(float* x, pack v) { _mm512_storeu_ps(x, v); }
  static pack max(pack a, pack b) { return _mm512_max_ps(a, b); }
  static pack exp(pack v) { return Sleef_expf16_u10(v); }
};
template <>
struct simd<double> {
  using pack = __m512d;
  static pack load(const double* x) { return _mm512_loadu_pd(x); }
  static void store(double* x, pack v) { _mm512_storeu_pd(x, v); }
  static pack max(pack a, pack b) { return _mm512_max_pd(a, b); }
  static pack exp(pack v) { return Sleef_expd8_u10(v); }
};
#else
template <>
struct simd<float> {
  using pack = __m256;
  static pack load(const float* x) { return _mm256_loadu_ps(x); }
  static void store(float* x, pack v) { _mm256_storeu_ps(x, v); }
  static pack max(pack a, pack b) { return _mm256_max_ps(a, b); }
  static pack exp(pack v) { return Sleef_expf8_u10(v); }
};
template <>
struct simd<double> {
  using pack = __m256d;
  static pack load(const double* x) { return _mm256_loadu_pd(x); }
  static void store(double* x, pack v) { _mm256_storeu_pd(x, v); }
  static pack max(pack a, pack b) { return _mm256_max_pd(a, b); }
  static pack exp(pack v) { return Sleef_expd4_u10(v); }
};
#endif

template <class T>
using pack = typename simd<T>::pack;
template <class T>
constexpr std::size_t lanes = sizeof(pack<T>) / sizeof(T);
constexpr std::size_t chains = 4;

/// f(i, v, j, count) for the pack v at i, of which `count` numbers are there and the others are `filling`; j is the chain it
/// may use.
template <class T, class Function>
void each_pack(const T* x, std::size_t n, T filling, Function f) {
  std::size_t i = 0;
  for (; i + chains * lanes<T> <= n; i += chains * lanes<T>) {
    for (std::size_t j = 0; j < chains; ++j) {
      f(i + j * lanes<T>, simd<T>::load(x + i + j * lanes<T>), j, lanes<T>);
    }
  }
  for (; i < n; i += lanes<T>) {
    const std::size_t rest = std::min(lanes<T>, n - i);
    std::array<T, lanes<T>> last;
    last.fill(filling);
    std::copy_n(x + i, rest, last.data());
    f(i, simd<T>::load(last.data()), std::size_t{0}, rest);
  }
}

template <class T>
void put(T* out, pack<T> v, std::size_t count) {
  if (count == lanes<T>) return simd<T>::store(out, v);
  std::array<T, lanes<T>> last;
  simd<T>::store(last.data(), v);
  std::copy_n(last.data(), count, out);
}

template <class T, class Merge>
T reduce(const pack<T> (&parts)[chains], Merge merge) {
  pack<T> all = parts[0];
  for (std::size_t j = 1; j < chains; ++j) all = merge(all, parts[j]);
  std::array<T, lanes<T>> values;
  simd<T>::store(values.data(), all);
  T result = values[0];
  for (std::size_t i = 1; i < lanes<T>; ++i) {
    result = merge(pack<T>{} + result, pack<T>{} + values[i])[0];
  }
  return result;
}

template <class T>
T maximum(const T* x, std::size_t n) {
  constexpr T least = -std::numeric_limits<T>::infinity();
  pack<T> parts[chains];
  for (pack<T>& p : parts) p = pack<T>{} + least;
  each_pack(x, n, least, [&](std::size_t, pack<T> v, std::size_t j, std::size_t) {
    parts[j] = simd<T>::max(parts[j], v);
  });
  return reduce<T>(parts, simd<T>::max);
}

/// sum exp(x - max); the exponentials to `out` if they are to be stored.
template <bool Store, class T>
T exp_sum(const T* x, T* out, std::size_t n, T max) {
  pack<T> parts[chains] = {};
  each_pack(x, n, -std::numeric_limits<T>::infinity(),
            [&](std::size_t i, pack<T> v, std::size_t j, std::size_t count) {
              const pack<T> e = simd<T>::exp(v - max);
              parts[j] += e;
              if constexpr (Store) put(out + i, e, count);
            });
  return reduce<T>(parts, [](pack<T> a, pack<T> b) { return a + b; });
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
constexpr bench::peer_calls<T> calls{
    .logsumexp = logsumexp<T>, .softmax = softmax<T>, .log_softmax = log_softmax<T>};

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* sleef() {
  static constexpr peer all{"SLEEF-" CUMULUS_SLEEF_VERSION, calls<float>, calls<double>};
  return &all;
}
}  // namespace bench::peer_list
