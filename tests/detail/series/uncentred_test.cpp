// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/uncentred.hpp>
#include <Eigen/Core>
#include <cmath>

#include "catch.hpp"
#include "names.hpp"
#include "oracle.hpp"
#include "series_samples.hpp"
#include "ulp.hpp"

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("uncentred: equals the centred series", "[series][property]") {
  using oracle::wide;
  families::random r(601);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (const double offset : {0.0, -2.0, 5.0}) {
      const auto s = families::ranged<double>(shape, 0, 20, 1.5, offset, r);
      const std::vector<wide> x(s.x.begin(), s.x.end());
      for (int order = 0; order <= 16; ++order) {
        CAPTURE(s.name, offset, order);
        const auto centred = cumulus::logsumexp_series(x, order);
        const auto uncentred = cumulus::detail::logsumexp_series_uncentred(x, order);
        // raw moments of 6.5^16 / 16!, 50 digits
        CHECK(abs(uncentred.value - centred.value) <= 1e-38);
        CHECK(uncentred.order == order);
      }
    }
  }
}

TEST_CASE("uncentred: its first terms as on paper", "[series][value]") {
  const std::vector<double> x{0.3, -0.2, 0.9, 0.4, 0};
  double s1 = 0, s2 = 0, s3 = 0;
  for (const double v : x) s1 += v / 5, s2 += v * v / 5, s3 += v * v * v / 5;
  const double log_n = std::log(5.0);
  const auto value = [&](int order) {
    return cumulus::detail::logsumexp_series_uncentred(x, order).value;
  };
  CHECK(value(0) == Approx(log_n + s1).epsilon(1e-15));  // order 0 is order 1
  CHECK(value(1) == Approx(log_n + s1).epsilon(1e-15));
  CHECK(value(2) == Approx(log_n + s1 + (s2 - s1 * s1) / 2).epsilon(1e-15));
  CHECK(value(3) ==
        Approx(log_n + s1 + (s2 - s1 * s1) / 2 + (s3 - 3 * s1 * s2 + 2 * s1 * s1 * s1) / 6)
            .epsilon(1e-15));
}

TEMPLATE_TEST_CASE("uncentred: its bound holds, also where it has lost all digits",
                   "[series][property]", float, double) {
  families::random r(602);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (const double range : {1e-6, 0.1, 1.0, 3.0, 8.0}) {
      for (const double offset : {0.0, 3.0, -40.0, 1000.0}) {
        const auto s = families::ranged<TestType>(shape, 0, 12, range, offset, r);
        const oracle::wide exact = oracle::logsumexp(s.x);
        for (int order = 0; order <= 24; ++order) {
          const auto e = cumulus::detail::logsumexp_series_uncentred(s.x, order);
          if (std::isinf(e.bound)) continue;
          if (!(abs(oracle::wide(e.value) - exact) <= oracle::wide(e.bound))) {
            CAPTURE(order, s.hex(), exact, e.value, e.bound);
            FAIL_CHECK("the error exceeds the bound");
          }
        }
      }
    }
  }
}

TEST_CASE("uncentred: what the centre is for", "[series][value]") {
  const auto x = families::uniform<double>(100, 1000, 1001, 603);
  const oracle::wide exact = oracle::logsumexp(x);
  CHECK(ulps(cumulus::logsumexp_series(x, 24).value, exact) <= 2);
  CHECK(abs(oracle::wide(cumulus::detail::logsumexp_series_uncentred(x, 24).value) - exact) > 1);
}

TEST_CASE("uncentred: empty, infinite and NaN input, containers, orders", "[series][edge]") {
  CHECK(cumulus::detail::logsumexp_series_uncentred(std::vector<double>{}, 3).value == -inf);
  CHECK(cumulus::detail::logsumexp_series_uncentred(std::vector<double>{1, inf}, 3).value == inf);
  CHECK(cumulus::detail::logsumexp_series_uncentred(std::vector<double>{-inf, -inf}, 3).value ==
        -inf);
  CHECK(std::isnan(
      cumulus::detail::logsumexp_series_uncentred(std::vector<double>{1, std::nan("")}, 3).value));
  const std::vector<int> integers{1, 2, 2};
  const Eigen::VectorXd dense = Eigen::Vector3d(1, 2, 2);
  CHECK(cumulus::detail::logsumexp_series_uncentred(integers, 4).value ==
        cumulus::detail::logsumexp_series_uncentred(dense, 4).value);
  CHECK(cumulus::detail::logsumexp_series_uncentred(dense.reverse().reverse(), 4u).value ==
        cumulus::detail::logsumexp_series_uncentred(dense, 4).value);
  CHECK(names(
      refusal([&] { static_cast<void>(cumulus::detail::logsumexp_series_uncentred(dense, -1)); }),
      {"order -1", "0..64"}));
  CHECK(names(
      refusal([&] { static_cast<void>(cumulus::detail::logsumexp_series_uncentred(dense, 65)); }),
      {"order 65", "0..64"}));
}
