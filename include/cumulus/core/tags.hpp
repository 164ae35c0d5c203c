// SPDX-License-Identifier: MIT
//
// The words that select a direction, a size or a policy in a call.
// Layer 0 (core).
#pragma once

#include <concepts>

namespace cumulus {

/// The type of `rowwise`: one value, or one normalised vector, per row. The constructor is
/// explicit, so that `{}` is not a direction.
struct rowwise_t {
  /// Makes the tag; `rowwise` is the object to pass.
  explicit constexpr rowwise_t(int) {}
};

/// The type of `colwise`: one value, or one normalised vector, per column.
struct colwise_t {
  /// Makes the tag; `colwise` is the object to pass.
  explicit constexpr colwise_t(int) {}
};

/// The argument that asks for one result per row.
inline constexpr rowwise_t rowwise{0};
/// The argument that asks for one result per column.
inline constexpr colwise_t colwise{0};

/// The type of `rowwise` or of `colwise`.
template <class D>
concept direction = std::same_as<D, rowwise_t> || std::same_as<D, colwise_t>;

/// As a template argument: the order or the size is chosen when the object is made, at run time.
inline constexpr int dynamic = -1;

/// The value of softmax entries that have no limit: in a row that holds only -inf, and in a row
/// with +inf.
enum class degenerate {
  limit,    ///< all -inf: NaN; one +inf: it takes all; several: NaN there, 0 elsewhere
  zero,     ///< all -inf: 0; +inf as limit
  uniform,  ///< all -inf: equal shares of what is kept; +inf as limit
  ieee,     ///< what e^(x - max x) / sum gives: NaN in both cases
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(degenerate policy) noexcept {
  switch (policy) {
    case degenerate::limit:
      return "limit";
    case degenerate::zero:
      return "zero";
    case degenerate::uniform:
      return "uniform";
    case degenerate::ieee:
      return "ieee";
  }
  return "?";
}

}  // namespace cumulus
