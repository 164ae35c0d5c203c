// SPDX-License-Identifier: MIT
//
// The sum of the terms w_i e^{x_i}, relative to its largest term and without it.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/terms.hpp>

namespace cumulus::kernels {

/// What a sum of exponentials is made of: sum = w_p e^{x_p} (1 + rest), p the position of the largest term.
///
/// Leaving the largest term out of `rest` keeps log1p(rest) accurate where that term is 1 and the
/// others are all there is to the answer (P. Blanchard, D. Higham, N. Higham, IMA J. Numer. Anal. 41,
/// 2021, 2311-2330).
template <class T>
struct exp_sum_result {
  index peak = -1;      ///< position of the largest term; -1 where no finite term takes part
  compensated<T> rest;  ///< the other terms over the largest one
  index infinite = 0;   ///< how many terms are +inf
  bool minus_infinite = false;  ///< a term is -inf: +inf of negative weight
  bool invalid = false;         ///< a term is NaN

  [[nodiscard]] bool finite() const noexcept {
    return !invalid && !minus_infinite && infinite == 0;
  }
};

/// Error   rest to about 3 ulp for weights >= 0, whatever n: its sum is compensated.
/// Cost    two reads of x, n exp.
template <class S>
[[nodiscard]] exp_sum_result<compute_scalar<S>> exp_sum(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  exp_sum_result<T> sum;
  T peak_x = T(0), peak_log_weight = T(0);
  for (index i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const T x = t.exponent(i), w = t.weight(i);
    const bool heavy = !is_finite(w);
    if (is_nan(x) || is_nan(w) || (heavy && !(-infinity<T> < x))) {
      sum.invalid = true;
    } else if (heavy || !(x < infinity<T>)) {
      if (w < T(0))
        sum.minus_infinite = true;
      else
        ++sum.infinite;
    } else if (-infinity<T> < x) {
      const T log_weight = t.log_weight(i);
      if (sum.peak < 0 || T(0) < (x - peak_x) + (log_weight - peak_log_weight)) {
        sum.peak = i;
        peak_x = x;
        peak_log_weight = log_weight;
      }
    }
  }
  if (sum.peak < 0 || !sum.finite()) return sum;
  for (index i = 0; i < t.size(); ++i) {
    if (i == sum.peak || !t.takes_part(i) || !(-infinity<T> < t.exponent(i))) continue;
    sum.rest += t.ratio(i, peak_x, t.weight(sum.peak));
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
  if (sum.peak < 0) return -infinity<T>;
  const T rest = sum.rest.value();
  if (!(rest < T(-1) || T(-1) < rest)) return -infinity<T>;
  const bool positive = (T(0) < t.weight(sum.peak)) == (T(-1) < rest);
  if (!positive) return quiet_nan<T>;
  const T log_total = T(-1) < rest ? log_one_plus(rest) : logarithm(T(-1 - rest));
  return (t.exponent(sum.peak) + t.log_weight(sum.peak)) + log_total;
}

}  // namespace cumulus::kernels
