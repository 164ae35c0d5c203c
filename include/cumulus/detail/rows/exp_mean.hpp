// SPDX-License-Identifier: MIT
//
// The logarithm of the mean of a row's terms: by the vector kernels for the rows that they take, else by the loops.
// Layer 1 (rows): unchecked, noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_mean.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_plan.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

#if CUMULUS_VECTORS && CUMULUS_BODIES

/// The error of a log of a mean is stated relative to the larger of |result| and the mean of |x|. Where that is 2 or more, or 1 in
/// rows so long that the errors of terms average out, the log of the quotient of two sums keeps it.
template <class S>
[[nodiscard]] bool log_of_quotient(const row_plan<S>& plan, const terms<S>& t,
                                   compute_scalar<S>& result) noexcept {
  using F = row_scalar<S>;
  const planned_sums<false, S> sums(plan, t, nullptr);
  const row_sums<F>& row = sums.row();
  if (!sums.usable() || row.shift < F(0) || F(0) < row.shift) return false;
  const index_t n = plan.size();
  compensated<double> weight{double(n), 0.0};
  if (plan.weighted()) {
    // (of double; of float the products of sum_row are summed in double)
    weight = best::dot_row<F>(nullptr, plan.weights().w, n, F(0));
    weight = times_power_of_two(weight, int(-plan.weight_power()));
  } else if (t.mask.data != nullptr) {
    weight = {0.0, 0.0};
    for (index_t i = 0; i < n; ++i) weight.high += t.mask[i] ? 1 : 0;
  }
  const compensated<double> mean = quotient_pair(sums.total(), weight);
  const compensated<double> log = logarithm_of<F>(mean, row.power);
  result = compute_scalar<S>(log.value());
  const double enough = n < 256 ? 2 : 1;
  if (log.high <= -enough || enough <= log.high) return true;
  return !plan.weighted() && t.mask.data == nullptr &&
         best::absolute_sum<F>(plan.x(), n) * plan.scale() >= enough * double(n);
}

/// Where all x lie within `most` <= 4 of their mean: mean x + log1p(mean of e^y - 1 - y), y = x - mean x, by the series of e^y, as
/// the loops have it.
template <class S>
[[nodiscard]] bool log_by_excess(const row_plan<S>& plan, const terms<S>& t, double most,
                                 compute_scalar<S>& result) noexcept {
  using F = row_scalar<S>;
  if (t.scaled || plan.weighted() || t.mask.data != nullptr) return false;
  const index_t n = plan.size();
  const compensated<double> count{double(n), 0.0};
  const compensated<double> mean =
      quotient_pair(best::dot_row<F>(nullptr, plan.x(), n, F(0)), count);
  const double above = double(best::row_largest<F>(plan.x(), n)) - mean.high,
               below = mean.high - double(best::row_smallest<F>(plan.x(), n));
  const double far = above < below ? below : above;
  row_room<F> room;
  F* const y = far <= most ? room.take(n) : nullptr;
  if (y == nullptr) return false;
  constexpr int most_terms = 40;
  double coefficients[most_terms + 1] = {0, 0};
  int order = 1;
  // until a term is 2^-58 of y^2/2
  for (double factor = 1, size = 1; order < most_terms && (order < 3 || 0x1p-58 < size);) {
    ++order;
    factor /= order;
    if (order > 2) size *= far / order;
    coefficients[order] = factor;
  }
  best::horner_row<F>(plan.x(), y, n, mean, coefficients, order);
  const double excess = quotient_pair(best::dot_row<F>(nullptr, y, n, F(0)), count).value();
  result = compute_scalar<S>(mean.high + (log_one_plus(excess) + mean.low));
  return is_finite(result);
}

#endif

template <class S>
[[nodiscard]] bool planned_log_mean([[maybe_unused]] const terms<S>& t,
                                    [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    const quiet_flags flags;
    const row_plan<S> plan(t);
    // (without fused multiply-adds the series rounds too much beyond 1)
    const bool done =
        plan.ready() && (log_by_excess(plan, t, 1, result) || log_of_quotient(plan, t, result) ||
                         (active_isa_level() > 0 && log_by_excess(plan, t, 4, result)));
    flags.restore();
    return done;
  }
#endif
  return false;
}

/// log((sum_i w_i e^{s x_i}) / sum_i w_i)
template <class S>
[[nodiscard]] compute_scalar<S> log_mean_of(const terms<S>& t) noexcept {
  compute_scalar<S> result(0);
  return planned_log_mean(t, result) ? result : log_mean(t);
}

#define CUMULUS_EXP_MEAN_INSTANCES(Word, S) \
  Word template compute_scalar<S> log_mean_of(const terms<S>&) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_EXP_MEAN_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
