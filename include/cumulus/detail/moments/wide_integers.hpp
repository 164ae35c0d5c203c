// SPDX-License-Identifier: MIT
//
// Integers of 64 bits that a double does not hold, such as times in nanoseconds: as a base, which it holds, and differences to it.
// Layer 2 (moments): uses core.
#pragma once

#include <cumulus/detail/core/array_of.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cstdint>

namespace cumulus::detail {

/// Whether integers of X may have more bits than S.
template <class X, class S>
inline constexpr bool may_exceed = std::integral<X> && std::floating_point<S> &&
                                   std::numeric_limits<S>::digits < std::numeric_limits<X>::digits;

/// Whether some element has more bits than S.
template <class S, std::integral X>
[[nodiscard]] bool any_exceeds(const strided<const X>& x) noexcept {
  constexpr int digits = std::numeric_limits<S>::digits;
  for (index_t i = 0; i < x.size; ++i) {
    // of a negative number the ones' complement, so that the least has one too
    const X size = std::signed_integral<X> && x[i] < X(0) ? X(~x[i]) : x[i];
    if (size >> digits != 0) return true;
  }
  return false;
}

/// x as base + differences, each exact, or rounded where it has more bits than S itself. The base is near the first element that
/// `takes_part(i)`.
template <class S, std::integral X>
struct based_integers {
  template <class TakesPart>
  based_integers(const strided<const X>& x, TakesPart takes_part) : differences(x.size) {
    index_t first = 0;
    while (first < x.size && !takes_part(first)) ++first;
    constexpr int low_bits = std::numeric_limits<X>::digits + 1 - std::numeric_limits<S>::digits;
    const X start = first < x.size ? X(x[first] >> low_bits << low_bits) : X(0);
    base = static_cast<S>(start);
    for (index_t i = 0; i < x.size; ++i) {
      const auto a = static_cast<std::uint64_t>(x[i]), b = static_cast<std::uint64_t>(start);
      differences[i] = x[i] < start ? -static_cast<S>(b - a) : static_cast<S>(a - b);
    }
  }
  S base;
  array_of<S> differences;
};

}  // namespace cumulus::detail
