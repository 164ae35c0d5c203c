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

/// The truncated softmax of scores u_i of weight g_i (their decay; else 1), about a centre c:
///
///     weight of score i:  g_i sum_j a_j (u_i - c)^j / j!  e^base,   mass: the sum of the weights
///
/// Exact in the series sense: with y = u - c, c the mean, m_j the mean of y^j / j! and 1/M = sum r_k t^k,
///   form::taylor  a_j = sum_{k <= P-j} r_k: the softmax of degree P, all of its terms of y's degree P or less; it sums to one;
///                 mass e^K sum g, K the cumulant series of order P.
///   form::moment  a_j = 1: the truncated exponential, divided by its sum; or a_j = j! times the coefficients given.
template <class C>
struct truncated_row {
  static constexpr std::size_t room = std::size_t(max_feature_order) + 1;
  std::array<C, room> a;
  C centre = C(0);
  C base = C(0);
  C mass = C(0);  ///< over e^base

  /// From sums b_j = sum g y^j / j! about `about`, which is the scores' mean where `form::taylor` asks or they are centred.
  /// given: a_j of form::moment; null for ones.
  void take(const C* b, int order, form f, const C& about, const C* given) noexcept {
    centre = about;
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
    base = about + series;
    mass = b[0];
  }
};

}  // namespace cumulus::detail
