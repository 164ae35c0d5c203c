// SPDX-License-Identifier: MIT
//
// The sum of the terms e^{x_i} where nothing but x is given and none of it is NaN or +inf: what most calls are.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/terms.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// The position of the largest element; -1 where a NaN is among them or the largest is not finite.
/// Cost    two reads of x: an ordered comparison with a NaN raises FE_INVALID, so NaN is looked for first.
template <class S>
[[nodiscard]] index_t largest_position(const strided<const S>& x) noexcept {
  bool nan = x.size == 0;
  for (index_t i = 0; i < x.size; ++i) nan |= is_nan(x[i]);
  if (nan) return -1;
  S a = x[0], b = a, c = a, d = a;
  const auto see = [](S& largest, const S& value) {
    if (largest < value) largest = value;
  };
  index_t i = 0;
  for (; i + 4 <= x.size; i += 4) {
    see(a, x[i]);
    see(b, x[i + 1]);
    see(c, x[i + 2]);
    see(d, x[i + 3]);
  }
  for (; i < x.size; ++i) see(a, x[i]);
  const S largest = max_of(max_of(a, b), max_of(c, d));
  if (!is_finite(largest)) return -1;
  for (i = 0; x[i] < largest;) ++i;
  return i;
}

/// sum_i e^{x_i - peak}, and `keep(i, e^{x_i - peak})` for each. Requires finite peak >= x_i, no NaN.
///
/// The rounding error of each addition is added apart, so that one addition is all there is between a term and the next;
/// blocks keep those errors' own sum short. For float, whose terms are double, a block needs none of that.
/// Error   of the sum, to 3 ulp, whatever n.
/// Cost    one read of x, n exp.
/// Source  T. Ogita, S. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, Sum2, block by block.
template <class S, class Keep>
[[nodiscard]] compensated<compute_scalar<S>> plain_exp_sum(const strided<const S>& x,
                                                           const compute_scalar<S>& peak,
                                                           Keep keep) noexcept {
  using T = compute_scalar<S>;
  constexpr index_t block = 1024;
  constexpr bool wider = !std::same_as<S, T>;
  compensated<T> total;
  for (index_t first = 0; first < x.size; first += block) {
    const index_t end = first + block < x.size ? first + block : x.size;
    T high(0), low(0);
    for (index_t i = first; i < end; ++i) {
      if constexpr (wider) {
        const T term = cumulus::detail::exponential(T(T(x[i]) - peak));
        keep(i, term);
        high += term;
      } else {
        const T term = exponential(difference(x[i], peak));
        keep(i, term);
        const compensated<T> sum = two_sum(high, term);
        high = sum.high;
        low += sum.low;
      }
    }
    total += high;
    total += low;
  }
  return total;
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
