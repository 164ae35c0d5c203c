// SPDX-License-Identifier: MIT
//
// The sum of the terms w_i e^{s x_i}, relative to its largest term and without it.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/plain_exp_sum.hpp>
#include <cumulus/detail/loops/terms.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// What a sum of exponentials is made of: sum = peak (1 + rest).
///
/// Leaving the largest term out of `rest` keeps log1p(rest) accurate where that term is 1 and the
/// others are all there is to the answer (P. Blanchard, D. Higham, N. Higham, IMA J. Numer. Anal.
/// 41, 2021, 2311-2330).
template <class T>
struct exp_sum_result {
  index_t position = -1;        ///< of the largest term; -1 where no term but e^-inf takes part
  term<T> peak{};               ///< the largest term
  compensated<T> rest{};        ///< the other terms over the largest one
  index_t infinite = 0;         ///< how many terms are +inf
  bool minus_infinite = false;  ///< a term is -inf: +inf of negative weight
  bool invalid = false;         ///< a term is NaN

  [[nodiscard]] bool finite() const noexcept {
    return !invalid && !minus_infinite && infinite == 0;
  }
  /// 1 + rest, rounded once.
  [[nodiscard]] T relative() const noexcept {
    compensated<T> sum = rest;
    return (sum += T(1)).value();
  }
  /// Whether the sum is a positive number: with weights >= 0, whether there is a largest term.
  [[nodiscard]] bool positive() const noexcept {
    return position >= 0 && finite() &&
           (T(0) < peak.weight ? T(0) < relative() : relative() < T(0));
  }
  /// log |1 + rest|
  [[nodiscard]] T log_relative() const noexcept {
    const T r = rest.value();
    return T(-1) < r ? log_one_plus(r) : logarithm(T(-1 - r));
  }
};

/// The terms but the largest, over it, times 2^extra.
template <class S>
[[nodiscard]] compensated<compute_scalar<S>> sum_of_rest(
    const terms<S>& t, const exp_sum_result<compute_scalar<S>>& sum, int extra) noexcept {
  using T = compute_scalar<S>;
  compensated<T> rest;
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !t.takes_part(i) || !(-infinity<T> < t.exponent(i))) continue;
    rest += ratio(t, i, sum.peak, extra);
  }
  return rest;
}

/// Finds the largest term, and what is not finite.
template <class S>
[[nodiscard]] exp_sum_result<compute_scalar<S>> find_peak(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  exp_sum_result<T> sum;
  for (index_t i = 0; i < t.count(); ++i) {
    if (!t.takes_part(i)) continue;
    const T x = t.exponent(i), w = t.weight(i);
    const bool heavy = !is_finite(w);
    if (is_nan(x) || is_nan(w) || is_nan(t.scale) || (heavy && !(-infinity<T> < x))) {
      sum.invalid = true;
    } else if (heavy || !(x < infinity<T>)) {
      if (w < T(0)) {
        sum.minus_infinite = true;
      } else {
        ++sum.infinite;
      }
    } else if (-infinity<T> < x) {
      const bool first = sum.position < 0;
      if (first ||
          T(0) < exponent_gap(t, i, sum.peak).high + (t.log_weight(i) - sum.peak.log_weight)) {
        sum.position = i;
        sum.peak = term_at(t, i);
      }
    }
  }
  return sum;
}

/// Error   rest to about 3 ulp for weights >= 0, whatever n: its sum is compensated. A rest near the
///         least number is summed again, larger by 2^512, so that terms below it count.
/// Cost    two reads of x, n exp; a third and n more for a row that its largest term dominates so.
template <class S>
[[nodiscard]] exp_sum_result<compute_scalar<S>> exp_sum(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  exp_sum_result<T> sum;
  if (const index_t p = t.plain() ? largest_position(t.x) : -1; p >= 0) {
    const auto nothing = [](index_t, const T&) {};
    sum.position = p;
    sum.peak = term_at(t, p);
    sum.rest = plain_exp_sum(t.x.segment(0, p), sum.peak.exponent, nothing);
    sum.rest += plain_exp_sum(t.x.segment(p + 1, t.size() - p - 1), sum.peak.exponent, nothing);
  } else {
    sum = find_peak(t);
    if (sum.position < 0 || !sum.finite()) return sum;
    sum.rest = sum_of_rest(t, sum, 0);
  }
  if constexpr (std::floating_point<T>) {
    constexpr int extra = 512;
    const T size = absolute(sum.rest.high);
    if (t.count() > 1 && size < times_power_of_two(std::numeric_limits<T>::min(), 64)) {
      const T larger = sum_of_rest(t, sum, extra).value();
      sum.rest = {times_power_of_two(larger, -extra), T(0)};
    }
  }
  return sum;
}

/// log of the sum: -inf for a sum of 0, NaN for a negative one.
template <class S>
[[nodiscard]] compute_scalar<S> log_of(const exp_sum_result<compute_scalar<S>>& sum,
                                       const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  if (sum.invalid || sum.minus_infinite) return quiet_nan<T>;
  if (sum.infinite > 0) return infinity<T>;
  if (sum.position < 0) return -infinity<T>;
  if (!sum.positive()) {
    const T r = sum.relative();
    return r <= T(0) && T(0) <= r ? -infinity<T> : quiet_nan<T>;
  }
  const T exponent = sum.peak.is_sink ? sum.peak.exponent : T(t.scale * sum.peak.exponent);
  return t.limit + ((exponent + sum.peak.log_weight) + sum.log_relative());
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
