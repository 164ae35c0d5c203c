// SPDX-License-Identifier: MIT
//
// A polynomial or an exponential of the centred vector, times the weights.
// Layer 1 (rows): portable loops, vector kernels for plain rows; unchecked, noexcept; allocates for strided rows of more
// than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/rows/row_copy.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

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

/// out_i = w_i sum_j a_j y_i^j, y_i as map_centred's; unweighted rows of float and double by the vector kernels, in double.
template <class S>
void map_polynomial(const terms<S>& t, const compensated<compute_scalar<S>>& mean,
                    const compute_scalar<S>* a, int order, strided<S> out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (std::same_as<S, float> || std::same_as<S, double>) {
    if (t.plain() && t.size() > 0) {
      if (lies_ready(t.x) && (out.stride == 1 || out.size == 1))
        return best::horner_row<S>(t.x.data, out.data, t.size(), mean, a, order);
      row_copy<S> row(t.x);
      if (S* const y = row.data(); y != nullptr) {
        best::horner_row<S>(y, y, t.size(), mean, a, order);
        return copy_row(static_cast<const S*>(y), out);
      }
    }
  }
#endif
  using T = compute_scalar<S>;
  map_centred(t, mean, out, [&](const T& y) { return T(horner(a, order, y)); });
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
