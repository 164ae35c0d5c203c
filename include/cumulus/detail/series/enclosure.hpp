// SPDX-License-Identifier: MIT
//
// The interval that moments and a range leave to log E e^y, by the Gauss rules of those moments.
// Layer 3 (series): uses core; logsumexp_series builds on it.
//
// A polynomial q that meets e^y at given nodes, twice at each but for an end of the range, lies on
// one side of it: e^y - q(y) = e^xi / n! prod (y - node), a square times (y - min) >= 0, (y - max) <=
// 0, or both. So E q, which the moments give, bounds E e^y from that side whatever the nodes are. The
// nearest such bound has the nodes of the Gauss rule of the moments (odd order, from below), of the
// Gauss-Radau rules with an end (even order: min below, max above) and of the Gauss-Lobatto rule with
// both (odd order, above): M. G. Krein, A. A. Nudelman, The Markov Moment Problem and Extremal
// Problems, 1977, ch. III. Their free nodes are those of the Gauss rule of (y - min) dF, (max - y) dF,
// (y - min)(max - y) dF. Rounding thus costs sharpness and never the bound: where the moments are too
// nearly those of fewer points, fewer nodes are taken.
#pragma once

#include <cumulus/detail/series/ball.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cumulus/series/form.hpp>

namespace cumulus::detail {

inline constexpr int max_gauss_nodes = 33;

/// The eigenvalues of the symmetric tridiagonal matrix of `diagonal` and `beside`, in place, by
/// implicit QL steps. Requires beside[size - 1] to exist. Source  J. H. Wilkinson, C. Reinsch,
/// Linear Algebra, 1971, II/4.
template <class T>
void tridiagonal_eigenvalues(T* diagonal, T* beside, int size) {
  beside[size - 1] = T(0);
  for (int l = 0; l < size; ++l) {
    for (int round = 0; round < 60; ++round) {
      int m = l;
      for (; m < size - 1; ++m) {
        const T scale = absolute(diagonal[m]) + absolute(diagonal[m + 1]);
        if (!(unit_roundoff<T> * scale < absolute(beside[m]))) break;
      }
      if (m == l) break;
      T g = (diagonal[l + 1] - diagonal[l]) / (2 * beside[l]);
      T r = square_root(T(g * g + 1));
      g = diagonal[m] - diagonal[l] + beside[l] / (g + (g < T(0) ? T(-r) : r));
      T s(1), c(1), p(0);
      int i = m - 1;
      for (; i >= l; --i) {
        const T f = s * beside[i], b = c * beside[i];
        r = square_root(T(f * f + g * g));
        beside[i + 1] = r;
        if (!(T(0) < r)) break;
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        r = (diagonal[i] - g) * s + 2 * c * b;
        p = s * r;
        diagonal[i + 1] = g + p;
        g = c * r - b;
      }
      if (i >= l) {
        diagonal[i + 1] -= p;
        beside[m] = T(0);
        continue;
      }
      diagonal[l] -= p;
      beside[l] = g;
      beside[m] = T(0);
    }
  }
}

/// The nodes of the Gauss rule of the moments s_0 .. s_{2 wanted - 1}: as many as they have digits
/// for. Chebyshev's algorithm, then the eigenvalues of the Jacobi matrix.
template <class T>
[[nodiscard]] int gauss_nodes(const T* s, int wanted, T* nodes) {
  if (wanted < 1 || !(T(0) < s[0])) return 0;
  std::array<T, 2 * max_gauss_nodes> above, here;
  std::array<T, max_gauss_nodes> beside;
  for (int l = 0; l < 2 * wanted; ++l) {
    above[std::size_t(l)] = T(0);
    here[std::size_t(l)] = s[l];
  }
  nodes[0] = s[1] / s[0];
  T beta(0);
  int found = 1;
  for (int k = 1; k < wanted; ++k) {
    const T before = here[std::size_t(k)] / here[std::size_t(k) - 1];
    const T last = here[std::size_t(k) - 1];
    for (int l = k; l < 2 * wanted - k; ++l) {
      const std::size_t i = std::size_t(l);
      const T next = here[i + 1] - nodes[k - 1] * here[i] - beta * above[i];
      above[i] = here[i];
      here[i] = next;
    }
    beta = here[std::size_t(k)] / last;
    if (!(256 * unit_roundoff<T> < beta) || !(beta < infinity<T>)) break;
    nodes[k] = here[std::size_t(k) + 1] / here[std::size_t(k)] - before;
    beside[std::size_t(k) - 1] = square_root(beta);
    ++found;
  }
  tridiagonal_eigenvalues(nodes, beside.data(), found);
  return found;
}

/// log E e^y by the polynomial that meets e^y at nodes[0..count - 1]: in units of h, `low` taken off,
/// none below 0, each as often as it is listed. z: E (y/h)^k; low = min y / h.
template <class T>
[[nodiscard]] interval<T> log_of_interpolation(const ball<T>* z, const T& h, const T& low,
                                               const T* nodes, int count) {
  // divided differences of e^{hv}: sum_n h^n / n! (complete symmetric sums of degree n - k), positive
  std::array<T, 2 * max_gauss_nodes> d{}, term{};
  term[0] = d[0] = T(1);
  int n = 1;
  for (bool more = true; more; ++n) {
    more = n < count;
    for (int k = count - 1; k >= 0; --k) {
      const std::size_t i = std::size_t(k);
      term[i] = h / T(n) * (nodes[k] * term[i] + (k > 0 ? term[i - 1] : T(0)));
      d[i] += term[i];
      more = more || unit_roundoff<T> * d[i] < 4 * term[i];
    }
    if (20000 < n) return {quiet_nan<T>, quiet_nan<T>};
  }
  // E prod (y/h - node) from the moments, one factor after another
  std::array<ball<T>, 2 * max_gauss_nodes> s;
  for (int i = 0; i < count; ++i) s[std::size_t(i)] = z[i];
  ball<T> sum(T(0));
  for (int k = 0; k < count; ++k) {
    const T value = d[std::size_t(k)];
    sum += ball<T>(value, T(4 * (n + k) * unit_roundoff<T> * value)) * s[0];
    const T node = nodes[k] + low;
    const ball<T> factor(node, T(8 * unit_roundoff<T> * (absolute(low) + nodes[k])));
    for (int i = 0; i + k + 1 < count; ++i)
      s[std::size_t(i)] = s[std::size_t(i) + 1] - factor * s[std::size_t(i)];
  }
  const T base = low * h, lowest = sum.middle - sum.radius;
  const T lower = T(0) < lowest ? T(base + logarithm(lowest)) : T(-infinity<T>);
  const T upper = base + logarithm(T(sum.middle + sum.radius));
  const T slip = 8 * unit_roundoff<T> * (absolute(base) + absolute(upper) + 1);
  return {T(lower - slip), T(upper + slip)};
}

/// An interval that contains K = log E e^y, the sharpest for these moments on [low, high] but for
/// rounding.
///
/// Shape     m: m_0..m_order as balls, order >= 1; low <= 0 <= high: min y and max y to 1 ulp; range
///           = high - low.
/// Edges     NaN, which says nothing, where the powers or e^range overflow.
/// Error     none: rounding widens it.
/// Cost      about order^2 (order/8 + 30) operations; no allocation.
template <class T, class Moments>
[[nodiscard]] interval<T> quadrature_enclosure(const Moments& m, int order, const T& low,
                                               const T& high, const T& range) {
  const interval<T> nothing{quiet_nan<T>, quiet_nan<T>};
  const T u = unit_roundoff<T>, h = range / 2;
  if (order < 1 || !(T(0) < h) || !(range < T(600))) return nothing;
  const T margin = 8 * u * (1 + max_of(T(-low), high) / h);
  const T first = low / h - margin, last = high / h + margin, length = last - first;

  std::array<ball<T>, max_series_order + 1> z;  // E (y/h)^k, while h^k fits
  int held = 0;
  T unit(1);
  for (int k = 0; k <= order; ++k) {
    z[std::size_t(k)] = m[std::size_t(k)] / unit;
    z[std::size_t(k)].radius += T(2 * k) * u * absolute(z[std::size_t(k)].middle);
    if (k < 2) z[std::size_t(k)].radius = T(0);
    if (!is_finite(z[std::size_t(k)].middle) || !(std::numeric_limits<T>::min() / u < unit)) break;
    held = k;
    unit *= h / T(k + 1);
  }
  if (held < 1) return nothing;

  std::array<T, max_series_order + 1> s, below, inside;
  for (int k = 0; k <= held; ++k) s[std::size_t(k)] = z[std::size_t(k)].middle;
  const auto times = [](const auto& from, int size, const T& end, const T& sign, auto& to) {
    for (std::size_t k = 0; k + 1 < std::size_t(size); ++k)
      to[k] = sign * (from[k + 1] - end * from[k]);
  };
  interval<T> result{T(-infinity<T>), infinity<T>};
  std::array<T, max_gauss_nodes> free;
  std::array<T, 2 * max_gauss_nodes> nodes;
  const auto meet = [&](bool at_low, bool at_high, int found) {
    int count = 0;
    if (at_low) nodes[std::size_t(count++)] = T(0);
    if (at_high) nodes[std::size_t(count++)] = length;
    for (int i = 0; i < found; ++i) {
      T v = free[std::size_t(i)] - first;
      v = v < T(0) ? T(0) : length < v ? length : v;
      nodes[std::size_t(count++)] = v;
      nodes[std::size_t(count++)] = v;
    }
    const interval<T> k = log_of_interpolation(z.data(), h, first, nodes.data(), count);
    if (at_high)
      result.meet({T(-infinity<T>), k.upper});
    else
      result.meet({k.lower, infinity<T>});
  };
  if (held % 2 == 1) {
    meet(false, false, gauss_nodes(s.data(), (held + 1) / 2, free.data()));
    times(s, held + 1, first, T(1), below);
    times(below, held, last, T(-1), inside);
    meet(true, true, gauss_nodes(inside.data(), (held - 1) / 2, free.data()));
  } else {
    times(s, held + 1, first, T(1), below);
    meet(true, false, gauss_nodes(below.data(), held / 2, free.data()));
    times(s, held + 1, last, T(-1), below);
    meet(false, true, gauss_nodes(below.data(), held / 2, free.data()));
  }
  return result;
}

}  // namespace cumulus::detail
