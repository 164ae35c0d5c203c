// SPDX-License-Identifier: MIT
//
// What a call of a series may say besides its arguments, by designated initializers: `{.weights = w, .order = 6}`.
// Layer 3 (series): uses core.
//
// Each type has only the members that its functions use, in one order: weights, order, form, the
// members of this type alone. A type for moments is the type for a vector without the weights,
// since the moments hold the weights already.
#pragma once

#include <cumulus/core/option_values.hpp>
#include <cumulus/series/form.hpp>
#include <limits>

namespace cumulus {

/// The options of a call on a vector: softmax_series, softmax_series_bound, the derivatives of both
/// series and logsumexp_series_about.
///
/// Shape    weights: as x.
template <class T>
struct series_options {
  vector_option<T> weights{};                  ///< multiplies e^x; ones if not given
  int order = 4;                               ///< 0..max_series_order
  cumulus::form form = cumulus::form::taylor;  ///< the form to evaluate
};

/// The options of a call on moments: softmax_series and softmax_series_bound.
struct moment_series_options {
  int order = 4;                               ///< 0..max_series_order, at most that of the moments
  cumulus::form form = cumulus::form::taylor;  ///< the form to evaluate
};

/// The options of a call on a vector: logsumexp_series.
///
/// Shape    weights: as x.
template <class T>
struct logsumexp_series_options {
  vector_option<T> weights{};                  ///< multiplies e^x; ones if not given
  int order = 4;                               ///< 0..max_series_order
  cumulus::form form = cumulus::form::taylor;  ///< the form to evaluate
  /// Above 0. A finite tolerance chooses order and form to reach this bound, and the given order
  /// and form do not matter.
  double tolerance = std::numeric_limits<double>::infinity();
  bool sharp = false;  ///< also try the bounds that take some 30 microseconds
};

/// The options of a call on moments: logsumexp_series.
struct moment_logsumexp_series_options {
  int order = 4;                               ///< 0..max_series_order, at most that of the moments
  cumulus::form form = cumulus::form::taylor;  ///< the form to evaluate
  /// Above 0. A finite tolerance chooses order and form to reach this bound, and the given order
  /// and form do not matter.
  double tolerance = std::numeric_limits<double>::infinity();
  bool sharp = false;  ///< also try the bounds that take some 30 microseconds
};

/// The options of a call on a vector: convergence_radius, softmax_entropy_series and
/// tilted_moments.
///
/// Shape    weights: as x.
template <class T>
struct weight_options {
  vector_option<T> weights{};  ///< multiplies e^x; ones if not given
};

/// The options of a call on a vector: standard_error and noise_order.
///
/// Shape    weights: as x.
template <class T>
struct sampling_options {
  vector_option<T> weights{};  ///< multiplies e^x; ones if not given
  int order = 4;               ///< 0..max_series_order
  cumulus::form form =
      cumulus::form::taylor;  ///< of which value: taylor, normaliser (as taylor) or moment
  double inefficiency = 1;    ///< the number of values that count as one independent value
};

/// The options of a call on moments: standard_error.
struct moment_sampling_options {
  int order = 4;  ///< twice this is at most the order of the moments
  cumulus::form form =
      cumulus::form::taylor;  ///< of which value: taylor, normaliser (as taylor) or moment
  double inefficiency = 1;    ///< the number of values that count as one independent value
};

/// The options of a call on a vector: logsumexp_sampling_error.
///
/// Shape    weights: as x.
template <class T>
struct sampling_error_options {
  vector_option<T> weights{};  ///< multiplies e^x; ones if not given
  double inefficiency = 1;     ///< the number of values that count as one independent value
};

}  // namespace cumulus
