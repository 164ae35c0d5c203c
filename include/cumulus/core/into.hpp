// SPDX-License-Identifier: MIT
//
// The mark of the memory that a result is written to: `softmax(x, into(p))`.
// Layer 0 (core).
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/core/tags.hpp>

namespace cumulus {

/// The caller's memory that a result is written to. into() makes it, for use within one call.
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

/// Marks the vector or matrix that a result is written to, so that a call cannot read that vector
/// as weights. It may be a container, a span, or an Eigen expression that lies in memory, such as
/// `into(p.head(3))`.
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
