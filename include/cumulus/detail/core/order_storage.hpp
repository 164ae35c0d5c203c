// SPDX-License-Identifier: MIT
//
// Room for order + 1 numbers, where the order may be known only at run time.
// Layer 0 (core).
#pragma once

#include <cumulus/core/tags.hpp>
#include <array>
#include <type_traits>
#include <vector>

namespace cumulus::detail {

/// What an object keeps: an array for a fixed order, a vector for a dynamic one.
template <class N, int P>
using order_array = std::conditional_t<P == dynamic, std::vector<N>,
                                       std::array<N, static_cast<std::size_t>(P + 1)>>;

/// Work space of a function: an array on the stack; above order 64 a dynamic one allocates.
template <class N, int P>
class order_buffer {
 public:
  explicit order_buffer(int) {}
  [[nodiscard]] N* data() noexcept { return numbers_.data(); }

 private:
  std::array<N, static_cast<std::size_t>(P + 1)> numbers_;
};
template <class N>
class order_buffer<N, dynamic> {
 public:
  explicit order_buffer(int order)
      : large_(order < small ? 0 : static_cast<std::size_t>(order) + 1) {}
  [[nodiscard]] N* data() noexcept { return large_.empty() ? numbers_.data() : large_.data(); }

 private:
  static constexpr int small = 65;
  std::array<N, small> numbers_;
  std::vector<N> large_;
};

}  // namespace cumulus::detail
