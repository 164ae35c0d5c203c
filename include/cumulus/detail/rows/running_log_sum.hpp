// SPDX-License-Identifier: MIT
//
// The logarithms of the running sums of a row: by the vector kernels for the rows that they take, else by the loops.
// Layer 1 (rows): unchecked, noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/running_exp_sum.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_plan.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// False, and nothing written, for rows with weights or a sink, and for rows whose first term is so far below the largest that the
/// first sums would lose digits.
template <class S>
[[nodiscard]] bool planned_running_log_sum([[maybe_unused]] const terms<S>& t,
                                           [[maybe_unused]] strided<S> out) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    if (t.weights.data != nullptr || t.has_sink) return false;
    const quiet_flags flags;
    const row_plan<S> plan(t);
    const index_t n = plan.size();
    row_room<F> room;
    F* const terms_of_row = plan.ready() ? room.take(n) : nullptr;
    if (terms_of_row == nullptr) {
      flags.restore();
      return false;
    }
    const planned_sums<true, S> sums(plan, t, terms_of_row);
    const row_sums<F>& row = sums.row();
    if (row.raised) flags.restore();
    const F* const x = plan.x();
    index_t first = 0;
    while (first < n && x[first] <= -infinity<F>) ++first;
    // terms that are too small to be kept are less than 2^lowest
    constexpr int enough = exp_constants<F>::lowest + (std::same_as<F, float> ? 30 : 60);
    if (!sums.usable() || sums.several_powers() || row.shift < F(0) || F(0) < row.shift ||
        first == n || !(times_power_of_two(1.0, enough) < double(terms_of_row[first]))) {
      flags.restore();
      return false;
    }
    constexpr index_t chunk = 256;
    double prefix[chunk];
    F logs[chunk];
    compensated<double> rest;          // the sum without its largest term
    double largest = 0, exponent = 0;  // of the largest term; out may overwrite its x
    for (index_t from = 0; from < n; from += chunk) {
      const index_t count = n - from < chunk ? n - from : chunk;
      bool dominated = false;
      const compensated<double> rest_before = rest;
      const double largest_before = largest;
      const double exponent_before = exponent;
      const auto take = [&](index_t i) {
        double term = double(terms_of_row[from + i]);
        if (largest < term) {
          std::swap(largest, term);
          exponent = double(x[from + i]) * row.scale;
        }
        if constexpr (std::same_as<F, float>) {
          rest.high += term;
          return largest + rest.high;
        } else {
          const compensated<double> exact = two_sum(rest.high, term);
          rest = {exact.high, rest.low + exact.low};
          return largest + (rest.high + rest.low);
        }
      };
      for (index_t i = 0; i < count; ++i) {
        prefix[i] = take(i);
        dominated = dominated || prefix[i] < 2 * largest;
      }
      best::log_row<F>(prefix, count, double(row.power), logs);
      if (dominated) {
        // by the sum without the largest term, which gives a single term as it is, and keeps digits near 0
        rest = rest_before;
        largest = largest_before;
        exponent = exponent_before;
        for (index_t i = 0; i < count; ++i) {
          const double sum = take(i);
          if (!(sum < 2 * largest)) continue;
          logs[i] = F(exponent + log_one_plus((rest.high + rest.low) / largest));
        }
      }
      copy_row(static_cast<const F*>(logs), out.segment(from, count));
    }
    return true;
  }
#endif
  return false;
}

/// out_i = log of the sum of the terms up to i, and of the sink in every one. Requires out of x's size, x itself or memory apart
/// from it.
template <class S>
void running_log_sum_of(const terms<S>& t, strided<S> out) noexcept {
  using T = compute_scalar<S>;
  if (planned_running_log_sum(t, out)) return;
  running_log_sum<T> start;
  if (!(t.given_sink <= -infinity<T>)) start.add({t.given_sink, T(0)}, T(1));
  terms<S> unscaled = t;  // the running sum takes a scale of its own
  unscaled.drop_scale();
  cumulative_log_sum(start, unscaled, T(t.given_scale), out);
}

#define CUMULUS_RUNNING_INSTANCES(Word, S) \
  Word template void running_log_sum_of(const terms<S>&, strided<S>) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_RUNNING_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
