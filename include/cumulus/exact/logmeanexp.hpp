// SPDX-License-Identifier: MIT
//
// log-mean-exp, and the logarithm of the variance of e^x.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/arguments.hpp>
#include <cumulus/kernels/exp_mean.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert: roundings of max(|result|, mean |x|), and ulp of
/// max(1, 2 max |x|, |result|).
inline constexpr int logmeanexp_max_roundings = 3;
inline constexpr int logvarexp_max_ulp = 8;

namespace detail {

template <class T>
void require_no_sink(const char* function, const options<T>& o) {
  if (o.sink.has_value())
    refuse(std::string(function) + ": a sink has no part in a mean; leave .sink out");
}

}  // namespace detail

/// log(sum_i w_i e^{scale x_i} / sum_i w_i).
///
/// Shape    x: [n]; weights, mask: [n]; no sink.
/// Units    nats.
/// Edges    nothing kept gives NaN; else as logsumexp. Equal x give x back.
/// Error    logmeanexp_max_roundings where weights are >= 0 and e^(max x - mean x) is finite; near 0 too.
/// Cost     five reads of x, 2n exp.
/// Source   derived here: e^y - 1 - y has mean E e^y - 1 about the mean, without its first-order term.
template <real_vector X>
[[nodiscard]] result_of<X> logmeanexp(const X& x, const options<result_of<X>>& o = {}) {
  const operand<result_of<X>> values(x);
  require_options("logmeanexp", values.size(), o);
  detail::require_no_sink("logmeanexp", o);
  return result_of<X>(kernels::log_mean(terms_of(values.view(), o)));
}

/// log of the variance of e^{scale x_i}: the mean square deviation, divided by sum w - correction (0, or 1 for the unbiased
/// estimate from unit weights).
///
/// Shape    x: [n]; weights, mask: [n]; no sink.
/// Edges    no more weight than the correction gives NaN, equal x and nothing but -inf give -inf, a +inf gives +inf.
/// Error    logvarexp_max_ulp, and the conditioning of the deviations.
/// Cost     five reads of x, 3n exp.
template <real_vector X>
[[nodiscard]] result_of<X> logvarexp(const X& x, double correction = 0,
                                     const options<result_of<X>>& o = {}) {
  const operand<result_of<X>> values(x);
  require_options("logvarexp", values.size(), o);
  detail::require_no_sink("logvarexp", o);
  using C = compute_scalar<result_of<X>>;
  return result_of<X>(kernels::log_variance(terms_of(values.view(), o), C(correction)));
}

}  // namespace cumulus
