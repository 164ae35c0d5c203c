// SPDX-License-Identifier: MIT
//
// Entropy and concentration of the softmax of a row: by the vector kernels for the rows that they take, else by the loops.
// Layer 1 (rows): unchecked, noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/entropy.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_plan.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// -sum_i p_i log p_i = log(sum of t_i / t_max) - sum_i p_i s (x_i - x_max): both parts are at least 0, so that nothing cancels.
/// False for rows with weights, whose logarithms it would need, with a sink, or that row_plan does not take.
template <class S>
[[nodiscard]] bool planned_entropy([[maybe_unused]] const terms<S>& t,
                                   [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    if (t.weights.data != nullptr || t.has_sink) return false;
    const quiet_flags flags;
    const row_plan<S> plan(t);
    row_room<F> room;
    F* const p = plan.ready() ? room.take(plan.size()) : nullptr;
    if (p != nullptr) {
      const planned_sums<true, S> sums(plan, t, p);
      const row_sums<F>& row = sums.row();
      if (row.raised) flags.restore();
      if (sums.usable()) {
        const row_logarithm log =
            logarithm_of(plan.x(), plan.size(), row, std::same_as<F, float> ? 1.0 : 2.0);
        // the terms themselves are as good as their shares, and not below the normal range, where all have one power
        const bool divides = sums.several_powers();
        if (divides) sums.divide_terms(p);
        const double total = divides ? 1.0 : sums.total().high;
        const double mean =
            best::share_dot_row<F>(p, plan.x(), plan.size(), row.largest).value() / total;
        if (log.usable && is_finite(mean)) {
          result = compute_scalar<S>(log.over_largest - mean * plan.scale());
          return true;
        }
      }
    }
    flags.restore();
  }
#endif
  return false;
}

/// (sum_i p_i)^2 / sum_i p_i^2. False for rows with a sink, or that row_plan does not take.
template <class S>
[[nodiscard]] bool planned_effective_count([[maybe_unused]] const terms<S>& t,
                                           [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    const quiet_flags flags;
    const row_plan<S> plan(t);
    row_room<F> room;
    F* const p = plan.ready() && !t.has_sink ? room.take(plan.size()) : nullptr;
    if (p != nullptr) {
      const planned_sums<true, S> sums(plan, t, p);
      if (sums.row().raised) flags.restore();
      if (sums.usable()) {
        // over the largest, so that equal terms are ones
        if (sums.several_powers()) sums.divide_terms(p);
        best::divide_row<F, true>(p, plan.size(),
                                  {double(best::row_largest<F>(p, plan.size())), 0.0});
        const double shares = best::dot_row<F>(nullptr, p, plan.size(), F(0)).value(),
                     squares = best::dot_row<F>(p, p, plan.size(), F(0)).value();
        result = compute_scalar<S>(shares * (shares / squares));
        if (is_finite(result)) return true;
      }
    }
    flags.restore();
  }
#endif
  return false;
}

/// -sum_i p_i log p_i, p the softmax
template <class S>
[[nodiscard]] compute_scalar<S> entropy_of(const terms<S>& t) noexcept {
  compute_scalar<S> result(0);
  return planned_entropy(t, result) ? result : entropy(t);
}

/// How many equal shares are as concentrated: 1 / sum_i p_i^2
template <class S>
[[nodiscard]] compute_scalar<S> effective_count_of(const terms<S>& t) noexcept {
  compute_scalar<S> result(0);
  return planned_effective_count(t, result) ? result : effective_count(t);
}

#define CUMULUS_ENTROPY_INSTANCES(Word, S)                              \
  Word template compute_scalar<S> entropy_of(const terms<S>&) noexcept; \
  Word template compute_scalar<S> effective_count_of(const terms<S>&) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_ENTROPY_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
