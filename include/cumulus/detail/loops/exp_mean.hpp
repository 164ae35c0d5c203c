// SPDX-License-Identifier: MIT
//
// The logarithms of the mean and of the variance of the terms e^{s x_i}.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// e^y - 1 - y, to about 2 ulp: by its series within 1/2, where the difference would cancel.
template <class T>
[[nodiscard]] T exp_minus_tangent(const T& y) noexcept {
  if (!(absolute(y) < T(0.5))) return exp_minus_one(y) - y;
  T term = y / T(3), sum = term;  // of e^y - 1 - y = (y^2/2) (1 + y/3 + y^2/(3 4) + ..)
  for (int k = 4; unit_roundoff<T> < absolute(term); ++k) sum += term *= y / T(k);
  return y * y / T(2) * (T(1) + sum);
}

/// The weights of a mean, times a power of two where the largest is near an end of its range.
template <class S>
struct mean_weights {
  using T = compute_scalar<S>;

  explicit mean_weights(const terms<S>& t) : terms_(t) {
    T largest(0);
    for (index_t i = 0; i < t.size(); ++i) {
      if (t.takes_part(i)) largest = max_of(largest, absolute(t.weight(i)));
    }
    if (!is_finite(largest)) {
      total.high = largest;
      return;
    }
    const int e = binary_exponent(largest);
    if (e < -500 || 500 < e) power = -e;
    for (index_t i = 0; i < t.size(); ++i) {
      if (t.takes_part(i)) total += (*this)(i);
    }
  }

  [[nodiscard]] T operator()(index_t i) const noexcept {
    return power == 0 ? terms_.weight(i) : times_power_of_two(terms_.weight(i), power);
  }

  compensated<T> total{};  ///< of what takes part, -inf included
  int power = 0;

 private:
  const terms<S>& terms_;
};

/// sum / weight as a number and its rounding error.
template <class T>
[[nodiscard]] compensated<T> quotient_pair(const compensated<T>& sum,
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
/// Cost    six reads of x, 3n exp.
template <class S>
[[nodiscard]] compute_scalar<S> log_mean(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  const mean_weights<S> weight(t);
  if (!(weight.total.high < T(0) || T(0) < weight.total.high)) return quiet_nan<T>;
  const T log_sum = log_of(exp_sum(t), t);
  if (!is_finite(log_sum)) return log_sum;
  const auto exponent = [&](index_t i) {
    return scale_by(t.scale, compensated<T>{t.exponent(i), T(0)});
  };
  bool finite = !t.infinite_scale;
  compensated<T> first;
  for (index_t i = 0; i < t.size() && finite; ++i) {
    if (!t.takes_part(i)) continue;
    const compensated<T> z = exponent(i);
    finite = is_finite(z.high) && is_finite(T(weight(i) * z.high));
    if (!finite) break;
    const compensated<T> product = two_product(weight(i), z.high);
    first += product.high;
    first += T(product.low + weight(i) * z.low);
    finite = is_finite(first.high);
  }
  if (finite) {
    const compensated<T> mean = quotient_pair(first, weight.total);
    compensated<T> excess;
    for (index_t i = 0; i < t.size(); ++i) {
      if (!t.takes_part(i)) continue;
      const compensated<T> z = exponent(i), gap = difference(z.high, mean.high);
      if (!is_finite(gap.high)) return log_sum - logarithm(weight.total.value());
      const compensated<T> y = two_sum(gap.high, T(gap.low + T(z.low - mean.low)));
      excess += T(weight(i) * exp_minus_tangent(y.high));
      excess +=
          T(weight(i) * y.low * exp_minus_one(y.high));  // to first order in what y rounded off
    }
    const T share = quotient_pair(excess, weight.total).value();
    if (share < infinity<T> && T(-1) < share) {
      return mean.high + T(log_one_plus(share) + mean.low);
    }
  }
  return log_sum - (logarithm(weight.total.value()) - times_log_two(T(weight.power)).high);
}

/// log(sum w (e^{s x} - mean)^2 / (sum w - correction)) of terms without a sink, relative to the
/// largest so that nothing overflows, by expm1 so that a small spread keeps its digits, and in units of
/// the largest deviation so that its square does not underflow.
/// Cost    six reads of x, 4n exp.
template <class S>
[[nodiscard]] compute_scalar<S> log_variance(const terms<S>& t,
                                             const compute_scalar<S>& correction) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  const mean_weights<S> weight(t);
  const T divisor = weight.total.value() - times_power_of_two(correction, weight.power);
  if (sum.invalid || sum.minus_infinite || !(T(0) < divisor)) return quiet_nan<T>;
  if (sum.infinite > 0) return infinity<T>;
  if (sum.position < 0) return -infinity<T>;
  const auto relative = [&](index_t i) {
    if (!(-infinity<T> < t.exponent(i))) return T(-1);
    const compensated<T> gap = exponent_gap(t, i, sum.peak);
    return T(exp_minus_one(gap.high) + T(cumulus::detail::exponential(gap.high) * gap.low));
  };
  compensated<T> first, second;
  for (index_t i = 0; i < t.size(); ++i) {
    if (t.takes_part(i)) first += T(weight(i) * relative(i));
  }
  const T mean = quotient_pair(first, weight.total).value();
  T largest(0);
  for (index_t i = 0; i < t.size(); ++i) {
    if (t.takes_part(i)) largest = max_of(largest, absolute(T(relative(i) - mean)));
  }
  if (!(T(0) < largest)) return -infinity<T>;
  const int unit = binary_exponent(largest);
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const T d = times_power_of_two(T(relative(i) - mean), -unit);
    second += T(weight(i) * d * d);
  }
  const T log_square = logarithm(T(second.value() / divisor)) + times_log_two(T(2 * unit)).high;
  return t.limit + T(T(2) * T(t.scale * sum.peak.exponent) + log_square);
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
