// SPDX-License-Identifier: MIT
//
// Raw moments, central moments and cumulants, each from each other.
// Layer 3 (series): uses core.
//
// All are sequences with entry k of order k: raw_k = E x^k and mu_k = E (x - mean)^k with entry 0
// equal to 1 (and mu_1 = 0), kappa_0 = 0 and kappa_1 = mean. Divided by k! they are the
// coefficients of E e^{tx}, E e^{t(x - mean)} and log E e^{tx}, so that every conversion is one
// product, logarithm or exponential of series (A. Stuart, J. K. Ord, Kendall's Advanced Theory of
// Statistics 1, 6th ed. 1994, 3.12-3.14).
#pragma once

#include <cumulus/detail/series/power_series.hpp>
#include <vector>

namespace cumulus::detail {

/// a_k / k!, or a_k k!.
template <coefficients A>
[[nodiscard]] std::vector<coefficient_of<A>> over_factorials(const A& a) {
  std::vector<coefficient_of<A>> out(a.begin(), a.end());
  coefficient_of<A> factorial(1);
  for (std::size_t k = 1; k < out.size(); ++k) out[k] /= factorial *= coefficient_of<A>(int(k));
  return out;
}
template <class T>
[[nodiscard]] std::vector<T> times_factorials(std::vector<T> a) {
  T factorial(1);
  for (std::size_t k = 1; k < a.size(); ++k) a[k] *= factorial *= T(int(k));
  return a;
}

/// The coefficients of e^{ht}.
template <class T>
[[nodiscard]] std::vector<T> exponential_coefficients(std::size_t size, const T& h) {
  std::vector<T> out(size, T(1));
  for (std::size_t k = 1; k < size; ++k) out[k] = out[k - 1] * h / int(k);
  return out;
}

/// mu_k from kappa_k; kappa_1 does not matter.
///
/// Shape   [P + 1] to [P + 1], P >= 0; the same for each function below.
/// Cost    P^2 / 2 multiply-adds and an allocation; the same for each function below.
template <coefficients A>
[[nodiscard]] auto central_from_cumulants(const A& kappa) {
  auto c = over_factorials(kappa);
  if (c.size() > 1) c[1] = coefficient_of<A>(0);
  return times_factorials(series_exponential(c));
}

/// kappa_k from mu_k, with kappa_1 = 0: the mean is not in them.
template <coefficients A>
[[nodiscard]] auto cumulants_from_central(const A& mu) {
  return times_factorials(series_logarithm(over_factorials(mu)));
}

template <coefficients A>
[[nodiscard]] auto cumulants_from_raw(const A& raw) {
  return cumulants_from_central(raw);  // the same logarithm, whatever the origin
}

template <coefficients A>
[[nodiscard]] auto raw_from_cumulants(const A& kappa) {
  return times_factorials(series_exponential(over_factorials(kappa)));
}

/// Moments about the origin from those about the mean: E e^{tx} = e^{mean t} E e^{t(x - mean)}.
template <coefficients A>
[[nodiscard]] auto raw_from_central(const A& mu, const coefficient_of<A>& mean) {
  const auto m = over_factorials(mu);
  return times_factorials(series_product(m, exponential_coefficients(m.size(), mean)));
}

/// Moments about the mean from those about the origin. Cancels where |mean| is large: accumulate
/// central_moments instead.
template <coefficients A>
[[nodiscard]] auto central_from_raw(const A& raw) {
  using T = coefficient_of<A>;
  const auto m = over_factorials(raw);
  const T mean = m.size() > 1 ? m[1] : T(0);
  auto mu = times_factorials(series_product(m, exponential_coefficients(m.size(), T(-mean))));
  if (mu.size() > 1) mu[1] = T(0);
  return mu;
}

}  // namespace cumulus::detail
