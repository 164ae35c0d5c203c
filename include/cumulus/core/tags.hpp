// SPDX-License-Identifier: MIT
//
// The words that select a direction or a size in a call.
// Layer 0 (core).
#pragma once

namespace cumulus {

/// One value, or one normalised vector, per row. The constructor is explicit, so that `{}` is no tag.
struct rowwise_t {
  explicit constexpr rowwise_t(int) {}
};

/// The same per column.
struct colwise_t {
  explicit constexpr colwise_t(int) {}
};

inline constexpr rowwise_t rowwise{0};
inline constexpr colwise_t colwise{0};

/// An order that is chosen when the object is made, not when it is compiled.
inline constexpr int dynamic = -1;

}  // namespace cumulus
