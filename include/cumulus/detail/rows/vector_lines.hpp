// SPDX-License-Identifier: MIT
//
// logsumexp, softmax and log_softmax of lines that lie side by side across the memory, all at once and in its order.
// Layer 1 (rows): unchecked, noexcept; allocates eight numbers a line.
//
// Each says by `left(i)` which lines it left to the loops, before it writes any: those whose sum is no finite positive number,
// or whose result needs the terms without the largest. Results agree with those of contiguous lines to the stated error, not
// to the bit: a line's terms are added in another order.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/simd/lane_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

#if CUMULUS_VECTORS

/// The sums of all lines: element j of line i lies at x[j stride + i].
template <class T>
void sum_lines(const T* x, index_t stride, index_t n, lane_sums<T>& s) noexcept {
  const bool plain = !(s.scale() < 1 || 1 < s.scale());
  for (index_t j = 0; j < n; j += lane_rows) {
    const index_t count = n - j < lane_rows ? n - j : lane_rows;
    if (plain) {
      best::sum_lanes<T, true>(x + j * stride, stride, count, s);
    } else {
      best::sum_lanes<T, false>(x + j * stride, stride, count, s);
    }
  }
}

/// log of the sum of line i, less the exponent of its largest term.
template <class T>
[[nodiscard]] double log_over_largest(const lane_sums<T>& s, index_t i) noexcept {
  const compensated<double> log = logarithm_of<T>(s.total(i), index_t(s.power[i]));
  const compensated<double> exponent = two_product(double(s.largest[i]), s.scale());
  return (log.high - exponent.high) + (log.low - exponent.low);
}

/// result(i, log of the sum of line i), or left(i).
template <class T, class Result, class Left>
bool logsumexp_lines(const T* x, index_t stride, index_t lines, index_t n, double scale,
                     Result result, Left left) noexcept {
  const quiet_flags flags;
  lane_sums<T> s(lines, scale, active_isa_level() > 0);
  if (!s.ready()) return false;
  sum_lines(x, stride, n, s);
  for (index_t i = 0; i < lines; ++i) {
    const double exponent = double(s.largest[i]) * scale;
    const bool near_zero = -1 < exponent && exponent < 1;
    if (!s.usable(i) || (near_zero && log_over_largest(s, i) < 0.7)) {
      left(i);
    } else {
      result(i, logarithm_of<T>(s.total(i), index_t(s.power[i])).value());
    }
  }
  flags.restore();
  return true;
}

/// Element j of line i goes to out[j out_stride + i]. Requires out apart from x, or x itself at its stride.
template <class T, class Left>
bool softmax_lines(const T* x, index_t stride, T* out, index_t out_stride, index_t lines, index_t n,
                   double scale, Left left) noexcept {
  const quiet_flags flags;
  lane_sums<T> s(lines, scale, active_isa_level() > 0);
  if (!s.ready()) return false;
  sum_lines(x, stride, n, s);
  for (index_t i = 0; i < lines; ++i) {
    if (!s.usable(i)) {
      s.sum[i] = quiet_nan<double>;
      s.low[i] = infinity<T>;
      s.high_factor[i] = s.low_factor[i] = T(0);
      left(i);
      continue;
    }
    const compensated<double> total = s.total(i);
    const double inverse = 1 / total.high;
    const double rest = (std::fma(-inverse, total.high, 1.0) - total.low * inverse) * inverse;
    s.high_factor[i] = T(inverse);
    s.low_factor[i] = T((inverse - double(T(inverse))) + rest);
  }
  const bool plain = !(scale < 1 || 1 < scale);
  constexpr index_t rows = 4;
  for (index_t j = 0; j < n; j += rows) {
    const index_t count = n - j < rows ? n - j : rows;
    if (plain) {
      best::share_lanes<T, true>(x + j * stride, stride, out + j * out_stride, out_stride, count,
                                 s);
    } else {
      best::share_lanes<T, false>(x + j * stride, stride, out + j * out_stride, out_stride, count,
                                  s);
    }
  }
  flags.restore();
  return true;
}

template <class T, class Left>
bool log_softmax_lines(const T* x, index_t stride, T* out, index_t out_stride, index_t lines,
                       index_t n, double scale, Left left) noexcept {
  const quiet_flags flags;
  lane_sums<T> s(lines, scale, active_isa_level() > 0);
  if (!s.ready()) return false;
  sum_lines(x, stride, n, s);
  flags.restore();
  constexpr double least = std::same_as<T, float> ? 1.0 : 2.0;
  for (index_t i = 0; i < lines; ++i) {
    const double rest = s.usable(i) ? log_over_largest(s, i) : 0.0;
    s.high_factor[i] = T(rest);
    if (least <= rest) continue;
    s.sum[i] = quiet_nan<double>;
    s.largest[i] = T(0);  // no difference of infinities
    left(i);
  }
  constexpr index_t rows = 4;
  for (index_t j = 0; j < n; j += rows) {
    const index_t count = n - j < rows ? n - j : rows;
    best::subtract_lanes<T>(x + j * stride, stride, out + j * out_stride, out_stride, count, s);
  }
  flags.restore();
  return true;
}

#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
