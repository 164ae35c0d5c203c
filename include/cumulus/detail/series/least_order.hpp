// SPDX-License-Identifier: MIT
//
// The least order that reaches a tolerance.
// Layer 3 (series): uses core and moments.
#pragma once

#include <cumulus/detail/series/expansion.hpp>
#include <optional>

namespace cumulus::detail {

/// How far the form of this order can be for any sample of this range and variance.
template <class T>
[[nodiscard]] T truncation_of(form f, int order, const T& range, const T& variance) {
  const T cumulants = logsumexp_remainder(order, range, variance);
  if (f == form::taylor || f == form::normaliser) return cumulants;
  const T polynomial = chebyshev_remainder(order, range);
  return f == form::chebyshev ? polynomial : min_of(cumulants, polynomial);
}

/// The least order whose truncation is at most the tolerance for every sample of this range (and
/// variance); none where no order up to max_series_order is known to.
///
/// Shape     form: taylor (or normaliser), chebyshev, or automatic, the nearer of both.
/// Edges     a tolerance that is not above 0, and other forms, are refused.
/// Error     rounding is not in it.
/// Source    logsumexp_remainder, chebyshev_remainder.
template <class T>
  requires(std::numeric_limits<T>::is_specialized)
[[nodiscard]] std::optional<int> least_order(const std::type_identity_t<T>& tolerance,
                                             const T& range,
                                             const std::type_identity_t<T>& variance = infinity<T>,
                                             form f = form::taylor) {
  require_tolerance("least_order", tolerance);
  if (f == form::moment || f == form::enclosure)
    refuse({"least_order: form ", name_of(f),
            " has no bound from the range; give form taylor, chebyshev or automatic"});
  for (int order = 1; order <= max_series_order; ++order) {
    if (truncation_of<T>(f, order, range, variance) <= tolerance) return order;
  }
  return std::nullopt;
}

/// The least order, of those that the moments hold, whose estimate has a bound within the tolerance,
/// rounding included.
template <moments_like M>
[[nodiscard]] std::optional<int> least_order(const typename M::scalar& tolerance, const M& moments,
                                             form f = form::taylor) {
  require_tolerance("least_order", tolerance);
  const auto wide = detail::wide(moments);
  for (int order = 1; order <= std::max(1, std::min(moments.order(), max_series_order)); ++order) {
    if (expand<typename M::scalar>(wide, order, f).bound <= tolerance) return order;
  }
  return std::nullopt;
}

}  // namespace cumulus::detail
