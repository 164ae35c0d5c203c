// SPDX-License-Identifier: MIT
#include <cumulus/detail/attention/taylor_features.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/naive_linear.hpp"
#include "catch.hpp"
#include "refusal.hpp"

using cumulus::detail::feature_count;
using cumulus::detail::feature_layout;
using cumulus::detail::feature_weights;
using cumulus::detail::taylor_features;

TEST_CASE("feature_count: the sizes that papers name", "[attention][value]") {
  CHECK(feature_count(16, 2) == 153);  // Based, packed
  CHECK(feature_count(64, 1) == 65);
  CHECK(feature_count(64, 2) == 2145);
  CHECK(feature_count(16, 3) == 969);
  CHECK(feature_count(64, 3) == 47905);
  CHECK(feature_count(128, 3) == 366145);
  CHECK(feature_count(64, 4) == 814385);
  CHECK(feature_count(5, 0) == 1);
  CHECK(feature_count(1, 9) == 10);
  CHECK(feature_count(100000, 16) == std::numeric_limits<cumulus::index_t>::max());
}

TEST_CASE("taylor_features: monomials in order, each once", "[attention][value]") {
  const Eigen::VectorXd f = taylor_features(std::vector<double>{2, 3, 5}, 3);
  const std::vector<double> expected = {1, 2,  3,  5,  4,  6,  10, 9,  15, 25,
                                        8, 12, 20, 18, 30, 50, 27, 45, 75, 125};
  CHECK(std::vector<double>(f.begin(), f.end()) == expected);
  const std::vector<double> w = feature_weights<double>(3, 3);
  CHECK(w[4] == 0.5);               // x_0^2
  CHECK(w[5] == 1);                 // x_0 x_1
  CHECK(w[10] == Approx(1.0 / 6));  // x_0^3
  CHECK(w[11] == 0.5);              // x_0^2 x_1
  CHECK(w[14] == 1);                // x_0 x_1 x_2
  CHECK(taylor_features(std::vector<float>{}, 4).size() == 1);
  CHECK(taylor_features(Eigen::RowVector2f(1.f, 2.f), 0).size() == 1);
}

TEST_CASE("taylor_features: their weighted product is the truncated exponential",
          "[attention][property]") {
  // widths about a vector's lanes, and more features than a panel
  for (const int d : {1, 2, 3, 8, 15, 16, 17, 33}) {
    for (int order = 0; order <= 6; ++order) {
      if (feature_count(d, order) > 20000) continue;
      const auto q = naive::normal<double>(1, d, 5u), k = naive::normal<double>(1, d, 6u);
      const auto a = taylor_features(q.row(0), order), b = taylor_features(k.row(0), order);
      const auto w = feature_weights<double>(d, order);
      REQUIRE(a.size() == feature_count(d, order));
      naive::real sum = 0, size = 0, u = 0, expected = 0;
      for (Eigen::Index f = 0; f < a.size(); ++f) {
        const naive::real term =
            naive::real(w[std::size_t(f)]) * naive::real(a[f]) * naive::real(b[f]);
        sum += term;
        size += std::abs(term);
      }
      for (int i = 0; i < d; ++i) u += naive::real(q(0, i)) * naive::real(k(0, i));
      for (int j = 0; j <= order; ++j) expected += naive::divided_power(u, j);
      INFO("d " << d << ", order " << order);
      CHECK(std::abs(double(sum - expected)) <= 1e-15 * double(size));
    }
  }
}

TEST_CASE("feature_layout: position finds what for_each names", "[attention][property]") {
  const feature_layout layout(7, 5);
  cumulus::index_t next = 1;
  bool same = true;
  layout.for_each([&](cumulus::index_t f, const cumulus::index_t* i, int degree) {
    same = same && f == next++ && layout.position(i, degree) == f && layout.first(degree) <= f;
  });
  CHECK(same);
  CHECK(next == layout.count());
  CHECK(layout.count() == feature_count(7, 5));
}

TEST_CASE("taylor_features: an order out of range is refused", "[attention][edge]") {
  const Eigen::Vector3d x(1, 2, 3);
  CHECK(refusal([&] { static_cast<void>(taylor_features(x, -1)); }).find("order -1") !=
        std::string::npos);
  CHECK(refusal([&] { static_cast<void>(taylor_features(x, 17)); }).find("order 17") !=
        std::string::npos);
}
