// SPDX-License-Identifier: MIT
//
// log(e^a + e^b), log(e^a - e^b) and log |e^a - e^b| with its sign.
// Layer 2 (exact): uses core.
#pragma once

#include <cumulus/core/signed_log.hpp>
#include <cumulus/detail/core/compensated.hpp>

namespace cumulus {

/// What the Error lines promise and their test asserts, in ulp of max(1, |a|, |result|), a the
/// larger argument; of the result itself where a is 0, so that the other argument alone
/// decides the result.
inline constexpr int logaddexp_max_ulp = 2;
/// In ulp of the result: the bound where the larger argument is 0.
inline constexpr int logaddexp_tail_max_ulp = 3;

namespace detail {

/// log x, |x| not near 1, as k log 2 and the log of what is left, so that adding a number close to
/// -log x loses nothing; k log 2 is exact but for 3e-6 of it.
template <class T>
[[nodiscard]] compensated<T> split_logarithm(const T& x) {
  if constexpr (std::floating_point<T>) {
    const int k = binary_exponent(T(x * T(1.4142135623730951))) - 1;
    const T rest = logarithm(times_power_of_two(x, -k));
    return {T(k) * T(0x0.b172p0), rest + T(k) * T(1.4286068203094172321214581765680755e-6L)};
  } else {
    return {logarithm(x), T(0)};
  }
}

/// log(1 - e^-g) for a gap g > 0. What the rounding of g costs is put back: d/dg log(1 - e^-g) = 1
/// / (e^g - 1).
/// Source  M. Maechler, Accurately computing log(1 - exp(-|a|)), Rmpfr vignette, 2012: expm1 below
///         log 2, log1p above.
template <class T>
[[nodiscard]] compensated<T> log_one_minus_exponential(const compensated<T>& gap) {
  if (gap.high < T(0.6931471805599453)) {
    const T rest = -exp_minus_one(T(-gap.high));
    compensated<T> log_rest = split_logarithm(rest);
    log_rest.low += gap.low * (T(1) - rest) / rest;
    return log_rest;
  }
  const T power = exponential(T(-gap.high));
  return {log_one_plus(T(-power)), gap.low * power / (T(1) - power)};
}

/// a - b for a > b, both finite; infinite where it overflows.
template <class T>
[[nodiscard]] compensated<T> gap_between(const T& a, const T& b) {
  const T plain = a - b;
  return is_finite(plain) ? two_sum(a, T(-b)) : compensated<T>{plain, T(0)};
}

}  // namespace detail

/// log(e^a + e^b).
///
/// Edges   -inf is neutral; +inf with anything but NaN gives +inf; NaN gives NaN.
/// Error   logaddexp_max_ulp; logaddexp_tail_max_ulp of the result where the larger argument is 0.
template <class T>
  requires(!std::integral<T>)
[[nodiscard]] T logaddexp(const T& a, const T& b) {
  using C = detail::compute_scalar<T>;
  // Of two equals one is high and one is low, so that each counts with the derivatives it carries.
  const bool first = b < a;
  const C high = C(first ? a : b), low = C(first ? b : a);
  if (detail::is_nan(high) || detail::is_nan(low)) return detail::quiet_nan<T>;
  if (!detail::is_finite(high) || !detail::is_finite(low)) return T(high);
  const detail::compensated<C> gap = detail::gap_between(high, low);
  const C power = detail::exponential(C(-gap.high));
  return T(high + (detail::log_one_plus(power) - gap.low * power / (C(1) + power)));
}

/// log(e^a - e^b).
///
/// Edges   equal finite arguments and two -inf give -inf; two +inf and a < b give NaN.
/// Error   logaddexp_max_ulp; logaddexp_tail_max_ulp of the result where a is 0.
template <class T>
  requires(!std::integral<T>)
[[nodiscard]] T logsubexp(const T& a, const T& b) {
  using C = detail::compute_scalar<T>;
  const C high = C(a), low = C(b);
  if (detail::is_nan(high) || detail::is_nan(low) || high < low) return detail::quiet_nan<T>;
  if (!(low < high))
    return high < detail::infinity<C> ? -detail::infinity<T> : detail::quiet_nan<T>;
  if (!detail::is_finite(high) || !detail::is_finite(low)) return T(high);
  const detail::compensated<C> log_rest =
      detail::log_one_minus_exponential(detail::gap_between(high, low));
  const detail::compensated<C> sum = detail::two_sum(high, log_rest.high);
  return T(sum.high + (sum.low + log_rest.low));
}

/// log |e^a - e^b| and the sign of that difference.
///
/// Edges   equal finite arguments and two -inf give (-inf, 0); two +inf and NaN give (NaN, NaN).
/// Error   as logsubexp; the sign is exact.
template <class T>
  requires(!std::integral<T>)
[[nodiscard]] signed_log<T> logsubexp_signed(const T& a, const T& b) {
  if (a < b) return {logsubexp(b, a), T(-1)};
  if (b < a) return {logsubexp(a, b), T(1)};
  return a <= b && a < detail::infinity<T>
             ? signed_log<T>{-detail::infinity<T>, T(0)}
             : signed_log<T>{detail::quiet_nan<T>, detail::quiet_nan<T>};
}

/// Integers promote to double, and mixed arguments to their common type.
template <class A, class B>
  requires(std::integral<A> || std::integral<B> || !std::same_as<A, B>)
[[nodiscard]] auto logaddexp(const A& a, const B& b) {
  using T = std::common_type_t<detail::result_scalar<A>, detail::result_scalar<B>>;
  return logaddexp<T>(T(a), T(b));
}

/// logsubexp of integers or of two types, which convert as in logaddexp.
template <class A, class B>
  requires(std::integral<A> || std::integral<B> || !std::same_as<A, B>)
[[nodiscard]] auto logsubexp(const A& a, const B& b) {
  using T = std::common_type_t<detail::result_scalar<A>, detail::result_scalar<B>>;
  return logsubexp<T>(T(a), T(b));
}

/// logsubexp_signed of integers or of two types, which convert as in logaddexp.
template <class A, class B>
  requires(std::integral<A> || std::integral<B> || !std::same_as<A, B>)
[[nodiscard]] auto logsubexp_signed(const A& a, const B& b) {
  using T = std::common_type_t<detail::result_scalar<A>, detail::result_scalar<B>>;
  return logsubexp_signed<T>(T(a), T(b));
}

}  // namespace cumulus
