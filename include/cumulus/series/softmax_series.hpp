// SPDX-License-Identifier: MIT
//
// softmax by its Taylor expansion about the mean, to any degree.
// Layer 3 (series): uses core, kernels, exact and moments; attention builds on it.
#pragma once

#include <cumulus/core/into.hpp>
#include <cumulus/detail/exact/normalised.hpp>
#include <cumulus/detail/rows/horner.hpp>
#include <cumulus/detail/series/softmax_remainder.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/series/logsumexp_series.hpp>

namespace cumulus {

namespace detail {

/// The form of softmax that form::automatic evaluates, which is positive: the Chebyshev polynomial
/// where it surely is, else the normaliser within the radius of convergence, else the moments.
template <class S>
[[nodiscard]] form chosen_softmax_form(form f, int order, const S& range) {
  if (f != form::automatic) return f;
  if (economised_tail(order, range) < exponential(S(-range / 2))) return form::chebyshev;
  return range < S(3) || order < 2 ? form::normaliser : form::moment;
}

/// What a truncated softmax is of y, per unit of weight: a polynomial, or e^(y - shift).
template <class S>
struct softmax_polynomial {
  std::array<S, max_series_order + 1> a;
  int order = 0;
  cumulus::form form{};  // which was expanded
  S shift = S(0);        // of form::normaliser: log W + K_P
};

/// taylor:      sum_j y^j/j! (r_0 + .. + r_{P-j}) / W, r the coefficients of 1/M; graded, so that
///              it sums to one
/// normaliser:  e^(y - K_P) / W
/// moment:      E_P(y) / (W sum_{k <= P} m_k), P even, E_P the truncated exponential
/// chebyshev:   p(y) / (W E p), p the economised exponential
template <class M>
[[nodiscard]] softmax_polynomial<typename M::scalar> expand_softmax(const M& moments, int order,
                                                                    form asked) {
  using S = typename M::scalar;
  softmax_polynomial<S> p;
  const S range = moments.max() - moments.min();
  const form f = p.form = chosen_softmax_form(asked, order, range);
  const std::size_t size = std::size_t(order) + 1;
  std::array<S, max_series_order + 1> factorial, m, series;
  factorial[0] = m[0] = S(1);
  for (std::size_t k = 1; k < size; ++k) {
    factorial[k] = factorial[k - 1] * S(int(k));
    m[k] = k == 1 ? S(0) : S(moments.moment(int(k)) / factorial[k]);
  }
  if (f == form::normaliser) {
    series_logarithm(std::span(m).first(size), std::span(series).first(size));
    for (std::size_t k = 2; k < size; ++k) p.shift += series[k];
    return p;
  }
  p.order = evaluated_order(order, f);
  S total(0);  // of the terms of E p, or of the r_k so far
  if (f == form::taylor) {
    series_reciprocal(std::span(m).first(size), std::span(series).first(size));
  } else {
    if (f == form::chebyshev) {
      series = economise_exponential<S>(order, moments.deviation(moments.min()),
                                        moments.deviation(moments.max()), range)
                   .coefficient;
    } else {
      series.fill(S(1));
    }
    for (int k = p.order; k >= 0; --k) total += series[std::size_t(k)] * m[std::size_t(k)];
  }
  for (int j = p.order; j >= 0; --j) {
    if (f == form::taylor) total += series[std::size_t(p.order - j)];
    const S share = f == form::taylor ? total : S(series[std::size_t(j)] / total);
    p.a[std::size_t(j)] = share / factorial[std::size_t(j)] / moments.weight();
  }
  return p;
}

template <class T, class M>
void evaluate_softmax(const kernels::terms<T>& t, const M& moments, int order, form f,
                      strided<T> out) {
  using S = typename M::scalar;
  const auto p = expand_softmax(moments, order, f);
  const compensated<S> mean = mean_pair(moments);
  if (p.form == form::normaliser) {
    const S weight = moments.weight();
    kernels::map_centred(t, mean, out, [&](const S& y) {
      return S(kernels::exponential(two_sum(y, S(-p.shift))) / weight);
    });
  } else {
    kernels::map_polynomial(t, mean, p.a.data(), p.order, out);
  }
}

template <int P, real_vector X, class Out, class W>
void expand_softmax_vector(const X& x, Out& out, strided<const W> weights, int order, form f) {
  using T = result_of<X>;
  operand<T> values(x);
  const auto result = strided_view(out);
  require_same_size("softmax_series", "x", values.size(), "out", result.size);
  if (overlaps(values.view(), result)) values.own();
  array_of<W> own_weights;  // those that out would overwrite
  if (memory_of(weights).meets(memory_of(result))) {
    own_weights = copied(weights);
    weights = {own_weights.data(), own_weights.size(), 1};
  }
  const kernels::terms<T> t = weighted_terms(values.view(), weights);
  const auto m = moments_of<P>(values.view(), weights, order);
  if (m.empty() || (!is_finite(m.mean()) && !is_nan(m.weight())))
    return kernels::softmax(t, result);
  evaluate_softmax(t, detail::wide(m), order, f, result);
}

template <real_vector X, class Out>
void expand_softmax_vector(const X& x, Out& out, const series_options<result_of<X>>& o) {
  require_series_order("softmax_series", o.order);
  require_softmax_form("softmax_series", o.form);
  require_weights("softmax_series", size_of(x), o.weights);
  expand_softmax_vector<dynamic>(x, out, o.weights.view(), o.order, o.form);
}

}  // namespace detail

/// The truncated softmax of degree `order`, in x's kind.
///
/// Shape     x: [n], n >= 0; order: 0..max_series_order.
/// Edges     an infinite or NaN entry gives the exact softmax. An odd order of form::moment
///           evaluates the even one below. form::taylor sums to one and is the gradient of the
///           logsumexp_series of one order more; it can be negative beyond a range of
///           1, 2, 1.596, 2.024, 2.180 for the degrees 1 to 5, below pi for each. form::normaliser
///           and form::moment are positive, form::chebyshev once its error is below e^(-range/2),
///           form::automatic always. A range beyond 1200: form::chebyshev is NaN.
/// Error     of the evaluation: that of order + 2 multiplications and of the moments. Of both:
///           softmax_series_bound. form::normaliser: every entry is e^(K - K_P) times the exact one,
///           so its relative error is expm1 of logsumexp_series's error.
/// Cost      two reads of x; about 3 order + 20 operations an element for the moments, 2 order for
///           the polynomial.
/// Source    derived here from softmax = (w/W) e^{ty} / M(t): the terms up to t^P at t = 1.
template <real_vector X>
[[nodiscard]] result_like<X> softmax_series(const X& x, std::integral auto order) {
  const int terms = detail::series_order("softmax_series", order);
  result_like<X> out = detail::sized_like(x);
  detail::expand_softmax_vector<dynamic>(x, out, detail::unit_weights, terms, form::taylor);
  return out;
}

/// The series of a vector, with options.
template <real_vector X>
[[nodiscard]] result_like<X> softmax_series(const X& x, const series_options<result_of<X>>& o) {
  result_like<X> out = detail::sized_like(x);
  detail::expand_softmax_vector(x, out, o);
  return out;
}

/// Written to out, of x's size, which may be x: `softmax_series(x, into(out), 4)`.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax_series(const X& x, destination<Out> out, std::integral auto order) {
  const int terms = detail::series_order("softmax_series", order);
  detail::expand_softmax_vector<dynamic>(x, *out, detail::unit_weights, terms, form::taylor);
}

/// Written to out, with options.
template <real_vector X, out_vector<result_of<X>> Out>
void softmax_series(const X& x, destination<Out> out, const series_options<result_of<X>>& o) {
  detail::expand_softmax_vector(x, *out, o);
}

/// With the degree known at compile time.
template <int P, real_vector X>
[[nodiscard]] result_like<X> softmax_series(const X& x, form f = form::taylor) {
  static_assert(0 <= P && P <= max_series_order,
                "cumulus: the order of a series is 0..max_series_order");
  detail::require_softmax_form("softmax_series", f);
  result_like<X> out = detail::sized_like(x);
  detail::expand_softmax_vector<P>(x, out, detail::unit_weights, P, f);
  return out;
}

/// The entries that values x have, of weight 1, in a sample whose moments are known; x need not be
/// all of it.
///
/// Shape     x: [n]; order at most that of the moments.
template <real_vector X, moments_like M>
[[nodiscard]] result_like<X> softmax_series(const X& x, const M& moments,
                                            const moment_series_options& o) {
  detail::require_held_order("softmax_series", o.order, moments);
  detail::require_softmax_form("softmax_series", o.form);
  const detail::operand<result_of<X>> values(x);
  result_like<X> out = detail::sized_like(x);
  const detail::kernels::terms<result_of<X>> t{values.view()};
  detail::evaluate_softmax(t, detail::wide(moments), o.order, o.form, detail::strided_view(out));
  return out;
}

/// The call with form::taylor and accumulated moments, by the order alone.
template <real_vector X, moments_like M>
[[nodiscard]] result_like<X> softmax_series(const X& x, const M& moments,
                                            std::integral auto order) {
  return softmax_series(
      x, moments, moment_series_options{.order = detail::series_order("softmax_series", order)});
}

// clang-format off
// Refused: each line says what to write instead.
template <real_vector X>
void softmax_series(const X&, std::integral auto, form) = delete;  // cumulus: write softmax_series(x, {.order = 4, .form = form::moment})
template <real_vector X, moments_like M>
void softmax_series(const X&, const M&, std::integral auto, form) = delete;  // cumulus: write softmax_series(x, moments, {.order = 4, .form = form::moment})
template <real_vector X, real_vector Y, class... Rest>
void softmax_series(const X&, const Y&, const Rest&...) = delete;  // cumulus: say what the second vector is: softmax_series(x, {.weights = w, .order = 4}) or softmax_series(x, into(out), 4)
template <real_vector X, class Out, class... Rest>
  requires(!out_vector<Out, result_of<X>>)
void softmax_series(const X&, destination<Out>, const Rest&...) = delete;  // cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
template <detail::no_sample X, class... Rest>
void softmax_series(const X&, const Rest&...) = delete;  // cumulus: the sample is a vector of numbers: an Eigen vector or a range of known size
// clang-format on

}  // namespace cumulus
