// SPDX-License-Identifier: MIT
//
// Derivatives of logsumexp, softmax and log_softmax, from the shifted exponentials: never from e^(x
// - logsumexp), which loses its digits with the size of x.
// Layer 1 (kernels): portable loops;
// unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/softmax.hpp>

namespace cumulus::kernels {

/// out_i = p_i (v_i - sum_j p_j v_j), p the softmax: its Jacobian, which is symmetric, times v; the
/// sink counts as an outcome with v = 0. Without the factor of the scale. Requires out apart from
/// x, or x itself.
///
/// v is taken relative to its value at the largest term, so that a constant v gives exactly 0.
/// Edges   where p_i is 0 because x_i is -inf or left out, 0 whatever v_i; a row without a finite
///         sum gives 0 where its softmax is a number.
/// Cost    four reads of x, two of v, 2n exp.
template <class S>
void softmax_jacobian_product(const terms<S>& t, strided<const S> v, strided<S> out,
                              degenerate policy) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (sum.position < 0 || !sum.finite()) {
    detail::degenerate_softmax(t, sum, out, policy, false);
    for (index_t i = 0; i < t.size(); ++i) out[i] = is_nan(out[i]) ? out[i] : S(0);
    return;
  }
  compensated<T> relative = sum.rest;
  const T total = (relative += T(1)).value();
  const T reference = sum.peak.is_sink ? T(0) : T(v[sum.position]);
  const auto has_share = [&](index_t i) { return t.takes_part(i) && -infinity<T> < t.exponent(i); };
  compensated<T> moment;
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !has_share(i)) continue;
    const T value = i == t.size() ? T(0) : T(v[i]);
    moment += ratio(t, i, sum.peak) * (value - reference);
  }
  const T mean = moment.value() / total;
  for (index_t i = 0; i < t.size(); ++i) {
    if (!has_share(i)) {
      out[i] = S(0);
    } else {
      const T difference = i == sum.position ? T(0) : T(T(v[i]) - reference);
      out[i] = S(ratio(t, i, sum.peak) / total * (difference - mean));
    }
  }
}

/// out_i = g_i - p_i sum_j g_j: the transposed Jacobian of log_softmax times g; the mask leaves its
/// g out. Without the factor of the scale. At the largest term, where p_i is near 1, as (g_i rest -
/// the other g) / (1 + rest).
/// Edges   entries left out: 0; x_i = -inf: g_i.
/// Cost    four reads of x, two of g, 2n exp.
template <class S>
void log_softmax_transposed_product(const terms<S>& t, strided<const S> g, strided<S> out,
                                    degenerate policy) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  compensated<T> others;  // of the largest term
  for (index_t i = 0; i < t.size(); ++i) {
    if (i != sum.position && t.takes_part(i)) others += T(g[i]);
  }
  if (sum.position < 0 || !sum.finite()) {
    if (sum.position >= 0 && sum.position < t.size()) others += T(g[sum.position]);
    const T all = others.value();
    detail::degenerate_softmax(t, sum, out, policy, false);
    for (index_t i = 0; i < t.size(); ++i) {
      const T p = T(out[i]);
      if (!t.takes_part(i)) continue;
      out[i] = S(p < T(0) || T(0) < p || is_nan(p) ? T(T(g[i]) - p * all) : T(g[i]));
    }
    return;
  }
  compensated<T> relative = sum.rest;
  const T total = (relative += T(1)).value();
  const bool element = sum.position < t.size();
  const T peak_g = element ? T(g[sum.position]) : T(0);
  compensated<T> everything = others;
  const T all = (everything += peak_g).value();
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) {
      out[i] = S(0);
    } else if (i == sum.position) {
      out[i] = S((peak_g * sum.rest.value() - others.value()) / total);
    } else if (!(-infinity<T> < t.exponent(i))) {
      out[i] = g[i];
    } else {
      out[i] = S(T(g[i]) - ratio(t, i, sum.peak) / total * all);
    }
  }
}

/// out_i = d logsumexp / d w_i = e^{s x_i} / sum, for terms of weight 0 too; masked entries 0, and
/// all where there is no finite positive sum to divide by and no limit either: NaN, or 0 for
/// nothing but -inf.
template <class S>
void logsumexp_weight_gradient(const terms<S>& t, strided<S> out) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  compensated<T> relative = sum.rest;
  const T total = (relative += T(1)).value();
  for (index_t i = 0; i < t.size(); ++i) {
    const T x = t.exponent(i);
    if (t.mask.data != nullptr && !t.mask[i]) {
      out[i] = S(0);
    } else if (!sum.finite()) {
      out[i] = sum.infinite > 0 && !sum.invalid && x < infinity<T> ? S(0) : quiet_nan<S>;
    } else if (is_nan(x) || sum.position < 0) {
      out[i] = is_nan(x) || -infinity<T> < x ? quiet_nan<S> : S(0);
    } else {
      const compensated<T> gap = exponent_gap(t, i, sum.peak);
      const T half = exponential(compensated<T>{gap.high / 2, gap.low / 2});
      out[i] = S(half / sum.peak.weight * half / total);
    }
  }
}

}  // namespace cumulus::kernels
