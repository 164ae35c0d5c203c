// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/ball.hpp>

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "wide.hpp"

using cumulus::detail::ball;
using oracle::wide;

namespace {

template <class T>
struct tracked {
  ball<T> enclosure;
  wide truth;
  [[nodiscard]] bool holds() const {
    return abs(truth - wide(enclosure.middle)) <= wide(enclosure.radius);
  }
};

}  // namespace

TEST_CASE("ball: an exact number converts, with no radius", "[core][value]") {
  const ball<double> one = 1.0;
  CHECK(one.middle == 1.0);
  CHECK(one.radius == 0.0);
  CHECK((-one).middle == -1.0);
  CHECK(ball<double>{}.middle == 0.0);
}

TEMPLATE_TEST_CASE("ball: holds the exact result through any arithmetic", "[core][property]", float,
                   double) {
  families::random r(5u);
  std::vector<tracked<TestType>> pool;
  for (int i = 0; i < 40; ++i) {
    // A number known to some digits: the truth anywhere in the ball, its edge too.
    const TestType middle = TestType(r.uniform(-3, 3));
    const TestType radius = TestType(i % 4 == 0 ? 0 : std::exp2(r.uniform(-40, -5)));
    const double where = i % 4 == 1 ? 1.0 : i % 4 == 2 ? -1.0 : r.uniform(-1, 1);
    pool.push_back({{middle, radius}, wide(middle) + wide(radius) * wide(where)});
  }
  int held = 0;
  const int steps = 20000;
  for (int i = 0; i < steps; ++i) {
    const auto &a = pool[r.below(pool.size())], &b = pool[r.below(pool.size())];
    const TestType by = TestType(r.uniform(0.25, 4));
    tracked<TestType> c;
    switch (r.below(6)) {
      case 0:
        c = {a.enclosure + b.enclosure, a.truth + b.truth};
        break;
      case 1:
        c = {a.enclosure - b.enclosure, a.truth - b.truth};
        break;
      case 2:
        c = {a.enclosure * b.enclosure, a.truth * b.truth};
        break;
      case 3:
        c = {a.enclosure / by, a.truth / wide(by)};
        break;
      case 4:
        c = a;
        c.enclosure += b.enclosure;
        c.truth += b.truth;
        break;
      default:
        c = a;
        c.enclosure -= b.enclosure;
        c.truth -= b.truth;
    }
    held += c.holds();
    // Results go on, unless they grew away.
    if (std::abs(c.enclosure.middle) < 8 && c.enclosure.radius < TestType(0.01))
      pool[r.below(pool.size())] = c;
  }
  CHECK(held == steps);
}

TEST_CASE("ball: the radius grows by an ulp or so an operation, not more", "[core][property]") {
  ball<double> sum;
  for (int i = 0; i < 1000; ++i) sum += ball<double>(1.0 / 3);
  CHECK(sum.radius > 0);
  CHECK(sum.radius < 1000 * sum.middle * 0x1p-52);
  const ball<double> product = ball<double>(2.0, 0.5) * ball<double>(3.0, 0.25);
  CHECK(product.radius == Approx(2 * 0.25 + 3 * 0.5 + 0.125));
}

TEST_CASE("ball: exact results near underflow are still held", "[core][edge]") {
  const double least = std::numeric_limits<double>::denorm_min();
  const ball<double> product = ball<double>(least) * ball<double>(0.5);
  CHECK(product.radius >= least / 2);
  CHECK(product.radius > 0);
}
