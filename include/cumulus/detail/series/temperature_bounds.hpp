// SPDX-License-Identifier: MIT
//
// How far logsumexp(beta x), its derivatives in beta and its entropy can be from their series, from
// the moments and the range alone.
// Layer 3 (series): uses core; temperature builds on it.
//
// Derived here. K'' is the variance under softmax(beta x), 0..R^2/4 (Popoviciu), and its
// derivatives obey |K'''| <= R^3/(6 sqrt 3), |K''''| <= R^4/8, since each softmax of the sample is
// a law of the same range. Integrated once and twice they bound the distance of K'' and K' from the
// first two terms of their series; the entropy lost, beta K' - K, is int_0^beta t K''(t) dt. So do
// the even moments bound M, M' and M'', and with them K' = M'/M and K'' = M''/M - K'^2. All of that
// is proved for every beta; the tail of the series has the status of logsumexp_remainder.
#pragma once

#include <cumulus/detail/series/remainder.hpp>
#include <algorithm>

namespace cumulus::detail {

/// A bound on sum_{n > order} factor(n) |c_n| |beta|^(n - d) for a sample of this range, where
/// |beta| range < pi; +inf beyond. d = 0, 1, 2: factor(n) = n - 1, n, n (n - 1).
///
/// By |c_n| <= (2/n) lambda(n) (R/pi)^n of remainder.hpp, with lambda(n) = sum_j (2j+1)^-n at most
/// 1 + 3^-n + 4^(1-n) / (2n - 2), the last for the integral of a convex function over its
/// midpoints: sums of geometric series, of rho = |beta| R / pi.
template <class T>
[[nodiscard]] T temperature_remainder(int d, int order, const T& range, const T& beta) {
  using std::acos;
  const T unit = range / T(acos(T(-1)));
  const T rho = unit * absolute(beta);
  if (!(rho < T(1))) return infinity<T>;
  const int n = std::max(order, 1) + 1;
  T power(2), third(1), quarter(4);  // 2 unit^d rho^(n-d), 3^-n, 4^(1-n)
  for (int i = 0; i < n; ++i) {
    power *= i < d ? unit : rho;
    third /= T(3);
    quarter /= T(4);
  }
  const T lambda = T(1) + third + quarter / T(2 * n - 2);
  const T rest = T(1) / (T(1) - rho);
  const T sum = d == 0   ? T(T(n - 1) / T(n) + rho * rest)
                : d == 1 ? rest
                         : T((T(n - 1) + rho * rest) * rest);
  return power * lambda * sum * (T(1) + T(8 * n + 32) * unit_roundoff<T>);
}

/// What holds of a sum whatever its order: it lies between two numbers, and within `distance` of
/// the start of its series.
template <class S>
void meet_around(interval<S>& e, const ball<S>& centre, const S& distance) {
  const S reach = (distance + centre.radius) * (1 + 16 * unit_roundoff<S>);
  e.meet({S(centre.middle - reach), S(centre.middle + reach)});
}

/// An interval that contains E y^d e^(beta y), d = 0, 1, 2, from the moments to the even order e
/// below or at `held`.
///
/// With r = e - d:  y^d e^(beta y) = sum_{j<r} beta^j y^(j+d)/j! + beta^r y^e/r! g_r(beta y), y^e
/// >= 0, and g_r(t) = r! (e^t - sum_{j<r} t^j/j!) / t^r increases, so that it lies between the
/// values at beta min y and beta max y.
template <class S, class Moments>
[[nodiscard]] interval<S> exponential_moment(const Moments& m, int held, int d, const S& beta,
                                             const S& low, const S& high) {
  const int r = held - held % 2 - d;
  if (r < 0) return {-infinity<S>, infinity<S>};
  ball<S> sum(S(0)), power(S(1));
  const auto term = [&](int j) {  // (j + d)! / j! m_{j+d} beta^j
    const int factor = d == 0 ? 1 : d == 1 ? j + 1 : (j + 1) * (j + 2);
    return m[std::size_t(j + d)] * ball<S>(S(factor)) * power;
  };
  for (int j = 0; j < r; ++j) {
    sum += term(j);
    power = power * ball<S>(beta);
  }
  const ball<S> last = term(r);
  const ball<S> a = sum + last * exponential_tail(r, S(beta * low)),
                b = sum + last * exponential_tail(r, S(beta * high));
  return {min_of(S(a.middle - a.radius), S(b.middle - b.radius)),
          max_of(S(a.middle + a.radius), S(b.middle + b.radius))};
}

/// The quotients of two numbers in these intervals, b >= 1.
template <class S>
[[nodiscard]] interval<S> quotient(const interval<S>& a, const interval<S>& b) {
  const S u4 = 4 * unit_roundoff<S>;
  const S lower = a.lower / (a.lower < S(0) ? b.lower : b.upper);
  const S upper = a.upper / (a.upper < S(0) ? b.upper : b.lower);
  return {S(lower - u4 * absolute(lower)), S(upper + u4 * absolute(upper))};
}

/// Intervals that contain K'(beta), K''(beta) and the entropy lost, beta K' - K.
template <class S>
struct temperature_enclosure {
  interval<S> slope, curvature, lost;
};

/// Requires m: m_0..m_held as balls; low <= 0 <= high: min y and max y; range = high - low.
template <class S, class Moments>
[[nodiscard]] temperature_enclosure<S> enclose_temperature(const Moments& m, int held, const S& b,
                                                           const S& low, const S& high,
                                                           const S& range) {
  const S size_of_b = absolute(b);
  const S up = 1 + 16 * unit_roundoff<S>;
  const S third = range * range * range / square_root(S(27)),
          fourth = range * range * range * range;
  const S span = size_of_b * range;
  interval<S> slope_in =
      b < S(0) ? interval<S>{S(low * up), S(0)} : interval<S>{S(0), S(high * up)};
  interval<S> curvature_in{S(0), S(range * range / 4 * up)};
  interval<S> lost_in{
      S(0), min_of(S(span * span / 8 * up), S((b < S(0) ? S(-low) : high) * size_of_b * up))};
  meet_around(slope_in, ball<S>(S(0)), S(size_of_b * range * range / 4));
  const ball<S> by_b(b);
  if (held >= 2) {
    const ball<S> variance = m[2] * ball<S>(S(2));
    meet_around(slope_in, variance * by_b, S(b * b * third / 4));
    meet_around(curvature_in, variance, S(size_of_b * third / 2));
    meet_around(lost_in, m[2] * by_b * by_b, S(size_of_b * b * b * third / 6));
    if (held >= 3) {
      const ball<S> skew = m[3] * ball<S>(S(6));
      const S b2 = b * b;
      meet_around(slope_in, variance * by_b + m[3] * ball<S>(S(3)) * by_b * by_b,
                  S(size_of_b * b2 * fourth / 48));
      meet_around(curvature_in, variance + skew * by_b, S(b2 * fourth / 16));
    }
  }
  // M, M' and M'' from the even moments: M >= 1 by Jensen
  const auto moment = [&](int d) { return exponential_moment(m, held, d, b, low, high); };
  interval<S> normaliser = moment(0);
  normaliser.meet({S(1), infinity<S>});
  slope_in.meet(quotient(moment(1), normaliser));
  const interval<S> square = quotient(moment(2), normaliser);
  // slope_in holds no numbers of both signs, so that its square is least and greatest at its ends
  const S ends[] = {slope_in.lower * slope_in.lower, slope_in.upper * slope_in.upper};
  curvature_in.meet(
      {S((square.lower - max_of(ends[0], ends[1])) - S(4) * unit_roundoff<S> * square.upper),
       S(square.upper - min_of(ends[0], ends[1]) * (1 - 4 * unit_roundoff<S>))});
  const S k_low = log_one_plus(S(normaliser.lower - 1)),
          k_high = log_one_plus(S(normaliser.upper - 1));
  const S beta_slope[] = {S(b * slope_in.lower), S(b * slope_in.upper)};
  const S slack =
      8 * unit_roundoff<S> * (max_of(absolute(beta_slope[0]), absolute(beta_slope[1])) + k_high);
  lost_in.meet({S(min_of(beta_slope[0], beta_slope[1]) - k_high - slack),
                S(max_of(beta_slope[0], beta_slope[1]) - k_low + slack)});
  return {slope_in, curvature_in, lost_in};
}

}  // namespace cumulus::detail
