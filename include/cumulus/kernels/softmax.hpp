// SPDX-License-Identifier: MIT
//
// Softmax and its logarithm from the terms and their sum.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/exp_sum.hpp>

namespace cumulus::kernels {

namespace detail {

/// The entries of a row whose sum is no finite positive number: NaN where no limit exists, else 0 or, of a
/// single +inf, 1. Nothing is `nothing`, the one that has it all is `all`: 0 and 1, or their logarithms.
template <class S>
void degenerate_softmax(const terms<S>& t, const exp_sum_result<compute_scalar<S>>& sum,
                        strided<S> out, S nothing, S all) noexcept {
  using T = compute_scalar<S>;
  for (index i = 0; i < t.size(); ++i) {
    const bool part = t.takes_part(i);
    if (!part) {
      out[i] = nothing;
    } else if (sum.invalid || sum.minus_infinite || sum.infinite == 0) {
      out[i] = quiet_nan<S>;
    } else if (is_finite(t.exponent(i)) && is_finite(t.weight(i))) {
      out[i] = nothing;
    } else if (t.exponent(i) < infinity<T> && is_finite(t.weight(i))) {
      out[i] = nothing;  // -inf
    } else {
      out[i] = sum.infinite == 1 ? all : quiet_nan<S>;
    }
  }
}

}  // namespace detail

/// out_i = w_i e^{x_i} / sum. Requires out of x's size, x itself or memory apart from it.
/// Cost    three reads of x, 2n exp.
template <class S>
void softmax(const terms<S>& t, strided<S> out) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (sum.peak < 0 || !sum.finite()) return detail::degenerate_softmax(t, sum, out, S(0), S(1));
  compensated<T> relative = sum.rest;
  const T total = (relative += T(1)).value();
  const T peak_x = t.exponent(sum.peak), peak_weight = t.weight(sum.peak);
  for (index i = 0; i < t.size(); ++i) {
    const bool zero = !t.takes_part(i) || !(-infinity<T> < t.exponent(i));
    out[i] = zero ? S(0) : S(t.ratio(i, peak_x, peak_weight) / total);
  }
}

/// out_i = log(w_i e^{x_i} / sum). Requires as softmax.
/// Cost    three reads of x, n exp.
template <class S>
void log_softmax(const terms<S>& t, strided<S> out) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (sum.peak < 0 || !sum.finite())
    return detail::degenerate_softmax(t, sum, out, -infinity<S>, S(0));
  const T log_total = log_one_plus(sum.rest.value());
  const T peak_x = t.exponent(sum.peak), peak_log_weight = t.log_weight(sum.peak);
  for (index i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i) || !(-infinity<T> < t.exponent(i))) {
      out[i] = -infinity<S>;
      continue;
    }
    const compensated<T> d = difference(t.exponent(i), peak_x);
    out[i] = S(((d.high - log_total) + d.low) + (t.log_weight(i) - peak_log_weight));
  }
}

}  // namespace cumulus::kernels
