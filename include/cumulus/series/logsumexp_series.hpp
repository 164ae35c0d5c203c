// SPDX-License-Identifier: MIT
//
// logsumexp by its Taylor expansion about the mean, to any order, or by other forms of the same
// moments, each value with a bound on its error.
// Layer 3 (series): uses core, kernels, exact and moments; blocks build on it.
#pragma once

#include <cumulus/core/estimate.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>
#include <cumulus/detail/series/adaptive.hpp>
#include <cumulus/detail/series/expand_row.hpp>
#include <cumulus/detail/series/expansion.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/series/series_options.hpp>
#include <algorithm>

namespace cumulus {

/// The series from accumulated moments:  log W + mean + sum_{k=2}^order c_k,  or the form asked.
///
/// Shape     order: 0..max_series_order, at most that of the moments (order 0 is order 1).
/// Units     the value in nats.
/// Edges     no data: -inf. A value of +inf, or nothing but -inf: the exact answer. NaN, other
///           infinities, an invalid weight: NaN. An odd order of form::moment evaluates the
///           even one below; the estimate's order says so.
/// Error     estimate::bound, truncation and rounding; finite for every finite sample whose powers
///           do not overflow. estimate::kind says which of the statements it is, the least of those
///           that cost little; .sharp adds the others.
/// Cost      order^2 + 40 order operations from moments; form::enclosure some 30 order^2.
/// Source    M. Kendall's cumulant generating function; the recurrence in power_series.hpp, the
///           bounds in remainder.hpp.
template <moments_like M>
[[nodiscard]] estimate<typename M::scalar> logsumexp_series(const M& moments,
                                                            std::integral auto order) {
  const int terms = detail::series_order("logsumexp_series", order);
  detail::require_held_order("logsumexp_series", terms, moments);
  return detail::expand<typename M::scalar>(detail::wide(moments), terms, form::taylor);
}

/// With options: another form, the sharp bounds, or the order and form that reach a tolerance.
///
/// Edges     a tolerance that is not above 0 is refused. One that the moments do not reach, or that
///           rounding forbids, gives the value of the least bound, and that bound.
template <moments_like M>
[[nodiscard]] estimate<typename M::scalar> logsumexp_series(
    const M& moments, const moment_logsumexp_series_options& o) {
  detail::require_series_order("logsumexp_series", o.order);
  detail::require_tolerance("logsumexp_series", o.tolerance);
  if (o.tolerance < std::numeric_limits<double>::infinity())
    return detail::expand_within<typename M::scalar>(detail::wide(moments), o.tolerance);
  detail::require_held_order("logsumexp_series", o.order, moments);
  return detail::expand<typename M::scalar>(detail::wide(moments), o.order, o.form, o.sharp);
}

/// The series of accumulated moments, with the order known at compile time.
template <int P, moments_like M>
[[nodiscard]] estimate<typename M::scalar> logsumexp_series(const M& moments,
                                                            form f = form::taylor) {
  static_assert(0 <= P && P <= max_series_order,
                "cumulus: the order of a series is 0..max_series_order");
  return logsumexp_series(moments, moment_logsumexp_series_options{.order = P, .form = f});
}

namespace detail {

template <int P, real_vector X, class W, class Sharp = std::false_type>
[[nodiscard]] estimate<result_of<X>> expand_vector(const X& x, const strided<const W>& weights,
                                                   int order, form f, Sharp sharp = {}) {
  const operand<result_of<X>> values(x);
  return expand_row<P, result_of<X>>(values.view(), weights, order, f, sharp);
}

}  // namespace detail

/// The series of a vector, its moments taken in one pass.
///
/// Shape     x: [n], n >= 0; weights: [n].
/// Edges     as above; infinities give the exact function's answer with bound 0.
/// Cost      one read of x, about 3 order + 20 operations an element.
template <real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(const X& x, std::integral auto order) {
  const int terms = detail::series_order("logsumexp_series", order);
  return detail::expand_vector<dynamic>(x, detail::unit_weights, terms, form::taylor);
}

/// The series of a vector, with options.
template <real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(
    const X& x, const logsumexp_series_options<result_of<X>>& o) {
  detail::require_series_order("logsumexp_series", o.order);
  detail::require_tolerance("logsumexp_series", o.tolerance);
  detail::require_weights("logsumexp_series", detail::size_of(x), o.weights);
  if (o.tolerance < std::numeric_limits<double>::infinity())
    return detail::expand_row_within<result_of<X>>(detail::operand<result_of<X>>(x).view(),
                                                   o.weights.view(), o.tolerance);
  return detail::expand_vector<dynamic>(x, o.weights.view(), o.order, o.form, o.sharp);
}

/// With the order known at compile time: no allocation where x lies in memory.
template <int P, real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(const X& x, form f = form::taylor) {
  static_assert(0 <= P && P <= max_series_order,
                "cumulus: the order of a series is 0..max_series_order");
  return detail::expand_vector<P>(x, detail::unit_weights, P, f);
}

// clang-format off
// Refused: each line says what to write instead.
template <class X>
  requires(real_vector<X> || moments_like<X>)
void logsumexp_series(const X&, std::integral auto, form) = delete;  // cumulus: write logsumexp_series(x, {.order = 4, .form = form::moment})
template <real_vector X, real_vector Y, class... Rest>
void logsumexp_series(const X&, const Y&, const Rest&...) = delete;  // cumulus: weights are options: logsumexp_series(x, {.weights = w, .order = 4})
template <detail::no_sample X, class... Rest>
void logsumexp_series(const X&, const Rest&...) = delete;  // cumulus: the sample is a vector of numbers, an Eigen vector or a range of known size, or central_moments
// clang-format on

}  // namespace cumulus
