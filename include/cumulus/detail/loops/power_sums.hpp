// SPDX-License-Identifier: MIT
//
// Weighted power sums of one short block about a pivot.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// The longest block: 16 additions in each of 8 lanes, so that rounding stays within the moments'
/// bound.
inline constexpr index_t power_sums_block = 128;
inline constexpr index_t power_sums_lanes = 8;

/// The sum of f(0) .. f(n - 1), n a multiple of the lanes, in a fixed order; the lanes
/// are variables, so that they stay in registers.
template <class T, class Function>
[[nodiscard]] T lane_sum(index_t n, Function f) noexcept {
  static_assert(power_sums_lanes == 8);
  T a(0), b(0), c(0), d(0), e(0), g(0), h(0), k(0);
  for (index_t i = 0; i < n; i += power_sums_lanes) {
    a += f(i);
    b += f(i + 1);
    c += f(i + 2);
    d += f(i + 3);
    e += f(i + 4);
    g += f(i + 5);
    h += f(i + 6);
    k += f(i + 7);
  }
  return ((a + e) + (c + h)) + ((b + g) + (d + k));
}

/// Multiplication by 2^-e in factors that all fit: before a difference where that could overflow,
/// after it else.
template <class T>
struct scaling {
  T before = T(1), after = T(1), last = T(1);

  explicit scaling(int e) {
    if (e > 0) {
      before = times_power_of_two(T(1), -e);
    } else {
      after = times_power_of_two(T(1), -e / 2);
      last = times_power_of_two(T(1), -e - -e / 2);
    }
  }
};

/// y_i = (x_i - pivot) 2^-e. Requires n a multiple of power_sums_lanes.
template <class T>
void deviations(const T* x, index_t n, const T& pivot, const scaling<T>& unit, T* y) noexcept {
  const T origin = pivot * unit.before;
  for (index_t i = 0; i < n; i += power_sums_lanes) {
    for (index_t j = i; j < i + power_sums_lanes; ++j)
      y[j] = (x[j] * unit.before - origin) * unit.after * unit.last;
  }
}

/// sums[p] = sum_i w_i y_i^p for p = 1..order.
///
/// Requires n a multiple of power_sums_lanes, at most power_sums_block; `power` holds the weights
/// (0 for padding) and is overwritten.
/// Error   (2p + 16) u of sum_i w_i |y_i|^p, the rounding of y itself included; typically p u.
template <class T>
void power_sums(const T* y, T* power, index_t n, int order, T* sums) noexcept {
  for (int p = 1; p <= order; ++p) {
    sums[p] = lane_sum<T>(n, [&](index_t i) -> const T& { return power[i] *= y[i]; });
  }
}

/// The change that moving the origin from 0 to -h makes to power sums: change[p] = sum w ((y + h)^p
/// - y^p).
///
/// By p passes of (y + h) f = y f + h f, one factor at a time: after pass i, entry p holds the sum
/// of y^(p-i) (y + h)^i. Only the change is carried, so that a compensated sum keeps its low part.
/// Cost    order^2 / 2 multiply-adds.
/// Source  the binomial shift of P. Pebay, T. Terriberry, H. Kolla, J. Bennett, Comput. Stat. 31
///         (2016) 1305-1325, section 3, without binomials.
template <class T>
void shift_change(const T* sums, const T& h, int order, T* change) noexcept {
  for (int p = 0; p <= order; ++p) change[p] = T(0);
  for (int pass = 1; pass <= order; ++pass) {
    for (int p = order; p >= pass; --p) change[p] += h * (sums[p - 1] + change[p - 1]);
  }
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
