// SPDX-License-Identifier: MIT
//
// The options of the exact functions, given by designated initializers: `{.weights = w, .mask =
// keep}`.
// Layer 0 (core).
//
// A mask is true for the terms to keep. A term that is masked or has weight 0 never enters
// arithmetic, whatever value it holds. A scale of 0 gives the uniform answer over the kept terms,
// finite or not. An infinite scale gives the limit: a one-hot row, shared equally among ties. The
// scale does not multiply the sink. A sink of -inf adds nothing.
//
// Each type has only the members that its functions use. All types have one order: weights, mask,
// scale, sink, degenerate, the members of this type alone, threads, executor. A type for a matrix
// takes, for each member of the type for a vector, one value or line for each row or column.
#pragma once

#include <cumulus/core/executor.hpp>
#include <cumulus/core/option_values.hpp>
#include <cumulus/core/tags.hpp>
#include <optional>

namespace cumulus {

/// The options of a call on a vector: logsumexp, logcumsumexp, segment_logsumexp, the entropies, the
/// sizes of log weights and the gradients.
///
/// Shape    weights, mask: as x.
/// Threads  results do not depend on the number of threads; without OpenMP and without an executor
///          the parts run one after another.
template <class T>
struct options {
  vector_option<T> weights{};    ///< multiplies e^(scale x); ones if not given
  vector_option<bool> mask{};    ///< true keeps; all kept if not given
  double scale = 1;              ///< multiplies x
  std::optional<double> sink{};  ///< one more term e^sink
  int threads = 1;  ///< the most threads for a long vector: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options for a matrix that is reduced row by row or column by column.
///
/// Shape    weights, mask: as x, or one line for all; scale, sink: a number, or one for each line.
template <class T>
struct matrix_options {
  matrix_option<T> weights{};    ///< multiplies e^(scale x); ones if not given
  matrix_option<bool> mask{};    ///< true keeps; all kept if not given
  line_option scale = 1.0;       ///< multiplies x
  line_option sink{};            ///< one more term e^sink in each line
  int threads = 1;               ///< the most threads for the lines: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a vector: softmax, log_softmax, of all or by segment, and their derivatives.
template <class T>
struct softmax_options {
  vector_option<T> weights{};    ///< multiplies e^(scale x); ones if not given
  vector_option<bool> mask{};    ///< true keeps; all kept if not given
  double scale = 1;              ///< multiplies x
  std::optional<double> sink{};  ///< one more term e^sink in the sum
  cumulus::degenerate degenerate = cumulus::degenerate::limit;  ///< of a row without a limit
  int threads = 1;  ///< the most threads for a long vector: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a matrix: softmax, log_softmax and their derivatives, row by row or
/// column by column.
template <class T>
struct softmax_matrix_options {
  matrix_option<T> weights{};  ///< multiplies e^(scale x); ones if not given
  matrix_option<bool> mask{};  ///< true keeps; all kept if not given
  line_option scale = 1.0;     ///< multiplies x
  line_option sink{};          ///< one more term e^sink in the sum of each line
  cumulus::degenerate degenerate = cumulus::degenerate::limit;  ///< of a line without a limit
  int threads = 1;               ///< the most threads for the lines: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a vector: logmeanexp.
template <class T>
struct mean_options {
  vector_option<T> weights{};  ///< of the mean; ones if not given
  vector_option<bool> mask{};  ///< true keeps; all kept if not given
  double scale = 1;            ///< multiplies x
  int threads = 1;             ///< the most threads for a long vector: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a matrix: logmeanexp of each row or column.
template <class T>
struct mean_matrix_options {
  matrix_option<T> weights{};    ///< of the means; ones if not given
  matrix_option<bool> mask{};    ///< true keeps; all kept if not given
  line_option scale = 1.0;       ///< multiplies x
  int threads = 1;               ///< the most threads for the lines: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a vector: logvarexp.
template <class T>
struct variance_options {
  vector_option<T> weights{};  ///< of the mean and the variance; ones if not given
  vector_option<bool> mask{};  ///< true keeps; all kept if not given
  double scale = 1;            ///< multiplies x
  double correction = 0;       ///< subtracted from the divisor; 1 for the unbiased estimate
  int threads = 1;             ///< the most threads for a long vector: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// The options of a call on a matrix: logvarexp of each row or column.
template <class T>
struct variance_matrix_options {
  matrix_option<T> weights{};    ///< of the means and the variances; ones if not given
  matrix_option<bool> mask{};    ///< true keeps; all kept if not given
  line_option scale = 1.0;       ///< multiplies x
  double correction = 0;         ///< subtracted from the divisor; 1 for the unbiased estimate
  int threads = 1;               ///< the most threads for the lines: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

}  // namespace cumulus
