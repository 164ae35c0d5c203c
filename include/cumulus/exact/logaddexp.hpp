// SPDX-License-Identifier: MIT
//
// log(e^a + e^b) and log(e^a - e^b).
// Layer 2 (exact): uses core.
#pragma once

#include <cumulus/core/scalar.hpp>

namespace cumulus {

/// What the Error lines promise and their test asserts, in ulp of max(1, |a|, |result|).
inline constexpr int logaddexp_max_ulp = 2;

/// log(e^a + e^b).
///
/// Edges   -inf is neutral; +inf with anything but NaN gives +inf; NaN gives NaN.
/// Error   logaddexp_max_ulp; 3 ulp of the result where the larger argument is 0.
template <class T>
requires(!std::integral<T>) [[nodiscard]] T logaddexp(const T& a, const T& b) {
  using C = compute_scalar<T>;
  const C high = max_of(C(a), C(b)), low = min_of(C(a), C(b));
  if (is_nan(high) || is_nan(low)) return quiet_nan<T>;
  if (!is_finite(high) || !is_finite(low)) return T(high);
  return T(high + log_one_plus(exponential(C(low - high))));
}

/// log(e^a - e^b).
///
/// Edges   equal finite arguments and two -inf give -inf; two +inf and a < b give NaN.
/// Error   logaddexp_max_ulp.
/// Source  M. Maechler, Accurately computing log(1 - exp(-|a|)), Rmpfr vignette, 2012: expm1 below log 2, log1p above.
template <class T>
requires(!std::integral<T>) [[nodiscard]] T logsubexp(const T& a, const T& b) {
  using C = compute_scalar<T>;
  const C high(a), low(b);
  if (is_nan(high) || is_nan(low) || high < low) return quiet_nan<T>;
  if (!(low < high)) return high < infinity<C> ? -infinity<T> : quiet_nan<T>;
  if (!is_finite(high) || !is_finite(low)) return T(high);
  const C gap = high - low;
  const C log_of_rest = gap < C(0.6931471805599453) ? logarithm(C(-exp_minus_one(C(-gap))))
                                                    : log_one_plus(C(-exponential(C(-gap))));
  return T(high + log_of_rest);
}

/// Integers promote to double, and mixed arguments to their common type.
template <class A, class B>
requires(std::integral<A> || std::integral<B> || !std::same_as<A, B>)
    [[nodiscard]] auto logaddexp(const A& a, const B& b) {
  using T = std::common_type_t<result_scalar<A>, result_scalar<B>>;
  return logaddexp<T>(T(a), T(b));
}

template <class A, class B>
requires(std::integral<A> || std::integral<B> || !std::same_as<A, B>)
    [[nodiscard]] auto logsubexp(const A& a, const B& b) {
  using T = std::common_type_t<result_scalar<A>, result_scalar<B>>;
  return logsubexp<T>(T(a), T(b));
}

}  // namespace cumulus
