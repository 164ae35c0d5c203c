// SPDX-License-Identifier: MIT
//
// A logsumexp within a tolerance: the order and the form that reach it, or parts of the sample that do.
// Layer 3 (series): uses core, exact and moments; logsumexp_series builds on it.
//
// Where no order will do, the sample is cut by value into groups narrow enough for one, and the groups'
// values v_g are added as log sum e^{v_g}. With p_g = e^{v_g - v} and errors up to b_g the sum is off by
// at most log sum p_g e^{b_g} (upwards; downwards - log sum p_g e^{-b_g}, which Jensen's inequality puts
// below sum p_g b_g and so below that).
#pragma once

#include <cumulus/detail/series/least_order.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <algorithm>
#include <utility>
#include <vector>

namespace cumulus::detail {

/// Orders up to this are tried on the whole sample before it is cut.
inline constexpr int adaptive_order = 32;

/// What truncation may be: half the tolerance, and not below what rounding hides.
template <class S>
[[nodiscard]] S truncation_target(double tolerance) {
  return max_of(S(S(tolerance) / 2), S(4 * unit_roundoff<S>));
}

/// The best of what the moments give, from the cheapest form that suffices.
template <class T, class M>
[[nodiscard]] estimate<T> expand_within(const M& moments, double tolerance) {
  using S = typename M::scalar;
  const int held = std::max(1, std::min(moments.order(), max_series_order));
  const S range = moments.max() - moments.min(), target = truncation_target<S>(tolerance);
  int order = 1;
  while (order < held && target < chebyshev_remainder(order, range)) ++order;
  estimate<T> best = expand<T>(moments, order, form::automatic);
  for (const form f : {form::chebyshev, form::enclosure, form::taylor}) {
    if (best.bound <= T(tolerance)) break;
    const estimate<T> other = expand<T>(moments, held, f, true);
    if (other.bound < best.bound) best = other;
  }
  return best;
}

/// log sum w e^x by groups of the sample; x and w finite.
template <class T, class X, class W>
[[nodiscard]] estimate<T> expand_groups(const strided<const X>& x, const strided<const W>& weights,
                                        double tolerance) {
  using S = compute_scalar<T>;
  const S target = truncation_target<S>(tolerance);
  int order = 16;
  while (order < max_series_order && target < chebyshev_remainder(order, S(1))) order += 8;
  S width(16);
  while (S(1) < width && target < chebyshev_remainder(order, width)) width = width * 7 / 8;

  std::vector<std::pair<S, S>> sorted;
  for (index_t i = 0; i < x.size; ++i) {
    const S w = weights.data == nullptr ? S(1) : S(weights[i]);
    if (S(0) < w) sorted.emplace_back(S(x[i]), w);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<S> values, bounds, part, part_weights;
  for (std::size_t first = 0; first < sorted.size();) {
    part.clear();
    part_weights.clear();
    const S limit = sorted[first].first + width;
    for (; first < sorted.size() && (part.empty() || sorted[first].first <= limit); ++first) {
      part.push_back(sorted[first].first);
      part_weights.push_back(sorted[first].second);
    }
    const auto m =
        moments_of<dynamic>(strided<const S>{part.data(), index_t(part.size()), 1},
                            strided<const S>{part_weights.data(), index_t(part.size()), 1}, order);
    const estimate<S> e = expand<S>(detail::wide(m), order, form::automatic);
    values.push_back(e.value);
    bounds.push_back(e.bound);
  }
  const S value = logsumexp(values);
  S excess(0), largest(0);
  for (std::size_t g = 0; g < values.size(); ++g) {
    excess += exponential(S(values[g] - value)) * exp_minus_one(bounds[g]);
    largest = max_of(largest, absolute(values[g]));
  }
  const S u = unit_roundoff<S>;
  const S bound = log_one_plus(S(excess * (1 + S(int(values.size()) + 16) * u))) +
                  S(logsumexp_max_ulp + 2) * 2 * u * (1 + largest + absolute(value));
  return rounded<T, S>(value, bound, order, bound_kind::groups, form::chebyshev);
}

/// A vector's logsumexp within the tolerance, or as near as its scalar allows. Requires finite x and
/// weights; m: its moments of order 2 or more.
template <class T, class M, class X, class W>
[[nodiscard]] estimate<T> expand_within(const M& m, const strided<const X>& x,
                                        const strided<const W>& weights, double tolerance) {
  using S = compute_scalar<T>;
  const S range = S(detail::wide(m).max()) - S(detail::wide(m).min());
  const S target = truncation_target<S>(tolerance);
  estimate<T> best{T(0), infinity<T>};
  for (int order = 2; order <= adaptive_order; order += 2) {
    if (target < chebyshev_remainder(order, range)) continue;
    best = expand<T>(detail::wide(moments_of<dynamic>(x, weights, order)), order, form::automatic);
    break;
  }
  if (best.bound <= T(tolerance) || (is_finite(best.bound) && range < S(2))) return best;
  const estimate<T> cut = expand_groups<T>(x, weights, tolerance);
  return best.bound <= cut.bound ? best : cut;
}

}  // namespace cumulus::detail
