// SPDX-License-Identifier: MIT
//
// The sum of the terms w_i e^{s x_i}, relative to its largest term and without it.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/plain_exp_sum.hpp>
#include <cumulus/kernels/terms.hpp>

namespace cumulus::kernels {

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
};

/// Error   rest to about 3 ulp for weights >= 0, whatever n: its sum is compensated.
/// Cost    two reads of x, n exp.
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
    return sum;
  }
  for (index_t i = 0; i < t.count(); ++i) {
    if (!t.takes_part(i)) continue;
    const T x = t.exponent(i), w = t.weight(i);
    const bool heavy = !is_finite(w);
    if (is_nan(x) || is_nan(w) || (heavy && !(-infinity<T> < x))) {
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
  if (sum.position < 0 || !sum.finite()) return sum;
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !t.takes_part(i) || !(-infinity<T> < t.exponent(i))) continue;
    sum.rest += ratio(t, i, sum.peak);
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
  const T rest = sum.rest.value();
  if (!(rest < T(-1) || T(-1) < rest)) return -infinity<T>;
  const bool positive = (T(0) < sum.peak.weight) == (T(-1) < rest);
  if (!positive) return quiet_nan<T>;
  const T log_rest = T(-1) < rest ? log_one_plus(rest) : logarithm(T(-1 - rest));
  const T exponent = sum.peak.is_sink ? sum.peak.exponent : T(t.scale * sum.peak.exponent);
  return t.limit + ((exponent + sum.peak.log_weight) + log_rest);
}

}  // namespace cumulus::kernels
