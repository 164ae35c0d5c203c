// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/order_storage.hpp>

#include "catch.hpp"

using cumulus::dynamic;

TEST_CASE("order_storage: an array for a fixed order, a vector for a dynamic one",
          "[core][value]") {
  static_assert(std::is_same_v<cumulus::detail::order_array<float, 4>, std::array<float, 5>>);
  static_assert(std::is_same_v<cumulus::detail::order_array<double, 0>, std::array<double, 1>>);
  static_assert(std::is_same_v<cumulus::detail::order_array<double, dynamic>, std::vector<double>>);
  SUCCEED();
}

TEST_CASE("order_storage: a buffer has room for order + 1 numbers, large orders too",
          "[core][edge]") {
  // The address sanitizer sees a write past the end.
  for (const int order : {0, 1, 63, 64, 65, 66, 500}) {
    cumulus::detail::order_buffer<double, dynamic> buffer(order);
    for (int p = 0; p <= order; ++p) buffer.data()[p] = p;
    bool kept = true;
    for (int p = 0; p <= order; ++p) kept = kept && buffer.data()[p] == p;
    CAPTURE(order);
    CHECK(kept);
    const auto begin = reinterpret_cast<const char*>(&buffer);
    const auto data = reinterpret_cast<const char*>(buffer.data());
    const bool on_the_stack = data >= begin && data < begin + sizeof buffer;
    CHECK(on_the_stack == (order <= 64));
  }
  cumulus::detail::order_buffer<int, 3> fixed(3);
  for (int p = 0; p <= 3; ++p) fixed.data()[p] = p * p;
  CHECK(fixed.data()[3] == 9);
  static_assert(sizeof(cumulus::detail::order_buffer<int, 3>) == 4 * sizeof(int));
}
