// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/exp_sum.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::detail::strided;
using cumulus::detail::kernels::exp_sum;
using cumulus::detail::kernels::terms;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
terms<T> of(const std::vector<T>& x) {
  return {{x.data(), cumulus::index_t(x.size()), 1}};
}
terms<double> of(const std::vector<double>& x, const std::vector<double>& w) {
  const auto n = cumulus::index_t(x.size());
  return {{x.data(), n, 1}, {w.data(), n, 1}};
}

}  // namespace

TEMPLATE_TEST_CASE("exp_sum: the terms over the largest, whatever the length", "[kernels][value]",
                   float, double) {
  worst error;
  for (const std::size_t n : {2u, 3u, 9u, 64u, 1000u}) {
    for (const double spread : {1e-3, 1.0, 30.0}) {
      const auto x = families::normal<TestType>(n, 1e3, spread, n);
      const auto sum = exp_sum(of(x));
      const oracle::wide all = oracle::total(oracle::exp_terms(x, oracle::centre(x)));
      REQUIRE(sum.finite());
      CHECK(x[std::size_t(sum.position)] == oracle::centre(x));
      error.see(ulps(sum.rest.value(), oracle::wide(all - 1)), "n =", n, "spread", spread);
    }
  }
  CHECK_WORST(error, 3);  // as the Error line says
}

TEST_CASE("exp_sum: the rest of a long sum does not drift", "[kernels][value]") {
  // 2^22 terms of 1 + 2^-30: the plain sum of them is wrong in its last digits.
  std::vector<double> x(1u << 22, -1.0);
  x[12345] = 0.0;
  const auto sum = exp_sum(of(x));
  CHECK(sum.position == 12345);
  const oracle::wide expected = ((1u << 22) - 1) * oracle::wide(exp(oracle::wide(-1)));
  CHECK(ulps(sum.rest.value(), expected) <= 3);
}

TEST_CASE("exp_sum: infinities and NaN are counted, not summed", "[kernels][edge]") {
  struct row {
    std::vector<double> x, w;
    cumulus::index_t infinite;
    bool minus_infinite, invalid;
    double log;
  };
  const std::vector<row> table{
      {{}, {}, 0, false, false, -inf},           {{-inf, -inf}, {1, 1}, 0, false, false, -inf},
      {{1, -inf}, {1, 1}, 0, false, false, 1},   {{inf, 2, inf}, {1, 1, 1}, 2, false, false, inf},
      {{inf, 2}, {-1, 1}, 0, true, false, qnan}, {{1, 2}, {inf, 1}, 1, false, false, inf},
      {{1, 2}, {-inf, 1}, 0, true, false, qnan}, {{-inf, 2}, {inf, 1}, 0, false, true, qnan},
      {{qnan, 2}, {1, 1}, 0, false, true, qnan}, {{qnan, 2}, {0, 1}, 0, false, false, 2},
      {{1, 2}, {qnan, 1}, 0, false, true, qnan}, {{3, 3}, {1, -1}, 0, false, false, -inf},
      {{3, 3}, {-1, -1}, 0, false, false, qnan},
  };
  for (const row& r : table) {
    CAPTURE(r.x, r.w);
    const auto t = of(r.x, r.w);
    const auto sum = exp_sum(t);
    CHECK(sum.infinite == r.infinite);
    CHECK(sum.minus_infinite == r.minus_infinite);
    CHECK(sum.invalid == r.invalid);
    const double log = log_of(sum, t);
    CHECK((log == r.log || (std::isnan(log) && std::isnan(r.log))));
  }
}

TEST_CASE("exp_sum: the peak is the largest term with its weight, the first of equals",
          "[kernels][edge]") {
  CHECK(exp_sum(of(std::vector<double>{1, 5, 2, 5})).position == 1);
  CHECK(exp_sum(of({1, 5, 2}, {1, 1e-3, 100})).position == 2);
  CHECK(exp_sum(of({0, 700}, {1, 0x1p-1070})).position == 0);
  CHECK(exp_sum(of({-inf, -700}, {1e300, 1})).position == 1);
  CHECK(exp_sum(of({1, 2}, {0, 0})).position == -1);
}
