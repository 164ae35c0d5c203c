// SPDX-License-Identifier: MIT
//
// The ways to evaluate the same moments, and where the first one converges.
// Layer 3 (series): uses core.
#pragma once

#include <cumulus/core/scalar.hpp>

namespace cumulus {

/// Which expansion a series function evaluates.
enum class form {
  taylor,      ///< in the cumulants: sum c_k. Its softmax is a polynomial in y that sums to one.
  normaliser,  ///< the same value; its softmax is e^{y - K_P} w / W, positive, of one relative error.
  moment,      ///< log sum m_k, of even order: converges for every x. Its softmax is positive.
};

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
requires(!std::integral<T> && std::numeric_limits<T>::is_specialized) [[nodiscard]] T
    convergence_radius(const T& range) {
  if (!(T(0) <= range)) return quiet_nan<T>;
  using std::acos;
  return T(0) < range ? T(acos(T(-1)) / range) : infinity<T>;
}
[[nodiscard]] inline double convergence_radius(std::integral auto range) {
  return convergence_radius(double(range));
}

}  // namespace cumulus
