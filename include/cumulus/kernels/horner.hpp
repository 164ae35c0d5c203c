// SPDX-License-Identifier: MIT
//
// A polynomial or an exponential of the centred vector, times the weights.
// Layer 1 (kernels): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/kernels/terms.hpp>

namespace cumulus::kernels {

/// out_i = w_i f(y_i), y_i = x_i - mean to 1 ulp; 0 where w_i is 0. Requires out of x's size, x
/// itself or apart from it.
template <class S, class Function>
void map_centred(const terms<S>& t, const compensated<compute_scalar<S>>& mean, strided<S> out,
                 Function f) noexcept {
  for (index_t i = 0; i < t.size(); ++i) {
    out[i] = t.takes_part(i) ? S(t.weight(i) * f((t.exponent(i) - mean.high) - mean.low)) : S(0);
  }
}

/// sum_j a_j y^j, j = 0..order.
template <class T>
[[nodiscard]] T horner(const T* a, int order, const T& y) noexcept {
  T value = a[order];
  for (int j = order; j-- > 0;) value = value * y + a[j];
  return value;
}

}  // namespace cumulus::kernels
