// SPDX-License-Identifier: MIT
//
// logsumexp, softmax and log_softmax of a row by the vector kernels.
// Layer 1 (rows): unchecked, noexcept; allocates for strided rows of more than 16 KB and for rows of more than 2^18 elements.
//
// Each returns false, its out of no use and x as it was, for a row that it leaves to the portable loops: one whose sum is no
// finite positive number, whose elements are so large that the scheme does not hold, or that row_plan does not take.
//
// A row without options goes to contiguous_*, others to planned_*; both end in the same three ways: the log of the sum, the terms
// divided by it, the row less its log.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_parts.hpp>
#include <cumulus/detail/rows/row_plan.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

#if CUMULUS_VECTORS

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_logsumexp(
    const S* x, index_t n, double scale, const row_threads& on,
    compute_scalar<S>& result) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = n > row_parts<S>::length
                              ? row_parts<S>(n, on).template sum<false>(x, none, scale)
                              : sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable) {
    const double exponent = double(row.largest) * row.scale;
    const double apart = -1 < exponent && exponent < 1 ? 0.7 : -infinity<double>;
    const row_logarithm log = logarithm_of(x, n, row, apart);
    result = compute_scalar<S>(log.sum.value());
    if (log.usable) return true;
  }
  flags.restore();
  return false;
}

template <class S>
[[nodiscard]] bool softmax_in_parts(const S* x, S* out, index_t n, double scale,
                                    const row_threads& on, const quiet_flags& flags) noexcept {
  row_parts<S> parts(n, on);
  const row_sums<S> row = parts.template sum<true>(x, out, scale);
  if (row.raised || !row.usable) flags.restore();
  if (!row.usable) {
    if (x != out || !row.started()) return false;
    for (index_t i = 0; i < n; ++i) out[i] = quiet_nan<S>;
  } else if (parts.several()) {
    parts.divide_all(out, row, row.total());
  } else {
    divide_stretches(out, n, row, row, row.total());
  }
  return true;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_softmax(const S* x, S* out, index_t n,
                                                                 double scale,
                                                                 const row_threads& on) noexcept {
  const quiet_flags flags;
  if (n > row_parts<S>::length) return softmax_in_parts(x, out, n, scale, on, flags);
  const row_sums<S> row = sum_row<true>(x, out, n, scale);
  if (row.raised) flags.restore();
  if (!row.usable) {
    flags.restore();
    if (x != out || !row.started()) return false;
    for (index_t i = 0; i < n; ++i) out[i] = quiet_nan<S>;  // of a finite largest, NaN spoils it
    return true;
  }
  if (row.stretch_count > 1 || row.stretches[0].first > 0) {
    divide_stretches(out, n, row, row, row.total());
  } else {
    divide(out, n, row, row.total());
  }
  return true;
}

/// out_i = s x_i - log sum, from the sums of x; false where the loops keep more digits. `more` is one more term, over 2^row.power.
template <class S>
[[nodiscard]] bool subtract_log(const S* x, S* out, index_t n, const row_sums<S>& row, double more,
                                const row_threads& on) noexcept {
  // of terms to 1 ulp each, the log of a sum is as good where it is large enough
  const row_logarithm log = logarithm_of(x, n, row, std::same_as<S, float> ? 1.0 : 2.0, more);
  constexpr double most = std::same_as<S, float> ? 0x1p100 : 0x1p1000;  // that a difference fits
  if (!log.usable || !(-most < double(row.largest) && double(row.largest) < most)) return false;
  cumulus::detail::run_ranges(n, row_parts<S>::length, on.threads, on.on,
                              [&](index_t first, index_t end) {
                                best::subtract_row<S>(x + first, out + first, end - first,
                                                      row.largest, row.scale, S(log.over_largest));
                              });
  return true;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_log_softmax(
    const S* x, S* out, index_t n, double scale, const row_threads& on) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = n > row_parts<S>::length
                              ? row_parts<S>(n, on).template sum<false>(x, none, scale)
                              : sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable && subtract_log(x, out, n, row, 0, on)) return true;
  flags.restore();
  return false;
}

/// Where the result of a row with a weight or a sink is near 0 and one term is most of the sum, the loops keep more digits.
template <class S>
[[nodiscard]] bool planned_logsumexp(const terms<S>& t, compute_scalar<S>& result) noexcept {
  using F = row_scalar<S>;
  const quiet_flags flags;
  const row_plan<S> plan(t);
  if (plan.ready()) {
    const planned_sums<false, S> sums(plan, t, nullptr);
    const row_sums<F>& row = sums.row();
    if (row.raised) flags.restore();
    if (sums.usable() && !plan.weighted()) {
      const double exponent = double(row.largest) * row.scale;
      const double apart = -1 < exponent && exponent < 1 ? 0.7 : -infinity<double>;
      const row_logarithm log = logarithm_of(plan.x(), plan.size(), row, apart, sums.sink());
      result = compute_scalar<S>(log.sum.value());
      const bool near_zero = -1 < log.sum.high && log.sum.high < 1;
      if (log.usable && !(near_zero && sums.total().high < 2 * sums.sink())) return true;
    } else if (sums.usable()) {
      const compensated<double> total = sums.total();
      const compensated<double> log = logarithm_of<F>(total, row.power + plan.weight_power());
      result = compute_scalar<S>(log.value());
      const bool near_zero = -1 < log.high && log.high < 1;
      if (!near_zero || (total.high > 2 * sums.sink() && !row.may_dominate(total.high / 2)))
        return true;  // (a weight is less than 2)
    }
  }
  flags.restore();
  return false;
}

template <class S>
[[nodiscard]] bool planned_softmax(const terms<S>& t, const strided<S>& out) noexcept {
  const quiet_flags flags;
  row_plan<S> plan(t);
  row_scalar<S>* const to = plan.ready() ? plan.room_for(out, true) : nullptr;
  if (to != nullptr) {
    const planned_sums<true, S> sums(plan, t, to);
    if (sums.row().raised) flags.restore();
    if (sums.usable()) {
      sums.divide_terms(to);
      if (static_cast<const void*>(to) != out.data)
        copy_row(static_cast<const row_scalar<S>*>(to), out);
      return true;
    }
  }
  flags.restore();
  return false;
}

/// out_i = s x_i + log w_i - log sum. False where an entry may be near 0, and the loops keep more digits.
template <class S, class F>
[[nodiscard]] bool subtract_weighted_log(const row_plan<S>& plan,
                                         const planned_sums<false, S>& sums, F* out) noexcept {
  const row_sums<F>& row = sums.row();
  constexpr double most = std::same_as<F, float> ? 0x1p100 : 0x1p1000;  // that a difference fits
  const bool shifted = row.shift < F(0) || F(0) < row.shift;
  if (shifted || !(-most < double(row.largest) && double(row.largest) < most)) return false;
  const compensated<double> log = logarithm_of<F>(sums.total(), row.power),
                            exponent = two_product(double(row.largest), row.scale);
  const double rest = (log.high - exponent.high) + (log.low - exponent.low);
  // of double the parts of an entry must not cancel: all but the last are at most log 2
  if (std::same_as<F, double> && rest < -0.5) return false;
  best::subtract_weighted_row<F>(plan.x(), plan.weights().w, out, plan.size(), row.largest,
                                 row.scale, double(plan.weights().factor), rest);
  return best::row_largest<F>(out, plan.size()) < F(-0.75);
}

template <class S>
[[nodiscard]] bool planned_log_softmax(const terms<S>& t, const strided<S>& out) noexcept {
  using F = row_scalar<S>;
  const quiet_flags flags;
  row_plan<S> plan(t);
  F* const to = plan.ready() ? plan.room_for(out, plan.weighted()) : nullptr;
  if (to != nullptr) {
    const planned_sums<false, S> sums(plan, t, nullptr);
    if (sums.row().raised) flags.restore();
    if (sums.usable() && (plan.weighted() ? subtract_weighted_log(plan, sums, to)
                                          : subtract_log(plan.x(), to, plan.size(), sums.row(),
                                                         sums.sink(), plan.on()))) {
      if (static_cast<const void*>(to) != out.data)
        copy_row(static_cast<const row_scalar<S>*>(to), out);
      return true;
    }
  }
  flags.restore();
  return false;
}

#endif

/// log of the sum of the row's terms.
/// Error   float: 1 ulp of max(1, |result|); double: 2 ulp of max(1, |result|) and half an ulp of max |x|. Where the largest
///         term is more than half of the sum and within e^-1..e, relative to the result.
/// Cost    one read of x and of the weights; where elements are masked or have weight 0, a copy of x.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool logsumexp_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) return planned_logsumexp(t, result);
#endif
  return false;
}

/// The same of all of x, unscaled: what a call without options asks, so that it compiles no more.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool logsumexp_row(
    [[maybe_unused]] const strided<const S>& x,
    [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) {
    if (x.size == 0) return false;
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(x)) return contiguous_logsumexp(x.data, x.size, 1.0, {}, result);
    }
    row_copy<S> row(x);
    return row.data() != nullptr &&
           contiguous_logsumexp(static_cast<const row_scalar<S>*>(row.data()), x.size, 1.0, {},
                                result);
  }
#endif
  return false;
}

/// out_i = e^{s x_i} / sum. Requires out of x's size: x itself, or memory apart from it.
/// Error   4 ulp of each entry, subnormal ones included.
/// Cost    a read of x and a write of out, then a read and a write of out; where out is x, a read more.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool softmax_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] strided<S> out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) return planned_softmax(t, out);
#endif
  return false;
}

/// The same of all of x, unscaled.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool softmax_row(
    [[maybe_unused]] const strided<const S>& x, [[maybe_unused]] strided<S> out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) {
    if (x.size == 0) return false;
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(x) && (out.stride == 1 || out.size == 1))
        return contiguous_softmax(x.data, out.data, x.size, 1.0, {});
    }
    row_copy<S> row(x);
    row_scalar<S>* const to = row.data();
    if (to == nullptr ||
        !contiguous_softmax(static_cast<const row_scalar<S>*>(to), to, x.size, 1.0, {}))
      return false;
    copy_row(static_cast<const row_scalar<S>*>(to), out);
    return true;
  }
#endif
  return false;
}

/// out_i = s x_i - log sum. Requires as softmax_row.
/// Error   3 ulp of each entry, that of the largest x too.
/// Cost    two reads of x and a write of out.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool log_softmax_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] strided<S> out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) return planned_log_softmax(t, out);
#endif
  return false;
}

/// The same of all of x, unscaled.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool log_softmax_row(
    [[maybe_unused]] const strided<const S>& x, [[maybe_unused]] strided<S> out) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) {
    if (x.size == 0) return false;
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(x) && (out.stride == 1 || out.size == 1))
        return contiguous_log_softmax(x.data, out.data, x.size, 1.0, {});
    }
    row_copy<S> row(x);
    row_scalar<S>* const to = row.data();
    if (to == nullptr ||
        !contiguous_log_softmax(static_cast<const row_scalar<S>*>(to), to, x.size, 1.0, {}))
      return false;
    copy_row(static_cast<const row_scalar<S>*>(to), out);
    return true;
  }
#endif
  return false;
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
