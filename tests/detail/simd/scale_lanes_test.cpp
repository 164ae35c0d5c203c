// SPDX-License-Identifier: MIT
#include <cumulus/detail/simd/scale_lanes.hpp>

#include "catch.hpp"

TEST_CASE("scale_lanes: whole groups", "[kernels][value]") {
  double x[24], out[24] = {};
  long double wide[24], wide_out[24] = {};
  for (int i = 0; i < 24; ++i) wide[i] = x[i] = i + 1;
  cumulus::detail::kernels::scale_lanes(0.5, x, out, 9);
  cumulus::detail::kernels::scale_lanes(0.5L, wide, wide_out, 9);
  for (int i = 0; i < 24; ++i) {
    CHECK(out[i] == (i < 16 ? 0.5 * (i + 1) : 0));
    CHECK(double(wide_out[i]) == out[i]);
  }
}
