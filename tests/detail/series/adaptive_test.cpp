// SPDX-License-Identifier: MIT
#include <cumulus/series/logsumexp_series.hpp>
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "names.hpp"
#include "series_samples.hpp"

namespace {

using cumulus::bound_kind;
using cumulus::form;
using cumulus::logsumexp_series;
using cumulus::detail::least_order;
using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
real exact(const std::vector<T>& x, const std::vector<T>& w) {
  const real most = *std::max_element(x.begin(), x.end());
  real sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += w[i] * std::exp(x[i] - most);
  return most + std::log(sum);
}

}  // namespace

TEMPLATE_TEST_CASE("adaptive: within the tolerance, or at rounding, and never beyond the bound",
                   "[series][property]", float, double) {
  using T = TestType;
  families::random r(941);
  int groups = 0;
  for (const double tolerance : {1e-2, 1e-5, 1e-8, 1e-12, 1e-30}) {
    for (const double range : {0.0, 1e-6, 0.1, 1.0, 3.0, 6.0, 12.0, 40.0, 700.0, 1e5}) {
      for (int shape = 0; shape < families::shape_count; ++shape) {
        auto s =
            families::ranged<T>(shape, shape % 3, 2 + r.below(100), range, shape == 4 ? 1e3 : 0, r);
        if (s.w.empty()) s.w.assign(s.x.size(), T(1));
        const auto e = logsumexp_series(s.x, {.weights = s.w, .tolerance = tolerance});
        const real expected = exact(s.x, s.w);
        CAPTURE(tolerance, range, s.name, e.value, e.bound, name_of(e.kind), e.order);
        if (!(std::abs(e.value - expected) <= e.bound)) FAIL_CHECK("beyond its bound");
        const real rounding =
            std::numeric_limits<T>::epsilon() * std::abs(expected) * 2 +
            std::numeric_limits<double>::epsilon() * 40 * (20 + std::abs(expected));
        if (!(e.bound <= std::max<real>(tolerance, 1.01L * rounding)))
          FAIL_CHECK("neither the tolerance nor rounding");
        groups += e.kind == bound_kind::groups;
        if (range <= 3 && tolerance >= 1e-12 && e.kind == bound_kind::groups && sizeof(T) == 8)
          FAIL_CHECK("cut without need");
      }
    }
  }
  CHECK(groups > 100);
}

TEST_CASE("adaptive: from moments, the best that they hold", "[series][property]") {
  families::random r(951);
  for (const double range : {0.5, 2.0, 6.0, 15.0}) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      auto s = families::ranged<double>(shape, 1, 30, range, 0, r);
      cumulus::central_moments<double> m(10);
      m.add(s.x, s.w);
      const real expected = exact(s.x, s.w);
      double before = inf;
      for (const double tolerance : {1.0, 1e-3, 1e-6, 1e-30}) {
        const auto e = logsumexp_series(m, {.tolerance = tolerance});
        CAPTURE(range, s.name, tolerance, e.bound);
        CHECK(std::abs(e.value - expected) <= e.bound);
        CHECK(e.order <= 10);
        CHECK((e.bound <= tolerance || e.order == 10));
        CHECK(e.bound <= std::max(before, tolerance));
        before = e.bound;
        // unreachable: nothing better among the forms
        if (e.bound > tolerance)
          for (const form f : {form::taylor, form::chebyshev, form::enclosure})
            CHECK(e.bound <= logsumexp_series(m, {.order = 10, .form = f}).bound);
      }
    }
  }
}

TEST_CASE("adaptive: empty, infinite and NaN input; weights of 0", "[series][edge]") {
  using values = std::vector<double>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto within = [](const values& x) { return logsumexp_series(x, {.tolerance = 1e-6}); };
  CHECK(within({}).value == -inf);
  CHECK(within({}).bound == 0);
  CHECK(within({1, inf}).value == inf);
  CHECK(within({-inf, 2}).value == 2);
  CHECK(within({-inf, 2}).kind == bound_kind::exact);
  CHECK(std::isnan(within({1, nan}).value));
  CHECK(within({5}).value == 5);
  const values x{0, nan, 50, 1e300}, w{1, 0, 1, 0};
  const auto e = logsumexp_series(x, {.weights = w, .tolerance = 1e-9});
  CHECK(std::abs(e.value - 50) <= e.bound);
  CHECK(e.bound <= 1e-9);
}

TEST_CASE("adaptive: a tolerance that is none is refused by its value", "[series][edge]") {
  const std::vector<double> x{1, 2, 3};
  cumulus::central_moments<double> m(4);
  m.add(x);
  const auto call = [](auto f) { return refusal([&] { static_cast<void>(f()); }); };
  CHECK(names(call([&] { return logsumexp_series(x, {.tolerance = 0}); }),
              {"tolerance 0", "above 0"}));
  CHECK(
      names(call([&] { return logsumexp_series(x, {.tolerance = -1e-3}); }), {"tolerance -0.001"}));
  CHECK(names(call([&] { return logsumexp_series(x, {.tolerance = std::nan("")}); }), {"nan"}));
  CHECK(names(call([&] { return logsumexp_series(m, {.tolerance = 0}); }), {"tolerance 0"}));
  CHECK(names(call([&] { return logsumexp_series(m, {.order = 5}); }), {"order 5", "0..4"}));
  CHECK(names(call([&] { return least_order(0.0, 1.0); }), {"least_order", "tolerance 0"}));
  CHECK(names(call([&] { return least_order(1e-3, 1.0, 1.0, form::moment); }), {"form moment"}));
}

TEST_CASE("least_order: reaches the tolerance, and the order below does not", "[series][value]") {
  for (const double range : {1e-3, 0.5, 2.0, 3.0}) {
    for (const double tolerance : {1e-2, 1e-6, 1e-12}) {
      const auto order = least_order(tolerance, range);
      CAPTURE(range, tolerance);
      if (!order) {
        CHECK(cumulus::detail::logsumexp_remainder(64, range) > tolerance);
        continue;
      }
      CHECK(cumulus::detail::logsumexp_remainder(*order, range) <= tolerance);
      if (*order > 1) CHECK(cumulus::detail::logsumexp_remainder(*order - 1, range) > tolerance);
      CHECK(*least_order(tolerance, range, range * range / 100) <= *order);
      CHECK(*least_order(tolerance, range, inf, form::automatic) <= *order);
    }
  }
  CHECK(!least_order(1e-3, 4.0));
  CHECK(least_order(1e-3, 4.0, inf, form::chebyshev));
  CHECK(least_order(1e-8, 0.0) == 1);

  const std::vector<double> x{0, 0.2, 1, 1.4};
  cumulus::central_moments<double> m(12);
  m.add(x);
  for (const form f : {form::taylor, form::moment, form::chebyshev, form::enclosure}) {
    const auto order = least_order(1e-5, m, f);
    REQUIRE(order);
    CHECK(logsumexp_series(m, {.order = *order, .form = f}).bound <= 1e-5);
    CHECK(logsumexp_series(m, {.order = *order - 1, .form = f}).bound > 1e-5);
  }
  CHECK(!least_order(1e-30, m));
}
