// SPDX-License-Identifier: MIT
//
// What a truncated softmax makes of one query, from the divided power sums of its scores.
// Layer 5 (attention): uses core and series; linear attention builds on it.
#pragma once

#include <cumulus/attention/taylor_features.hpp>
#include <cumulus/series/form.hpp>
#include <array>

namespace cumulus {

/// What became of a row.
enum class linear_status : unsigned char {
  positive,     ///< its total mass is a positive number
  nonpositive,  ///< its total mass is 0 or less, as odd or uncentred truncations can have: it has no log-sum-exp (NaN), and its
                ///< output is what the division gives
  invalid,      ///< its total mass is NaN
};

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
    std::array<C, room> m, r, k;
    m[0] = C(1);
    for (std::size_t j = 2; j <= P; ++j) m[j] = b[j] / b[0];
    C series(0);
    for (std::size_t n = 0; n <= P; ++n) {  // power_series.hpp's reciprocal and logarithm
      C reciprocal(n == 0 ? 1 : 0), logarithm(0);
      for (std::size_t j = 2; j <= n; ++j) reciprocal -= m[j] * r[n - j];
      for (std::size_t j = 2; j + 2 <= n; ++j) logarithm += C(int(j)) * k[j] * m[n - j];
      r[n] = reciprocal;
      if (n >= 2) series += k[n] = m[n] - logarithm / C(int(n));
    }
    C sum(0);
    for (std::size_t j = P + 1; j-- > 0;) a[j] = sum += r[P - j];
    base = about + series;
    mass = b[0];
  }
};

}  // namespace cumulus
