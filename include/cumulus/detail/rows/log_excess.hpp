// SPDX-License-Identifier: MIT
//
// The logarithm of a row's sum over its largest term, from which the loss of any class is a difference.
// Layer 1 (rows): unchecked, noexcept; allocates for strided rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#include <type_traits>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/row_copy.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_parts.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// log sum_j e^{x_j} = peak + excess, peak the largest x. Of float and the half types in double.
template <class S>
struct log_excess {
  using W = std::conditional_t<std::same_as<compute_scalar<S>, float>, double, compute_scalar<S>>;

  W peak{}, excess{};
  bool regular = false;  ///< the largest x is finite
  bool invalid = false;  ///< a NaN
  index_t infinite = 0;  ///< how many x are +inf

  /// -log softmax(x)_i of an x_i, by the limits of log_softmax.
  /// Error   the roundings of the excess and of one sum.
  [[nodiscard]] W loss(const W& x) const noexcept {
    if (invalid) return quiet_nan<W>;
    if (regular) {
      if (!(-infinity<W> < x)) return infinity<W>;
      const compensated<W> gap = two_sum(peak, W(-x));
      return is_finite(gap.high) ? W((gap.high + excess) + gap.low) : gap.high;
    }
    if (infinite == 0) return quiet_nan<W>;  // nothing but -inf
    if (x < infinity<W>) return infinity<W>;
    return infinite == 1 ? W(0) : quiet_nan<W>;
  }
};

/// False where the kernels leave the row to the loops.
template <class S>
[[nodiscard]] bool vector_excess([[maybe_unused]] const strided<const S>& x,
                                 [[maybe_unused]] log_excess<S>& result) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    if (x.size == 0) return false;
    const quiet_flags flags;
    row_room<F> room;
    const F* const row = side_by_side(x, room);
    if (row == nullptr) return false;
    const row_sums<F> sums =
        x.size > row_parts<F>::length
            ? row_parts<F>(x.size, {}).template sum<false>(row, static_cast<F*>(nullptr), 1.0)
            : sum_row<false>(row, static_cast<F*>(nullptr), x.size, 1.0);
    if (sums.usable) {
      // of terms to 1 ulp each, the log of a sum is as good where it is large enough
      const row_logarithm log = logarithm_of(row, x.size, sums, std::same_as<F, float> ? 1.0 : 2.0);
      if (log.usable && is_finite(sums.largest)) {
        if (sums.raised) flags.restore();
        result.peak = sums.largest;
        result.excess = static_cast<typename log_excess<S>::W>(log.over_largest);
        result.regular = true;
        return true;
      }
    }
    flags.restore();
  }
#endif
  return false;
}

template <class S>
[[nodiscard]] log_excess<S> excess_of(const strided<const S>& x) noexcept {
  log_excess<S> result;
  if (vector_excess(x, result)) return result;
  const terms<S> t{x};
  const auto sum = exp_sum(t);
  result.invalid = sum.invalid || sum.minus_infinite;
  result.infinite = sum.infinite;
  result.regular = sum.positive();
  if (!result.regular) return result;
  using W = typename log_excess<S>::W;
  result.peak = static_cast<W>(sum.peak.exponent);
  result.excess = static_cast<W>(sum.log_relative());
  return result;
}

/// The sum of a row of results, all but element `left`.
template <class S>
[[nodiscard]] compute_scalar<S> sum_but_one(const strided<const S>& p, index_t left) noexcept {
  using T = compute_scalar<S>;
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (std::same_as<S, float> || std::same_as<S, double>) {
    if (p.stride == 1)
      return T((best::dot_row<S>(nullptr, p.data, left, S(0)) +
                best::dot_row<S>(nullptr, p.data + left + 1, p.size - left - 1, S(0)))
                   .value());
  }
#endif
  compensated<T> sum;
  for (index_t i = 0; i < p.size; ++i) {
    if (i != left) sum += T(p[i]);
  }
  return sum.value();
}

#define CUMULUS_EXCESS_INSTANCES(Word, S)                                  \
  Word template log_excess<S> excess_of(const strided<const S>&) noexcept; \
  Word template compute_scalar<S> sum_but_one(const strided<const S>&, index_t) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_EXCESS_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
