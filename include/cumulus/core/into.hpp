// SPDX-License-Identifier: MIT
//
// Where a result is written: `softmax(x, into(p))`.
// Layer 0 (core).
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/core/tags.hpp>

namespace cumulus {

/// The memory of the caller's that a result is written to. Made by into(), and used within the call.
template <class Out>
class destination {
 public:
  /// Refers to out, which must outlive the call.
  explicit constexpr destination(Out& out) noexcept : out_(out) {}
  /// The memory itself.
  [[nodiscard]] constexpr Out& operator*() const noexcept { return out_; }

 private:
  Out& out_;
};

/// Marks a vector or matrix that the result is written to, so that it can't be taken for weights: a container, a span, or an
/// Eigen expression that lies in memory, such as `into(p.head(3))`.
template <class Out>
  requires detail::writable<std::remove_reference_t<Out>>
[[nodiscard]] constexpr destination<std::remove_reference_t<Out>> into(Out&& out) noexcept {
  return destination<std::remove_reference_t<Out>>(out);
}
// clang-format off
template <class Out>
  requires(!detail::writable<std::remove_reference_t<Out>>)
void into(Out&& out) = delete;  // cumulus: results can't be written there: give a vector or matrix that is not const and lies in memory
// clang-format on

}  // namespace cumulus
