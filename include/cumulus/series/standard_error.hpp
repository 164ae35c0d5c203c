// SPDX-License-Identifier: MIT
//
// The sampling error of logsumexp and of its expansion, where the x are a sample themselves.
// Layer 3 (series): uses core, kernels, exact, moments and series.
//
// An estimate f(F) of the weighted sample F changes by w_i/W IF(y_i) to first order where the i-th
// value counts a little more, so that its variance is sum (w_i/W)^2 IF(y_i)^2 (the delta method, or
// infinitesimal jackknife). For log E e^{tx} the influence is IF = e^{ty} / M(t) - 1, whose Taylor
// series in t is that of softmax: the influence of the order-P logsumexp is W/w_i times the
// truncated softmax of degree P, less 1. At P = 2 and for the moments of a normal law that is the
// well-known var/n + var^2/(2n).
#pragma once

#include <cumulus/detail/series/moving_polynomial.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/series/softmax_series.hpp>
#include <optional>

namespace cumulus {

/// Fewer effective samples than this are a poor overlap: the delta method's standard error is then
/// above 0.1, and its own error no longer small beside it.
inline constexpr double least_effective_samples = 100;

namespace detail {

/// IF(y) of the truncated logsumexp as a polynomial in y.
///
/// taylor:  sum_j y^j/j! (r_0 + .. + r_{P-j}) - 1.
/// moment:  of mean + log M_P, M_P = sum_{k <= P} E y^k/k!: the sum changes by E_P(y) - M_P, and by
///          -M_{P-1} y as the mean moves by y; so (E_P(y) - M_P - M_{P-1} y) / M_P + y.
template <class M>
[[nodiscard]] softmax_polynomial<typename M::scalar> influence(const M& moments, int order,
                                                               form f) {
  using S = typename M::scalar;
  softmax_polynomial<S> p;
  p.order = std::max(evaluated_order(order, f), 1);
  const std::size_t size = std::size_t(p.order) + 1;
  auto m = zeros<S>(), r = m;
  S factorial(1);
  m[0] = S(1);
  for (std::size_t k = 2; k < size; ++k) {
    factorial *= S(int(k));
    m[k] = moments.moment(int(k)) / factorial;
  }
  S total(1);  // of the m_k, or of the r_k so far
  if (f == form::moment) {
    S above(0);
    for (std::size_t k = size; k-- > 2;) above += m[k];
    total += above;
    p.a[0] = -above / total;
    p.a[1] = (p.order > 1 ? S(m[size - 1] + S(1)) : S(1)) / total;
  } else {
    series_reciprocal(std::span(m).first(size), std::span(r).first(size));
    p.a[0] = S(0);
    for (std::size_t k = 2; k < size; ++k) p.a[0] += r[k];
    for (std::size_t j = size - 1; j > 0; --j) {
      p.a[j] = total;
      total += r[size - j];
    }
  }
  factorial = S(1);
  for (std::size_t j = 2; j < size; ++j) {
    factorial *= S(int(j));
    p.a[j] = (f == form::moment ? S(S(1) / total) : p.a[j]) / factorial;
  }
  return p;
}

/// sum (w_i/W)^2 f(y_i)^2, y_i = x_i - mean.
template <class T, class M, class Function>
[[nodiscard]] typename M::scalar influence_variance(const kernels::terms<T>& t, const M& moments,
                                                    Function f) {
  using S = typename M::scalar;
  const compensated<S> mean = mean_pair(moments);
  const S weight = moments.weight();
  compensated<S> sum;
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const S y = (t.exponent(i) - mean.high) - mean.low;
    const S share = t.weight(i) / weight * f(y);
    sum += S(share * share);
  }
  return sum.value();
}

}  // namespace detail

/// The standard error of logsumexp_series(x, order), where the x are a sample: the square root of
/// inefficiency * sum (w_i/W)^2 (S_i - 1)^2, S_i = W/w_i times the truncated softmax of degree
/// `order`.
///
/// Shape    x, weights: [n]; order: 0..max_series_order.
/// Units    nats. logmeanexp has this standard error too, since log W is known.
/// Edges    constant x: 0. No data, and values that are not finite: NaN.
/// Error    the delta method's, relative 1/n; measured in its test against resampling.
/// Cost     three reads of x; about 5 order + 20 operations an element.
/// Source   the delta method, above; at order 2, with a normal law's moments, pymbar's exp_gauss.
template <real_vector X>
[[nodiscard]] result_of<X> standard_error(const X& x, const sampling_options<result_of<X>>& o) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  detail::require_series_order("standard_error", o.order);
  detail::require_inefficiency("standard_error", o.inefficiency);
  detail::require_smooth_form("standard_error", o.form, "influence function here");
  const detail::operand<T> values(x);
  detail::require_weights("standard_error", values.size(), o.weights);
  const auto m =
      detail::wide(detail::moments_of<dynamic>(values.view(), o.weights.view(), o.order));
  if (m.empty() || !detail::is_finite(m.mean())) return detail::quiet_nan<T>;
  const auto p = detail::influence(m, o.order, o.form);
  const detail::kernels::terms<T> t{values.view(), o.weights.view()};
  const S variance = detail::influence_variance(
      t, m, [&](const S& y) { return detail::kernels::horner(p.a.data(), p.order, y); });
  return T(detail::square_root(S(variance * S(o.inefficiency))));
}

/// The standard error of form::taylor, by the order alone.
template <real_vector X>
[[nodiscard]] result_of<X> standard_error(const X& x, std::integral auto order) {
  return standard_error(
      x, sampling_options<result_of<X>>{.order = detail::series_order("standard_error", order)});
}

/// The standard error from moments alone, of values of equal weight 1: sum_jk a_j a_k mu_{j+k} / n,
/// the influence being sum_j a_j y^j.
///
/// Shape    2 max(order, 1) at most the order of the moments.
/// Edges    as above; 0 where rounding leaves less.
/// Cost     order^2 multiplications.
template <moments_like M>
[[nodiscard]] typename M::scalar standard_error(const M& moments,
                                                const moment_sampling_options& o) {
  using T = typename M::scalar;
  detail::require_series_order("standard_error", o.order);
  detail::require_smooth_form("standard_error", o.form, "influence function here");
  const int terms = std::max(detail::evaluated_order(o.order, o.form), 1);
  detail::require_order("standard_error", 2 * terms, 0, moments.order(),
                        "the order of the moments, of which twice the series's is needed");
  detail::require_inefficiency("standard_error", o.inefficiency);
  const auto wide = detail::wide(moments);
  using S = typename decltype(wide)::scalar;
  if (wide.empty() || !detail::is_finite(wide.mean())) return detail::quiet_nan<T>;
  const auto p = detail::influence(wide, o.order, o.form);
  S square(0);
  for (int l = 2 * p.order; l >= 0; --l) {
    S a(0);
    for (int j = std::max(0, l - p.order); j <= std::min(l, p.order); ++j)
      a += p.a[std::size_t(j)] * p.a[std::size_t(l - j)];
    if (l != 1) square += a * wide.moment(l);
  }
  return T(
      detail::square_root(detail::max_of(S(0), S(square / wide.weight() * S(o.inefficiency)))));
}

/// The standard error of form::taylor from moments, by the order alone.
template <moments_like M>
[[nodiscard]] typename M::scalar standard_error(const M& moments, std::integral auto order) {
  return standard_error(
      moments, moment_sampling_options{.order = detail::series_order("standard_error", order)});
}

// clang-format off
// Refused: each line says what to write instead.
template <class X, class... Rest>
  requires(real_vector<X> || moments_like<X>)
void standard_error(const X&, std::integral auto, form, const Rest&...) = delete;  // cumulus: write standard_error(x, {.order = 4, .form = form::moment})
template <detail::no_sample X, class... Rest>
void standard_error(const X&, const Rest&...) = delete;  // cumulus: the sample is a vector of numbers, an Eigen vector or a range of known size, or central_moments
// clang-format on

/// How well a sample knows its logsumexp: the exact value's standard error and how few values carry
/// it.
template <class T>
struct sampling_error {
  T value{};              ///< logsumexp(x) with the weights
  T standard_error{};     ///< of the value: sum (p_i - w_i/W)^2 times the inefficiency, its root
  T effective_samples{};  ///< 1 / sum p_i^2 over the inefficiency, p the softmax
  T largest_share{};      ///< max p_i
  bool poor_overlap = false;  ///< fewer effective samples than least_effective_samples
};

/// The exact estimator's sampling error, and whether it can be trusted.
///
/// Shape    x, weights: [n].
/// Edges    a value of -inf has the share 0; no data, nothing but -inf, +inf and NaN: NaN, and a poor
///          overlap.
/// Cost     10 reads of x, 4n exp.
/// Source   the delta method, above; L. Kish, Survey Sampling, 1965, 8.2.
template <real_vector X>
[[nodiscard]] sampling_error<result_of<X>> logsumexp_sampling_error(
    const X& x, const sampling_error_options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  using S = detail::compute_scalar<T>;
  detail::require_inefficiency("logsumexp_sampling_error", o.inefficiency);
  const detail::operand<T> values(x);
  detail::require_weights("logsumexp_sampling_error", values.size(), o.weights);
  const detail::kernels::terms<T> t{values.view(), o.weights.view()};
  const S value = detail::kernels::log_of(detail::kernels::exp_sum(t), t);
  sampling_error<T> out{T(value), detail::quiet_nan<T>, detail::quiet_nan<T>, detail::quiet_nan<T>,
                        true};
  if (!detail::is_finite(value)) return out;
  detail::compensated<S> total;
  for (index_t i = 0; i < t.size(); ++i)
    if (t.takes_part(i)) total += t.weight(i);
  const S weight = total.value();
  if (!detail::is_finite(weight)) return out;
  // The anchor is the value nearest to the logmeanexp: the differences that decide a share are then
  // small, whatever the spread is.
  const S centre = value - detail::logarithm(weight);
  S anchor(0), nearest = detail::infinity<S>;
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) continue;
    const S distance = detail::absolute(S(t.exponent(i) - centre));
    if (distance < nearest) nearest = distance, anchor = t.exponent(i);
  }
  detail::array_of<S> y(t.size()), w(t.size());
  for (index_t i = 0; i < t.size(); ++i) {
    const bool in = t.takes_part(i);
    y[i] = in ? S(t.exponent(i) - anchor) : S(0);
    w[i] = in ? t.weight(i) : S(0);
  }
  const S k = logmeanexp(y, mean_options<S>{.weights = w});
  detail::compensated<S> squares, deviations;
  S largest(0);
  for (index_t i = 0; i < t.size(); ++i) {
    const S part = w[i] / weight;
    const S share = part * detail::exponential(S(y[i] - k));
    const S deviation = part * detail::exp_minus_one(S(y[i] - k));
    largest = detail::max_of(largest, share);
    squares += S(share * share);
    deviations += S(deviation * deviation);
  }
  const S variance = deviations.value();
  out.standard_error = T(detail::square_root(S(variance * S(o.inefficiency))));
  out.effective_samples = T(S(1) / (squares.value() * S(o.inefficiency)));
  out.largest_share = T(largest);
  out.poor_overlap = !(out.effective_samples >= T(least_effective_samples));
  return out;
}

/// The least order whose truncation error on this sample, |series - exact|, is not above its
/// standard error: from there on a further order buys noise. Empty where no order to the one of
/// the options gets there.
///
/// Shape    x, weights: [n]; order: the highest asked.
/// Cost     that of standard_error, for each order.
template <real_vector X>
[[nodiscard]] std::optional<int> noise_order(const X& x, const sampling_options<result_of<X>>& o) {
  using T = result_of<X>;
  detail::require_series_order("noise_order", o.order);
  detail::require_inefficiency("noise_order", o.inefficiency);
  detail::require_smooth_form("noise_order", o.form, "influence function here");
  const detail::operand<T> values(x);
  detail::require_weights("noise_order", values.size(), o.weights);
  const detail::kernels::terms<T> t{values.view(), o.weights.view()};
  const auto m =
      detail::wide(detail::moments_of<dynamic>(values.view(), o.weights.view(), o.order));
  using S = typename decltype(m)::scalar;
  const S exact = detail::kernels::log_of(detail::kernels::exp_sum(t), t);
  for (int order = 1; order <= o.order; ++order) {
    const S error = detail::absolute(S(
        logsumexp_series(m, moment_logsumexp_series_options{.order = order, .form = o.form}).value -
        exact));
    const auto p = detail::influence(m, order, o.form);
    const S variance = detail::influence_variance(
        t, m, [&](const S& y) { return detail::kernels::horner(p.a.data(), p.order, y); });
    if (error * error <= variance * S(o.inefficiency)) return order;
  }
  return std::nullopt;
}

}  // namespace cumulus
