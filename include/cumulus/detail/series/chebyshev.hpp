// SPDX-License-Identifier: MIT
//
// The Chebyshev economisation of e^y on the range of a sample, in powers of y, and how far it errs.
// Layer 3 (series): uses core.
//
// With h = R/2, c = (min y + max y)/2 and z = (y - c)/h in [-1, 1]:  e^y = e^c sum_k a_k T_k(z),
// a_0 = I_0(h), a_k = 2 I_k(h). Cut off at k = P it errs by at most e^c eps, eps = 2 sum_{k>P} I_k(h).
// In powers, with I_k(h) = (h/2)^k / k! F_k and the coefficients of T_k:
//     e^{-c} p(y) = sum_j gamma_j (y - c)^j / j!,
//     gamma_j = sum_{i >= 0, j + 2i <= P} (-h^2/4)^i / i! (j+i-1)! / (j+2i-1)! F_{j+2i}
// (the whole sum is 1), so that no power of h is divided by; then each power of y - c in powers of y.
// F_k = sum_i (h^2/4)^i / (i! (k+1) .. (k+i)) falls to 1 in k and obeys the recurrence of the Bessel
// functions, F_{k-1} = F_k + h^2/4 / (k (k+1)) F_{k+1}, stable downwards: all terms are positive.
#pragma once

#include <cumulus/detail/series/ball.hpp>
#include <cumulus/series/form.hpp>
#include <array>

namespace cumulus::detail {

/// e^{-centre} p(y) = sum_j coefficient[j] y^j / j!, |p(y) - e^y| <= e^centre tail on the range.
template <class T>
struct economised_exponential {
  std::array<T, max_series_order + 1> coefficient{};
  std::array<T, max_series_order + 1> size{};  ///< the terms of each coefficient, without signs
  T centre = T(0);
  T tail = infinity<T>;
  int order = 0;
};

/// F_k of x = h^2/4.
template <class T>
[[nodiscard]] T bessel_factor(int k, const T& x) {
  T term(1), sum(1);
  for (int i = 1; unit_roundoff<T> * sum < term && sum < infinity<T>; ++i)
    sum += term *= x / (T(i) * T(k + i));
  return sum;
}

/// h^2 / 4 beyond which e^h is out of reach.
inline constexpr int largest_quarter_square = 100000;

/// eps of order P for a range R: |E p - E e^y| <= e^c eps for every sample of that range.
///
/// Edges   0 for a range of 0; +inf where R/4 is not below P + 2 (no statement), and for NaN.
/// Error   at most eps / (1 - R/(4(P+2))): the tail is summed as a geometric series. Proved.
/// Cost    about 10 + R divisions.
template <class T>
[[nodiscard]] T economised_tail(int order, const T& range) {
  const T half = range / 4;  // h/2
  if (!(half < T(order + 2)) || range < T(0) || T(largest_quarter_square) < half * half)
    return infinity<T>;
  T power(2);
  for (int k = 1; k <= order + 1; ++k) power *= half / T(k);
  return power * bessel_factor<T>(order + 1, T(half * half)) / (1 - half / T(order + 2)) *
         (1 + T(8 * order + 100) * unit_roundoff<T>)+std::numeric_limits<T>::min();
}

/// At least |logsumexp - its form::chebyshev of this order| for every sample of this range: since E
/// e^y >= e^{c - R/2}, -log(1 - e^{R/2} eps).
///
/// Edges   +inf where there is no statement.
/// Status  proved.
template <class T>
[[nodiscard]] T chebyshev_remainder(int order, const T& range) {
  const T share = economised_tail(order > 1 ? order : 1, range) * exponential(T(range / 2)) *
                  (1 + 8 * unit_roundoff<T>);
  return share < T(1) ? T(-log_one_plus(T(-share)) * (1 + 8 * unit_roundoff<T>)) : infinity<T>;
}

/// The polynomial of degree `order` for values y in [low, high].
///
/// Shape   order: 0..max_series_order; low <= 0 <= high, each to 1 ulp; range = high - low.
/// Error   of a coefficient: at most (4 order + 40) u times its size.
/// Cost    order^2 multiply-adds and (order + 1)^2 / 4 divisions.
template <class T>
[[nodiscard]] economised_exponential<T> economise_exponential(int order, const T& low,
                                                              const T& high, const T& range) {
  economised_exponential<T> p;
  p.order = order;
  const T u = unit_roundoff<T>, reach = max_of(T(-low), high);
  const T h =
      range / 2 * (1 + 16 * u) + 16 * u * reach;  // contains the values, rounded as they are
  p.centre = (low + high) / 2;
  p.tail = economised_tail<T>(order, 2 * h);
  const T x = h * h / 4;
  if (!(x < T(largest_quarter_square))) return p;

  std::array<T, max_series_order + 3> factor;
  factor[std::size_t(order) + 2] = bessel_factor<T>(order + 2, x);
  factor[std::size_t(order) + 1] = bessel_factor<T>(order + 1, x);
  for (int k = order + 1; k > 0; --k)
    factor[std::size_t(k) - 1] =
        factor[std::size_t(k)] + x / (T(k) * T(k + 1)) * factor[std::size_t(k) + 1];

  std::array<T, max_series_order + 1> shift;  // (-c)^k / k!
  shift[0] = T(1);
  for (int k = 1; k <= order; ++k)
    shift[std::size_t(k)] = -p.centre * shift[std::size_t(k) - 1] / T(k);
  for (int j = 0; j <= order; ++j) {
    T weight(1), gamma = factor[std::size_t(j)], size = gamma;
    for (int i = 1; j + 2 * i <= order; ++i) {
      // (j+i-1)! / (j+2i-1)! / i! from its predecessor; of 1/0! .. for j = 0: 1, then 1/1!, ..
      weight *=
          j + i == 1 ? -x : T(-x * T(j + i - 1) / (T(i) * T(j + 2 * i - 1) * T(j + 2 * i - 2)));
      const T term = weight * factor[std::size_t(j + 2 * i)];
      gamma += term;
      size += absolute(term);
    }
    for (int i = 0; i <= j; ++i) {
      p.coefficient[std::size_t(i)] += gamma * shift[std::size_t(j - i)];
      p.size[std::size_t(i)] += size * absolute(shift[std::size_t(j - i)]);
    }
  }
  return p;
}

/// e^{-c} E p(y) from the moments m_k = E y^k / k!, with all rounding in its radius.
template <class T, class Moments>
[[nodiscard]] ball<T> expected(const economised_exponential<T>& p, const Moments& m) {
  T sum(0), error(0), size(0);
  for (int k = p.order; k >= 0; --k) {
    const std::size_t i = std::size_t(k);
    sum += p.coefficient[i] * m[i].middle;
    size += p.size[i] * absolute(m[i].middle);
    error += p.size[i] * m[i].radius;
  }
  return {sum, error + T(5 * p.order + 45) * unit_roundoff<T> * size};
}

}  // namespace cumulus::detail
