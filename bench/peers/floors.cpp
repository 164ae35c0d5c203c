// SPDX-License-Identifier: MIT
//
// The floors: a sum of everything, and multiply-adds from registers, in vectors of the machine's width.
#include "peers/peer.hpp"

#include <cstring>

namespace {

#if defined(__AVX512F__)
inline constexpr std::size_t bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t bytes = 32;
#else
inline constexpr std::size_t bytes = 16;
#endif

template <class T>
struct pack_of;
template <>
struct pack_of<float> {
  typedef float type __attribute__((vector_size(bytes)));
};
template <>
struct pack_of<double> {
  typedef double type __attribute__((vector_size(bytes)));
};
template <class T>
using pack = typename pack_of<T>::type;
template <class T>
inline constexpr std::size_t lanes = bytes / sizeof(T);

template <class T>
T lane_total(const pack<T>& v) {
  T sum = 0;
  for (std::size_t i = 0; i < lanes<T>; ++i) sum += v[i];
  return sum;
}

template <class T>
pack<T> load(const T* x) {
  pack<T> v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

// Named one by one: g++ 12 keeps an array of packs in memory.

template <class T>
T sum(const T* x, std::size_t n) {
  constexpr std::size_t w = lanes<T>;
  pack<T> a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  std::size_t i = 0;
  for (; i + 8 * w <= n; i += 8 * w) {
    a += load(x + i), b += load(x + i + w), c += load(x + i + 2 * w), d += load(x + i + 3 * w);
    e += load(x + i + 4 * w), f += load(x + i + 5 * w);
    g += load(x + i + 6 * w), h += load(x + i + 7 * w);
  }
  T rest = 0;
  for (; i < n; ++i) rest += x[i];
  return lane_total<T>(((a + b) + (c + d)) + ((e + f) + (g + h))) + rest;
}

/// Twelve chains hide a latency of six at two a cycle, and fit sixteen registers.
template <class T>
std::size_t fma(std::size_t rounds, T* result) {
  const pack<T> factor = pack<T>{} + T(0.5), term = pack<T>{} + *result;
  const auto step = [&](pack<T>& v) {
    v = v * factor + term;
#if defined(__x86_64__)
    asm volatile("" : "+v"(v));  // each in its register, one after the other
#elif defined(__aarch64__)
    asm volatile("" : "+w"(v));
#endif
  };
  pack<T> a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{}, k{}, l{};
  for (std::size_t r = 0; r < rounds; ++r) {
    step(a), step(b), step(c), step(d), step(e), step(f);
    step(g), step(h), step(i), step(j), step(k), step(l);
  }
  *result = lane_total<T>((a + b + c + d) + (e + f + g + h) + (i + j + k + l));
  return 12 * lanes<T>;
}

}  // namespace

CUMULUS_PEER_EXPORT const bench::floor_calls& bench::floors() {
  static constexpr floor_calls calls{sum<float>, sum<double>, fma<float>, fma<double>};
  return calls;
}
