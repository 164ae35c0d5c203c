// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/two_point_bounds.hpp>

#include <limits>
#include <vector>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::detail::largest_log_mean_exp;
using cumulus::detail::least_log_mean_exp;

TEST_CASE("two-point bounds: no sample leaves them", "[blocks][property]") {
  families::random r(11u);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t n = 2 + r.below(8);
    const double spread = std::pow(10.0, r.uniform(-3, 1.5));
    std::vector<long double> y(n);
    long double mean = 0;
    for (auto& value : y) mean += value = spread * std::pow(r.uniform(), r.uniform(0.2, 6));
    mean /= (long double)(n);
    long double v = 0, high = 0, low = 0, sum = 0;
    for (auto& value : y) {
      value -= mean;
      v += value * value / (long double)(n);
      high = std::max(high, value);
      low = std::min(low, value);
      sum += std::exp(value) / (long double)(n);
    }
    const double exact = double(std::log(sum)),
                 most = largest_log_mean_exp(double(v), double(high)),
                 least = least_log_mean_exp(double(v), double(-low));
    const double slip = 16 * 0x1p-53 * (1 + double(high - low));
    if (!(least - slip <= exact && exact <= most + slip)) {
      CAPTURE(round, n, spread, least, exact, most);
      FAIL();
    }
  }
}

TEST_CASE("two-point bounds: two points attain both", "[blocks][value]") {
  for (const double high : {0.01, 1.0, 30.0, 800.0}) {
    for (const double low : {0.02, 2.0, 30.0}) {
      const double p = low / (high + low), v = high * low;
      const double exact =  // p e^high + (1 - p) e^-low
          high + std::log(p + (1 - p) * std::exp(-(high + low)));
      CAPTURE(high, low);
      CHECK(largest_log_mean_exp(v, high) == Approx(exact).epsilon(1e-12).margin(1e-14));
      CHECK(least_log_mean_exp(v, low) == Approx(exact).epsilon(1e-12).margin(1e-14));
    }
  }
}

TEST_CASE("two-point bounds: the ends of their arguments", "[blocks][edge]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(largest_log_mean_exp(0.0, 5.0) == 0);
  CHECK(largest_log_mean_exp(2.0, 0.0) == 0);
  CHECK(largest_log_mean_exp(2.0, inf) == inf);
  CHECK(largest_log_mean_exp(1e300, 3.0) <= 3);
  CHECK(least_log_mean_exp(0.0, 5.0) == 0);
  CHECK(least_log_mean_exp(2.0, inf) == 0);
  CHECK(std::isnan(largest_log_mean_exp(std::nan(""), 1.0)));
  CHECK(std::isnan(least_log_mean_exp(1.0, std::nan(""))));
}

TEST_CASE("two-point bounds: the ends at a variance that vanishes", "[blocks][edge]") {
  CHECK(largest_log_mean_exp(1e-322, 1000) >= 0);
  CHECK(largest_log_mean_exp(1e-310, 1e5) >= 0);
  CHECK(least_log_mean_exp(1e-322, 1000) >= 0);
  CHECK(least_log_mean_exp(1e308, 1e-300) >= 0);
}

TEST_CASE("two-point bounds: largest_log_mean_exp is the two-point law's in wider numbers",
          "[blocks][value]") {
  families::random r(4);
  long double worst = 0;
  for (int round = 0; round < 20000; ++round) {
    const double v = std::pow(10, r.uniform(-323, 3)), h = std::pow(10, r.uniform(-3, 4));
    const long double up = h, low = v / up, share = low / (up + low);
    const long double law = up + std::log(share + (1 - share) * std::exp(-(up + low)));
    const long double by =
        std::abs(std::max(law, 0.0L) - static_cast<long double>(largest_log_mean_exp(v, h)));
    worst = std::max(worst, by / (1 + up));
  }
  CHECK(worst <= 16 * 0x1p-53L);
}
