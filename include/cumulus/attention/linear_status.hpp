// SPDX-License-Identifier: MIT
//
// What linear attention says of each row of its output.
// Layer 5 (attention).
#pragma once

namespace cumulus {

/// What became of a row.
enum class linear_status : unsigned char {
  positive,     ///< its total mass is a positive number; its output and its log-sum-exp are finite
  nonpositive,  ///< its total mass is 0 or less, as odd or uncentred truncations can have: it has no log-sum-exp (NaN), and its
                ///< output is what the division gives
  invalid,  ///< the mass, the output or the log-sum-exp is NaN or infinite: a NaN or infinity is in sight, or a power overflows
  empty,    ///< no key is in sight: output zeros, log-sum-exp -inf
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(linear_status status) noexcept {
  switch (status) {
    case linear_status::positive:
      return "positive";
    case linear_status::nonpositive:
      return "nonpositive";
    case linear_status::invalid:
      return "invalid";
    case linear_status::empty:
      return "empty";
  }
  return "?";
}

}  // namespace cumulus
