// SPDX-License-Identifier: MIT
//
// The sum of the terms w_i e^{s x_i} of either sign: in the scalar itself, with a bound that tells
// whether that is enough.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/core/signed_log.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// The error of log_abs is at most `error`; the sign is certain where that is finite.
template <class T>
struct signed_sum {
  signed_log<T> value;
  T error = T(0);
};

/// log |sum| and its sign, with a bound.
///
/// Error   each ratio to the peak is off by at most 9 u, log, log1p and exp taken to be within an
///         ulp and a half; so log |1 + rest| by 9 u sum |ratios| / |1 + rest|.
/// Cost    two reads of x and n exp; three and 2n where a weight is negative.
template <class S>
[[nodiscard]] signed_sum<compute_scalar<S>> signed_exp_sum(const terms<S>& t) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  if (sum.invalid || (sum.infinite > 0 && sum.minus_infinite))
    return {{quiet_nan<T>, quiet_nan<T>}};
  if (!sum.finite()) return {{infinity<T>, sum.minus_infinite ? T(-1) : T(1)}};
  if (sum.position < 0) return {{-infinity<T>, T(0)}};

  const T rest = sum.rest.value();
  T sizes = rest;
  bool one_sign = T(0) < sum.peak.weight;
  for (index_t i = 0; i < t.size() && one_sign; ++i)
    one_sign = !(t.takes_part(i) && t.weight(i) < T(0));
  if (!one_sign) {
    sizes = T(0);
    for (index_t i = 0; i < t.count(); ++i) {
      if (i != sum.position && t.takes_part(i) && -infinity<T> < t.exponent(i))
        sizes += absolute(ratio(t, i, sum.peak));
    }
  }
  const T exponent = T(t.scale * sum.peak.exponent), log_weight = sum.peak.log_weight;
  if (is_nan(T(exponent + rest))) return {{quiet_nan<T>, quiet_nan<T>}};
  if (!(rest < T(-1) || T(-1) < rest)) return {{-infinity<T>, T(0)}, infinity<T>};
  const bool positive = (T(0) < sum.peak.weight) == (T(-1) < rest);
  const T log_rest = T(-1) < rest ? log_one_plus(rest) : logarithm(T(-1 - rest));
  const T value = (exponent + log_weight) + log_rest;
  const T cancelled = T(9) * sizes / absolute(T(1 + rest));
  const T rounded = T(2) * (absolute(log_rest) + absolute(log_weight)) +
                    absolute(T(exponent + log_weight)) + absolute(value) +
                    (t.scaled ? absolute(exponent) : T(0));
  const bool certain = cancelled * unit_roundoff<T> < T(1) / 4;
  return {{value, positive ? T(1) : T(-1)},
          certain ? T(unit_roundoff<T> * (cancelled + rounded)) : infinity<T>};
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
