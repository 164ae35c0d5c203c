// SPDX-License-Identifier: MIT
//
// Arithmetic of truncated power series: product, reciprocal, logarithm, exponential.
// Layer 3 (series): uses core; cumulants and both series build on it.
//
// A series is the sequence of its coefficients, entry k that of t^k: std::vector, std::array or
// std::span. The scalar is any field: floating-point, a rational, a ball with its rounding bound,
// an autodiff scalar.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <span>
#include <vector>

namespace cumulus::detail {

/// The coefficients of a series: anything with size() and operator[].
template <class A>
concept coefficients = requires(A& a) {
  { a.size() } -> std::convertible_to<std::size_t>;
  a[std::size_t(0)];
};

template <coefficients A>
using coefficient_of = std::remove_cvref_t<decltype(std::declval<A&>()[0])>;

template <coefficients A, class Operation>
[[nodiscard]] std::vector<coefficient_of<A>> returned(const A& a, Operation operation) {
  std::vector<coefficient_of<A>> out(a.size(), coefficient_of<A>(0));
  operation(out);
  return out;
}

/// out = a b, to the order of all three.
///
/// Shape     a, b, out: [P + 1], P >= 0; the same for each function below.
/// Requires  out is neither a nor b.
/// Cost      P^2 / 2 multiply-adds; the same for each function below. The forms that return
///           allocate.
template <coefficients A, coefficients B, coefficients Out>
void series_product(const A& a, const B& b, Out&& out) {
  require_same_size("series_product", "a", index_t(a.size()), "b", index_t(b.size()));
  require_same_size("series_product", "a", index_t(a.size()), "out", index_t(out.size()));
  for (std::size_t k = 0; k < a.size(); ++k) {
    coefficient_of<Out> sum(0);
    for (std::size_t j = 0; j <= k; ++j) sum += a[j] * b[k - j];
    out[k] = sum;
  }
}

/// out = 1 / a for a_0 = 1:  r_0 = 1,  r_k = - sum_{j=1}^k a_j r_{k-j}.
template <coefficients A, coefficients Out>
void series_reciprocal(const A& a, Out&& out) {
  require_same_size("series_reciprocal", "a", index_t(a.size()), "out", index_t(out.size()));
  for (std::size_t k = 0; k < a.size(); ++k) {
    coefficient_of<Out> sum(k == 0 ? 1 : 0);
    for (std::size_t j = 1; j <= k; ++j) sum -= a[j] * out[k - j];
    out[k] = sum;
  }
}

/// a / k; std::complex divides by its own kind only.
template <class T>
[[nodiscard]] T over(const T& a, int k) {
  if constexpr (requires { a / k; }) {
    return T(a / k);
  } else {
    return T(a / T(k));
  }
}

/// out = log a for a_0 = 1. From a = e^c, so a' = c' a:  c_0 = 0,  c_k = a_k - (1/k)
/// sum_{j=1}^{k-1} j c_j a_{k-j}.
template <coefficients A, coefficients Out>
void series_logarithm(const A& a, Out&& out) {
  require_same_size("series_logarithm", "a", index_t(a.size()), "out", index_t(out.size()));
  using T = coefficient_of<Out>;
  for (std::size_t k = 0; k < a.size(); ++k) {
    T sum(0);
    for (std::size_t j = 1; j < k; ++j) sum += T(int(j)) * out[j] * a[k - j];
    out[k] = k == 0 ? T(0) : T(a[k] - over(sum, int(k)));
  }
}

/// out = e^c for c_0 = 0, the same equation solved for a:  a_0 = 1,  a_k = (1/k) sum_{j=1}^k j c_j
/// a_{k-j}.
template <coefficients C, coefficients Out>
void series_exponential(const C& c, Out&& out) {
  require_same_size("series_exponential", "c", index_t(c.size()), "out", index_t(out.size()));
  using T = coefficient_of<Out>;
  for (std::size_t k = 0; k < c.size(); ++k) {
    T sum(0);
    for (std::size_t j = 1; j <= k; ++j) sum += T(int(j)) * c[j] * out[k - j];
    out[k] = k == 0 ? T(1) : T(over(sum, int(k)));
  }
}

template <coefficients A, coefficients B>
[[nodiscard]] auto series_product(const A& a, const B& b) {
  return returned(a, [&](auto& out) { series_product(a, b, out); });
}
template <coefficients A>
[[nodiscard]] auto series_reciprocal(const A& a) {
  return returned(a, [&](auto& out) { series_reciprocal(a, out); });
}
template <coefficients A>
[[nodiscard]] auto series_logarithm(const A& a) {
  return returned(a, [&](auto& out) { series_logarithm(a, out); });
}
template <coefficients C>
[[nodiscard]] auto series_exponential(const C& c) {
  return returned(c, [&](auto& out) { series_exponential(c, out); });
}

}  // namespace cumulus::detail
