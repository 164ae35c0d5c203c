// SPDX-License-Identifier: MIT
//
// The same expansion about 0 instead of the mean: the terms in raw moments of x, as it is first
// derived on paper.
// Layer 3 (series): uses core and series.
#pragma once

#include <cumulus/series/logsumexp_series.hpp>

namespace cumulus::detail {

/// log n + sum_{k=1}^order kappa_k / k!, the cumulants taken from the raw moments E x^k:
///     log n + E x + (E x^2 - (E x)^2) / 2 + ...
///
/// Equal to the centred series in exact arithmetic, since a shift of x changes kappa_1 alone; here
/// to show it, and to show what the centre is for: its terms cancel from |mean|^k down to the
/// moments about the mean.
///
/// Shape     x: [n], n >= 0; order: 0..max_series_order.
/// Error     estimate::bound: the centred series's, and the distance to it.
/// Cost      two passes; order multiplications an element.
template <real_vector X>
[[nodiscard]] estimate<result_of<X>> logsumexp_series_uncentred(const X& x,
                                                                std::integral auto order) {
  using T = result_of<X>;
  using S = compute_scalar<T>;
  const estimate<T> centred = logsumexp_series(x, order);
  const operand<T> values(x);
  if (values.size() == 0 || !is_finite(centred.value)) return centred;
  const std::size_t size = std::max<std::size_t>(std::size_t(order), 1) + 1;
  std::vector<compensated<S>> sums(size);
  for (index_t i = 0; i < values.size(); ++i) {
    S power(1);
    for (std::size_t k = 0; k < size; ++k) {
      sums[k] += power;
      power *= S(values.view()[i]) / S(int(k) + 1);
    }
  }
  std::vector<S> m(size);
  for (std::size_t k = 0; k < size; ++k) m[k] = sums[k].value() / S(values.size());
  S value(0);
  for (const S& c : series_logarithm(m)) value += c;
  value += logarithm(S(values.size()));
  const S distance = absolute(S(value - S(centred.value)));
  const S bound = (S(centred.bound) + distance) * (1 + 8 * unit_roundoff<S>);
  return rounded<T, S>(value, bound, int(order), centred.kind);
}

}  // namespace cumulus::detail
