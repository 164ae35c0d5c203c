// SPDX-License-Identifier: MIT
//
// logsumexp, softmax and log_softmax of a row by the vector kernels.
// Layer 1 (rows): unchecked, noexcept; allocates for strided rows of more than 16 KB and for rows of more than 2^18 elements.
//
// Each returns false, its out of no use and x as it was, for a row that it leaves to the portable loops: one whose sum is no
// finite positive number, or whose elements are so large that the scheme does not hold.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/rows/composed_rows.hpp>
#include <cumulus/detail/rows/gathered_row.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_parts.hpp>

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
    parts.divide_all(out, row);
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

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_log_softmax(
    const S* x, S* out, index_t n, double scale, const row_threads& on) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = n > row_parts<S>::length
                              ? row_parts<S>(n, on).template sum<false>(x, none, scale)
                              : sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable) {
    // of terms to 1 ulp each, the log of a sum is as good where it is large enough
    const row_logarithm log = logarithm_of(x, n, row, std::same_as<S, float> ? 1.0 : 2.0);
    constexpr double most = std::same_as<S, float> ? 0x1p100 : 0x1p1000;  // that a difference fits
    if (log.usable && -most < double(row.largest) && double(row.largest) < most) {
      cumulus::detail::run_ranges(
          n, row_parts<S>::length, on.threads, on.on, [&](index_t first, index_t end) {
            best::subtract_row<S>(x + first, out + first, end - first, row.largest, row.scale,
                                  S(log.over_largest));
          });
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
/// Cost    one read of x.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool logsumexp_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] compute_scalar<S>& result) noexcept {
#if CUMULUS_VECTORS
  if constexpr (vector_scalar<S>) {
    if (!is_vector_row(t)) return false;
    if (is_composed(t)) return composed_logsumexp(t, result);
    const double scale = double(t.scale);
    const row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(t)) return contiguous_logsumexp(t.x.data, t.size(), scale, on, result);
    }
    gathered_row<S> row(t);
    return row.size() > 0 && contiguous_logsumexp(static_cast<const row_scalar<S>*>(row.data()),
                                                  row.size(), scale, on, result);
  }
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
      if (x.stride == 1 || x.size == 1)
        return contiguous_logsumexp(x.data, x.size, 1.0, {}, result);
    }
    gathered_row<S> row(terms<S>{x});
    return row.size() > 0 && contiguous_logsumexp(static_cast<const row_scalar<S>*>(row.data()),
                                                  row.size(), 1.0, {}, result);
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
  if constexpr (vector_scalar<S>) {
    if (!is_vector_row(t)) return false;
    if (is_composed(t)) return composed_softmax(t, out);
    const double scale = double(t.scale);
    const row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(t) && (out.stride == 1 || out.size == 1))
        return contiguous_softmax(t.x.data, out.data, t.size(), scale, on);
    }
    gathered_row<S> row(t);
    const row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !contiguous_softmax(x, row.data(), row.size(), scale, on)) return false;
    row.scatter(t, out, S(0));
    return true;
  }
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
      if ((x.stride == 1 || x.size == 1) && (out.stride == 1 || out.size == 1))
        return contiguous_softmax(x.data, out.data, x.size, 1.0, {});
    }
    gathered_row<S> row(terms<S>{x});
    const row_scalar<S>* const values = row.data();
    if (row.size() == 0 || !contiguous_softmax(values, row.data(), row.size(), 1.0, {}))
      return false;
    row.scatter(terms<S>{x}, out, S(0));
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
  if constexpr (vector_scalar<S>) {
    if (!is_vector_row(t) || is_composed(t)) return false;
    const double scale = double(t.scale);
    const row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, row_scalar<S>>) {
      if (lies_ready(t) && (out.stride == 1 || out.size == 1))
        return contiguous_log_softmax(t.x.data, out.data, t.size(), scale, on);
    }
    gathered_row<S> row(t);
    const row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !contiguous_log_softmax(x, row.data(), row.size(), scale, on))
      return false;
    row.scatter(t, out, -infinity<S>);
    return true;
  }
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
      if ((x.stride == 1 || x.size == 1) && (out.stride == 1 || out.size == 1))
        return contiguous_log_softmax(x.data, out.data, x.size, 1.0, {});
    }
    gathered_row<S> row(terms<S>{x});
    const row_scalar<S>* const values = row.data();
    if (row.size() == 0 || !contiguous_log_softmax(values, row.data(), row.size(), 1.0, {}))
      return false;
    row.scatter(terms<S>{x}, out, -infinity<S>);
    return true;
  }
#endif
  return false;
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
