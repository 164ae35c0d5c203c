// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/chebyshev.hpp>
#include <algorithm>
#include <cmath>

#include "catch.hpp"

namespace {

using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();

/// I_k(h) by its series.
real bessel(int k, real h) {
  real term = 1, sum = 0;
  for (int i = 1; i <= k; ++i) term *= h / 2 / i;
  for (int i = 0; i < 400; ++i) {
    sum += term;
    term *= h * h / 4 / (real(i + 1) * real(i + 1 + k));
  }
  return sum;
}

/// e^centre sum_k a_k T_k(z), the definition.
real economised(int order, real h, real z) {
  real sum = bessel(0, h), before = 1, here = z;
  for (int k = 1; k <= order; ++k) {
    sum += 2 * bessel(k, h) * here;
    const real next = 2 * z * here - before;
    before = here;
    here = next;
  }
  return sum;
}

}  // namespace

TEST_CASE("chebyshev: the polynomial is sum a_k T_k, and within its tail of e^y",
          "[series][value]") {
  for (const double range : {1e-6, 0.5, 3.0, 8.0, 20.0}) {
    for (const double share : {0.5, 0.1, 0.97}) {  // of the range below the mean
      const double low = -share * range, high = (1 - share) * range;
      for (const int order : {0, 1, 2, 3, 6, 11, 24}) {
        const auto p = cumulus::detail::economise_exponential(order, low, high, range);
        CAPTURE(range, share, order);
        for (int i = 0; i <= 40; ++i) {
          const real z = real(i) / 20 - 1, y = p.centre + z * range / 2;
          real value = 0, size = 0, power = 1;
          for (int k = 0; k <= order; ++k) {
            value += power * p.coefficient[std::size_t(k)];
            size += std::abs(power) * p.size[std::size_t(k)];
            power *= y / (k + 1);
          }
          // of the coefficients, and of the range, which is widened by a few roundings
          const real rounding = (4 * order + 40 + 64 * real(range)) * size * 0x1p-53L;
          if (!(std::abs(value - economised(order, real(range) / 2, z)) <=
                rounding + 1e-15L * size) ||
              !(std::abs(value - std::exp(y - p.centre)) <= p.tail + rounding)) {
            CAPTURE(z, value, std::exp(y - p.centre), p.tail);
            FAIL_CHECK("off");
          }
        }
      }
    }
  }
}

TEST_CASE("chebyshev: the tail is 2 sum I_k, from above and near", "[series][value]") {
  for (const double range : {1e-8, 0.1, 1.0, 6.0, 12.0, 30.0}) {
    for (const int order : {0, 1, 4, 8, 16, 24, 40}) {
      real sum = 0;
      for (int k = order + 60; k > order; --k) sum += 2 * bessel(k, real(range) / 2);
      const double tail = cumulus::detail::economised_tail(order, range);
      CAPTURE(range, order);
      if (range / 4 >= order + 2) {
        CHECK(tail == inf);
        continue;
      }
      CHECK(tail >= sum);
      CHECK(tail <= 1.001L * sum / (1 - real(range) / (4 * (order + 2))) + 1e-300L);
    }
  }
}

TEST_CASE("chebyshev: no sample is farther than chebyshev_remainder", "[series][property]") {
  // two points, the farthest for a polynomial error, at every share
  for (const double range : {0.3, 2.0, 5.0}) {
    for (const int order : {1, 2, 5, 9}) {
      const double bound = cumulus::detail::chebyshev_remainder(order, range);
      for (int i = 1; i < 60; ++i) {
        const real q = i / 60.0L, low = -q * real(range), high = (1 - q) * real(range);
        const auto p = cumulus::detail::economise_exponential<real>(order, low, high, range);
        std::array<cumulus::detail::ball<real>, 65> m;
        real a = 1 - q, b = q;  // of low, of high
        for (int k = 0; k <= order; ++k) {
          m[std::size_t(k)] = cumulus::detail::ball<real>(a + b);
          a *= low / (k + 1), b *= high / (k + 1);
        }
        const real k = std::log((1 - q) * std::exp(low) + q * std::exp(high));
        const real value = p.centre + std::log(std::max(expected(p, m).middle, 0.0L));
        CAPTURE(range, order, i, bound);
        CHECK((bound == inf || std::abs(value - k) <= bound + 1e-18L));
      }
    }
  }
}

TEST_CASE("chebyshev: ranges of 0, none, and out of reach", "[series][edge]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(cumulus::detail::economised_tail(3, 0.0) <= 1e-300);
  CHECK(cumulus::detail::chebyshev_remainder(3, 0.0) <= 1e-300);
  for (const double range : {-1.0, nan, inf, 1e4}) {
    CHECK(cumulus::detail::economised_tail(4, range) == inf);
    CHECK(cumulus::detail::chebyshev_remainder(4, range) == inf);
  }
  const auto p = cumulus::detail::economise_exponential(4, 0.0, 0.0, 0.0);
  CHECK(p.coefficient[0] == 1);
  CHECK(p.coefficient[4] == Approx(1));
  CHECK(cumulus::detail::economise_exponential(4, -1e4, 1e4, 2e4).tail == inf);
}
