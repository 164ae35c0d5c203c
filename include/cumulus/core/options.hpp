// SPDX-License-Identifier: MIT
//
// What a call of an exact function may say besides x, by designated initializers: `{.weights = w,
// .mask = keep}`.
// Layer 0 (core).
//
// A mask is true where it keeps. A masked term, or one of weight 0, never enters arithmetic,
// whatever it holds. A scale of 0 gives the uniform answer over what is kept, finite or not; an
// infinite one is the limit: one-hot, shared equally among ties. The scale does not touch the sink;
// a sink of -inf is none.
#pragma once

#include <cumulus/core/matrix_operand.hpp>
#include <cumulus/core/parallel.hpp>
#include <cumulus/core/tags.hpp>
#include <optional>

namespace cumulus {

/// Of a vector.
///
/// Shape   weights, mask: as x.
template <class T>
struct options {
  operand<T> weights{};          ///< multiplies e^(scale x); ones if not given
  operand<bool> mask{};          ///< all kept if not given
  double scale = 1;              ///< multiplies x
  std::optional<double> sink{};  ///< one more term e^sink
  cumulus::degenerate degenerate = cumulus::degenerate::limit;  ///< for softmax and log_softmax
  int threads = 1;  ///< a long vector is spread over so many, with OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

/// Of a matrix, reduced row by row or column by column.
///
/// Shape    weights, mask: as x, or one line for all; scale, sink: a number, or one per line.
/// Threads  results do not depend on them; without OpenMP and without an executor the lines follow one another.
template <class T>
struct matrix_options {
  broadcast_operand<T> weights{};
  broadcast_operand<bool> mask{};
  line_number scale = 1.0;
  line_number sink{};
  cumulus::degenerate degenerate = cumulus::degenerate::limit;
  int threads = 1;               ///< lines are spread over so many, with OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

inline void require_threads(const char* function, int threads) {
  if (threads < 1)
    refuse(std::string(function) + ": " + std::to_string(threads) + " threads; at least 1");
}

/// Refuses options that do not fit x.
template <class T>
void require_options(const char* function, index_t size, const options<T>& o) {
  if (o.weights.given()) require_same_size(function, "x", size, "weights", o.weights.size());
  if (o.mask.given()) require_same_size(function, "x", size, "mask", o.mask.size());
  require_threads(function, o.threads);
}

template <class T>
void require_options(const char* function, index_t rows, index_t cols, const matrix_options<T>& o,
                     bool by_columns) {
  o.weights.require_shape(function, "weights", rows, cols, by_columns);
  o.mask.require_shape(function, "mask", rows, cols, by_columns);
  o.scale.require_count(function, "scale", by_columns ? cols : rows);
  o.sink.require_count(function, "sink", by_columns ? cols : rows);
  require_threads(function, o.threads);
}

}  // namespace cumulus
