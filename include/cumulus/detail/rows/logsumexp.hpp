// SPDX-License-Identifier: MIT
//
// log of the sum of a row's terms: by the vector kernels for the rows that they take, else by the loops.
// Layer 1 (rows): unchecked, noexcept.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/vector_rows.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// log(sum_i e^{x_i}): what a call without options asks, so that it compiles no more.
template <class S>
[[nodiscard]] compute_scalar<S> logsumexp(const strided<const S>& x) noexcept {
  compute_scalar<S> result(0);
  if constexpr (vector_scalar<S>) {
    if (logsumexp_row(x, result)) return result;
  }
  const terms<S> t{x};
  return log_of(exp_sum(t), t);
}

/// log(sum_i w_i e^{s x_i} + e^sink)
template <class S>
[[nodiscard]] compute_scalar<S> logsumexp(const terms<S>& t) noexcept {
  compute_scalar<S> result(0);
  if constexpr (vector_scalar<S>) {
    if (t.plain() && t.threads == 1) return logsumexp(t.x);
    if (logsumexp_row(t, result)) return result;
  }
  return log_of(exp_sum(t), t);
}

#define CUMULUS_LOGSUMEXP_INSTANCES(Word, S)                           \
  Word template compute_scalar<S> logsumexp(const terms<S>&) noexcept; \
  Word template compute_scalar<S> logsumexp(const strided<const S>&) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_LOGSUMEXP_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
