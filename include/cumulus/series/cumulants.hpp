// SPDX-License-Identifier: MIT
//
// The cumulants of a sample.
// Layer 3 (series): uses core and moments.
#pragma once

#include <cumulus/detail/series/conversions.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <vector>

namespace cumulus {

/// kappa_0..kappa_P of a sample of order P: [P + 1], kappa_0 = 0, kappa_1 = mean, kappa_2 =
/// variance, ...
///
/// Units   kappa_k in x^k.
/// Error   that of moment(k), and the cancellation of the sum; neither for constant data.
template <moments_like M>
[[nodiscard]] std::vector<typename M::scalar> cumulants(const M& moments) {
  using T = typename M::scalar;
  const auto wide = detail::wide(moments);
  using S = typename decltype(wide)::scalar;
  std::vector<S> mu(static_cast<std::size_t>(moments.order()) + 1);
  for (int k = 0; k <= moments.order(); ++k) mu[std::size_t(k)] = k == 1 ? S(0) : wide.moment(k);
  std::vector<S> kappa = detail::cumulants_from_central(mu);
  if (kappa.size() > 1) kappa[1] = wide.mean();
  std::vector<T> out(kappa.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = T(kappa[k]);
  return out;
}

}  // namespace cumulus
