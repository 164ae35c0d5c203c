// SPDX-License-Identifier: MIT
//
// What the vector kernels learn about lines that lie side by side, a lane each.
// Layer 1 (simd): portable; unchecked, noexcept.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/simd/exp_constants.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// So many rows are read together.
inline constexpr index_t lane_rows = 8;

/// For each line: a term of it is e^(scale x) 2^-power, their sum so far, and what the kernels need to make terms.
template <class T>
class lane_sums {
  using C = exp_constants<T>;

 public:
  lane_sums(index_t lines, double scale, bool has_fma) noexcept
      : scale_(scale), reach_(has_fma ? C::reach : C::reach_without_fma), lines_(lines) {
    const index_t room = (lines + 15) / 16 * 16;  // of whole vectors
    memory_.allocate(room * 3);
    numbers_.allocate(room * 6);
    if (!ready()) return;
    sum = memory_.get();
    sum_rest = sum + room;
    power = sum + 2 * room;
    T* const n = numbers_.get();
    rounder = n;
    low = n + room;
    top = n + 2 * room;
    largest = n + 3 * room;
    high_factor = n + 4 * room;
    low_factor = n + 5 * room;
    for (index_t i = 0; i < room; ++i) {
      sum[i] = sum_rest[i] = power[i] = 0;
      rounder[i] = T(0);
      low[i] = infinity<T>;                             // no term at all
      top[i] = i < lines ? -infinity<T> : infinity<T>;  // beyond the lines nothing happens
      largest[i] = -infinity<T>;
      high_factor[i] = low_factor[i] = T(0);
    }
  }
  /// False where there was no memory.
  [[nodiscard]] bool ready() const noexcept {
    return memory_.get() != nullptr && numbers_.get() != nullptr;
  }
  [[nodiscard]] index_t lines() const noexcept { return lines_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }

  /// Line i from a higher power, for an x above its top. An x that has none makes its sum NaN. `shift` and
  /// `lowest`: of exp_of.
  void raise(index_t i, T x, int shift, int lowest) noexcept {
    const double n = double(x) * scale_ * C::log2_e;
    if (!(-reach_ < n && n < reach_)) {
      sum[i] = quiet_nan<double>;
      top[i] = infinity<T>;
      return;
    }
    const double before = power[i];
    power[i] = double(index_t(n < 0 ? n - 0.5 : n + 0.5) - C::lift);
    if (0 < sum[i]) {
      sum[i] = times_power_of_two(sum[i], int(before - power[i]));
      sum_rest[i] = times_power_of_two(sum_rest[i], int(before - power[i]));
    }
    rounder[i] = T(T(1.5) * T(std::int64_t(1) << shift) - T(power[i]));
    low[i] = T((power[i] + lowest) * C::log_two / scale_);
    top[i] = T((power[i] + C::top) * C::log_two / scale_);
  }

  [[nodiscard]] compensated<double> total(index_t i) const noexcept {
    return two_sum(sum[i], sum_rest[i]);
  }

  /// Whether the sum of line i is a finite number above 0.
  [[nodiscard]] bool usable(index_t i) const noexcept {
    return 0 < sum[i] && sum[i] < infinity<double>;
  }

  double *sum, *sum_rest;
  double* power;
  T *rounder, *low, *top, *largest;
  T *high_factor, *low_factor;  ///< what out is made with

 private:
  double scale_, reach_;
  index_t lines_;
  scratch_array<double> memory_;
  scratch_array<T> numbers_;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
