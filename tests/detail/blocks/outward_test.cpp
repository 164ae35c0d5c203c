// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/outward.hpp>

#include "catch.hpp"

TEST_CASE("outward: the nearest float on the side asked for", "[blocks][edge]") {
  CHECK(cumulus::detail::rounded_up<float>(0.5) == 0.5f);
  CHECK(cumulus::detail::rounded_down<float>(0.5) == 0.5f);
  for (const double x : {0.1, -0.1, 1e-46, -1e-46, 1e300, -1e300}) {
    const float up = cumulus::detail::rounded_up<float>(x),
                down = cumulus::detail::rounded_down<float>(x);
    CAPTURE(x, up, down);
    CHECK(double(down) <= x);
    CHECK(x <= double(up));
    CHECK(std::nextafter(down, up) == up);
  }
  CHECK(std::isnan(cumulus::detail::rounded_up<float>(std::nan(""))));
  CHECK(cumulus::detail::rounded_up<double>(0.1) == 0.1);
}
