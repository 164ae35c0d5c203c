// SPDX-License-Identifier: MIT
//
// The expansion about any base point: softmax(x0) stands where the uniform weights do.
// Layer 3 (series): uses core, kernels, exact, moments and series.
//
//     logsumexp(x) = logsumexp(x0) + log sum_i p_i e^(x_i - x0_i),    p = softmax(x0)
//
// is the logsumexp of the differences under the weights p, which sum to one: its series has their
// tilted moments, and its range is that of x - x0. A learned centre is an x0; a learned weighting
// is its p; one temperature's series about another is x0 = beta0 x, x = beta x.
#pragma once

#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/series/softmax_series.hpp>

namespace cumulus {

namespace detail {

/// w softmax(base) into memory. A share below the least number is 0; its element takes part in the range alone.
template <class T>
[[nodiscard]] array_of<compute_scalar<T>> tilted_weights(const strided<const T>& base,
                                                         const strided<const T>& weights) {
  using S = compute_scalar<T>;
  array_of<S> values(base.size), shares(base.size), w(base.size);
  const kernels::terms<T> t{base, weights};
  for (index_t i = 0; i < base.size; ++i) {
    values[i] = S(base[i]);
    w[i] = t.takes_part(i) ? t.weight(i) : S(0);
  }
  cumulus::softmax(values, into(shares), softmax_options<S>{.weights = w});
  return shares;
}

}  // namespace detail

/// The central moments of x under the weights w softmax(log_weights), their sum 1.
///
/// Shape    x, log_weights, weights: [n]; order >= 0.
/// Edges    those of softmax and of central_moments: an element of log weight -inf is left out, a
///          log weight of +inf leaves itself alone; NaN, or nothing but -inf, leaves NaN.
/// Error    that of central_moments, and of the softmax: softmax_max_ulp of each weight.
/// Cost     five reads, n exp, and the moments of a weighted range.
template <real_vector X, real_vector L>
[[nodiscard]] central_moments<result_of<X>> tilted_moments(
    const X& x, const L& log_weights, std::integral auto order,
    const weight_options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  const detail::operand<T> values(x), tilt(log_weights);
  detail::require_same_size("tilted_moments", "x", values.size(), "log_weights", tilt.size());
  detail::require_weights("tilted_moments", values.size(), o.weights);
  central_moments<T> m(order);
  const auto shares = detail::tilted_weights<T>(tilt.view(), o.weights.view());
  detail::add_views(
      m, values.view(),
      detail::strided<const detail::compute_scalar<T>>{shares.data(), shares.size(), 1});
  const detail::kernels::terms<T> t{tilt.view(), o.weights.view()};
  for (index_t i = 0; i < values.size(); ++i) {
    const auto place = detail::compute_scalar<T>(values.view()[i]);
    const bool lost = !(detail::compute_scalar<T>(0) < shares[i]) && t.takes_part(i);
    if (lost && detail::is_finite(t.exponent(i)) && detail::is_finite(place))
      detail::moment_access::include_in_range(m, place);
  }
  return m;
}

/// The series of logsumexp(x) about `base`: of order 0 and 1, logsumexp(base) + sum p (x - base).
///
/// Shape    x, base, weights: [n]; the options are those of logsumexp_series.
/// Edges    an element of base -inf is left out where x is -inf too, and leaves NaN elsewhere;
///          other bases that are not finite leave NaN.
/// Error    estimate::bound; it grows with the range of x - base, not with that of x.
/// Cost     that of tilted_moments and of one exact logsumexp.
/// Source   derived here, above.
template <real_vector X, real_vector B>
[[nodiscard]] estimate<result_of<X>> logsumexp_series_about(const X& x, const B& base,
                                                            const series_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  detail::require_series_order("logsumexp_series_about", o.order);
  const detail::operand<T> values(x), centre(base);
  detail::require_same_size("logsumexp_series_about", "x", values.size(), "base", centre.size());
  detail::require_weights("logsumexp_series_about", values.size(), o.weights);
  const detail::kernels::terms<T> t{values.view(), o.weights.view()};
  const detail::kernels::terms<T> t0{centre.view(), o.weights.view()};
  const S start = detail::kernels::log_of(detail::kernels::exp_sum(t0), t0);
  if (values.size() == 0)
    return {-detail::infinity<T>, T(0), detail::evaluated_order(o.order, o.form)};
  auto shares = detail::tilted_weights<T>(centre.view(), o.weights.view());
  detail::array_of<S> gap(values.size());
  detail::array_of<bool> in_range(values.size());
  S widest(0), top = -detail::infinity<S>;
  bool known = detail::is_finite(start);
  for (index_t i = 0; i < gap.size(); ++i) {
    const S a = t.exponent(i), b = t0.exponent(i);
    const bool out = !t.takes_part(i) || (!(-detail::infinity<S> < a) && !detail::is_nan(a) &&
                                          !(-detail::infinity<S> < b));
    if (out) shares[i] = S(0);
    known = known && (out || detail::is_finite(b));
    gap[i] = out || !detail::is_finite(b) ? S(0) : S(a - b);
    if (out) continue;
    in_range[i] = true;
    if (detail::is_finite(gap[i])) widest = detail::max_of(widest, detail::absolute(gap[i]));
    top = detail::max_of(top, b);
  }
  const int terms = detail::evaluated_order(o.order, o.form);
  if (!known) return {detail::quiet_nan<T>, detail::quiet_nan<T>, terms};
  central_moments<S> m(std::max(o.order + o.order % 2, 2));
  m.add(gap, shares);
  for (index_t i = 0; i < gap.size(); ++i) {
    if (in_range[i] && detail::is_finite(gap[i]))
      detail::moment_access::include_in_range(m, gap[i]);
  }
  const estimate<S> k = detail::expand<S>(m, o.order, o.form);
  // the start to 2 ulp of it and of the largest, each difference to u, each weight and so their sum
  // to a few ulp
  const S u = detail::unit_roundoff<S>;
  const S rounding = u * (8 * (detail::absolute(start) + detail::absolute(top)) + 4 * widest + 64);
  return detail::rounded<T, S>(S(start + k.value), S((k.bound + rounding) * (1 + 8 * u)), terms);
}

/// The call with form::taylor, by the order alone.
template <real_vector X, real_vector B>
[[nodiscard]] estimate<result_of<X>> logsumexp_series_about(const X& x, const B& base,
                                                            std::integral auto order) {
  return logsumexp_series_about(
      x, base,
      series_options<result_of<X>>{.order = detail::series_order("logsumexp_series_about", order)});
}

// clang-format off
// Refused: each line says what to write instead.
template <real_vector X, real_vector L, real_vector W>
void tilted_moments(const X&, const L&, std::integral auto, const W&) = delete;  // cumulus: weights are options: tilted_moments(x, log_weights, 4, {.weights = w})
template <real_vector X, real_vector B>
void logsumexp_series_about(const X&, const B&, std::integral auto, form) = delete;  // cumulus: write logsumexp_series_about(x, base, {.order = 4, .form = form::moment})
// clang-format on

}  // namespace cumulus
