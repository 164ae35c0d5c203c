// SPDX-License-Identifier: MIT
#include <cumulus/detail/rows/horner.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::detail::strided;
using kernels::terms;
using oracle::wide;

TEST_CASE("horner: a polynomial within 2p roundings of its size", "[kernels][value]") {
  const auto a = families::normal<double>(31, 0.0, 1.0, 2u);
  for (const int order : {0, 1, 2, 7, 30}) {
    for (const double y : {0.0, 1.0, -1.0, 0.7, -2.3}) {
      wide exact = 0, size = 0;
      for (int j = 0; j <= order; ++j) {
        const wide term = wide(a[std::size_t(j)]) * pow(wide(y), j);
        exact += term;
        size += abs(term);
      }
      CAPTURE(order, y);
      const wide bound = 2 * order * wide(cumulus::detail::unit_roundoff<double>) * size;
      CHECK(abs(wide(kernels::horner(a.data(), order, y)) - exact) <= bound);
    }
  }
  const double binomials[]{1, 4, 6, 4, 1};
  CHECK(kernels::horner(binomials, 4, 2.0) == 81.0);
}

TEST_CASE("horner: maps the centred vector, times the weights", "[kernels][value]") {
  const std::vector<double> x{1e12, 1e12 + 0.5, 1e12 - 2}, w{2, 0, 0.25};
  // The mean as a pair: 1e12 + 2^-30.
  const cumulus::detail::compensated<double> mean{1e12, 0x1p-30};
  const auto square = [](double y) { return y * y; };
  std::vector<double> out(6, 9.0);
  kernels::map_centred(terms<double>{{x.data(), 3, 1}}, mean, strided<double>{out.data(), 3, 2},
                       square);
  for (std::size_t i = 0; i < 3; ++i) {
    const wide y = wide(x[i]) - wide(1e12) - wide(0x1p-30);
    CHECK(ulps(out[2 * i], wide(y * y)) <= 3);
    CHECK(out[2 * i + 1] == 9.0);
  }
  std::vector<double> in_place = x;
  kernels::map_centred(terms<double>{{in_place.data(), 3, 1}, {w.data(), 3, 1}}, mean,
                       strided<double>{in_place.data(), 3, 1}, square);
  CHECK(in_place == std::vector<double>{2 * out[0], 0, 0.25 * out[4]});
}

TEST_CASE("horner: a weight of 0 gives 0 whatever its element holds", "[kernels][edge]") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x{inf, std::nan(""), 1}, w{0, -0.0, 1};
  std::vector<double> out(3);
  kernels::map_centred(terms<double>{{x.data(), 3, 1}, {w.data(), 3, 1}},
                       cumulus::detail::compensated<double>{0.0, 0.0},
                       strided<double>{out.data(), 3, 1}, [](double y) { return y; });
  CHECK(out == std::vector<double>{0, 0, 1});
}
