// SPDX-License-Identifier: MIT
//
// What a peer offers. Each is one file, compiled to its own shared library with its own flags; only plain functions leave it,
// so that no inline function compiled for one instruction set is linked in place of another's.
#pragma once

#include <cstddef>
#include <span>

namespace bench {

/// What a peer computes of x[0..n), null where it does not.
template <class T>
struct peer_calls {
  T (*logsumexp)(const T* x, std::size_t n) = nullptr;
  void (*softmax)(const T* x, T* out, std::size_t n) = nullptr;
  void (*log_softmax)(const T* x, T* out, std::size_t n) = nullptr;
  /// Of rows one after the other; null where a loop over the rows is the way.
  void (*softmax_rows)(const T* x, T* out, std::size_t rows, std::size_t n) = nullptr;
  void (*log_softmax_rows)(const T* x, T* out, std::size_t rows, std::size_t n) = nullptr;
  /// mu[1] the mean, mu[2..4] the central moments.
  void (*moments)(const T* x, std::size_t n, T* mu) = nullptr;
  /// out = softmax(q k' / sqrt(d)) v: q and out n rows of d, k and v m rows; room for n m scores.
  void (*attention)(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t n,
                    std::size_t m, std::size_t d) = nullptr;
  /// The lower half of x' x, [d, d], x: n rows of d.
  void (*rank_update)(const T* x, std::size_t n, std::size_t d, T* out) = nullptr;
};

struct peer {
  const char* name;  ///< with its version, no slash: "Eigen-3.4.0-native"
  peer_calls<float> of_float{};
  peer_calls<double> of_double{};

  template <class T>
  [[nodiscard]] const peer_calls<T>& calls() const;
};
template <>
inline const peer_calls<float>& peer::calls<float>() const {
  return of_float;
}
template <>
inline const peer_calls<double>& peer::calls<double>() const {
  return of_double;
}

/// What no softmax can beat, with the machine's full vectors.
struct floor_calls {
  float (*sum_float)(const float* x, std::size_t n);
  double (*sum_double)(const double* x, std::size_t n);
  /// `rounds` times the returned number of fused multiply-adds, from registers alone.
  std::size_t (*fma_float)(std::size_t rounds, float* result);
  std::size_t (*fma_double)(std::size_t rounds, double* result);
};
[[nodiscard]] const floor_calls& floors();

/// Those that this build has and this machine can run.
[[nodiscard]] std::span<const peer* const> peers();

}  // namespace bench

/// A function that leaves the library: null where the machine cannot run the peer.
#define CUMULUS_PEER_EXPORT __attribute__((visibility("default")))
