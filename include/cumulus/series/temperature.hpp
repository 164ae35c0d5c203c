// SPDX-License-Identifier: MIT
//
// logsumexp(beta x), its derivatives in beta and its entropy, for every beta from one set of
// moments.
// Layer 3 (series): uses core, kernels, exact, moments and series.
//
// With x = -E it is statistical mechanics: log Z(beta) = logsumexp(-beta E), the mean energy is
// -slope, the heat capacity beta^2 curvature, the entropy is that of the Boltzmann distribution.
#pragma once

#include <cumulus/detail/series/temperature_bounds.hpp>
#include <cumulus/series/logsumexp_series.hpp>

namespace cumulus {

/// logsumexp at one inverse temperature, p being softmax(beta x).
template <class T>
struct temperature_point {
  /// The inverse temperature.
  T beta{};
  estimate<T> value;      ///< logsumexp(beta x)
  estimate<T> slope;      ///< the derivative in beta: sum p x
  estimate<T> curvature;  ///< its second derivative: the variance of x under p
  estimate<T> entropy;    ///< -sum p log(p / w) = value - beta slope
};

namespace detail {

/// The estimate shift + `sum` of a number that is shift + something within `enclosure` and within
/// `remainder` of the exact sum; the shift is known to a rounding and shift_error.
template <class T, class S>
[[nodiscard]] estimate<T> shifted_estimate(const S& shift, const ball<S>& sum,
                                           const interval<S>& enclosure, const S& remainder,
                                           const S& shift_error, int order) {
  const S u = unit_roundoff<S>;
  const S value = shift + sum.middle;
  const S truncation = min_of(
      S(remainder + sum.radius),
      max_of(absolute(S(sum.middle - enclosure.lower)), absolute(S(enclosure.upper - sum.middle))));
  const S rounding = u * (4 * absolute(shift) + 2 * absolute(value)) + shift_error;
  return rounded<T, S>(value, S((truncation + rounding) * (1 + 8 * u)), order);
}

}  // namespace detail

/// The truncated series in beta and its derivatives:  log W + beta mean + sum_{k=2}^P c_k beta^k,
/// mean + sum k c_k beta^(k-1),  sum k (k-1) c_k beta^(k-2),  log W + sum (1-k) c_k beta^k.
///
/// Shape    order: 0..max_series_order, at most that of the moments (order 0 is order 1).
/// Units    value and entropy in nats, slope in x, curvature in x^2; beta in 1/x, of any sign.
/// Edges    no data: a value and an entropy of -inf, the rest NaN; NaN where the moments are.
/// Error    the bound of each, truncation and rounding; finite for every beta and sample whose
///          powers do not overflow. The sums converge for |beta| < convergence_radius(max - min).
/// Cost     order^2 + 60 order operations.
/// Source   derived here: the logarithm of power_series.hpp, differentiated;
///          temperature_bounds.hpp.
template <moments_like M>
[[nodiscard]] temperature_point<typename M::scalar> temperature_series(
    const M& moments, const std::type_identity_t<typename M::scalar>& beta,
    std::integral auto order) {
  using T = typename M::scalar;
  const int terms = detail::series_order("temperature_series", order);
  detail::require_held_order("temperature_series", terms, moments);
  const auto wide = detail::wide(moments);
  using S = typename decltype(wide)::scalar;
  auto scaled = wide;
  const S b = S(beta);
  scaled.affine(b, S(0));
  temperature_point<T> out;
  out.beta = beta;
  const estimate<T> unknown{detail::quiet_nan<T>, detail::quiet_nan<T>, terms};
  out.value = detail::expand<T>(scaled, terms, form::taylor);
  out.slope = out.curvature = out.entropy = unknown;
  if (wide.empty()) {
    out.value = out.entropy = {-detail::infinity<T>, T(0), terms};
    return out;
  }
  const S mean = wide.mean();
  if (!detail::is_finite(mean) || !detail::is_finite(b)) return out;

  const int held = std::min(wide.order(), max_series_order);
  const auto m = detail::moment_balls(wide, held);
  std::array<detail::ball<S>, max_series_order + 1> c;
  const std::size_t size = std::size_t(terms) + 1;
  detail::series_logarithm(std::span(m).first(size), std::span(c).first(size));
  detail::ball<S> slope(S(0)), curvature(S(0)),
      lost(S(0));  // sums by Horner; lost is -sum (1-k) c_k b^k
  for (int k = terms; k >= 2; --k) {
    const detail::ball<S> term = c[std::size_t(k)];
    slope = slope * detail::ball<S>(b) + term * detail::ball<S>(S(k));
    curvature = curvature * detail::ball<S>(b) + term * detail::ball<S>(S(k * (k - 1)));
    lost = lost * detail::ball<S>(b) + term * detail::ball<S>(S(k - 1));
  }
  slope = slope * detail::ball<S>(b);
  lost = lost * detail::ball<S>(b) * detail::ball<S>(b);

  const S low = wide.deviation(wide.min()), high = wide.deviation(wide.max());
  const S range = wide.max() - wide.min();
  const auto within = detail::enclose_temperature(m, held, b, low, high, range);
  const S log_weight = detail::logarithm(wide.weight());
  const S sums =
      32 * detail::unit_roundoff<S> * wide.loss();  // rounding of the weight; times R, of the mean
  const auto remainder = [&](int d) { return detail::temperature_remainder(d, terms, range, b); };
  out.slope =
      detail::shifted_estimate<T>(mean, slope, within.slope, remainder(1), S(sums * range), terms);
  out.curvature =
      detail::shifted_estimate<T>(S(0), curvature, within.curvature, remainder(2), S(0), terms);
  out.entropy = detail::shifted_estimate<T>(
      log_weight, -lost, {S(-within.lost.upper), S(-within.lost.lower)}, remainder(0), sums, terms);
  return out;
}

/// The entropy of softmax(x) by its series, log W + sum_{k=2}^P (1-k) c_k; with weights -sum p
/// log(p / w). No logarithm but that of the weight, so that a truncated softmax that is negative
/// does not matter.
///
/// Shape, Edges, Error   those of temperature_series at beta = 1.
template <moments_like M>
[[nodiscard]] estimate<typename M::scalar> softmax_entropy_series(const M& moments,
                                                                  std::integral auto order) {
  using T = typename M::scalar;
  const int terms = detail::series_order("softmax_entropy_series", order);
  detail::require_held_order("softmax_entropy_series", terms, moments);
  return temperature_series(moments, T(1), terms).entropy;
}

/// The entropy of a vector, with weights.
template <real_vector X>
[[nodiscard]] estimate<result_of<X>> softmax_entropy_series(
    const X& x, std::integral auto order, const weight_options<result_of<X>>& o = {}) {
  const int terms = detail::series_order("softmax_entropy_series", order);
  const detail::operand<result_of<X>> values(x);
  detail::require_weights("softmax_entropy_series", values.size(), o.weights);
  const auto m = detail::moments_of<dynamic>(values.view(), o.weights.view(), terms);
  return temperature_series(m, result_of<X>(1), terms).entropy;
}

// clang-format off
// Refused: each line says what to write instead.
template <real_vector X, real_vector W>
void softmax_entropy_series(const X&, std::integral auto, const W&) = delete;  // cumulus: weights are options: softmax_entropy_series(x, 4, {.weights = w})
// clang-format on

}  // namespace cumulus
