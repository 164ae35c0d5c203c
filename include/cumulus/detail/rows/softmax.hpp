// SPDX-License-Identifier: MIT
//
// Softmax and its logarithm from the terms and their sum.
// Layer 1 (rows): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/core/tags.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/vector_rows.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// The entries of a row whose sum is no finite positive number. An entry that has nothing is
/// `nothing`, one that has it all is `all`, one among `parts` equals is `share`: 0, 1 and 1 /
/// parts times the factor, or the logarithms of these without it.
template <class S>
void degenerate_softmax(const terms<S>& t, const exp_sum_result<compute_scalar<S>>& sum,
                        strided<S> out, degenerate policy, bool logarithmic,
                        const compute_scalar<S>& factor = compute_scalar<S>(1)) noexcept {
  using T = compute_scalar<S>;
  const S nothing = logarithmic ? -infinity<S> : S(0), all = logarithmic ? S(0) : S(factor);
  S share = nothing;
  if (policy == degenerate::uniform) {
    index_t parts = 0;
    for (index_t i = 0; i < t.size(); ++i) parts += t.takes_part(i) ? 1 : 0;
    const T count = T(static_cast<double>(parts > 0 ? parts : 1));
    share = S(logarithmic ? T(-logarithm(count)) : factor / count);
  }
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i)) {
      out[i] = nothing;
    } else if (sum.invalid || sum.minus_infinite ||
               (policy == degenerate::ieee && sum.infinite > 0)) {
      out[i] = quiet_nan<S>;
    } else if (sum.infinite == 0) {  // nothing but -inf
      out[i] = policy == degenerate::zero      ? nothing
               : policy == degenerate::uniform ? share
                                               : quiet_nan<S>;
    } else if (t.exponent(i) < infinity<T> && is_finite(t.weight(i))) {
      out[i] = nothing;
    } else {
      out[i] = sum.infinite == 1 ? all : quiet_nan<S>;
    }
  }
}

/// p_i value, p_i = w_i e^{s x_i} / sum; where p_i is near the least number, from e^{s x_i} raised by the
/// range of T and a value lowered by half of it, so that a large value meets all digits of a small share.
template <class S>
[[nodiscard]] compute_scalar<S> share_times(const terms<S>& t, index_t i,
                                            const exp_sum_result<compute_scalar<S>>& sum,
                                            const compute_scalar<S>& total,
                                            const compute_scalar<S>& value) noexcept {
  using T = compute_scalar<S>;
  const T plain = ratio(t, i, sum.peak);
  if constexpr (std::floating_point<T>) {
    constexpr int half = std::numeric_limits<T>::max_exponent / 2;
    if (absolute(plain) < times_power_of_two(std::numeric_limits<T>::min(), 64)) {
      const T share = ratio(t, i, sum.peak, 2 * half) / total;
      return times_power_of_two(T(share * times_power_of_two(value, -half)), -half);
    }
  }
  return plain / total * value;
}

/// Any terms. Cost    two reads of x, n exp for plain rows, whose terms wait in out; else three and 2n.
template <class S>
void softmax_loops(const terms<S>& t, strided<S> out, degenerate policy,
                   const compute_scalar<S>& factor) noexcept {
  using T = compute_scalar<S>;
  constexpr bool roomy =
      std::same_as<S, T> || std::same_as<S, float>;  // for a term between roundings
  if (const index_t p = roomy && t.plain() ? largest_position(t.x) : -1; p >= 0) {
    const auto keep = [&](index_t i, const T& term) { out[i] = S(term); };
    const T whole = plain_exp_sum(t.x, t.exponent(p), keep).value();
    for (index_t i = 0; i < t.size(); ++i) out[i] = S(T(out[i]) / whole);
    return;
  }
  exp_sum_result<T> sum = exp_sum(t);
  if (sum.position >= 0 && sum.finite() && !sum.positive()) sum.invalid = true;
  if (!sum.positive()) return degenerate_softmax(t, sum, out, policy, false, factor);
  const T total = sum.relative();
  for (index_t i = 0; i < t.size(); ++i) {
    const bool zero = !t.takes_part(i) || !(-infinity<T> < t.exponent(i));
    if (zero) {
      out[i] = S(0);
    } else if (t.scaled) {
      out[i] = S(share_times(t, i, sum, total, factor));
    } else {
      out[i] = S(T(ratio(t, i, sum.peak) / total * factor));
    }
  }
}

/// Any terms. Cost    three reads of x, n exp.
template <class S>
void log_softmax_loops(const terms<S>& t, strided<S> out, degenerate policy) noexcept {
  using T = compute_scalar<S>;
  exp_sum_result<T> sum = exp_sum(t);
  if (sum.position >= 0 && sum.finite() && !sum.positive()) sum.invalid = true;
  if (!sum.positive()) return degenerate_softmax(t, sum, out, policy, true);
  const T log_total = sum.log_relative();
  if (t.plain()) {
    for (index_t i = 0; i < t.size(); ++i) {
      const compensated<T> gap = difference(T(t.x[i]), sum.peak.exponent);
      out[i] = S((gap.high - log_total) + gap.low);
    }
    return;
  }
  if (t.weights.data == nullptr) {
    for (index_t i = 0; i < t.size(); ++i) {
      if (!t.takes_part(i)) {
        out[i] = -infinity<S>;
        continue;
      }
      const compensated<T> gap = exponent_gap(t, i, sum.peak);
      out[i] = S((gap.high - log_total) + gap.low);
    }
    return;
  }
  for (index_t i = 0; i < t.size(); ++i) {
    if (!t.takes_part(i) || !(-infinity<T> < t.exponent(i))) {
      out[i] = -infinity<S>;
      continue;
    }
    compensated<T> gap = exponent_gap(t, i, sum.peak);
    if (is_finite(gap.high)) {
      gap += log_weight_gap(t, i, sum.peak);
      gap += T(-log_total);
    }
    out[i] = t.weight(i) < T(0) ? quiet_nan<S> : S(gap.value());
  }
}

/// out_i = e^{x_i} / sum: what a call without options asks. Requires out of x's size, x itself or memory apart from it.
/// Cost    as softmax_row for the rows it takes; others take the loops' two reads of x and n exp, or three and 2n.
template <class S>
void softmax(const strided<const S>& x, const strided<S>& out) noexcept {
  if constexpr (vector_scalar<S>) {
    if (softmax_row(x, out)) return;
  }
  softmax_loops(terms<S>{x}, out, degenerate::limit, compute_scalar<S>(1));
}

/// out_i = factor w_i e^{s x_i} / sum; plain terms take the factor 1. Requires out of x's size, x itself or memory apart from it.
/// Cost    as softmax_row for the rows it takes; others take the loops' two reads of x and n exp, or three and 2n.
template <class S>
void softmax(const terms<S>& t, const strided<S>& out, degenerate policy,
             const compute_scalar<S>& factor) noexcept {
  using T = compute_scalar<S>;
  if constexpr (vector_scalar<S>) {
    const bool scaled_result = factor < T(1) || T(1) < factor || is_nan(factor);
    if (t.plain() && t.threads == 1 && policy == degenerate::limit && !scaled_result)
      return softmax(t.x, out);
    if (!scaled_result && softmax_row(t, out)) return;
  }
  softmax_loops(t, out, policy, factor);
}
template <class S>
void softmax(const terms<S>& t, const strided<S>& out,
             degenerate policy = degenerate::limit) noexcept {
  softmax(t, out, policy, compute_scalar<S>(1));
}

/// out_i = x_i - log sum: what a call without options asks. Requires as softmax.
/// Cost    as log_softmax_row for the rows it takes; others three reads of x and n exp.
template <class S>
void log_softmax(const strided<const S>& x, const strided<S>& out) noexcept {
  if constexpr (vector_scalar<S>) {
    if (log_softmax_row(x, out)) return;
  }
  log_softmax_loops(terms<S>{x}, out, degenerate::limit);
}

/// out_i = log(w_i e^{s x_i} / sum). Requires as softmax.
/// Cost    as log_softmax_row for the rows it takes; others three reads of x and n exp.
template <class S>
void log_softmax(const terms<S>& t, const strided<S>& out,
                 degenerate policy = degenerate::limit) noexcept {
  if constexpr (vector_scalar<S>) {
    if (t.plain() && t.threads == 1 && policy == degenerate::limit) return log_softmax(t.x, out);
    if (log_softmax_row(t, out)) return;
  }
  log_softmax_loops(t, out, policy);
}

#define CUMULUS_SOFTMAX_INSTANCES(Word, S)                                                 \
  Word template void softmax(const terms<S>&, const strided<S>&, degenerate,               \
                             const compute_scalar<S>&) noexcept;                           \
  Word template void softmax(const strided<const S>&, const strided<S>&) noexcept;         \
  Word template void log_softmax(const terms<S>&, const strided<S>&, degenerate) noexcept; \
  Word template void log_softmax(const strided<const S>&, const strided<S>&) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_SOFTMAX_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
