// SPDX-License-Identifier: MIT
//
// Results whose memory holds an option of the same call: they are written apart, and copied when all is read.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/array_of.hpp>
#include <cumulus/detail/core/view.hpp>

namespace cumulus::detail {

/// Whether an option lies in these bytes.
template <class Options>
[[nodiscard]] bool any_lies_in(const Options& o, const extent& bytes) noexcept {
  const auto lies = [&](const auto& option) {
    if constexpr (requires { option.memory(); }) {
      return option.memory().meets(bytes);
    } else {
      return false;
    }
  };
  if (lies(o.weights)) return true;
  if constexpr (requires { o.mask; }) {
    if (lies(o.mask)) return true;
  }
  if constexpr (requires { o.scale; }) {
    if (lies(o.scale)) return true;
  }
  if constexpr (requires { o.sink; }) {
    if (lies(o.sink)) return true;
  }
  return false;
}

/// Runs `run(out)`; where an option lies in out, run(memory apart), and then copies.
template <class T, class Options, class Run>
void write_apart(const strided<T>& out, const Options& o, Run run) {
  if (!any_lies_in(o, memory_of(out))) return run(out);
  array_of<T> apart(out.size);
  const strided<T> here{apart.data(), apart.size(), 1};
  run(here);
  for (index_t i = 0; i < out.size; ++i) out[i] = here[i];
}
template <class T, class Options, class Run>
void write_apart(const strided_matrix<T>& out, const Options& o, Run run) {
  if (!any_lies_in(o, memory_of(out))) return run(out);
  array_of<T> apart(out.rows * out.cols);
  const strided_matrix<T> here{apart.data(), out.rows, out.cols, out.cols, 1};
  run(here);
  for (index_t i = 0; i < out.rows; ++i) {
    for (index_t j = 0; j < out.cols; ++j) out.row(i)[j] = here.row(i)[j];
  }
}

}  // namespace cumulus::detail
