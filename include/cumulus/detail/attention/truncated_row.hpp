// SPDX-License-Identifier: MIT
//
// What a truncated softmax makes of one query, from the divided power sums of its scores.
// Layer 5 (attention): uses core and series; linear attention builds on it.
#pragma once

#include <cumulus/attention/linear_status.hpp>
#include <cumulus/detail/attention/taylor_features.hpp>
#include <cumulus/detail/series/power_series.hpp>
#include <cumulus/series/form.hpp>
#include <array>

namespace cumulus::detail {

/// The log of a far part's mean weight over e^mean, from its cumulant series K, where exact weights stand beside it: m_2
/// the second term of both series, M the sum of the moment series.
///
/// The cumulant series has no bound where the scores spread by more than about 3: its second order is half their variance,
/// whatever the largest score is. Without an exact part that cancels; beside one the far part would take all. Below 0 no log of a
/// mean of e^y can lie (Jensen). Above 1 the result is 1 + log K, since K grows like a power of the scores' spread of at least 2,
/// and a log-sum-exp less than linearly; at most the larger of 1 + log m_2 and log M, which converges from about below.
/// Measured on five heads of a trained model, order 2, window 64, with standard deviations of the scores from 0.7 to 14: the
/// output errs no more than order 1 on any, where the series as it stands errs 230 times as much on one.
template <class C>
[[nodiscard]] C saturated_cumulants(const C& k, const C& m2, const C& moments) {
  if (k < C(0)) return C(0);
  if (!(C(1) < k)) return k;
  const C most = max_of(max_of(C(1), C(C(1) < m2 ? C(1) + logarithm(m2) : C(1))),
                        C(C(1) < moments ? logarithm(moments) : C(0)));
  return min_of(C(C(1) + logarithm(k)), most);
}

/// The truncated softmax of scores u_i of weight g_i (their decay; else 1), about a centre c:
///
///     weight of score i:  g_i sum_j a_j (u_i - c)^j / j!  e^base,   mass: the sum of the weights
///
/// Exact in the series sense: with y = u - c, c the mean, m_j the mean of y^j / j! and 1/M = sum r_k t^k,
///   form::taylor  a_j = sum_{k <= P-j} r_k: the softmax of degree P, all of its terms of y's degree P or less; it sums to one;
///                 mass e^K sum g, K the cumulant series of order P, beside exact weights by saturated_cumulants.
///   form::moment  a_j = 1: the truncated exponential, divided by its sum; or a_j = j! times the coefficients given.
template <class C>
struct truncated_row {
  static constexpr std::size_t room = std::size_t(max_feature_order) + 1;
  std::array<C, room> a;
  C centre = C(0);
  C base = C(0);
  C mass = C(0);  ///< over e^base
  C cut = C(0);   ///< what saturation took from base

  /// From sums b_j = sum g y^j / j! about `about`, which is the scores' mean where `form::taylor` asks or they are centred.
  /// given: a_j of form::moment; null for ones.
  void take(const C* b, int order, form f, const C& about, const C* given,
            bool beside_exact) noexcept {
    centre = about;
    cut = C(0);
    const auto P = std::size_t(order);
    if (f == form::moment) {
      base = about;
      mass = C(0);
      for (std::size_t j = 0; j <= P; ++j) {
        a[j] = given == nullptr ? C(1) : given[j];
        mass += a[j] * b[j];
      }
      return;
    }
    std::array<C, room> means, reciprocals, cumulants;
    const std::span<C> m(means.data(), P + 1), r(reciprocals.data(), P + 1),
        k(cumulants.data(), P + 1);
    m[0] = C(1);
    for (std::size_t j = 1; j <= P; ++j) m[j] = j == 1 ? C(0) : C(b[j] / b[0]);
    series_reciprocal(m, r);
    series_logarithm(m, k);
    C series(0), sum(0);
    for (std::size_t j = 2; j <= P; ++j) series += k[j];
    for (std::size_t j = P + 1; j-- > 0;) a[j] = sum += r[P - j];
    if (beside_exact) {
      C moments(0);
      for (const C& x : m) moments += x;
      const C saturated = saturated_cumulants(series, P > 1 ? m[2] : C(0), moments);
      cut = series - saturated;
      series = saturated;
    }
    base = about + series;
    mass = b[0];
  }
};

}  // namespace cumulus::detail
