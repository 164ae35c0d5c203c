// SPDX-License-Identifier: MIT
//
// Refuses options that do not fit the argument they stand beside.
// Layer 0 (core).
#pragma once

#include <cumulus/core/option_values.hpp>
#include <cumulus/detail/core/require.hpp>

namespace cumulus::detail {

/// Whether any of the arguments is a direction, so that a matrix is tagged.
template <class... Rest>
inline constexpr bool tagged = (direction<Rest> || ...);

inline void require_threads(const char* function, int threads) {
  if (threads < 1) refuse({function, ": .threads is ", threads, "; give 1 or more"});
}

template <class Options>
void require_options(const char* function, index_t size, const Options& o) {
  if (o.weights.given()) require_same_size(function, "x", size, "weights", o.weights.size());
  if (o.mask.given()) require_same_size(function, "x", size, "mask", o.mask.size());
  require_threads(function, o.threads);
}

template <class Options>
void require_options(const char* function, index_t rows, index_t cols, const Options& o,
                     bool by_columns) {
  o.weights.require_shape(function, "weights", rows, cols, by_columns);
  o.mask.require_shape(function, "mask", rows, cols, by_columns);
  o.scale.require_count(function, "scale", by_columns ? cols : rows);
  if constexpr (requires { o.sink; })
    o.sink.require_count(function, "sink", by_columns ? cols : rows);
  require_threads(function, o.threads);
}

}  // namespace cumulus::detail
