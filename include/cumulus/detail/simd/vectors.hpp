// SPDX-License-Identifier: MIT
//
// The vector kernels, once for each instruction set, and the choice among them.
// Layer 1 (kernels): over contiguous raw memory; unchecked, noexcept, no allocation.
//
// A function can be compiled for a set that the rest of a program is not (`target`), but only if all that it
// calls is compiled so as well. So pack_*.inc say what one vector is and does, the other .inc files are written once
// over `pack`, and each_isa.inc includes them into a namespace of its own for each set.
#pragma once

#include <cumulus/detail/simd/attention_row.hpp>
#include <cumulus/detail/simd/isa.hpp>
#include <cumulus/detail/simd/lane_sums.hpp>
#include <cumulus/detail/simd/row_sums.hpp>
#include <cumulus/detail/simd/weighted_range.hpp>
#include <cmath>
#include <utility>

#if CUMULUS_VECTORS

#define CUMULUS_KERNELS "cumulus/detail/simd/vector_kernels.inc"
#include <cumulus/detail/simd/each_isa.inc>

namespace cumulus::detail::kernels::best {

template <class T, bool Plain, bool Keep>
inline void sum_row(const T* x, T* out, index_t n, row_sums<T>& row) noexcept {
  CUMULUS_BEST_OF(sum_row<T, Plain, Keep>(x, out, n, row))
}
template <class T>
[[nodiscard]] inline T row_largest(const T* x, index_t n) noexcept {
  CUMULUS_BEST_OF(row_largest<T>(x, n))
}
template <class T>
[[nodiscard]] inline T row_smallest(const T* x, index_t n) noexcept {
  CUMULUS_BEST_OF(row_smallest<T>(x, n))
}
template <class T, bool Plain>
[[nodiscard]] inline compensated<double> sum_but_largest(const T* x,
                                                         const row_sums<T>& row) noexcept {
  CUMULUS_BEST_OF(sum_but_largest<T, Plain>(x, row))
}
template <class T, bool Exact>
inline void divide_row(T* out, index_t n, const compensated<double>& total) noexcept {
  CUMULUS_BEST_OF(divide_row<T, Exact>(out, n, total))
}
template <class T>
inline void subtract_row(const T* x, T* out, index_t n, T centre, double scale, T rest) noexcept {
  CUMULUS_BEST_OF(subtract_row<T>(x, out, n, centre, scale, rest))
}
template <class T, int P, bool Weighted>
inline void power_sums(const T* x, const T* w, index_t n, T pivot, double* sums,
                       weighted_range& range) noexcept {
  CUMULUS_BEST_OF(power_sums<T, P, Weighted>(x, w, n, pivot, sums, range))
}

template <class T, bool Plain>
inline void sum_lanes(const T* x, index_t stride, index_t rows, lane_sums<T>& s) noexcept {
  CUMULUS_BEST_OF(sum_lanes<T, Plain>(x, stride, rows, s))
}
template <class T, bool Plain>
inline void share_lanes(const T* x, index_t stride, T* out, index_t out_stride, index_t rows,
                        const lane_sums<T>& s) noexcept {
  CUMULUS_BEST_OF(share_lanes<T, Plain>(x, stride, out, out_stride, rows, s))
}
template <class T>
inline void subtract_lanes(const T* x, index_t stride, T* out, index_t out_stride, index_t rows,
                           const lane_sums<T>& s) noexcept {
  CUMULUS_BEST_OF(subtract_lanes<T>(x, stride, out, out_stride, rows, s))
}

template <class T>
[[nodiscard]] inline index_t position_of(const T* x, index_t n, T value) noexcept {
  CUMULUS_BEST_OF(position_of<T>(x, n, value))
}
template <class T>
[[nodiscard]] inline compensated<double> dot_row(const T* p, const T* v, index_t n,
                                                 T origin) noexcept {
  CUMULUS_BEST_OF(dot_row<T>(p, v, n, origin))
}
template <class T>
inline void jacobian_row(const T* p, const T* v, T* out, index_t n, T origin, T mean,
                         T factor) noexcept {
  CUMULUS_BEST_OF(jacobian_row<T>(p, v, out, n, origin, mean, factor))
}
template <class T>
inline void horner_row(const T* x, T* out, index_t n, const compensated<double>& mean,
                       const double* a, int order) noexcept {
  CUMULUS_BEST_OF(horner_row<T>(x, out, n, mean, a, order))
}

template <class T>
inline void add_product(const T* a, index_t a_row, index_t a_step, const T* b, index_t b_stride,
                        T* c, index_t c_stride, index_t rows, index_t depth,
                        index_t columns) noexcept {
  CUMULUS_BEST_OF(add_product<T>(a, a_row, a_step, b, b_stride, c, c_stride, rows, depth, columns))
}

template <class T>
inline void dot_rows(const T* rows, index_t stride, index_t width, index_t count, const T* x,
                     double* out) noexcept {
  CUMULUS_BEST_OF(dot_rows<T>(rows, stride, width, count, x, out))
}

template <class T>
inline void score_rows(const T* q, index_t q_stride, index_t rows, const T* k, index_t k_stride,
                       index_t count, index_t d, T* out, index_t out_stride) noexcept {
  CUMULUS_BEST_OF(score_rows<T>(q, q_stride, rows, k, k_stride, count, d, out, out_stride))
}
template <class T>
inline void add_values(const T* w, index_t w_stride, index_t rows, const T* v, index_t v_stride,
                       index_t count, index_t e, T* out, index_t out_stride) noexcept {
  CUMULUS_BEST_OF(add_values<T>(w, w_stride, rows, v, v_stride, count, e, out, out_stride))
}
template <class T>
inline void add_kept_values(const T* w, const T* v, index_t v_stride, index_t count, index_t e,
                            T* out) noexcept {
  CUMULUS_BEST_OF(add_kept_values<T>(w, v, v_stride, count, e, out))
}
template <class T>
inline void pack_keys(const T* k, index_t k_stride, index_t count, index_t d, T* out,
                      index_t out_stride) noexcept {
  CUMULUS_BEST_OF(pack_keys<T>(k, k_stride, count, d, out, out_stride))
}
template <bool Brain>
inline void widen(const void* x, index_t n, float* out) noexcept {
  CUMULUS_BEST_OF(widen<Brain>(x, n, out))
}
template <class T>
inline bool weigh_row(T* s, index_t n, attention_row<T>& row, double* sums,
                      index_t width) noexcept {
  CUMULUS_BEST_OF(weigh_row<T>(s, n, row, sums, width))
}
template <class T>
inline bool fold_row(const T* part, index_t n, double* sums) noexcept {
  CUMULUS_BEST_OF(fold_row<T>(part, n, sums))
}

}  // namespace cumulus::detail::kernels::best

#endif  // CUMULUS_VECTORS
