// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/exp_mean.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"
#include "worst.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::detail::compensated;
using cumulus::detail::strided;
using kernels::terms;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

strided<const double> view(const std::vector<double>& x) {
  return {x.data(), cumulus::index_t(x.size()), 1};
}

}  // namespace

TEMPLATE_TEST_CASE("exp_mean: e^y - 1 - y keeps its digits at every size", "[kernels][value]",
                   float, double, long double) {
  using T = TestType;
  worst error;
  for (double size = 1e-15; size < 80; size *= 1.37) {
    for (const double sign : {1.0, -1.0}) {
      const T y = T(sign * size);
      error.see(ulps(kernels::exp_minus_tangent(y), wide(expm1(oracle::wide(y)) - wide(y))), y);
    }
  }
  for (const double y : {0.4999, 0.5, 0.5001, -0.4999, -0.5, -0.5001})
    error.see(ulps(kernels::exp_minus_tangent(T(y)), wide(expm1(wide(T(y))) - wide(T(y)))), y);
  // Just above 1/2 the difference of 0.65 and 0.5 costs the ulp of expm1 times 4.
  CHECK_WORST(error, 8);
  CHECK(kernels::exp_minus_tangent(T(0)) == 0);
}

TEST_CASE("exp_mean: a quotient of sums with its rounding error", "[kernels][value]") {
  families::random r(3u);
  worst error;
  for (int i = 0; i < 500; ++i) {
    const compensated<double> a{r.uniform(-9, 9), r.uniform(-1, 1) * 0x1p-54},
        b{r.uniform(1, 9), r.uniform(-1, 1) * 0x1p-54};
    const compensated<double> q = kernels::quotient_pair(a, b);
    const wide expected = (wide(a.high) + wide(a.low)) / (wide(b.high) + wide(b.low));
    error.see(double(abs(wide(q.high) + wide(q.low) - expected) / abs(expected)) * 0x1p100, i);
  }
  CHECK_WORST(error, 1);
}

TEST_CASE("exp_mean: the total weight is of what takes part, -inf too", "[kernels][edge]") {
  const std::vector<double> x{1, -inf, qnan, 4}, w{1, 2, 4, 0};
  const bool mask[]{true, true, false, true};
  const terms<double> weighted{view(x), view(w), {mask, 4, 1}}, plain{view(x)};
  CHECK(kernels::mean_weights<double>(weighted).total.value() == 3);
  CHECK(kernels::mean_weights<double>(plain).total.value() == 4);
}

TEST_CASE("exp_mean: the means of nothing, of -inf and of equal terms", "[kernels][edge]") {
  const std::vector<double> none, below{-inf, -inf}, ties{0.1, 0.1, 0.1};
  CHECK(std::isnan(kernels::log_mean(terms<double>{view(none)})));
  CHECK(kernels::log_mean(terms<double>{view(below)}) == -inf);
  CHECK(kernels::log_mean(terms<double>{view(ties)}) == 0.1);
  CHECK(kernels::log_variance(terms<double>{view(ties)}, 0.0) == -inf);
  CHECK(std::isnan(kernels::log_variance(terms<double>{view(none)}, 0.0)));
}
