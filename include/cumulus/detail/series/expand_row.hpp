// SPDX-License-Identifier: MIT
//
// The series of a row in memory: its moments in one pass, and their expansion.
// Layer 3 (series): uses core, rows and moments.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_sum.hpp>
#include <cumulus/detail/series/adaptive.hpp>
#include <cumulus/detail/series/expansion.hpp>

namespace cumulus::detail {

/// The exact function's value, for a sample with infinite elements.
template <class T>
[[nodiscard]] estimate<T> exact_value(const kernels::terms<T>& t, int order, form f) {
  const T exact = T(kernels::log_of(kernels::exp_sum(t), t));
  if (is_nan(exact)) return {exact, exact, order, bound_kind::none, f};
  return {exact, T(0), order, bound_kind::exact, f};
}

template <class M>
[[nodiscard]] bool has_infinities(const M& m) {
  return !m.empty() && !is_finite(m.mean()) && !is_nan(m.weight());
}

template <int P, class T, class W, class Sharp>
[[nodiscard]] estimate<T> expand_row(const strided<const T>& x, const strided<const W>& weights,
                                     int order, form f, Sharp sharp) {
  const auto m = moments_of<P>(x, weights, order);
  if (has_infinities(m)) {
    const form chosen = f == form::automatic ? form::taylor : f;
    return exact_value(weighted_terms(x, weights), evaluated_order(order, chosen), chosen);
  }
  return expand<T>(detail::wide(m), order, f, sharp);
}

/// To a tolerance.
template <class T>
[[nodiscard]] estimate<T> expand_row_within(const strided<const T>& x,
                                            const strided<const T>& weights, double tolerance) {
  const auto m = moments_of<2>(x, weights, 2);
  if (has_infinities(m)) return exact_value(weighted_terms(x, weights), 2, form::taylor);
  if (m.empty() || !is_finite(m.mean())) return expand<T>(detail::wide(m), 2, form::taylor);
  return expand_within<T>(m, x, weights, tolerance);
}

// What cumulus::compiled holds: the orders chosen at run time.
#define CUMULUS_SERIES_INSTANCES(Word, T)                                                          \
  Word template estimate<T> expand_row<dynamic, T, unit_weight, std::false_type>(                  \
      const strided<const T>&, const strided<const unit_weight>&, int, form, std::false_type);     \
  Word template estimate<T> expand_row<dynamic, T, T, bool>(                                       \
      const strided<const T>&, const strided<const T>&, int, form, bool);                          \
  Word template estimate<T> expand_row_within<T>(const strided<const T>&, const strided<const T>&, \
                                                 double);                                          \
  Word template estimate<T> expand<T, central_moments<double, dynamic>, std::false_type>(          \
      const central_moments<double, dynamic>&, int, form, std::false_type);                        \
  Word template estimate<T> expand<T, central_moments<double, dynamic>, bool>(                     \
      const central_moments<double, dynamic>&, int, form, bool);
#if CUMULUS_VECTORS && !CUMULUS_BODIES
CUMULUS_SERIES_INSTANCES(extern, float)
CUMULUS_SERIES_INSTANCES(extern, double)
#endif

}  // namespace cumulus::detail
