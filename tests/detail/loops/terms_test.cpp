// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/terms.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "ulp.hpp"
#include "worst.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::detail::strided;
using kernels::terms;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
strided<const T> view(const std::vector<T>& x) {
  return {x.data(), cumulus::index_t(x.size()), 1};
}

}  // namespace

TEMPLATE_TEST_CASE("terms: a difference is exact, and -inf where it overflows", "[kernels][value]",
                   float, double) {
  families::random r(1u);
  bool exact = true;
  for (int i = 0; i < 2000; ++i) {
    const auto x = TestType(std::exp2(r.uniform(-20, 20))), y = TestType(r.uniform(-1e3, 1e3));
    const auto d = kernels::difference(x, y);
    exact = exact && wide(d.high) + wide(d.low) == wide(x) - wide(y);
  }
  CHECK(exact);
  const TestType largest = std::numeric_limits<TestType>::max();
  CHECK(kernels::difference(TestType(-largest), largest).high ==
        -cumulus::detail::infinity<TestType>);
  CHECK(kernels::difference(TestType(-inf), TestType(3)).high ==
        -cumulus::detail::infinity<TestType>);
  CHECK(kernels::difference(TestType(-inf), TestType(3)).low == 0);
}

TEST_CASE("terms: the exponential of a pair takes the low part in", "[kernels][value]") {
  worst error;
  families::random r(2u);
  for (int i = 0; i < 500; ++i) {
    const double high = r.uniform(-740, 700), low = high * r.uniform(-0.5, 0.5) * 0x1p-52;
    error.see(ulps(kernels::exponential(cumulus::detail::compensated<double>{high, low}),
                   wide(exp(wide(high) + wide(low)))),
              high, low);
  }
  CHECK_WORST(error, 1.5 + 1);  // and 1 ulp of the system's exp
  CHECK(kernels::exponential(cumulus::detail::compensated<double>{-inf, 0.0}) == 0.0);
}

TEST_CASE("terms: what the mask keeps and a weight other than 0 counts takes part",
          "[kernels][edge]") {
  const std::vector<double> x{1, 2, 3, 4, 5}, w{1, 0, -0.0, qnan, -2};
  const bool mask[]{true, true, true, true, false};
  const terms<double> plain{view(x)};
  const terms<double> weighted{view(x), view(w)};
  const terms<double> both{view(x), view(w), {mask, 5, 1}};
  const bool by_weight[]{true, false, false, true, true};
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(plain.takes_part(i));
    CHECK(weighted.takes_part(i) == by_weight[i]);
    CHECK(both.takes_part(i) == (by_weight[i] && mask[i]));
  }
  CHECK(plain.weight(4) == 1.0);
  CHECK(plain.log_weight(4) == 0.0);
  CHECK(weighted.weight(4) == -2.0);
  CHECK(weighted.log_weight(4) == std::log(2.0));
  CHECK(weighted.exponent(2) == 3.0);
}

TEST_CASE("terms: the ratio of two terms, weighted by any numbers", "[kernels][value]") {
  families::random r(3u);
  worst plain_error, weighted_error;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> x{r.uniform(-300, 300), r.uniform(-300, 300)};
    const std::vector<double> w{std::exp2(r.uniform(-900, 900)), std::exp2(r.uniform(-900, 900))};
    const terms<double> plain{view(x)}, weighted{view(x), view(w)};
    const wide ratio = exp(wide(x[0]) - wide(x[1])), with = ratio * wide(w[0]) / wide(w[1]);
    if (ratio < 2)
      plain_error.see(ulps(kernels::ratio(plain, 0, kernels::term_at(plain, 1)), ratio), x[0],
                      x[1]);
    if (with < 2 && with > wide(1e-300))
      weighted_error.see(ulps(kernels::ratio(weighted, 0, kernels::term_at(weighted, 1)), with),
                         x[0], x[1], w[0], w[1]);
  }
  CHECK_WORST(plain_error, 1.5 + 1);
  CHECK_WORST(weighted_error, 4 + 2);
}
