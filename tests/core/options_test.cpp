// SPDX-License-Identifier: MIT
#include <cumulus/core/options.hpp>
#include <cumulus/detail/core/require_options.hpp>

#include <array>
#include <vector>

#include "catch.hpp"
#include "refusal.hpp"

namespace {

void check(cumulus::index_t size, const cumulus::options<float>& o) {
  cumulus::detail::require_options("f", size, o);
}

}  // namespace

TEST_CASE("options: what is not given fits every size", "[core][edge]") {
  CHECK_NOTHROW(check(0, {}));
  CHECK_NOTHROW(check(7, {}));
  CHECK_NOTHROW(check(2, {.weights = std::vector<double>{1, 2}}));
  CHECK_NOTHROW(check(2, {.weights = std::vector<int>{1, 2}, .mask = std::array{true, false}}));
}

TEST_CASE("options: weights and masks of another size are refused with both", "[core][edge]") {
  const std::vector<float> two{1, 2}, none;
  CHECK(refusal([&] { check(3, {.weights = two}); }) ==
        "cumulus: f: x has 3 elements, weights has 2");
  CHECK(refusal([&] { check(3, {.mask = std::array{true}}); }) ==
        "cumulus: f: x has 3 elements, mask has 1");
  CHECK(refusal([&] { check(1, {.weights = none}); }) ==
        "cumulus: f: x has 1 elements, weights has 0");
  CHECK(refusal([&] { check(2, {.weights = two, .mask = std::array{true}}); }) ==
        "cumulus: f: x has 2 elements, mask has 1");
}
