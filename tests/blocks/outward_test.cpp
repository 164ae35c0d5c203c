// SPDX-License-Identifier: MIT
#include <cumulus/blocks/outward.hpp>

#include "catch.hpp"

TEST_CASE("outward: the nearest float on the side asked for", "[blocks][edge]") {
  CHECK(cumulus::rounded_up<float>(0.5) == 0.5f);
  CHECK(cumulus::rounded_down<float>(0.5) == 0.5f);
  for (const double x : {0.1, -0.1, 1e-46, -1e-46, 1e300, -1e300}) {
    const float up = cumulus::rounded_up<float>(x), down = cumulus::rounded_down<float>(x);
    CAPTURE(x, up, down);
    CHECK(double(down) <= x);
    CHECK(x <= double(up));
    CHECK(std::nextafter(down, up) == up);
  }
  CHECK(std::isnan(cumulus::rounded_up<float>(std::nan(""))));
  CHECK(cumulus::rounded_up<double>(0.1) == 0.1);
}
