// SPDX-License-Identifier: MIT
//
// The largest error of a truncated logsumexp over all samples of a range and a variance.
// Layer 3 (series): uses core.
//
// In the strip |Im t| < pi/R, Im K'(t) has the sign of Im t: it is sum_ij w_i w_j e^{a(y_i + y_j)}
// (y_i - y_j) sin(b (y_i - y_j)) / (2 |M|^2) at t = a + ib. Since s = tanh(tR/4) maps the strip onto
// the unit disc, K' is a typically real function of s, and by Robertson's theorem (M. S. Robertson,
// Bull. Amer. Math. Soc. 41 (1935) 565-572) a mixture of s / (1 - 2xs + s^2) over x in [-1, 1]:
//     K'(t) = (2 sigma^2 / R) E_x k_x(tR/2),    k_x(s) = 1 / (coth s - x).
// So K and every remainder of it are (4 sigma^2 / R^2) times a mean over x of those of
//     H_x(s) = int_0^s k_x = [log(cosh s - x sinh s) + xs] / (1 - x^2)    at s = R/2,
// and no sample's can exceed the largest over x. Two points of chances (1 +- x)/2 attain it.
//
// From k' = 1 + 2xk - (1 - x^2) k^2 and dk/dx = k^2 the coefficients of k_x are polynomials in x with
//     k_1 = 1,    (m + 1) k_{m+1} = -d/dx [(1 - x^2) k_m],
// in Chebyshev polynomials T_j -> ((1 + j/2) T_{j+1} + (1 - j/2) T_{|j-1|}) / (m + 1).
#pragma once

#include <cumulus/detail/series/certified_maximum.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cumulus/series/form.hpp>

namespace cumulus::detail {

/// How far above the largest remainder of any sample the sharp bounds may lie, relative to it.
inline constexpr double sharp_remainder_slack = 2.5e-3;

/// A polynomial in x = cos a, in Chebyshev polynomials: sum_j c_j cos(j a).
template <class T, int Size>
struct cosine_sum {
  std::array<T, std::size_t(Size)> c{};
  int degree = 0;

  [[nodiscard]] T operator()(const T& x) const {
    T next(0), here(0);
    for (int j = degree; j > 0; --j) {
      const T back = c[std::size_t(j)] + 2 * x * here - next;
      next = here;
      here = back;
    }
    return c[0] + x * here - next;
  }
  /// sum |c_j| j^power: at least sup |p|, sup |d^2 p / da^2| for power 0, 2.
  [[nodiscard]] T norm(int power) const {
    T sum(0);
    for (int j = 0; j <= degree; ++j) {
      const T size = absolute(c[std::size_t(j)]);
      sum += power == 0 ? size : size * T(j) * T(j);
    }
    return sum;
  }
};

/// H_x(s) for x = 1 - gap, or x = gap - 1 with s < 0 (H_{-x}(s) = H_x(-s)).
template <class T>
[[nodiscard]] T two_point_logarithm(const T& gap, const T& s) {
  const T half = exp_minus_one(T(2 * s)) / 2;
  if (!(unit_roundoff<T> < gap)) return (half - s) / 2;
  return (log_one_plus(T(gap * half)) - gap * s) / (gap * (2 - gap));
}

/// At least |logsumexp - its series of this order| for every sample of this range and variance, at
/// any range: (4 sigma^2 / R^2) max_x |H_x(R/2) - its polynomial of that order|. Without the
/// variance (or with infinity) that of R^2 / 4, the largest there is.
///
/// Edges   0 for a range of 0; +inf where e^(2R) overflows, and for NaN.
/// Error   at most sharp_remainder_slack above the maximum over x, rounding included. Where the
///         difference H - polynomial would lose its digits the tail is summed instead; its end is at
///         most (4/pi) lambda(n+1) (R/pi)^n in term n (remainder.hpp).
/// Status  proved.
/// Cost    (order + 20)^2 / 2 operations and about 40 to 200 times 4 order + 30.
template <class T>
[[nodiscard]] T logsumexp_sharp_remainder(int order, const T& range,
                                          const T& variance = infinity<T>) {
  using std::acos;
  using std::cos;
  using std::sin;
  constexpr int longest = max_series_order + 200;
  if (!(range < infinity<T>) || range < T(0)) return infinity<T>;
  const T share = min_of(T(1), T(4 * (variance / range / range)));
  if (!(T(0) < range) || !(T(0) < share)) return is_nan(share) ? infinity<T> : T(0);
  const T pi(acos(T(-1))), s = range / 2, ratio = range / pi, u = unit_roundoff<T>;
  const int first = (order > 1 ? order : 1) + 1;

  // whether the difference keeps its digits: of that order against the rounding of H and p
  const T expected = ratio < T(1) ? logsumexp_remainder(order, range) : infinity<T>;
  const bool tail = ratio < T(0.85) || (ratio < T(0.96) && expected < u * T(100000) * s);

  // k_{n-1}(x) s^n / n, n = 2, 3, ..: those up to the order, or those above it
  cosine_sum<T, longest + 2> sum, k;
  k.c[0] = s;  // k_m s^m
  T rest = infinity<T>, largest(0), power = ratio;
  for (int m = 1; m < longest; ++m) {
    const int n = m + 1;
    power *= ratio;
    if ((n >= first) == tail) {
      for (int j = m - 1; j >= 0; j -= 2) {
        const std::size_t i = std::size_t(j);
        largest = max_of(largest, absolute(sum.c[i] += k.c[i] * s / T(n)));
      }
      sum.degree = m - 1;
    }
    if (!tail && n + 1 == first) break;
    if (tail && n >= first) {
      rest = T(4) / pi * T(1.1) * power * ratio / (1 - ratio);
      if (rest < largest * T(2e-4)) break;
    }
    // its successor, of the other parity, beside it
    for (int j = m; j >= 0; j -= 2) k.c[std::size_t(j)] = T(0);
    for (int j = m - 1; j >= 0; j -= 2) {
      const T here = k.c[std::size_t(j)] * s / T(n);
      k.c[std::size_t(j + 1)] += here * (1 + T(j) / 2);
      k.c[std::size_t(j > 0 ? j - 1 : 1)] += here * (1 - T(j) / 2);
    }
  }
  if (first == 2 && !tail) sum = {};

  const T slack = T(sharp_remainder_slack) / 2;
  if (tail) {
    const T bend = sum.norm(2);
    const T top = largest_on_interval(
        pi, [&](const T& a) { return sum(T(cos(a))); }, [&](const T&, const T&) { return bend; },
        slack);
    return share * (top + rest + 100 * T(first + 40) * u * sum.norm(0)) * (1 + 16 * u) +
           std::numeric_limits<T>::min();
  }

  // |d^2 H / da^2| <= 2 H + 5 dH/dx, as (1 - x^2) k^2 <= 1 + 2xk, and both rise with x; dH/dx is at
  // most its value at x = 1, k H, and (s + 2xH - k) / (1 - x^2)
  const T e = exp_minus_one(T(2 * s));
  const T steepest = ((e * e + 2 * e) / 4 - e + s) / 4;
  const auto bend_of_h = [&](const T& a) {
    const T x = cos(a), half = x < T(0) ? T(cos(a / 2)) : T(sin(a / 2)), gap = 2 * half * half;
    const T height = two_point_logarithm<T>(gap, x < T(0) ? T(-s) : s);
    const T kernel = 1 / (2 / e + (x < T(0) ? T(1 - x) : gap));  // coth s - 1 = 2 / e
    T slope = min_of(steepest, T(kernel * height));
    if (T(1e-3) < gap)
      slope = min_of(slope, T((T(1.01) * (s + 2 * x * height) - kernel) / (gap * (2 - gap))));
    return T(T(1.01) * (2 * height + 5 * slope));
  };
  const T bend_of_p = sum.norm(2);
  // below pi also by its own terms: sum n^2 (4/pi) lambda (R/pi)^n from n = first on
  T bend_of_tail = infinity<T>;
  if (ratio < T(1)) {
    const T gap = 1 - ratio, p = T(first);
    T scale = T(1.4);
    for (int n = 0; n < first; ++n) scale *= ratio;
    bend_of_tail = scale * (p * p / gap + 2 * p * ratio / (gap * gap) +
                            ratio * (1 + ratio) / (gap * gap * gap));
  }
  T rounding(0);
  const auto remainder = [&](const T& a) {
    const T x = cos(a), half = x < T(0) ? T(cos(a / 2)) : T(sin(a / 2)), gap = 2 * half * half;
    const T h = two_point_logarithm<T>(gap, x < T(0) ? T(-s) : s);
    const T steep = u < gap ? T(log_one_plus(T(gap * e / 2)) / gap) : T(0);
    rounding = max_of(rounding, T(8 * u * (h + s + steep)));
    return T(h - sum(x));
  };
  const T top = largest_on_interval(
      pi, remainder,
      [&](const T& a, const T&) { return min_of(bend_of_tail, T(bend_of_h(a) + bend_of_p)); },
      slack);
  return share * (top + rounding + 100 * T(first) * u * sum.norm(0)) * (1 + 16 * u) +
         std::numeric_limits<T>::min();
}

}  // namespace cumulus::detail
