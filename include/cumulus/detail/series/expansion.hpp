// SPDX-License-Identifier: MIT
//
// What every series is made from, and how each form is evaluated and bounded.
// Layer 3 (series): uses core and moments; logsumexp_series and softmax_series build on it.
#pragma once

#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/series/chebyshev.hpp>
#include <cumulus/detail/series/enclosure.hpp>
#include <cumulus/detail/series/power_series.hpp>
#include <cumulus/detail/series/refused.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cumulus/detail/series/sharp_remainder.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/series/form.hpp>
#include <algorithm>

namespace cumulus::detail {

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

/// What a series knows of a sample.
template <class S>
struct moment_summary {
  std::array<ball<S>, max_series_order + 1> m;  // m_0..m_held
  int held;
  S weight, mean, low, high, range, loss;  // low, high: min y, max y
};

template <class M>
[[nodiscard]] auto summary_of(const M& moments) {
  using S = typename M::scalar;
  const int held = std::min(moments.order(), max_series_order);
  return moment_summary<S>{moment_balls(moments, held),
                           held,
                           moments.weight(),
                           moments.mean(),
                           moments.deviation(moments.min()),
                           moments.deviation(moments.max()),
                           moments.max() - moments.min(),
                           moments.loss()};
}

/// The form that form::automatic evaluates: the cumulants where what they leave out is rounding, the
/// middle of the enclosure where the order is too low for the Chebyshev polynomial, else that.
template <class S>
[[nodiscard]] form chosen_form(form f, int order, const S& range) {
  if (f != form::automatic) return f;
  if (order < 2) return form::taylor;
  S power(2);  // (R/3)^(order+1) / (1 - R/3) exceeds the bound
  for (int n = 0; n <= order; ++n) power *= range / 3;
  if (power < 8 * unit_roundoff<S> * (1 - range / 3)) return form::taylor;
  return order < 4 || S(order) < range ? form::enclosure : form::chebyshev;
}

/// The order that a form evaluates where `order` is asked.
[[nodiscard]] constexpr int evaluated_order(int order, form f) noexcept {
  return f == form::moment ? order - order % 2 : order;
}

/// A number to the result's scalar, and its bound upwards, the last rounding of the number
/// included.
template <class T, class S>
[[nodiscard]] estimate<T> rounded(const S& value, const S& bound, int order,
                                  bound_kind kind = bound_kind::bracket, form f = form::taylor) {
  S whole = bound;
  if constexpr (!std::same_as<T, S>) {
    whole = (bound + absolute(value) * S(unit_roundoff<T>)) *
                (1 + S(std::numeric_limits<T>::epsilon())) +
            S(std::numeric_limits<T>::denorm_min());
  }
  if (is_nan(whole)) return {T(value), infinity<T>, order, bound_kind::none, f};
  return {T(value), T(whole), order, whole < infinity<S> ? kind : bound_kind::none, f};
}

/// |error| and what it rests on: the least of the statements made.
template <class S>
struct truncation {
  S size = infinity<S>;
  bound_kind kind = bound_kind::none;

  void at_most(const S& other, bound_kind by) {
    if (!(other < size)) return;
    size = other;
    kind = by;
  }
};

/// The largest distance from a number to a point of an interval.
template <class S>
[[nodiscard]] S reach_from(const S& value, const interval<S>& k) {
  return max_of(absolute(S(value - k.lower)), absolute(S(k.upper - value)));
}

/// K to an order, with how far the exact one can be from it, but for log W + mean.
template <class S>
struct expansion {
  S value;
  truncation<S> error;
};

/// `sharp`: whether to try the bounds that take long; a bool, or std::false_type, which compiles none of them.
template <class S, class Sharp>
[[nodiscard]] expansion<S> expand_form(const moment_summary<S>& s, int terms, form f, Sharp sharp) {
  const S u = unit_roundoff<S>;
  const auto bracket_to = [&](int order) {
    return logsumexp_enclosure<S>(s.m, order, s.low, s.high, s.range);
  };
  const auto enclosed_to = [&](int order) {
    return quadrature_enclosure<S>(s.m, order, s.low, s.high, s.range);
  };
  // the bound may use all moments that are held, the value those to its order
  const int taken = std::min(std::max(terms, 1), s.held);
  const interval<S> bracket = bracket_to(s.held);
  interval<S> narrow = bracket, own = bracket;
  if (taken < s.held && (f == form::enclosure || f == form::chebyshev)) own = bracket_to(taken);
  if (f == form::enclosure) own.meet(enclosed_to(taken));
  if (f == form::enclosure) narrow.meet(own);
  if (sharp && (f != form::enclosure || taken < s.held)) narrow.meet(enclosed_to(s.held));
  expansion<S> out{S(0), {}};
  if (f == form::enclosure) {
    out.value = own.lower + (own.upper - own.lower) / 2;
  } else if (f == form::chebyshev) {
    const auto p = economise_exponential<S>(std::max(terms, 1), s.low, s.high, s.range);
    const ball<S> sum = expected(p, s.m);  // e^{-c} E p
    const bool positive = S(0) < sum.middle;
    out.value = positive ? S(p.centre + logarithm(sum.middle)) : own.lower;
    const S share = (p.tail + sum.radius) / sum.middle * (1 + 8 * u);
    const S slip = 4 * u * (absolute(p.centre) + absolute(out.value));
    // clamp to the enclosure: no sample has a value outside it
    if (!(own.lower <= out.value)) out.value = own.lower;
    if (own.upper < out.value) out.value = own.upper;
    if (positive && share < S(1))
      out.error.at_most(S((slip - log_one_plus(S(-share))) * (1 + 8 * u)), bound_kind::economised);
  } else if (f == form::moment) {
    ball<S> k(S(0));
    for (int j = 2; j <= terms; ++j) k += s.m[std::size_t(j)];
    out.value = log_one_plus(max_of(k.middle, S(0)));  // E_P is convex for even P: M >= 1
  } else {
    std::array<ball<S>, max_series_order + 1> c;
    const std::size_t size = std::size_t(terms) + 1;
    series_logarithm(std::span(s.m).first(size), std::span(c).first(size));
    ball<S> k(S(0));
    for (int j = 2; j <= terms; ++j) k += c[std::size_t(j)];
    out.value = k.middle;
    const S variance = s.held >= 2 ? S(2 * (s.m[2].middle + s.m[2].radius)) : infinity<S>;
    out.error.at_most(S(logsumexp_remainder(terms, s.range, variance) + k.radius),
                      bound_kind::remainder);
    if constexpr (std::same_as<Sharp, bool>) {
      if (sharp)
        out.error.at_most(S(logsumexp_sharp_remainder(terms, s.range, variance) + k.radius),
                          bound_kind::sharp);
    }
  }
  out.error.at_most(reach_from(out.value, bracket), bound_kind::bracket);
  out.error.at_most(reach_from(out.value, narrow), bound_kind::quadrature);
  return out;
}

/// The expansion of a sample accumulated in S, observed as T.
template <class T, class M, class Sharp = std::false_type>
[[nodiscard]] estimate<T> expand(const M& moments, int order, form asked, Sharp sharp = {}) {
  using S = typename M::scalar;
  const S mean = moments.mean();
  const form f = chosen_form(asked, order, S(moments.max() - moments.min()));
  const int terms = evaluated_order(order, f);
  if (moments.empty()) return {-infinity<T>, T(0), terms, bound_kind::exact, f};
  if (!is_finite(mean)) {
    const bool known = !is_nan(mean) && (!(moments.min() < infinity<S>) ||
                                         !(-infinity<S> < moments.max()) || mean > S(0));
    return known ? estimate<T>{T(mean), T(0), terms, bound_kind::exact, f}
                 : estimate<T>{quiet_nan<T>, quiet_nan<T>, terms, bound_kind::none, f};
  }
  const moment_summary<S> s = summary_of(moments);
  const expansion<S> k = expand_form(s, terms, f, sharp);

  // log W + mean + K, smallest first
  const S log_weight = logarithm(s.weight);
  const S value = mean + (log_weight + k.value);
  const S u = unit_roundoff<S>;
  const S rounding = u * (4 * absolute(mean) + 4 * absolute(log_weight) + 2 * absolute(k.value) +
                          2 * absolute(value) + 32 * s.loss * (s.range + 1));
  const S bound = (k.error.size + rounding) * (1 + 8 * u);
  return rounded<T, S>(value, bound, terms, k.error.kind, f);
}

/// The weights of a call that has none.
inline constexpr strided<const unit_weight> unit_weights{};

/// A weighted vector as the exact functions' kernels take it.
template <class T, class W>
[[nodiscard]] kernels::terms<T> weighted_terms(strided<const T> x,
                                               [[maybe_unused]] strided<const W> weights) noexcept {
  if constexpr (is_unit_weight<W>) {
    return {x};
  } else {
    return {x, weights};
  }
}

/// The moments of a vector to the order that its series and bound use: the bounds gain from an even
/// one.
template <int P, class T, class W>
[[nodiscard]] auto moments_of(strided<const T> x, strided<const W> weights, int order) {
  constexpr auto held = [](int n) { return std::max(n + n % 2, 2); };
  using M = central_moments<T, P == dynamic ? dynamic : held(P)>;
  M m = [&] {
    if constexpr (P == dynamic) {
      return M(held(order));
    } else {
      return M();
    }
  }();
  add_views(m, x, weights);
  return m;
}

}  // namespace cumulus::detail
