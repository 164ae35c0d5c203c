// SPDX-License-Identifier: MIT
//
// How far a truncated logsumexp can be from the exact one, from the moments and the range alone.
// Layer 3 (series): uses core; logsumexp_series builds on it.
#pragma once

#include <cumulus/detail/series/ball.hpp>
#include <array>

namespace cumulus::detail {

/// An interval that contains a number.
template <class T>
struct interval {
  T lower;
  T upper;

  /// Keeps what both have; an end that is NaN says nothing.
  constexpr void meet(const interval& other) {
    if (lower < other.lower) lower = other.lower;
    if (other.upper < upper) upper = other.upper;
  }
};

/// lambda(n) = sum_{j>=0} (2j+1)^-n for n = 2..40, from above: 20 terms, and for the rest the
/// integral, which exceeds a sum of midpoints of a convex function. Beyond n = 40 it is 1 to the
/// last digit.
inline constexpr auto lambda_table = [] {
  std::array<double, 41> table{};
  double power[20], power_of_40 = 1.0 / 40;  // (2j+1)^-n, 40^-n
  for (int j = 0; j < 20; ++j) power[j] = 1.0 / (2 * j + 1);
  for (int n = 2; n <= 40; ++n) {
    power_of_40 /= 40;
    double sum = 40 * power_of_40 / (2 * (n - 1));
    for (int j = 19; j >= 0; --j) sum += power[j] /= 2 * j + 1;
    table[static_cast<std::size_t>(n)] = sum * (1 + 1e-15);
  }
  return table;
}();
inline constexpr double lambda(int n) {
  return n <= 40 ? lambda_table[static_cast<std::size_t>(n)] : 1 + 1e-15;
}

/// At least sum_{n >= first} lambda(n)/n z^n for 0 < z < 1, by at most 2^-15 of it. Near z = 1 from
/// -log(1 - z) = sum z^n/n, of which the terms before are taken off, and lambda(n) - 1 < 2 3^-n.
template <class T>
[[nodiscard]] T lambda_tail(int first, const T& z) {
  const T u = unit_roundoff<T>, enough = T(1) / T(32768);
  T power(1), taken(0);
  for (int n = 1; n < first; ++n) {
    power *= z;
    taken += power / T(n);
  }
  const T gap = 1 - z;
  T sum(0);
  if (gap < T(0.25)) {
    const T whole = -logarithm(gap), error = u * (T(first + 8) * whole + 4 / gap);
    if (error < power / T(first) * enough) {
      for (int n = first;; ++n) {
        power *= z;
        const T term = power * T(lambda(n) - 1) / T(n);
        sum += term;
        if (!(whole * T(1e-7) < term)) return (whole - taken) + sum + term + error;
      }
    }
  }
  for (int n = first;; ++n) {
    power *= z;
    const T term = power * T(lambda(n)) / T(n), rest = term / gap;
    if (!(sum * enough < rest) || n == first + 4000) return sum + rest;
    sum += term;
  }
}

/// At least |logsumexp - its series of this order| for every sample of this range and variance, R <
/// pi; +inf beyond. Without the variance (or with infinity) it is the bound from the range alone.
///
/// The coefficients obey |c_n| <= (2/n) lambda(n) (R/pi)^n, and <= sigma^2 R^(n-2) max(1/n!, 8
/// lambda(n) / (n pi^n)), lambda(n) = sum_j (2j+1)^-n; the sum over n > order takes the smaller of
/// both in each term.
///
/// Status  derived here. K' is a mixture over x in [-1, 1] of two-point laws (sharp_remainder.hpp),
///         so a coefficient is extremal at one of them: |c_n| <= (4 sigma^2/R^2) (R/2)^n max
///         |k_{n-1}(x)| / n, k_m the coefficients of k_x(s) = 1 / (coth s - x). The poles of k_x
///         are a + i pi (j + 1/2), tanh a = x, all of residue cosh^2 a, so that for n >= 2
///         |k_{n-1}| <= 2 cosh^2 a sum_j (a^2 + pi^2 (j + 1/2)^2)^(-n/2), largest at a = 0, where it
///         is 2 (2/pi)^n lambda(n). Proved for n <= 4, and for n >= 100: there the sum falls in |a|
///         up to n / 8, and beyond, 1 - |x| < 2 e^(-n/4) is too little to move a polynomial of
///         degree n - 2 off k_{n-1}(+-1) = (+-2)^(n-2) / (n-1)! (Markov's inequality, with |k_m| <=
///         2 (m+1) (2/pi)^(m+2) lambda(m+2), the coefficients of sin s / (1 - sin s)). Verified for
///         5 <= n < 112 by a scan of x without gaps, to 1e-6, which is added; from the range alone
///         at n = 5 by search.
///         Sharp as R -> 0 at odd orders.
/// Error   at most 2^-15 above the sum of these bounds; falls with the order.
/// Cost    about 15 (order + 10) operations.
template <class T>
[[nodiscard]] T logsumexp_remainder(int order, const T& range, const T& variance = infinity<T>) {
  using std::acos;
  const T pi(acos(T(-1)));
  const T ratio = range / pi;
  if (!(ratio < T(1))) return infinity<T>;
  if (!(T(0) < ratio)) return T(0);
  const int first = (order > 1 ? order : 1) + 1;
  const T share = variance / range / range;
  T sum(0), power = ratio, factorial = share;  // (R/pi)^n, sigma^2 R^(n-2) / n!
  for (int n = 1; n < 6; ++n, power *= ratio) {
    factorial *= range / T(n);
    if (n < first) continue;
    const T term = T(lambda(n)) / T(n) * power;
    sum += min_of(T(2 * term), max_of(T(8 * share * term), factorial));
  }
  // from n = 6 on 8 lambda(n) / (n pi^n) is the larger
  const T rest = min_of(T(2), T(8 * share)) * lambda_tail(first < 6 ? 6 : first, ratio);
  return (sum + rest) * (1 + T(1e-6) + T(10000) * unit_roundoff<T>)+std::numeric_limits<T>::min();
}

/// r! (e^t - sum_{j<r} t^j/j!) / t^r = sum_k t^k r! / (r + k)!, increasing in t, 1 at t = 0.
///
/// For t < 0 by Kummer's transformation, e^t sum_k r/(r+k) |t|^k / k!, all terms positive; far out,
/// where e^t underflows, by the recurrence that takes 1, t, t^2/2, .. off e^t one by one, which
/// then does not cancel.
template <class T>
[[nodiscard]] ball<T> exponential_tail(int r, const T& t) {
  const T u2 = std::numeric_limits<T>::epsilon();
  if (T(10000) < t) return {infinity<T>, infinity<T>};  // too far out to say anything
  if (!(t < T(0))) {
    T term(1), sum(1);
    int k = 1;
    for (; term > sum * u2 && sum < infinity<T>; ++k) sum += term *= t / T(r + k);
    return {sum, sum * u2 * (T(k + 4) + t)};
  }
  const T z = -t;
  if (z > T(2 * r)) {
    T tail = exponential(t);
    for (int j = 0; j < r; ++j) tail = T(j + 1) * (1 - tail) / z;
    return {tail, tail * u2 * T(2 * r + 4)};
  }
  T power(1), sum(1);
  int k = 1;
  for (; power > sum * u2 || T(k) < z; ++k) {
    power *= z / T(k);
    sum += power * T(r) / T(r + k);
  }
  const T value = sum * exponential(t);
  return {value, value * u2 * (T(k + 4) + z)};
}

/// An interval that contains K(1) = log E e^y, from what is known of a sample.
///
/// Shape     m: m_0..m_order as balls; low <= 0 <= high: min y and max y; range = high - low.
/// Source    derived here: Hoeffding's R^2/8 and Jensen's 0 and max y; Taylor's theorem for K with
///           the extremal third and fourth cumulants of a range, R^3/(6 sqrt 3) and R^4/8, which
///           bound the derivatives all along since every tilted law has the same range; and for
///           even r, since (e^y - sum_{j<r} y^j/j!) / y^r increases in y, M lies between the values
///           that min y and max y give it. All proved.
/// Cost      about 40 operations an order.
template <class T, class Moments>
[[nodiscard]] interval<T> logsumexp_enclosure(const Moments& m, int order, const T& low,
                                              const T& high, const T& range) {
  const T up = 1 + 8 * unit_roundoff<T>, down = 1 - 8 * unit_roundoff<T>;
  interval<T> k{T(0), min_of(T(range * range / 8 * up), T(high * up))};
  const auto around = [&](const ball<T>& centre, const T& distance) {
    const T reach = (distance + centre.radius) * up;
    k.meet({T(centre.middle - reach), T(centre.middle + reach)});
  };
  if (order >= 2) around(m[2], range * range * range / (36 * square_root(T(3))));
  if (order >= 3) around(m[2] + m[3], range * range * range * range / 192);
  ball<T> partial(T(0));  // sum_{2 <= j < r} m_j
  for (int r = 2; r <= order; r += 2) {
    const ball<T> power = m[std::size_t(r)];
    const ball<T> lowest = partial + power * exponential_tail(r, low);
    const ball<T> highest = partial + power * exponential_tail(r, high);
    const T lower = log_one_plus(max_of(T(lowest.middle - lowest.radius), T(0)));
    const T upper = log_one_plus(max_of(T(highest.middle + highest.radius), T(0)));
    k.meet({T(lower * down), T(upper * up)});
    if (r + 1 <= order) partial += power + m[std::size_t(r) + 1];
  }
  return k;
}

}  // namespace cumulus::detail
