// SPDX-License-Identifier: MIT
//
// logsumexp by its Taylor expansion about the mean, to any order, each value with a bound on its
// error.
// Layer 3 (series): uses core, kernels, exact and moments; blocks build on it.
#pragma once

#include <cumulus/core/estimate.hpp>
#include <cumulus/core/view.hpp>
#include <cumulus/kernels/exp_sum.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/series/power_series.hpp>
#include <cumulus/series/remainder.hpp>
#include <algorithm>

namespace cumulus {

/// The options of the series functions, by designated initializers: `{.order = 4, .weights = w}`.
template <class T>
struct series_options {
  int order = 4;                               ///< 0..max_series_order
  cumulus::form form = cumulus::form::taylor;  ///< what is evaluated
  operand<T> weights{};                        ///< as x; ones if not given
};

/// A sample whose moments are known: central_moments of some scalar and order.
template <class M>
concept moments_like = requires(const M& m) {
  typename M::scalar;
  m.wide();
  m.moment(0);
  m.weight();
  m.min();
};

namespace detail {

/// m_0..m_P of a sample, each with the error that its accumulation may have left.
template <class M>
[[nodiscard]] auto moment_balls(const M& moments, int order) {
  using S = typename M::scalar;
  std::array<ball<S>, max_series_order + 1> m;
  std::array<S, max_series_order + 2>
      mu;  // E |y|^k: exactly for even k, between its neighbours for odd k
  const S reach = max_of(absolute(moments.deviation(moments.min())),
                         absolute(moments.deviation(moments.max())));
  for (int k = 0; k <= order; k += 2) mu[std::size_t(k)] = moments.moment(k);
  for (int k = 3; k <= order; k += 2) {
    const std::size_t i = std::size_t(k);
    mu[i] = k < order ? square_root(mu[i - 1]) * square_root(mu[i + 1]) : S(mu[i - 1] * reach);
  }
  m[0] = ball<S>(S(1));
  if (order >= 1) m[1] = ball<S>(S(0));
  const S u = unit_roundoff<S> * moments.loss();
  S factorial(1);
  for (int k = 2; k <= order; ++k) {
    factorial *= S(k);
    const S value = k % 2 == 0 ? mu[std::size_t(k)] : moments.moment(k);
    m[std::size_t(k)] = {S(value / factorial), S((central_moments_weighted_max_roundings + 2) * k *
                                                     u * (mu[std::size_t(k)] / factorial) +
                                                 std::numeric_limits<S>::min())};
  }
  return m;
}

/// The order that a form evaluates where `order` is asked.
[[nodiscard]] constexpr int evaluated_order(int order, form f) noexcept {
  return f == form::moment ? order - order % 2 : order;
}

/// A number to the result's scalar, and its bound upwards, the last rounding of the number
/// included.
template <class T, class S>
[[nodiscard]] estimate<T> rounded(const S& value, const S& bound, int order) {
  S whole = bound;
  if constexpr (!std::same_as<T, S>) {
    whole = (bound + absolute(value) * S(unit_roundoff<T>)) *
                (1 + S(std::numeric_limits<T>::epsilon())) +
            S(std::numeric_limits<T>::denorm_min());
  }
  return {T(value), is_nan(whole) ? infinity<T> : T(whole), order};
}

/// The expansion of a sample accumulated in S, observed as T.
template <class T, class M>
[[nodiscard]] estimate<T> expand(const M& moments, int order, form f) {
  using S = typename M::scalar;
  const int terms = evaluated_order(order, f);
  const S mean = moments.mean();
  if (moments.empty()) return {-infinity<T>, T(0), terms};
  if (!is_finite(mean)) {
    const bool known = !is_nan(mean) && (!(moments.min() < infinity<S>) ||
                                         !(-infinity<S> < moments.max()) || mean > S(0));
    return known ? estimate<T>{T(mean), T(0), terms}
                 : estimate<T>{quiet_nan<T>, quiet_nan<T>, terms};
  }
  const int held = std::min(moments.order(), max_series_order);
  const auto m = moment_balls(moments, held);
  const S low = moments.deviation(moments.min()), high = moments.deviation(moments.max());
  const S range = moments.max() - moments.min();

  // K to the order asked, with the rounding of its evaluation
  ball<S> k(S(0));
  if (f == form::moment) {
    for (int j = 2; j <= terms; ++j) k += m[std::size_t(j)];
    k = {log_one_plus(max_of(k.middle, S(0))),
         S(k.radius + k.middle * unit_roundoff<S>)};  // E_P is convex for even P: M >= 1
  } else {
    std::array<ball<S>, max_series_order + 1> c;
    const std::size_t size = std::size_t(terms) + 1;
    series_logarithm(std::span(m).first(size), std::span(c).first(size));
    for (int j = 2; j <= terms; ++j) k += c[std::size_t(j)];
  }

  // how far the exact K can be from it
  interval<S> enclosure = logsumexp_enclosure<S>(m, held, low, high, range);
  S truncation =
      max_of(absolute(S(k.middle - enclosure.lower)), absolute(S(enclosure.upper - k.middle)));
  if (f != form::moment) {
    const S variance = held >= 2 ? S(2 * (m[2].middle + m[2].radius)) : infinity<S>;
    truncation = min_of(truncation, S(logsumexp_remainder(terms, range, variance) + k.radius));
  }

  // log W + mean + K, smallest first
  const S log_weight = logarithm(moments.weight());
  const S value = mean + (log_weight + k.middle);
  const S u = unit_roundoff<S>;
  const S rounding = u * (4 * absolute(mean) + 4 * absolute(log_weight) + 2 * absolute(k.middle) +
                          2 * absolute(value) + 32 * moments.loss() * (range + 1));
  const S bound = (truncation + rounding) * (1 + 8 * u);
  return rounded<T, S>(value, bound, terms);
}

inline constexpr const char* series_limit = "max_series_order";

}  // namespace detail

/// The series from accumulated moments:  log W + mean + sum_{k=2}^order c_k,  or the form asked.
///
/// Shape     order: 0..max_series_order, at most that of the moments (order 0 is order 1).
/// Units     the value in nats.
/// Edges     no data: -inf. A value of +inf, or nothing but -inf: the exact answer. NaN, other
///           infinities, a weight that is none: NaN. An odd order of form::moment evaluates the
///           even one below; the estimate's order says so.
/// Error     estimate::bound, truncation and rounding; finite for every finite sample whose powers
///           do not overflow.
/// Cost      order^2 + 40 order operations from moments.
/// Source    M. Kendall's cumulant generating function; the recurrence in power_series.hpp, the
///           bounds in remainder.hpp.
template <moments_like M>
[[nodiscard]] estimate<typename M::scalar> logsumexp_series(const M& moments,
                                                            std::integral auto order,
                                                            form f = form::taylor) {
  require_order("logsumexp_series", order, 0, max_series_order, detail::series_limit);
  if (order > 1)
    require_order("logsumexp_series", order, 0, moments.order(), "the order of the moments");
  return detail::expand<typename M::scalar>(moments.wide(), static_cast<int>(order), f);
}

template <int P, moments_like M>
[[nodiscard]] estimate<typename M::scalar> logsumexp_series(const M& moments,
                                                            form f = form::taylor) {
  static_assert(0 <= P && P <= max_series_order,
                "cumulus: the order of a series is 0..max_series_order");
  return logsumexp_series(moments, P, f);
}

namespace detail {

/// The moments of a vector to the order that its series and bound use: the bounds gain from an even
/// one.
template <int P, class T>
[[nodiscard]] auto moments_of(strided<const T> x, strided<const T> weights, int order) {
  constexpr auto held = [](int n) { return std::max(n + n % 2, 2); };
  using M = central_moments<T, P == dynamic ? dynamic : held(P)>;
  M m = [&] {
    if constexpr (P == dynamic) {
      return M(held(order));
    } else {
      return M();
    }
  }();
  m.add(x, weights);
  return m;
}

template <int P, real_vector X>
[[nodiscard]] estimate<result_of<X>> expand_vector(const X& x, const operand<result_of<X>>& weights,
                                                   int order, form f) {
  using T = result_of<X>;
  const operand<T> values(x);
  if (weights.given())
    require_same_size("logsumexp_series", "x", values.size(), "weights", weights.size());
  const auto m = moments_of<P>(values.view(), weights.view(), order);
  if (!m.empty() && !is_finite(m.mean()) && !is_nan(m.weight())) {
    const auto t = kernels::terms<T>{values.view(), weights.view()};
    const T exact = T(kernels::log_of(kernels::exp_sum(t), t));
    return {exact, is_nan(exact) ? exact : T(0), evaluated_order(order, f)};
  }
  return expand<T>(m.wide(), order, f);
}

}  // namespace detail

/// The series of a vector, its moments taken in one pass.
///
/// Shape     x: [n], n >= 0; weights: [n].
/// Edges     as above; infinities give the exact function's answer with bound 0.
/// Cost      one read of x, about 3 order + 20 operations an element.
template <real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(const X& x, std::integral auto order,
                                                      form f = form::taylor) {
  require_order("logsumexp_series", order, 0, max_series_order, detail::series_limit);
  return detail::expand_vector<dynamic>(x, operand<result_of<X>>(), static_cast<int>(order), f);
}

template <real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(const X& x,
                                                      const series_options<result_of<X>>& o) {
  require_order("logsumexp_series", o.order, 0, max_series_order, detail::series_limit);
  return detail::expand_vector<dynamic>(x, o.weights, o.order, o.form);
}

/// With the order known at compile time: no allocation where x lies in memory.
template <int P, real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series(const X& x, form f = form::taylor) {
  static_assert(0 <= P && P <= max_series_order,
                "cumulus: the order of a series is 0..max_series_order");
  return detail::expand_vector<P>(x, operand<result_of<X>>(), P, f);
}

}  // namespace cumulus
