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
  if constexpr (requires { o.weights; }) {
    if (lies(o.weights)) return true;
  }
  if constexpr (requires { o.mask; }) {
    if (lies(o.mask)) return true;
  }
  if constexpr (requires { o.scale; }) {
    if (lies(o.scale)) return true;
  }
  if constexpr (requires { o.sink; }) {
    if (lies(o.sink)) return true;
  }
  if constexpr (requires { o.bias; }) {
    if (lies(o.bias)) return true;
  }
  return false;
}

/// Memory of a result's shape, apart from all else, and its way back.
template <class T>
class result_apart {
 public:
  explicit result_apart(const strided<T>& out) : held_(out.size) {}
  explicit result_apart(const strided_matrix<T>& out) : held_(out.rows * out.cols) {}

  [[nodiscard]] strided<T> like(const strided<T>& out) noexcept {
    return {held_.data(), out.size, 1};
  }
  [[nodiscard]] strided_matrix<T> like(const strided_matrix<T>& out) noexcept {
    return {held_.data(), out.rows, out.cols, out.cols, 1};
  }
  void give(const strided<T>& out) const noexcept {
    for (index_t i = 0; i < out.size; ++i) out[i] = held_[i];
  }
  void give(const strided_matrix<T>& out) const noexcept {
    for (index_t i = 0; i < out.rows; ++i) {
      const auto row = out.row(i);
      for (index_t j = 0; j < out.cols; ++j) row[j] = held_[i * out.cols + j];
    }
  }

 private:
  array_of<T> held_;
};

/// Runs `run(outs...)`, of vectors and matrices; where an option lies in one of them, run(memory apart...), and then copies.
template <class Options, class Run, class... Outs>
void write_apart(const Options& o, Run run, const Outs&... outs) {
  if (!(any_lies_in(o, memory_of(outs)) || ...)) return run(outs...);
  const auto copy = [&](auto... apart) {
    run(apart.like(outs)...);
    (apart.give(outs), ...);
  };
  copy(result_apart(outs)...);
}

}  // namespace cumulus::detail
