// SPDX-License-Identifier: MIT
//
// How far softmax_series can be from softmax, truncation and rounding, every form and range.
// Layer 3 (series): uses core, moments and series.
#pragma once

#include <cumulus/series/softmax_series.hpp>

namespace cumulus {

namespace detail {

/// p(y) / E p for a polynomial p near e^y, to off(y) in p and to off_mean in E p = mean: the share
/// e^y / M differs by at most off / mean + share off_mean / mean.
template <class S>
[[nodiscard]] softmax_bound<S> bound_of_ratio(const S& off, const S& relative_off, const S& mean,
                                              const S& off_mean, const S& largest) {
  if (!(S(0) < mean)) return {};
  const S swing = off_mean / mean;
  return {S(off / mean + largest * swing), S(relative_off * (1 + swing) + swing)};
}

template <class S>
[[nodiscard]] softmax_bound<S> bound_softmax(const moment_summary<S>& s, int order, form f) {
  const S u = unit_roundoff<S>, up = 1 + 16 * u, reach = max_of(S(-s.low), s.high);
  interval<S> k = logsumexp_enclosure<S>(s.m, s.held, s.low, s.high, s.range);
  k.meet(quadrature_enclosure<S>(s.m, s.held, s.low, s.high, s.range));
  const S largest = exponential(S(s.high - k.lower)) * up;
  const S least = exponential(S(s.low - k.upper)) / up;
  const S step = u * S(8 * order + 64) * s.loss * (1 + s.range);  // a rounding, the mean's included
  softmax_bound<S> bound;

  if (f == form::normaliser) {
    const expansion<S> e = expand_form(s, order, f, true);
    bound.relative = exp_minus_one(S(e.error.size + step + 4 * u * absolute(e.value)));
    bound.absolute = bound.relative * largest;
  } else if (f == form::taylor) {
    bound = softmax_sharp_remainder(order, s.range);
    bound.absolute = min_of(bound.absolute, softmax_remainder(order, s.range));
    // rounding: of sum_j y^j/j! (r_0 + .. + r_{P-j})
    std::array<ball<S>, max_series_order + 1> r;
    const std::size_t size = std::size_t(order) + 1;
    series_reciprocal(std::span(s.m).first(size), std::span(r).first(size));
    S rounding(0), power(1);
    for (int j = 0; j <= order; ++j) {
      S radius(0), sum(0);
      for (int i = 0; i <= order - j; ++i) {
        radius += r[std::size_t(i)].radius;
        sum += absolute(r[std::size_t(i)].middle);
      }
      rounding += power * (radius + step * sum);
      power *= reach / S(j + 1);
    }
    bound.absolute += rounding;
    bound.relative += rounding / least;
  } else {
    const int terms = evaluated_order(order, f);
    S off(0), relative_off(0), size(0), middle(1), scale(1), radius(0);
    S power(1);
    if (f == form::chebyshev) {
      const auto p = economise_exponential<S>(terms, s.low, s.high, s.range);
      const ball<S> sum = expected(p, s.m);
      scale = exponential(p.centre);
      off = p.tail * scale;
      relative_off = p.tail * exponential(S(p.centre - s.low));
      middle = sum.middle * scale;
      radius = sum.radius * scale;
      for (int j = 0; j <= terms; ++j) {
        size += p.size[std::size_t(j)] * power * scale;
        power *= reach / S(j + 1);
      }
    } else {
      // e^y - E_P(y) rises through 0 with y for even P, and e^{-y} E_P(y) falls through 1
      S below(1), above(1);
      ball<S> sum(S(1));
      for (int j = 1; j <= terms + 1; ++j) {
        if (2 <= j && j <= terms) sum += s.m[std::size_t(j)];
        size += power;
        power *= reach / S(j);
        below *= -s.low / S(j);
        above *= s.high / S(j);
      }
      const auto tail = [&](const S& first, const S& y) {
        const ball<S> t = exponential_tail(terms + 1, y);
        return S(first * (t.middle + t.radius));
      };
      below = tail(below, s.low);
      above = tail(above, s.high);
      off = max_of(below, above);
      relative_off = max_of(S(below * exponential(S(-s.low))), S(above * exponential(S(-s.high))));
      middle = sum.middle;
      radius = sum.radius;
    }
    const S rounding = step * size;
    S off_mean = off + radius;
    const S from_k = max_of(absolute(S(exponential(k.upper) * up - middle)),
                            absolute(S(middle - exponential(k.lower) / up)));
    off_mean = min_of(off_mean, from_k) + rounding;
    bound = bound_of_ratio<S>(off + rounding, relative_off + rounding * exponential(S(-s.low)),
                              middle, off_mean, largest);
  }
  // each follows from the other
  bound.relative = min_of(bound.relative, S(bound.absolute / least));
  bound.absolute = min_of(bound.absolute, S(bound.relative * largest));
  bound.absolute = (bound.absolute + 8 * u * largest) * up;
  bound.relative = (bound.relative + 8 * u) * up;
  bound.form = f;
  return bound;
}

template <class T, class M>
[[nodiscard]] softmax_bound<T> bound_softmax_of(const M& moments, int order, form asked) {
  using S = typename M::scalar;
  const form f = chosen_softmax_form(asked, order, S(moments.max() - moments.min()));
  if (moments.empty()) return {T(0), T(0), f};
  if (!is_finite(moments.mean())) {
    const T answer = is_nan(moments.mean()) ? quiet_nan<T> : T(0);  // the exact softmax, or none
    return {answer, answer, f};
  }
  const moment_summary<S> s = summary_of(moments);
  softmax_bound<S> b = bound_softmax(s, order, f);
  if constexpr (!std::same_as<T, S>) {  // an entry is rounded once more
    const S last = S(std::numeric_limits<T>::epsilon());
    b.relative = (b.relative + last) * (1 + last);
    b.absolute = (b.absolute + last * exponential(s.high)) * (1 + last);
  }
  const auto known = [](const S& bound) { return is_nan(bound) ? infinity<T> : T(bound); };
  return {known(b.absolute), known(b.relative), f};
}

}  // namespace detail

/// How far an entry of softmax_series can be from that of softmax, for x's of this sample.
///
/// Shape     order: 0..max_series_order, at most that of the moments.
/// Units     absolute: of the entry's share (W / w_i) softmax_i, so times w_i / W of the entry (1/n
///           without weights). relative: |error| / softmax_i.
/// Edges     no data, or infinities that x itself expands exactly: 0; NaN: NaN. +inf where nothing is
///           known: powers or e^range overflow.
/// Error     truncation and rounding; form::enclosure is refused.
/// Cost      form::taylor 0.02 to 4 ms (softmax_sharp_remainder), the others some microseconds.
/// Source    softmax_remainder.hpp; form::normaliser e^(K - K_P) - 1; the ratios here, from the
///           largest error of the polynomial and of its mean.
template <moments_like M>
[[nodiscard]] softmax_bound<typename M::scalar> softmax_series_bound(
    const M& moments, const moment_series_options& o) {
  detail::require_held_order("softmax_series_bound", o.order, moments);
  detail::require_softmax_form("softmax_series_bound", o.form);
  return detail::bound_softmax_of<typename M::scalar>(detail::wide(moments), o.order, o.form);
}

/// The bound of form::taylor from accumulated moments, by the order alone.
template <moments_like M>
[[nodiscard]] softmax_bound<typename M::scalar> softmax_series_bound(const M& moments,
                                                                     std::integral auto order) {
  return softmax_series_bound(
      moments, moment_series_options{.order = detail::series_order("softmax_series_bound", order)});
}

/// The bound for a vector, with options.
template <real_vector X>
[[nodiscard]] softmax_bound<result_of<X>> softmax_series_bound(
    const X& x, const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  detail::require_series_order("softmax_series_bound", o.order);
  detail::require_softmax_form("softmax_series_bound", o.form);
  const detail::operand<T> values(x);
  detail::require_weights("softmax_series_bound", values.size(), o.weights);
  const auto m = detail::moments_of<dynamic>(values.view(), o.weights.view(), o.order);
  if (detail::has_infinities(m)) {  // which softmax_series leaves to the exact function
    const T off = detail::exact_value<T>({values.view(), o.weights.view()}, 0, o.form).bound;
    return {off, off, o.form};
  }
  return detail::bound_softmax_of<T>(detail::wide(m), o.order, o.form);
}

/// The bound of form::taylor for a vector, by the order alone.
template <real_vector X>
[[nodiscard]] softmax_bound<result_of<X>> softmax_series_bound(const X& x,
                                                               std::integral auto order) {
  return softmax_series_bound(x, series_options<result_of<X>>{
                                     .order = detail::series_order("softmax_series_bound", order)});
}

// clang-format off
// Refused: each line says what to write instead.
template <class X>
  requires(real_vector<X> || moments_like<X>)
void softmax_series_bound(const X&, std::integral auto, form) = delete;  // cumulus: write softmax_series_bound(x, {.order = 4, .form = form::moment})
template <real_vector X, real_vector Y, class... Rest>
void softmax_series_bound(const X&, const Y&, const Rest&...) = delete;  // cumulus: weights are options: softmax_series_bound(x, {.weights = w, .order = 4})
template <detail::no_sample X, class... Rest>
void softmax_series_bound(const X&, const Rest&...) = delete;  // cumulus: the sample is a vector of numbers, an Eigen vector or a range of known size, or central_moments
// clang-format on

}  // namespace cumulus
