// SPDX-License-Identifier: MIT
//
// The forms that evaluate a series from moments, and where form::taylor surely converges.
// Layer 3 (series): uses core.
#pragma once

#include <cumulus/core/estimate.hpp>
#include <cumulus/detail/core/scalar.hpp>

namespace cumulus {

/// Which expansion a series function evaluates.
///
/// At range 3 and order 8 the median error of taylor is 4e-4, of chebyshev and enclosure 3e-8. The
/// diagonal Pade approximant of K was tried and left out: 6e-5 there, the worst of 96 samples 0.15
/// (taylor 0.1, chebyshev 4e-7), no bound, and poles.
enum class form : int {
  taylor,      ///< in the cumulants: sum c_k. Its softmax is a polynomial in y that sums to one.
  normaliser,  ///< value as taylor; its softmax is e^{y - K_P} w / W, positive, of one relative error.
  moment,      ///< log sum m_k, of even order: converges for every x. Its softmax is positive.
  chebyshev,  ///< log E p(y), p the Chebyshev economisation of e^y on [min, max]: every x, far
              ///< closer. Its softmax is p(y) / sum w p(y).
  enclosure,  ///< the middle of the sharpest interval that the moments and [min, max] leave
  automatic,  ///< one of these forms, by the known moments; the estimate names it
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(form f) noexcept {
  switch (f) {
    case form::taylor:
      return "taylor";
    case form::normaliser:
      return "normaliser";
    case form::moment:
      return "moment";
    case form::chebyshev:
      return "chebyshev";
    case form::enclosure:
      return "enclosure";
    case form::automatic:
      return "automatic";
  }
  return "unknown";
}

/// The highest order that the series functions take.
inline constexpr int max_series_order = 64;

/// The |t| up to which the Taylor series of logsumexp(t x) converges for every x of this range: pi
/// / range.
///
/// Units   1 / x. At t = 1 convergence is guaranteed for a range below pi.
/// Edges   +inf for a range of 0, NaN for a negative one.
/// Source  derived here: for t = a + ib the terms w e^{ty} lie in a sector of opening |b| R, so
///         |M(t)| >= M(a) cos(bR/2) > 0 for |b| R < pi; two equal points attain it, M = cosh(tR/2).
template <class T>
  requires(!std::integral<T> && std::numeric_limits<T>::is_specialized)
[[nodiscard]] T convergence_radius(const T& range) {
  if (!(T(0) <= range)) return detail::quiet_nan<T>;
  using std::acos;
  return T(0) < range ? T(acos(T(-1)) / range) : detail::infinity<T>;
}
/// The radius for a range given as an integer, which converts to double.
[[nodiscard]] inline double convergence_radius(std::integral auto range) {
  return convergence_radius(double(range));
}

}  // namespace cumulus
