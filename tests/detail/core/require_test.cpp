// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/require.hpp>

#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "refusal.hpp"

TEST_CASE("require: a refusal is an invalid_argument that begins with the library",
          "[core][edge]") {
  CHECK_THROWS_AS(cumulus::detail::refuse({"anything"}), std::invalid_argument);
  CHECK(refusal([] { cumulus::detail::refuse({"anything"}); }) == "cumulus: anything");
}

TEST_CASE("require: sizes and shapes that differ are named with both", "[core][edge]") {
  CHECK_NOTHROW(cumulus::detail::require_same_size("f", "x", 3, "out", 3));
  CHECK_NOTHROW(cumulus::detail::require_same_size("f", "x", 0, "out", 0));
  CHECK(refusal([] { cumulus::detail::require_same_size("softmax", "x", 3, "out", 4); }) ==
        "cumulus: softmax: x has 3 elements, out has 4");
  CHECK_NOTHROW(cumulus::detail::require_same_shape("f", "x", 2, 3, "out", 2, 3));
  for (const auto& [rows, cols] : {std::pair{3, 2}, {2, 4}, {1, 3}, {6, 1}}) {
    const std::string message = refusal([&, r = rows, c = cols] {
      cumulus::detail::require_same_shape("f", "x", 2, 3, "out", r, c);
    });
    CHECK(message ==
          "cumulus: f: x is 2 x 3, out is " + std::to_string(rows) + " x " + std::to_string(cols));
  }
}

TEST_CASE("require: an order outside its limits is named with them, whatever its type",
          "[core][edge]") {
  CHECK_NOTHROW(cumulus::detail::require_order("f", 0, 0, 64, "held"));
  CHECK_NOTHROW(cumulus::detail::require_order("f", 64, 0, 64, "held"));
  CHECK_NOTHROW(cumulus::detail::require_order("f", std::size_t(7), 0, 64, "held"));
  CHECK(refusal([] { cumulus::detail::require_order("f", 65, 0, 64, "the moments held"); }) ==
        "cumulus: f: order 65 is outside 0..64 (the moments held)");
  CHECK(refusal([] { cumulus::detail::require_order("f", -1, 0, 64, "held"); }) ==
        "cumulus: f: order -1 is outside 0..64 (held)");
  // No conversion may bring these into the limits.
  CHECK(refusal([] {
          cumulus::detail::require_order("f", std::int64_t(1) << 32, 0, 64, "held");
        }) == "cumulus: f: order 4294967296 is outside 0..64 (held)");
  CHECK(refusal([] {
          cumulus::detail::require_order("f", std::numeric_limits<std::uint64_t>::max(), -1, 64,
                                         "held");
        }) == "cumulus: f: order 18446744073709551615 is outside -1..64 (held)");
  CHECK_FALSE(refusal([] { cumulus::detail::require_order("f", 4u, 5, 64, "held"); }).empty());
}
