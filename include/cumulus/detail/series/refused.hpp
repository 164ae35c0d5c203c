// SPDX-License-Identifier: MIT
//
// Refuses the options of series that do not fit.
// Layer 3 (series): uses core.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/series/form.hpp>

namespace cumulus::detail {

inline constexpr const char* series_limit = "max_series_order";

inline void require_series_order(const char* function, int order) {
  require_order(function, order, 0, max_series_order, series_limit);
}

/// An order that x gives, and its moments hold.
template <class M>
void require_held_order(const char* function, int order, const M& moments) {
  require_series_order(function, order);
  if (order > 1) require_order(function, order, 0, moments.order(), "the order of the moments");
}

/// The order of a call as an int, where it fits one.
template <std::integral I>
[[nodiscard]] int series_order(const char* function, I order) {
  require_order(function, order, 0, max_series_order, series_limit);
  return static_cast<int>(order);
}

/// Weights of x's size, where there are any.
template <class Weights>
void require_weights(const char* function, index_t size, const Weights& weights) {
  if (weights.given()) require_same_size(function, "x", size, "weights", weights.size());
}

/// A form whose value is a polynomial, or a logarithm of one, in y and the moments; `lacks` is what others have not.
inline void require_smooth_form(const char* function, form f, const char* lacks) {
  if (f == form::taylor || f == form::normaliser || f == form::moment) return;
  refuse({function, ": form ", name_of(f), " has no ", lacks,
          "; give form taylor, normaliser or moment"});
}

inline void require_softmax_form(const char* function, form f) {
  if (f == form::enclosure)
    refuse({function, ": form ", name_of(f), " has no softmax; give form chebyshev or automatic"});
}

inline void require_inefficiency(const char* function, double g) {
  if (g > 0 && g < infinity<double>) return;
  refuse({function, ": inefficiency ", g,
          " is not a positive finite number; give 1 for independent values"});
}

/// A tolerance above 0, so not NaN.
template <class T>
void require_tolerance(const char* function, const T& tolerance) {
  if (T(0) < tolerance) return;
  refuse({function, ": tolerance ", static_cast<double>(tolerance), " is not above 0"});
}

/// What no series takes as its sample.
template <class X>
concept no_sample = untagged_matrix<X> || foreign_array<X> || without_numbers<X>;

}  // namespace cumulus::detail
