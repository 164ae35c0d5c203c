// SPDX-License-Identifier: MIT
//
// log-mean-exp, and the logarithm of the variance of e^x.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/arguments.hpp>
#include <cumulus/kernels/exp_mean.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert: roundings of max(|result|, mean |x|), and
/// ulp of max(1, 2 max |x|, |result|).
inline constexpr int logmeanexp_max_roundings = 3;
inline constexpr int logvarexp_max_ulp = 8;

namespace detail {

inline void require_no_sink(const char* function, bool given) {
  if (given) refuse(std::string(function) + ": a sink has no part in a mean; leave .sink out");
}

inline constexpr auto logmeanexp_kernel = [](const auto& t) { return kernels::log_mean(t); };

[[nodiscard]] inline auto logvarexp_kernel(double correction) {
  return [correction](const auto& t) {
    using T = typename std::remove_cvref_t<decltype(t)>::scalar;
    return kernels::log_variance(t, T(correction));
  };
}

}  // namespace detail

/// log(sum_i w_i e^{scale x_i} / sum_i w_i).
///
/// Shape    x: [n]; weights, mask: [n]; no sink.
/// Units    nats.
/// Edges    nothing kept gives NaN; else as logsumexp. Equal x give x back.
/// Error    logmeanexp_max_roundings where weights are >= 0 and e^(max x - mean x) is finite; near
///          0 too.
/// Cost     six reads of x, 3n exp.
/// Source   derived here: e^y - 1 - y has mean E e^y - 1 about the mean, without its first-order
///          term.
template <real_vector X>
[[nodiscard]] result_of<X> logmeanexp(const X& x, const options<result_of<X>>& o = {}) {
  detail::require_no_sink("logmeanexp", o.sink.has_value());
  return reduced("logmeanexp", x, o, detail::logmeanexp_kernel);
}

/// The same of every row or column.
template <real_matrix X, direction D>
[[nodiscard]] per_line<X, D> logmeanexp(const X& x, D d,
                                        const matrix_options<result_of<X>>& o = {}) {
  detail::require_no_sink("logmeanexp", o.sink.given());
  return reduced("logmeanexp", x, d, o, detail::logmeanexp_kernel);
}

/// log of the variance of e^{scale x_i}: the mean square deviation, divided by sum w - correction
/// (0, or 1 for the unbiased estimate from unit weights).
///
/// Shape    x: [n]; weights, mask: [n]; no sink.
/// Edges    no more weight than the correction gives NaN, equal x and nothing but -inf give -inf, a
///          +inf gives +inf.
/// Error    logvarexp_max_ulp, and the conditioning of the deviations.
/// Cost     six reads of x, 4n exp.
template <real_vector X>
[[nodiscard]] result_of<X> logvarexp(const X& x, double correction = 0,
                                     const options<result_of<X>>& o = {}) {
  detail::require_no_sink("logvarexp", o.sink.has_value());
  return reduced("logvarexp", x, o, detail::logvarexp_kernel(correction));
}

/// The same of every row or column.
template <real_matrix X, direction D>
[[nodiscard]] per_line<X, D> logvarexp(const X& x, D d, double correction = 0,
                                       const matrix_options<result_of<X>>& o = {}) {
  detail::require_no_sink("logvarexp", o.sink.given());
  return reduced("logvarexp", x, d, o, detail::logvarexp_kernel(correction));
}

}  // namespace cumulus
