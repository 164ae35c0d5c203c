// SPDX-License-Identifier: MIT
//
// The terms w_i e^{x_i} of a softmax, and their ratios without overflow or the rounding of a shift.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/core/compensated.hpp>
#include <cumulus/core/view.hpp>

namespace cumulus::kernels {

/// x - y as high + low. The rounding of a plain difference would cost e^(x-y) up to |x - y| u.
/// Requires finite y. Edges: x = -inf, or a difference below the least number, gives -inf.
template <class T>
[[nodiscard]] compensated<T> difference(const T& x, const T& y) noexcept {
  const T plain = x - y;
  if (!is_finite(plain)) return {plain, T(0)};
  return two_sum(x, T(-y));
}

/// e^(high + low). Requires high <= about log of the largest number.
/// Error   1.5 ulp and the error of the scalar's exp.
template <class T>
[[nodiscard]] T exponential(const compensated<T>& x) noexcept {
  const T power = cumulus::exponential(x.high);
  return power + power * x.low;
}

/// The terms of a sum of exponentials, as the kernels take them.
template <class S>
struct terms {
  using scalar = compute_scalar<S>;

  strided<const S> x;
  strided<const S> weights;  ///< ones where data is null
  strided<const bool> mask;  ///< all kept where data is null

  [[nodiscard]] index size() const noexcept { return x.size; }

  /// Whether term i takes part: kept by the mask, and of a weight other than 0.
  [[nodiscard]] bool takes_part(index i) const noexcept {
    if (mask.data != nullptr && !mask[i]) return false;
    return weights.data == nullptr || weights[i] < S(0) || S(0) < weights[i] || is_nan(weights[i]);
  }

  [[nodiscard]] scalar exponent(index i) const noexcept { return scalar(x[i]); }
  [[nodiscard]] scalar weight(index i) const noexcept {
    return weights.data == nullptr ? scalar(1) : scalar(weights[i]);
  }

  /// log |w_i|
  [[nodiscard]] scalar log_weight(index i) const noexcept {
    return weights.data == nullptr ? scalar(0) : logarithm(absolute(weight(i)));
  }

  /// w_i e^{x_i} / (w e^x). Requires finite terms, the ratio at most moderately above 1.
  ///
  /// The ratio of the weights may leave the range of the scalar where that of the exponentials brings it
  /// back, so it is split into a fraction and a power of two, put between the two halves of e^(x_i - x).
  /// Error   unweighted 1.5 ulp and the error of exp; weighted 4 ulp and twice the error of exp.
  [[nodiscard]] scalar ratio(index i, const scalar& peak_x,
                             const scalar& peak_weight) const noexcept {
    const compensated<scalar> d = difference(exponent(i), peak_x);
    if (weights.data == nullptr) return exponential(d);
    const int ei = binary_exponent(weight(i)), ep = binary_exponent(peak_weight);
    const scalar fraction =
        times_power_of_two(weight(i), -ei) / times_power_of_two(peak_weight, -ep);
    const scalar half = exponential(compensated<scalar>{d.high / 2, d.low / 2});
    return times_power_of_two(scalar(fraction * half), ei - ep) * half;
  }
};

}  // namespace cumulus::kernels
