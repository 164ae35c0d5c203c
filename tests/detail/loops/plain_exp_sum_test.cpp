// SPDX-License-Identifier: MIT
//
// kernels/plain_exp_sum: the largest element and the sum of exponentials below it.

#include <cumulus/detail/loops/plain_exp_sum.hpp>

#include "support/catch.hpp"
#include "support/families.hpp"
#include "support/ulp.hpp"

using cumulus::index_t;
using cumulus::detail::strided;
namespace kernels = cumulus::detail::kernels;

TEST_CASE("plain_exp_sum: the largest element at every position of every length",
          "[kernels][edge]") {
  for (std::size_t n = 1; n <= 21; ++n) {
    for (std::size_t p = 0; p < n; ++p) {
      std::vector<double> x(n, 1.0);
      x[p] = 2.0;
      CAPTURE(n, p);
      CHECK(kernels::largest_position(strided<const double>{x.data(), index_t(n), 1}) ==
            index_t(p));
      x[p] = std::numeric_limits<double>::quiet_NaN();
      CHECK(kernels::largest_position(strided<const double>{x.data(), index_t(n), 1}) == -1);
      x[p] = std::numeric_limits<double>::infinity();
      CHECK(kernels::largest_position(strided<const double>{x.data(), index_t(n), 1}) == -1);
    }
  }
  const std::vector<double> below(5, -std::numeric_limits<double>::infinity());
  CHECK(kernels::largest_position(strided<const double>{below.data(), 5, 1}) == -1);
  CHECK(kernels::largest_position(strided<const double>{}) == -1);
}

TEMPLATE_TEST_CASE("plain_exp_sum: within its bound of the wide sum, over blocks and strides",
                   "[kernels][value]", float, double) {
  for (const std::size_t n : {1u, 7u, 1023u, 1024u, 1025u, 5000u}) {
    const auto x = families::normal<TestType>(2 * n, 3.0, 4.0, n);
    const strided<const TestType> every_second{x.data(), index_t(n), 2};
    double peak = -1e300;
    for (index_t i = 0; i < index_t(n); ++i) peak = std::max(peak, double(every_second[i]));
    oracle::wide sum = 0;
    for (index_t i = 0; i < index_t(n); ++i) {
      sum += exp(oracle::wide(every_second[i]) - oracle::wide(peak));
    }
    index_t seen = 0;
    const auto result =
        kernels::plain_exp_sum(every_second, peak, [&](index_t, double) { ++seen; });
    CAPTURE(n);
    CHECK(seen == index_t(n));
    // Of float, plain sums of double terms: far below an ulp of the result, which is a float.
    CHECK(ulps(result.value(), sum) <= (std::is_same_v<TestType, double> ? 3 : 0x1p20));
  }
}
