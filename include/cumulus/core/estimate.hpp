// SPDX-License-Identifier: MIT
//
// An approximate value with a bound on its error and the kind of that bound.
// Layer 0 (core).
#pragma once

namespace cumulus {

enum class form : int;  // the expansion evaluated: series/form.hpp

/// The statement that proves an estimate's bound. Where several statements apply, the one with the
/// least bound is named.
enum class bound_kind {
  none,        ///< nothing is known: the value is NaN, or its powers overflow
  exact,       ///< the value is the exact function's
  bracket,     ///< an interval from the range and the even moments, every range
  remainder,   ///< the tail of the cumulant series from range and variance, range below pi
  sharp,       ///< that tail, maximised over the two-point laws, every range: where asked for
  economised,  ///< the largest error of the Chebyshev polynomial on [min, max], every range
  quadrature,  ///< the interval of form::enclosure, every range
  groups       ///< of a sample split by value, each part with a bound of its own
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(bound_kind kind) noexcept {
  switch (kind) {
    case bound_kind::none:
      return "none";
    case bound_kind::exact:
      return "exact";
    case bound_kind::bracket:
      return "bracket";
    case bound_kind::remainder:
      return "remainder";
    case bound_kind::sharp:
      return "sharp";
    case bound_kind::economised:
      return "economised";
    case bound_kind::quadrature:
      return "quadrature";
    case bound_kind::groups:
      return "groups";
  }
  return "unknown";
}

/// |exact - value| <= bound. NaN bounds nothing: it stands where the value is NaN as well.
template <class T>
struct estimate {
  T value{};      ///< the partial sum itself
  T bound{};      ///< truncation and rounding together; +inf where powers overflow
  int order = 0;  ///< the number of orders in the value
  bound_kind kind = bound_kind::none;  ///< the statement that proves the bound
  cumulus::form form{};  ///< the form evaluated; form::automatic gives here the form that it chose
};

}  // namespace cumulus
