// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/running_exp_sum.hpp>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "merge_tree.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::detail::compensated;
using cumulus::detail::kernels::running_exp_sum;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// A monoid whose += is merge.
struct low_sum : running_exp_sum<double, -128> {
  low_sum& operator+=(const low_sum& other) {
    merge(other);
    return *this;
  }
  friend low_sum operator+(low_sum a, const low_sum& b) { return a += b; }
};

}  // namespace

TEST_CASE("running_exp_sum: add returns the term relative to the reference it leaves",
          "[kernels][property]") {
  families::random r(1u);
  running_exp_sum<double, -128> sum;
  for (int i = 0; i < 300; ++i) {
    const double x = 3.0 * i + r.uniform(-50.0, 50.0), w = r.uniform(0.1, 10.0);
    const auto term = sum.add({x, 0}, w);
    CHECK(term == sum.reference().term({x, 0}, w));
    CHECK(term.high < 0x1p-63);  // room for what it multiplies, a wide one
    CHECK(sum.sum().high > 0x1p-130);
  }
  CHECK(sum.add({-inf, 0}, 1.0) == compensated<double>{});
  CHECK(sum.add({5.0, 0}, 0.0) == compensated<double>{});
}

TEST_CASE("running_exp_sum: the sum is that of its terms, however merged", "[kernels][value]") {
  worst error_here;
  for (const double step : {0.001, 0.5, 20.0, 400.0}) {
    const auto x = families::ascending<double>(200, -50 * step, 150 * step);
    const wide total = oracle::total(oracle::exp_terms(x, x.back()));
    for (const std::size_t parts : {1u, 3u, 200u}) {
      const auto s = merge_tree(low_sum(), x.size(), parts, parts,
                                [&](low_sum& part, std::size_t i) { part.add({x[i], 0}, 1.0); });
      const auto largest = s.reference().term({x.back(), 0}, 1.0);
      const wide actual =
          (wide(s.sum().high) + wide(s.sum().low)) / (wide(largest.high) + wide(largest.low));
      error_here.see(double(abs(actual / total - 1)) / DBL_EPSILON, "step", step, "parts", parts);
      CHECK(s.log_largest() == x.back());
    }
  }
  CHECK_WORST(error_here, 1);  // the exp of the largest term, and of the others
}

TEST_CASE("running_exp_sum: log_sum changes its formula without a step", "[kernels][value]") {
  // From log1p(rest / largest) to the log of the whole where the rest exceeds half of the largest.
  worst error_here;
  for (int i = -50; i <= 50; ++i) {
    const std::vector<double> x{0.0, std::log(0.5) + i * 0x1p-50};
    cumulus::detail::kernels::running_log_sum<double> sum;
    for (const double v : x) sum.add({v, 0}, 1.0);
    error_here.see(ulps(sum.log_sum(), oracle::shifted_logsumexp(x)), i);
  }
  CHECK_WORST(error_here, 2);
}

TEST_CASE("scaled_exponent: exact products, and limits where there is none", "[kernels][edge]") {
  using cumulus::detail::kernels::scaled_exponent;
  const auto high = [](double x, double scale) { return scaled_exponent(x, scale).high; };
  const auto p = scaled_exponent(0.1, 0.3);
  CHECK(wide(p.high) + wide(p.low) == wide(0.1) * wide(0.3));
  CHECK(scaled_exponent(0.1, 1.0) == compensated<double>{0.1, 0});
  CHECK(high(inf, 0.0) == 0);
  CHECK(high(-inf, 0.0) == 0);
  CHECK(high(0.0, inf) == 0);
  CHECK(high(2.0, -inf) == -inf);
  CHECK(high(-inf, -2.0) == inf);
  CHECK(high(DBL_MAX, 2.0) == inf);
  CHECK(scaled_exponent(DBL_MAX, 2.0).low == 0);
  CHECK(std::isnan(high(std::nan(""), 0.0)));
  CHECK(std::isnan(high(0.0, std::nan(""))));
  CHECK(std::isnan(high(1.0, std::nan(""))));
}

TEST_CASE("quotient: of two pairs, to half an ulp", "[kernels][value]") {
  worst error_here;
  families::random r(2u);
  for (int i = 0; i < 2000; ++i) {
    const compensated<double> a{r.uniform(-2.0, 2.0), r.uniform(-1.0, 1.0) * 0x1p-54},
        b{r.uniform(0.5, 2.0), r.uniform(-1.0, 1.0) * 0x1p-54};
    const wide exact = (wide(a.high) + wide(a.low)) / (wide(b.high) + wide(b.low));
    error_here.see(ulps(cumulus::detail::kernels::quotient(a, b), exact), i);
  }
  CHECK_WORST(error_here, 0.501);
  CHECK(cumulus::detail::kernels::quotient<double>({inf, 0}, {2, 0}) == inf);
}
