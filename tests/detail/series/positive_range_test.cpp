// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/positive_range.hpp>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "peaks.hpp"
#include "two_points.hpp"

namespace {

using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pi = 3.141592653589793;

}  // namespace

TEST_CASE("positive_range: the truncation is not negative up to it, and is just beyond",
          "[series][value]") {
  for (const int order : {1, 2, 3, 4, 5, 8, 11}) {
    const double range = cumulus::detail::positive_range(order);
    const auto least = [&](double r) {
      return -peaks::largest(36, [&](real a, real b) {
        return -oracle::two_point_softmax_remainder<real>(-1, real(r) / 2, peaks::x_of(a),
                                                          peaks::d_of(b), order + 1);
      });
    };
    CAPTURE(order, range);
    CHECK(least(range) >= -1e-18L);
    CHECK(least(range + 2e-6) < 0);
  }
  CHECK(cumulus::detail::positive_range(0) == inf);
  CHECK(cumulus::detail::positive_range(1) == 1);
  CHECK(cumulus::detail::positive_range(2) == 2);
  CHECK(std::isnan(cumulus::detail::positive_range(65)));
  CHECK(std::isnan(cumulus::detail::positive_range(-1)));
  for (int order = 3; order <= 64; ++order) {
    CHECK(cumulus::detail::positive_range(order) < pi);
    CHECK(cumulus::detail::positive_range(order) > 1.59);
  }
}
