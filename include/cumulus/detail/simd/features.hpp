// SPDX-License-Identifier: MIT
//
// Rows of monomials and of scores: their products, sums and polynomials, in raw memory.
// Layer 1 (simd): unchecked, noexcept, no allocation. In vectors for float and double, else by loops.
//
// Where cumulus::compiled holds the bodies, those for float and double are the vector code.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/simd/matrix_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// 1 as often as a vector has lanes.
template <class T>
struct ones_table {
  T at[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
};
template <class T>
inline constexpr ones_table<T> ones{};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#if CUMULUS_VECTORS && CUMULUS_BODIES
#define CUMULUS_KERNELS "cumulus/detail/simd/vector_features.inc"
#include <cumulus/detail/simd/each_isa.inc>

#define CUMULUS_FEATURES(...)     \
  if constexpr (has_vectors<T>) { \
    CUMULUS_BEST_OF(__VA_ARGS__)  \
  }
#else
#define CUMULUS_FEATURES(...)
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

template <class T>
inline constexpr bool has_vectors = std::same_as<T, float> || std::same_as<T, double>;

/// out_i = factor x_i; out may be x.
template <class T>
CUMULUS_INLINE void scale_row(const T* x, const T& factor, T* out, index_t n) noexcept {
  CUMULUS_FEATURES(scale_row<T>(x, factor, out, n))
  for (index_t i = 0; i < n; ++i) out[i] = factor * x[i];
}

/// out_i = x_i y_i; out may be either.
template <class T>
CUMULUS_INLINE void multiply_row(const T* x, const T* y, T* out, index_t n) noexcept {
  CUMULUS_FEATURES(multiply_row<T>(x, y, out, n))
  for (index_t i = 0; i < n; ++i) out[i] = x[i] * y[i];
}

/// out_i += factor x_i
template <class T>
CUMULUS_INLINE void add_row(const T* x, const T& factor, T* out, index_t n) noexcept {
  CUMULUS_FEATURES(add_row<T>(x, factor, out, n))
  for (index_t i = 0; i < n; ++i) out[i] += factor * x[i];
}

/// out_i = x_i - y_i; out may be either.
template <class T>
CUMULUS_INLINE void subtract_rows(const T* x, const T* y, T* out, index_t n) noexcept {
  CUMULUS_FEATURES(subtract_rows<T>(x, y, out, n))
  for (index_t i = 0; i < n; ++i) out[i] = x[i] - y[i];
}

/// sum_i x_i y_i, plain sums in T; of floats the last few in double.
template <class T>
[[nodiscard]] CUMULUS_INLINE std::conditional_t<std::same_as<T, float>, double, T> dot_product(
    const T* x, const T* y, index_t n) noexcept {
  CUMULUS_FEATURES(dot_product<T>(x, y, n))
  T sum(0);
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return std::conditional_t<std::same_as<T, float>, double, T>(sum);
}

/// out = x / |x| for any finite x, though its square may overflow or vanish; 0 stays 0. out may be x.
template <class T>
inline void normalise_row(const T* x, T* out, index_t n) noexcept {
  T largest(0), square(0);
  for (index_t i = 0; i < n; ++i) largest = max_of(largest, absolute(x[i]));
  const int e = is_finite(largest) && T(0) < largest ? binary_exponent(largest) : 0;
  for (index_t i = 0; i < n; ++i) {
    out[i] = e == 0 ? x[i] : times_power_of_two(x[i], -e);
    square += out[i] * out[i];
  }
  if (!(T(0) < largest) && !is_nan(largest)) return;
  const T length = square_root(square);
  for (index_t i = 0; i < n; ++i) out[i] /= length;
}

/// For i = first .. end - 1, one after the other: x_i times previous[starts[i]] .. previous[size - 1]. With the monomials of
/// one degree less in `previous`, those that lead with x_i at starts[i], these are the monomials that lead with x_i.
template <class T>
CUMULUS_INLINE void monomials(const T* x, const T* previous, index_t size, const index_t* starts,
                              index_t first, index_t end, T* out) noexcept {
  CUMULUS_FEATURES(monomials<T>(x, previous, size, starts, first, end, out))
  for (index_t i = first; i < end; ++i) {
    for (index_t j = starts[i]; j < size; ++j) *out++ = x[i] * previous[j];
  }
}

/// (high, low)_i = keep (high, low)_i + x_i, where high is the sum rounded to T and low what it lacks.
/// Error   u^2 of the sum for keep = 1; where the machine has no FMA and keep < 1, u of it.
template <class T>
CUMULUS_INLINE void fold_row(const T* x, const T& keep, T* high, T* low, index_t n) noexcept {
  CUMULUS_FEATURES(fold_row<T>(x, keep, high, low, n))
  for (index_t i = 0; i < n; ++i) {
    const T h = high[i] * keep, l = low[i] * keep;
    const T sum = h + x[i], part = sum - h;
    const T rest = l + ((h - (sum - part)) + (x[i] - part));
    high[i] = sum + rest;
    low[i] = rest - (high[i] - sum);
  }
}

/// sums[j] += sum_i w_i (u_i - centre)^j / j!, j = 0..order; w null for ones.
template <class T, class S>
CUMULUS_INLINE void divided_power_sums(const T* u, const T* w, index_t n, const T& centre,
                                       int order, S* sums) noexcept {
  if constexpr (std::same_as<S, double>) {
    CUMULUS_FEATURES(divided_power_sums<T>(u, w, n, centre, order, sums))
  }
  for (index_t i = 0; i < n; ++i) {
    S power = w == nullptr ? S(1) : S(w[i]);
    sums[0] += power;
    for (int j = 1; j <= order; ++j) sums[j] += power = power * S(u[i] - centre) / S(j);
  }
}

/// out_i = w_i sum_j a_j (u_i - centre)^j, j = 0..order; w null for ones. out may be u.
template <class T>
CUMULUS_INLINE void polynomial_row(const T* u, const T* w, index_t n, const T& centre, const T* a,
                                   int order, T* out) noexcept {
  CUMULUS_FEATURES(polynomial_row<T>(u, w, n, centre, a, order, out))
  for (index_t i = 0; i < n; ++i) {
    const T y = u[i] - centre;
    T p = a[order];
    for (int j = order; j-- > 0;) p = p * y + a[j];
    out[i] = w == nullptr ? p : T(p * w[i]);
  }
}

#define CUMULUS_FEATURE_INSTANCES(Word, T)                                                    \
  Word template void scale_row(const T*, const T&, T*, index_t) noexcept;                     \
  Word template void multiply_row(const T*, const T*, T*, index_t) noexcept;                  \
  Word template void add_row(const T*, const T&, T*, index_t) noexcept;                       \
  Word template void subtract_rows(const T*, const T*, T*, index_t) noexcept;                 \
  Word template std::conditional_t<std::same_as<T, float>, double, T> dot_product(            \
      const T*, const T*, index_t) noexcept;                                                  \
  Word template void monomials(const T*, const T*, index_t, const index_t*, index_t, index_t, \
                               T*) noexcept;                                                  \
  Word template void fold_row(const T*, const T&, T*, T*, index_t) noexcept;                  \
  Word template void divided_power_sums(const T*, const T*, index_t, const T&, int,           \
                                        double*) noexcept;                                    \
  Word template void polynomial_row(const T*, const T*, index_t, const T&, const T*, int,     \
                                    T*) noexcept;
#if CUMULUS_VECTORS && !CUMULUS_BODIES
CUMULUS_FEATURE_INSTANCES(extern, float)
CUMULUS_FEATURE_INSTANCES(extern, double)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#undef CUMULUS_FEATURES
