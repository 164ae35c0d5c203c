// SPDX-License-Identifier: MIT
//
// Entropy and concentration of the softmax distribution, from the terms.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// -sum_i p_i log p_i over all outcomes, the sink included: every term is >= 0, so nothing cancels.
template <class S>
[[nodiscard]] compute_scalar<S> entropy(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (!sum.finite())
    return sum.infinite == 1 && !sum.invalid && !sum.minus_infinite ? T(0) : quiet_nan<T>;
  if (!sum.positive()) return quiet_nan<T>;
  const T log_total = sum.log_relative();
  const T total = sum.relative();
  compensated<T> mean{T(log_total / total), T(0)};  // of -log p, the largest term first
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !t.takes_part(i) || !(-infinity<T> < t.exponent(i))) continue;
    const T share = ratio(t, i, sum.peak) / total;
    if (!(T(0) < share)) continue;
    compensated<T> gap = exponent_gap(t, i, sum.peak);
    if (t.weights.data != nullptr && is_finite(gap.high)) gap += log_weight_gap(t, i, sum.peak);
    mean += T(share * T(log_total - T(gap.high + gap.low)));
  }
  return mean.value();
}

/// (sum_i p_i)^2 / sum_i p_i^2 over the elements: how many equal shares concentrate as much.
template <class S>
[[nodiscard]] compute_scalar<S> effective_count(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (!sum.finite())
    return sum.infinite == 1 && !sum.invalid && !sum.minus_infinite ? T(1) : quiet_nan<T>;
  if (sum.position < 0) return T(0);
  if (!sum.positive()) return quiet_nan<T>;
  compensated<T> shares{T(1), T(0)}, squares{T(1), T(0)};
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !t.takes_part(i) || !(-infinity<T> < t.exponent(i))) continue;
    const T r = ratio(t, i, sum.peak);
    shares += r;
    squares += T(r * r);
  }
  return shares.value() * (shares.value() / squares.value());
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
