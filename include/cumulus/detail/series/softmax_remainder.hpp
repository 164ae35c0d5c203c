// SPDX-License-Identifier: MIT
//
// How far a truncated softmax can be from the exact one, over all samples of a range.
// Layer 3 (series): uses core.
//
// In the strip |Im t| < pi/R the terms of e^{-ct} M(t), c the middle of the range, lie within the
// angle |Im t| R/2 < pi/2 of the positive axis. So e^{ct}/M(t) has a positive real part, and by
// Herglotz' theorem it is a mixture, over x in [-1, 1], of 1 / (cosh s - x sinh s) at s = tR/2 (the
// disc's (1 - z^2) / (1 - 2xz + z^2) at z = tanh(s/2)). A share
//     S_i(t) = e^{t y_i} / M(t) = E_x e^{ds} / (cosh s - x sinh s),    d = 2 (y_i - c) / R in [-1, 1],
// and its remainder are mixtures of those of two points, x and d the only parameters.
//
// Here a share is S_i = (W / w_i) softmax_i: an entry relative to what it has where all x are equal.
#pragma once

#include <cumulus/detail/series/certified_maximum.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/series/softmax_bound.hpp>

namespace cumulus::detail {

/// D_n: |[t^n] S_i| <= D_n (R/pi)^n.
[[nodiscard]] inline double softmax_coefficient(int n) {
  static const std::array<double, 129> table = [] {
    std::array<double, 129> d{};
    constexpr double pi = 3.14159265358979324;
    double power = 1;
    for (int k = 0; k < 129; ++k) {
      power *= k == 0 ? 1 : pi / k;
      const double far = k < 6 ? 0 : 4 / pi * lambda(k + 1) * std::exp(pi * pi / (4 * (k + 1)));
      d[static_cast<std::size_t>(k)] = k == 0 ? 1 : (k > 5 ? far : power) * (1 + 1e-5);
    }
    return d;
  }();
  return table[static_cast<std::size_t>(n < 128 ? n : 128)];  // falls with n from 3 on
}

/// The terms of a remainder that are summed at most.
inline constexpr int softmax_remainder_terms = max_series_order + 60;

/// sum_{n >= first} n^power z^n for z < 1.
template <class T>
[[nodiscard]] T power_tail(int first, const T& z, int power) {
  const T gap = 1 - z, p(first);
  T scale(1);
  for (int n = 0; n < first; ++n) scale *= z;
  if (power == 0) return scale / gap;
  if (power == 1) return scale * (p / gap + z / (gap * gap));
  return scale * (p * p / gap + 2 * p * z / (gap * gap) + z * (1 + z) / (gap * gap * gap));
}

/// At least |share - its series of this degree| for every sample of this range, R < pi; +inf beyond:
/// sum_{n > degree} D_n (R/pi)^n, D_n = pi^n / n! for n <= 5, else (4/pi) lambda(n+1) e^{pi^2 /
/// (4(n+1))}.
///
/// Status  the form of the sum proved (2 e^{pi/2} in place of D_n by the elementary bound 2 (R/pi)^n
///         on 1/M about the middle). D_n: the poles a + i pi (j + 1/2), tanh a = x, have residues
///         cosh(a) e^{da}, so that [s^n] is at most 2 cosh(a) e^{|a|} sum_j (a^2 + pi^2 (j +
///         1/2)^2)^(-(n+1)/2), at a = 0 the limit 4/pi and elsewhere at most e^{pi^2/(4(n+1))} of
///         it: proved for n >= 100 as in remainder.hpp, verified for n < 105 by a scan of x and d
///         without gaps, to 1e-5, which is added.
/// Error   at most 2^-15 above the sum.
/// Cost    about 6 (order + 11 / log(pi/R)) operations.
template <class T>
[[nodiscard]] T softmax_remainder(int order, const T& range) {
  using std::acos;
  const T ratio = range / T(acos(T(-1)));
  if (!(ratio < T(1))) return infinity<T>;
  if (!(T(0) < ratio)) return T(0);
  const int first = (order > 0 ? order : 0) + 1;
  T power(1), sum(0);
  for (int n = 1;; ++n) {
    power *= ratio;
    if (n < first) continue;
    const T term = T(softmax_coefficient(n)) * power;
    const T rest = term / (1 - ratio);
    if ((3 <= n && !(sum / 32768 < rest)) || n == first + 2000)
      return (sum + rest) * (1 + T(10000) * unit_roundoff<T>)+std::numeric_limits<T>::min();
    sum += term;
  }
}

/// What the Error line below promises.
inline constexpr double sharp_softmax_slack = 4e-3;

/// At least |share - its series|, and the same relative to the share, for every sample of this range,
/// at any range: the largest remainder of e^{ds} / (cosh s - x sinh s) over x and d at s = R/2.
///
/// Edges   zeros for a range of 0; +inf where e^(2R) overflows, and for NaN.
/// Error   at most sharp_softmax_slack above the maximum, up to a range of about 6; from above
///         always.
/// Status  proved.
/// Cost    about 500 to 4000 times (order + 20)^2 operations: 0.1 to 5 ms.
template <class T>
[[nodiscard]] softmax_bound<T> softmax_sharp_remainder(int order, const T& range) {
  using std::acos;
  using std::cos;
  using std::sin;
  if (!(range < T(300)) || range < T(0)) return {};
  if (!(T(0) < range)) return {T(0), T(0)};
  const T pi(acos(T(-1))), s = range / 2, ratio = range / pi, u = unit_roundoff<T>;

  // terms of 1/(cosh s - x sinh s): to the degree where the difference keeps its digits, else more
  const bool tail = ratio < T(0.8);
  int last = order;
  T rest(0);
  if (tail) {
    T power(1);
    for (int n = 0; n < order; ++n) power *= ratio;
    for (T left = power; last < softmax_remainder_terms && power * T(1e-5) < left; ++last)
      left *= ratio;
    rest = T(2.01) * power_tail<T>(last + 1, ratio, 0);
  }
  std::array<T, softmax_remainder_terms + 1> unit;  // s^j / j!
  unit[0] = T(1);
  for (int j = 1; j <= last; ++j) unit[std::size_t(j)] = unit[std::size_t(j) - 1] * s / T(j);
  const T e2 = exp_minus_one(T(2 * s)), sinh = e2 / (2 * exponential(s)), down = exponential(T(-s));
  // cosh s - x sinh s
  const auto denominator = [&](const T& a) {
    const T half = sin(a / 2);
    return T(down + 2 * half * half * sinh);
  };
  // at x = cos a: 1/(cosh s - x sinh s), and the sums over k > m of its terms; the last few kept
  struct row {
    T a = T(-1), full = T(0);
    std::array<T, max_series_order + 1> beyond{};
  };
  std::array<row, 4> rows;
  std::size_t oldest = 0;
  const auto row_at = [&](const T& a) -> const row& {
    for (const row& r : rows) {
      if (!(a < r.a) && !(r.a < a)) return r;
    }
    row& r = rows[oldest++ % rows.size()];
    r.a = a;
    r.full = 1 / denominator(a);
    const T x = cos(a);
    std::array<T, softmax_remainder_terms + 1> p;
    p[0] = T(1);
    for (int n = 1; n <= last; ++n) {
      T even(0), odd(0);
      for (int j = 1; j <= n; j += 2) odd += unit[std::size_t(j)] * p[std::size_t(n - j)];
      for (int j = 2; j <= n; j += 2) even += unit[std::size_t(j)] * p[std::size_t(n - j)];
      p[std::size_t(n)] = x * odd - even;
    }
    T sum = r.full;
    if (!tail) {
      for (int k = 0; k <= order; ++k) r.beyond[std::size_t(k)] = sum -= p[std::size_t(k)];
      return r;
    }
    sum = T(0);
    for (int k = last; k >= 0; --k) {
      if (k <= order) r.beyond[std::size_t(k)] = sum;
      sum += p[std::size_t(k)];
    }
    return r;
  };
  // d = 1 - 2b/pi; sum_{j <= order} (ds)^j / j! beyond[order - j] + (e^{ds} past the order) full
  const auto exponent = [&](const T& b) { return T(s * (1 - 2 * b / pi)); };
  const auto remainder = [&](const T& a, const T& b) {
    const row& r = row_at(a);
    const T t = exponent(b);
    T term(1), sum(0);
    for (int j = 0; j <= order; ++j) {
      sum += term * r.beyond[std::size_t(order - j)];
      term *= t / T(j + 1);
    }
    T high = term;
    for (int j = order + 2; u * absolute(high) < absolute(term) || T(j) < absolute(t); ++j)
      high += term *= t / T(j);
    return T(sum + r.full * high);
  };

  // What bounds the second derivatives: sums of n^i D_n (R/pi)^n over the terms left out and over
  // those taken (Bernstein's inequality: the n-th is a polynomial of degree n in cos a); and of the
  // remainders of lower order, which are the derivatives in d: d/dd remainder_N = s remainder_{N-1}.
  T out[3], in[3], past[3], taken[3];
  for (int i = 0; i < 3; ++i) {
    out[i] = infinity<T>;
    if (ratio < T(1))
      out[i] =
          T(order < 3 ? 5.17 : softmax_coefficient(order + 1)) * power_tail<T>(order + 1, ratio, i);
    past[i] = (order < i ? T(1) : T(0)) + softmax_remainder(order - i, range);
    T power(1);
    in[i] = i == 0 ? T(1) : T(0);
    taken[i] = order < i ? T(0) : T(1);
    for (int n = 1; n <= order; ++n) {
      power *= ratio;
      const T size = T(softmax_coefficient(n)) * power;
      in[i] += size * (i == 0 ? T(1) : i == 1 ? T(n) : T(n) * T(n));
      if (n <= order - i) taken[i] += size;
    }
  }
  const T per_b = T(0.41) * s * s;  // (2 s / pi)^2 of d^2/dd^2 to d^2/db^2
  // on [a, c] x [b, d]; the exact function is largest at (a, b), and (1 - x^2) <= (cosh s - x sinh s)^2
  const auto bends = [&](const T& a, const T& b, const T&, const T&) {
    const T e = exponential(exponent(b)), q = 1 / denominator(a);
    return std::array<T, 2>{min_of(out[2], T(in[2] + e * (2 * sinh * sinh * q + sinh * q * q))),
                            T(per_b * min_of(past[2], T(taken[2] + e * q)))};
  };
  const auto relative_bends = [&](const T& a, const T& b, const T& c, const T& d) {
    const T w = exponential(T(-exponent(d))), v = denominator(c);
    const T full = exponential(exponent(b)) / denominator(a);
    const auto along_a = [&](const T* n) {
      return T(w * (v * n[2] + 2 * sinh * n[1] + sinh * n[0]));
    };
    T along_b(0);
    for (int i = 0; i < 3; ++i) along_b += (i == 1 ? 2 : 1) * min_of(past[i], T(taken[i] + full));
    return std::array<T, 2>{min_of(along_a(out), along_a(in)), T(w * v * per_b * along_b)};
  };
  const T slack = T(sharp_softmax_slack) / 2;
  softmax_bound<T> bound;
  const T lost = T(20 * (last + 10)) * u;
  bound.absolute = largest_on_square<T>(pi, remainder, bends, slack, 20000);
  bound.relative = largest_on_square<T>(
      pi,
      [&](const T& a, const T& b) {
        return T(remainder(a, b) * denominator(a) * exponential(T(-exponent(b))));
      },
      relative_bends, slack, 20000);
  // rounding: of the terms left out where they are summed, of all where they are a difference
  const T size = tail ? T(out[0] * 4) : T(in[0] + exponential(range));
  bound.absolute += rest * exponential(s) + lost * size + std::numeric_limits<T>::min();
  bound.relative +=
      (rest * exponential(s) + lost * size) * exponential(range) + std::numeric_limits<T>::min();
  return bound;
}

}  // namespace cumulus::detail
