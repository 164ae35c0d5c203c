// SPDX-License-Identifier: MIT
//
// How far the log-sum-exp of a truncated row can be from the exact one, from its moments and the reach of its scores.
// Layer 5 (attention): uses core and series.
#pragma once

#include <cumulus/core/estimate.hpp>
#include <cumulus/detail/attention/truncated_row.hpp>
#include <cumulus/detail/series/remainder.hpp>

namespace cumulus::detail {

template <class C>
struct truncation_gap {
  C bound;
  bound_kind kind;
};

/// |log(mass e^base) - log sum e^u| for scores |u| <= reach about the reference, whose sums b_0, b_1 about it and sums
/// central_j = sum y^j / j! about their mean have relative errors of some u.
///
/// Requires order >= 1, and b_0 and mass above 0.
/// Source   series/remainder.hpp: the bracket of the even moments; for form::taylor and a range below pi the tail of the series.
template <class Row, class C>
[[nodiscard]] truncation_gap<C> truncation_bound(const Row& row, int order, form f, const C& reach,
                                                 const C& u) {
  const C mean = row.b[1] / row.b[0];
  const C low = min_of(C(-reach - mean), C(0)), high = max_of(C(reach - mean), C(0));
  std::array<ball<C>, truncated_row<C>::room> m{};
  // about the mean, wherever they are about
  const C off = row.central[1] / row.b[0];
  for (int j = 0; j <= order; ++j) {
    C sum(0), size(0), factor(1);
    for (int l = j; l >= 0; --l) {
      const C term = factor * row.central[std::size_t(l)] / row.b[0];
      sum += term;
      size += absolute(term);
      factor *= -off / C(j - l + 1);
    }
    m[std::size_t(j)] = {j == 1 ? C(0) : sum, C(size * C(64) * u)};
  }
  const interval<C> k = logsumexp_enclosure<C>(m, order, low, high, C(high - low));
  const C value = row.base + logarithm(C(row.mass / row.b[0])) - mean;
  truncation_gap<C> out{max_of(absolute(C(k.upper - value)), absolute(C(value - k.lower))),
                        bound_kind::bracket};
  if (f == form::taylor && order > 1) {
    const C remainder = logsumexp_remainder<C>(order, C(high - low), C(C(2) * m[2].middle)) +
                        absolute(row.cut);  // the remainder is that of the series
    if (remainder < out.bound) out = {remainder, bound_kind::remainder};
  }
  return out;
}

}  // namespace cumulus::detail
