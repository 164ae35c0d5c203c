// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/power_sums.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"
#include "worst.hpp"

namespace kernels = cumulus::detail::kernels;
using oracle::wide;

TEST_CASE("power_sums: the lanes add up to the whole", "[kernels][value]") {
  for (cumulus::index_t n = 0; n <= kernels::power_sums_block; n += kernels::power_sums_lanes) {
    std::vector<double> x(std::size_t(n), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i + 1);
    CAPTURE(n);
    const auto element = [&](cumulus::index_t i) { return x[std::size_t(i)]; };
    CHECK(kernels::lane_sum<double>(n, element) == double(n * (n + 1) / 2));
  }
}

TEST_CASE("power_sums: each order within its bound of the wide sum", "[kernels][value]") {
  const int order = 24;
  for (const std::size_t n : {8u, 16u, 64u, 128u}) {
    const auto y = families::normal<double>(n, 0.3, 1.0, n);
    auto w = families::wild_weights<double>(n, 4.0, 7u);
    w[n - 1] = 0.0;  // padding
    std::vector<double> power = w, sums(order + 1, -1.0);
    kernels::power_sums(y.data(), power.data(), cumulus::index_t(n), order, sums.data());
    CHECK(sums[0] == -1.0);
    worst error;
    for (int p = 1; p <= order; ++p) {
      wide exact = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const wide term = wide(w[i]) * pow(wide(y[i]), p);
        exact += term;
        size += abs(term);
      }
      const wide u = cumulus::detail::unit_roundoff<double>;
      error.see(double(abs(wide(sums[std::size_t(p)]) - exact) / (u * size * (2 * p + 16))),
                "n =", n, "order", p);
    }
    CHECK_WORST(error, 1);
  }
}

TEST_CASE("power_sums: deviations are scaled without overflow or early underflow",
          "[kernels][edge]") {
  const auto deviation = [](double x, double pivot, int e) {
    const std::vector<double> values(kernels::power_sums_lanes, x);
    std::vector<double> y(values.size());
    kernels::deviations(values.data(), kernels::power_sums_lanes, pivot,
                        kernels::scaling<double>(e), y.data());
    return y[0];
  };
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(deviation(3.0, 1.0, 0) == 2.0);
  CHECK(deviation(3.0, 1.0, 4) == 0.125);
  CHECK(deviation(3.0, 1.0, -4) == 32.0);
  CHECK(deviation(largest, -largest, 1024) == largest * 0x1p-1023);
  CHECK(deviation(least, 0.0, -1074) == 1.0);
  CHECK(deviation(3 * least, least, -1073) == 1.0);
  for (const int e : {-1073, -1000, -513, -1, 0, 1, 2, 700, 1022}) {
    const kernels::scaling<double> unit(e);
    CAPTURE(e);
    CHECK(wide(unit.before) * wide(unit.after) * wide(unit.last) == ldexp(wide(1), -e));
  }
}

TEST_CASE("power_sums: a shift of the origin changes the sums as the moved values do",
          "[kernels][value]") {
  const int order = 16;
  const auto y = families::normal<double>(40, 0.1, 1.0, 3u);
  for (const double h : {0.0, 0x1p-30, 0.01, -0.5, 2.0}) {
    std::vector<double> sums(order + 1), change(order + 1);
    std::vector<wide> moved(order + 1), size(order + 1);
    for (int p = 0; p <= order; ++p) {
      const auto q = std::size_t(p);
      wide sum = 0;
      for (const double v : y) {
        sum += pow(wide(v), p);
        moved[q] += pow(wide(v) + wide(h), p);
        size[q] += pow(abs(wide(v)) + abs(wide(h)), p);
      }
      sums[q] = double(sum);
      moved[q] -= sum;
      for (const double v : y) size[q] -= pow(abs(wide(v)), p);
    }
    kernels::shift_change(sums.data(), h, order, change.data());
    worst error;
    for (int p = 0; p <= order; ++p) {
      const auto q = std::size_t(p);
      const wide difference = abs(wide(change[q]) - moved[q]);
      // 3 roundings a factor, of the sums of sizes.
      const wide bound = wide(3 * p * cumulus::detail::unit_roundoff<double>) * size[q];
      error.see(difference == 0 ? 0.0 : double(difference / bound), "h =", h, "order", p);
    }
    CHECK(change[0] == 0.0);
    CHECK_WORST(error, 1);
  }
}
