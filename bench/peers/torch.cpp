// SPDX-License-Identifier: MIT
//
// libtorch's softmax, log_softmax, logsumexp and attention into memory that is there, one thread; its kernels choose their instruction set
// themselves (ATEN_CPU_CAPABILITY asks for another).
#include "peers/peer.hpp"

#include <torch/torch.h>

#include <cmath>
#include <type_traits>

namespace {

template <class T>
torch::Tensor view(const T* x, std::size_t rows, std::size_t n) {
  return torch::from_blob(const_cast<T*>(x),
                          {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(n)},
                          std::is_same_v<T, float> ? torch::kFloat32 : torch::kFloat64);
}

template <class T>
T logsumexp(const T* x, std::size_t n) {
  const c10::InferenceMode quiet;
  T result{};
  torch::Tensor out = view(&result, 1, 1).view({1});
  at::logsumexp_out(out, view(x, 1, n), at::IntArrayRef{1});
  return result;
}

template <class T>
void softmax_rows(const T* x, T* out, std::size_t rows, std::size_t n) {
  const c10::InferenceMode quiet;
  torch::Tensor to = view(out, rows, n);
  at::_softmax_out(to, view(x, rows, n), 1, false);
}

template <class T>
void softmax(const T* x, T* out, std::size_t n) {
  softmax_rows(x, out, 1, n);
}

template <class T>
void log_softmax_rows(const T* x, T* out, std::size_t rows, std::size_t n) {
  const c10::InferenceMode quiet;
  torch::Tensor to = view(out, rows, n);
  at::_log_softmax_out(to, view(x, rows, n), 1, false);
}

template <class T>
void log_softmax(const T* x, T* out, std::size_t n) {
  log_softmax_rows(x, out, 1, n);
}

template <class T>
void attention(const T* q, const T* k, const T* v, T* out, T*, std::size_t n, std::size_t m,
               std::size_t d) {
  const c10::InferenceMode quiet;
  torch::Tensor to = view(out, n, d);
  const torch::Tensor scores = at::matmul(view(q, n, d), view(k, m, d).t());
  at::matmul_out(to, at::softmax(scores / std::sqrt(static_cast<double>(d)), 1), view(v, m, d));
}

template <class T>
constexpr bench::peer_calls<T> calls{.logsumexp = logsumexp<T>,
                                     .softmax = softmax<T>,
                                     .log_softmax = log_softmax<T>,
                                     .softmax_rows = softmax_rows<T>,
                                     .log_softmax_rows = log_softmax_rows<T>,
                                     .attention = attention<T>};

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* torch() {
  at::set_num_threads(1);
  static constexpr peer all{"libtorch-" CUMULUS_TORCH_VERSION, calls<float>, calls<double>};
  return &all;
}
}  // namespace bench::peer_list
