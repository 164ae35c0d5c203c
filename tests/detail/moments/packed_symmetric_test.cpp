// SPDX-License-Identifier: MIT
#include <cumulus/detail/moments/packed_symmetric.hpp>
#include <cmath>

#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"

namespace {

using cumulus::index_t;
using cumulus::detail::packed_symmetric;
using cumulus::detail::packed_tensors;

}  // namespace

TEST_CASE("packed_symmetric: counts are binomials", "[moments][value]") {
  const packed_symmetric layout("test", 12, 6);
  for (int p = 1; p <= 6; ++p) {
    for (index_t k = 1; k <= 12; ++k) {
      double binomial = 1;  // C(k + p - 1, p)
      for (int i = 1; i <= p; ++i) binomial = binomial * double(k + i - 1) / i;
      CHECK(double(layout.count(p, k)) == std::round(binomial));
    }
    CHECK(layout.count(p, 0) == 0);
  }
  CHECK(packed_symmetric("test", 0, 3).count(2) == 0);
}

TEST_CASE("packed_count: the layout's, and the greatest number for what does not fit",
          "[moments][value]") {
  using cumulus::detail::packed_count;
  constexpr index_t most = std::numeric_limits<index_t>::max();
  for (const index_t d : {0, 1, 2, 7, 30}) {
    const packed_symmetric layout("test", d, 6);
    for (int p = 0; p <= 6; ++p) CHECK(packed_count(d, p) == layout.count(p));
  }
  // C(66, 33) = 7219428434016265740 fits, its product with the next factor does not; C(67, 33) does not fit
  static_assert(packed_count(34, 33) == 7219428434016265740);
  static_assert(packed_count(35, 33) == most && packed_count(34, 34) == most);
  // the largest d of order 2: d (d + 1) / 2 < 2^63
  static_assert(packed_count(4294967295, 2) == 9223372034707292160);
  static_assert(packed_count(4294967296, 2) == most);
  static_assert(packed_count(most, 1) == most && packed_count(most, 16) == most);
  static_assert(packed_count(most, 0) == 1 && packed_count(1, 1000) == 1);
}

TEST_CASE("packed_symmetric: refuses what no memory holds, before it asks for any",
          "[moments][edge]") {
  CHECK(refusal([] { packed_symmetric("test", index_t(1) << 62, 3); }) ==
        "cumulus: test: order 3 of 4611686018427387904 dimensions has more than 2^40 components");
  CHECK(refusal([] { packed_symmetric("test", 1 << 21, 2); }) ==
        "cumulus: test: order 2 of 2097152 dimensions has more than 2^40 components");
}

TEST_CASE("packed_symmetric: products in the packed order", "[moments][value]") {
  const packed_symmetric layout("test", 4, 3);
  const packed_tensors<double> y(layout), e(layout);
  const double x[] = {2, 3, 5, 7}, one[] = {1, 1, 1, 1};
  layout.products(x, 3, y.orders());
  layout.exponential(one, 3, e.orders());
  index_t place = 0;
  for (index_t k = 0; k < 4; ++k) {
    for (index_t j = 0; j <= k; ++j) {
      for (index_t i = 0; i <= j; ++i, ++place) {
        CHECK(y[3][place] == x[i] * x[j] * x[k]);
        const double repeated = i == j && j == k ? 6 : i == j || j == k ? 2 : 1;
        CHECK(e[3][place] == Approx(1 / repeated).epsilon(1e-15));
      }
    }
    CHECK(y[3][layout.power(3, k)] == x[k] * x[k] * x[k]);
  }
}

TEST_CASE("packed_symmetric: the shift is that of the points", "[moments][property]") {
  // small integers, so that all is exact
  families::random r(3);
  for (const index_t d : {1, 2, 3, 5}) {
    for (int order = 1; order <= 5; ++order) {
      const packed_symmetric layout("test", d, order);
      const packed_tensors<double> before(layout), after(layout), change(layout), y(layout);
      double h[5];
      for (double& v : h) v = double(r.below(5)) - 2;
      for (int point = 0; point < 6; ++point) {
        double x[5], moved[5];
        for (int i = 0; i < 5; ++i) {
          x[i] = double(r.below(7)) - 3;
          moved[i] = x[i] + h[i];
        }
        const auto add = [&](const double* at, const packed_tensors<double>& to) {
          layout.products(at, order, y.orders());
          to[0][0] += 1;
          for (int p = 1; p <= order; ++p) {
            for (index_t i = 0; i < layout.count(p); ++i) to[p][i] += y[p][i];
          }
        };
        add(x, before);
        add(moved, after);
      }
      layout.shift_change(before.orders(), h, change.orders());
      bool equal = true;
      for (int p = 1; p <= order; ++p) {
        for (index_t i = 0; i < layout.count(p); ++i)
          equal = equal && before[p][i] + change[p][i] == after[p][i];
      }
      CAPTURE(d, order);
      CHECK(equal);
    }
  }
}
