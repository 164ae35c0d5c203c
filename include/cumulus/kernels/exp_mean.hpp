// SPDX-License-Identifier: MIT
//
// The logarithms of the mean and of the variance of the terms e^{s x_i}.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/exp_sum.hpp>

namespace cumulus::kernels {

/// e^y - 1 - y, to about 2 ulp: by its series within 1/2, where the difference would cancel.
template <class T>
[[nodiscard]] T exp_minus_tangent(const T& y) noexcept {
  if (!(absolute(y) < T(0.5))) return exp_minus_one(y) - y;
  T term = y / T(3), sum = term;  // of e^y - 1 - y = (y^2/2) (1 + y/3 + y^2/(3 4) + ..)
  for (int k = 4; unit_roundoff<T> < absolute(term); ++k) sum += term *= y / T(k);
  return y * y / T(2) * (T(1) + sum);
}

/// The total weight of what takes part, -inf included.
template <class S>
[[nodiscard]] compensated<compute_scalar<S>> total_weight(const terms<S>& t) noexcept {
  compensated<compute_scalar<S>> sum;
  for (index_t i = 0; i < t.size(); ++i) {
    if (t.takes_part(i)) sum += t.weight(i);
  }
  return sum;
}

/// sum / weight as a number and its rounding error.
template <class T>
[[nodiscard]] compensated<T> quotient(const compensated<T>& sum,
                                      const compensated<T>& weight) noexcept {
  const T high = sum.high / weight.high;
  const compensated<T> back = two_product(high, weight.high);
  const T left = ((sum.high - back.high) - back.low) + (sum.low - high * weight.low);
  return two_sum(high, T(left / weight.high));
}

/// log(sum w e^{s x} / sum w) of terms without a sink; NaN of nothing.
///
/// Where all terms are finite, mean + log1p(mean(e^y - 1 - y)) about their mean, which keeps the
/// digits of an answer near 0 or of equal terms; else the log of the sum less that of the weight.
/// Cost    five reads of x, 2n exp.
template <class S>
[[nodiscard]] compute_scalar<S> log_mean(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  const compensated<T> weight = total_weight(t);
  if (!(weight.high < T(0) || T(0) < weight.high)) return quiet_nan<T>;
  const T log_sum = log_of(exp_sum(t), t);
  if (!is_finite(log_sum)) return log_sum;
  compensated<T> first;
  const auto exponent = [&](index_t i) {
    return scale_by(t.scale, compensated<T>{t.exponent(i), T(0)});
  };
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const compensated<T> z = exponent(i), product = two_product(t.weight(i), z.high);
    first += product.high;
    first += product.low + t.weight(i) * z.low;
  }
  if (is_finite(first.high) && !t.infinite_scale) {
    const compensated<T> mean = quotient(first, weight);
    compensated<T> excess;
    for (index_t i = 0; i < t.size(); ++i) {
      if (!t.takes_part(i)) continue;
      const compensated<T> z = exponent(i), y = difference(z.high, mean.high);
      excess += t.weight(i) * exp_minus_tangent(T(y.high + (y.low + (z.low - mean.low))));
    }
    const T share = quotient(excess, weight).value();
    if (share < infinity<T> && T(-1) < share) return mean.high + (log_one_plus(share) + mean.low);
  }
  return log_sum - logarithm(weight.value());
}

/// log(sum w (e^{s x} - mean)^2 / (sum w - correction)) of terms without a sink, relative to the
/// largest so that nothing overflows, and by expm1 so that a small spread keeps its digits.
/// Cost    five reads of x, 3n exp.
template <class S>
[[nodiscard]] compute_scalar<S> log_variance(const terms<S>& t,
                                             const compute_scalar<S>& correction) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  const compensated<T> weight = total_weight(t);
  const T divisor = weight.value() - correction;
  if (sum.invalid || sum.minus_infinite || !(T(0) < divisor)) return quiet_nan<T>;
  if (sum.infinite > 0) return infinity<T>;
  if (sum.position < 0) return -infinity<T>;
  const auto relative = [&](index_t i) {
    if (!(-infinity<T> < t.exponent(i))) return T(-1);
    const compensated<T> gap = exponent_gap(t, i, sum.peak);
    return T(exp_minus_one(gap.high) + cumulus::exponential(gap.high) * gap.low);
  };
  compensated<T> first, second;
  for (index_t i = 0; i < t.size(); ++i) {
    if (t.takes_part(i)) first += t.weight(i) * relative(i);
  }
  const T mean = quotient(first, weight).value();
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const T d = relative(i) - mean;
    second += t.weight(i) * d * d;
  }
  return t.limit + (2 * (t.scale * sum.peak.exponent) + logarithm(T(second.value() / divisor)));
}

}  // namespace cumulus::kernels
