// SPDX-License-Identifier: MIT
//
// Attention by OpenBLAS: its products, one thread, with Eigen's softmax between them. Loaded at the first call, so that its
// AVX-512 kernels can be asked for where the machine has them (OPENBLAS_CORETYPE, if set, has the last word).
#include "peers/peer.hpp"
#include "support/eigen_attention.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace {

// cblas.h would tie this file to the library when the program starts.
constexpr int by_rows = 101, as_is = 111, transposed = 112;

template <class T>
struct products {
  void (*gemm)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int) = nullptr;
  void (*gemv)(int, int, int, int, T, const T*, int, const T*, int, T, T*, int) = nullptr;
};

struct library {
  products<float> of_float;
  products<double> of_double;
  std::string name;
};

template <class Function>
bool find(void* from, const char* name, Function& f) {
  f = reinterpret_cast<Function>(dlsym(from, name));
  return f != nullptr;
}

const library& openblas() {
  static const library all = [] {
    library l;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
    void* const from = dlopen(CUMULUS_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
    void (*threads)(int) = nullptr;
    char* (*config)() = nullptr;
    char* (*core)() = nullptr;
    if (from == nullptr || !find(from, "openblas_set_num_threads", threads) ||
        !find(from, "openblas_get_config", config) || !find(from, "openblas_get_corename", core) ||
        !find(from, "cblas_sgemm", l.of_float.gemm) ||
        !find(from, "cblas_sgemv", l.of_float.gemv) ||
        !find(from, "cblas_dgemm", l.of_double.gemm) ||
        !find(from, "cblas_dgemv", l.of_double.gemv)) {
      std::fprintf(stderr, "OpenBLAS is left out: %s\n", dlerror());
      return library{};
    }
    threads(1);
    const std::string words = config();  // "OpenBLAS 0.3.21 ..."
    const auto version = words.find(' ') + 1;
    l.name = "OpenBLAS-" + words.substr(version, words.find(' ', version) - version) + "-" + core();
    return l;
  }();
  return all;
}

template <class T>
const products<T>& calls_of() {
  if constexpr (std::is_same_v<T, float>) {
    return openblas().of_float;
  } else {
    return openblas().of_double;
  }
}

template <class T>
void attention(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t queries,
               std::size_t keys, std::size_t width) {
  const products<T>& blas = calls_of<T>();
  const int n = int(queries), m = int(keys), d = int(width);
  bench::rows<T> s(scores, n, m);
  if (n == 1) {
    blas.gemv(by_rows, as_is, m, d, T(1), k, d, q, 1, T(0), scores, 1);
  } else {
    blas.gemm(by_rows, as_is, transposed, n, m, d, T(1), q, d, k, d, T(0), scores, m);
  }
  bench::softmax_rows(s, T(1 / std::sqrt(T(d))));
  if (n == 1) {
    blas.gemv(by_rows, transposed, m, d, T(1), v, d, scores, 1, T(0), out, 1);
  } else {
    blas.gemm(by_rows, as_is, as_is, n, d, m, T(1), scores, m, v, d, T(0), out, d);
  }
}

}  // namespace

namespace bench::peer_list {
CUMULUS_PEER_EXPORT const peer* openblas() {
  if (::openblas().name.empty()) return nullptr;
  static const peer all{::openblas().name.c_str(), peer_calls<float>{.attention = attention<float>},
                        peer_calls<double>{.attention = attention<double>}};
  return &all;
}
}  // namespace bench::peer_list
