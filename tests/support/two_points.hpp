// SPDX-License-Identifier: MIT
//
// The laws of two points, of which every remainder is a mixture, in the arithmetic of the caller.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace oracle {

/// int_0^s of 1 / (coth s - x), and its Taylor polynomial of an order, by the quadratic recurrence
/// (m + 1) k_{m+1} = 2x k_m - (1 - x^2) sum k_i k_j.
template <class T>
[[nodiscard]] T two_point_remainder(int order, const T& s, const T& x) {
  using std::cosh;
  using std::exp;
  using std::log;
  using std::sinh;
  T whole;
  if (x == T(1))
    whole = (exp(2 * s) - 1 - 2 * s) / 4;
  else if (x == T(-1))
    whole = (exp(-2 * s) - 1 + 2 * s) / 4;
  else
    whole = (log(cosh(s) - x * sinh(s)) + x * s) / (1 - x * x);
  std::vector<T> k(static_cast<std::size_t>(std::max(order, 1)) + 1, T(0));
  k[1] = T(1);
  T power = s;
  for (std::size_t m = 1; m + 1 < k.size(); ++m) {
    whole -= k[m] * (power *= s) / T(int(m) + 1);
    T sum(0);
    for (std::size_t i = 1; i < m; ++i) sum += k[i] * k[m - i];
    k[m + 1] = (2 * x * k[m] - (1 - x * x) * sum) / T(int(m) + 1);
  }
  return whole;
}

/// The terms of e^{ds} / (cosh s - x sinh s) of degree above `order` in s: those to degree `order` +
/// `more` added up, smallest first.
template <class T>
[[nodiscard]] T two_point_softmax_remainder(int order, const T& s, const T& x, const T& d,
                                            int more) {
  const std::size_t size = static_cast<std::size_t>(order + more) + 1;
  std::vector<T> unit(size, T(1)), p(size, T(0)), term(size, T(0));
  for (std::size_t j = 1; j < size; ++j) unit[j] = unit[j - 1] * s / T(int(j));
  p[0] = T(1);
  for (std::size_t n = 1; n < size; ++n)
    for (std::size_t j = 1; j <= n; ++j)
      p[n] += (j % 2 == 1 ? T(x * unit[j]) : T(-unit[j])) * p[n - j];
  T sum(0);
  for (std::size_t n = size; n-- > static_cast<std::size_t>(order) + 1;) {
    T power(1), coefficient(0);
    for (std::size_t j = 0; j <= n; ++j, power *= d) coefficient += power * unit[j] * p[n - j];
    sum += coefficient;
  }
  return sum;
}

}  // namespace oracle
