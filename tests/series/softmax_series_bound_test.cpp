// SPDX-License-Identifier: MIT
#include <cumulus/series/softmax_series_bound.hpp>
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "least.hpp"
#include "names.hpp"
#include "series_samples.hpp"

namespace {

using cumulus::form;
using cumulus::softmax_series_bound;
using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr form forms[] = {form::taylor, form::normaliser, form::moment, form::chebyshev,
                          form::automatic};

/// The largest |error| of an entry, in units of its weight's part, and relative to it.
template <class T, class Out>
std::pair<real, real> errors(const families::sample<T>& s, const Out& y) {
  const auto weight = [&](std::size_t i) { return s.w.empty() ? real(1) : real(s.w[i]); };
  const real most = *std::max_element(s.x.begin(), s.x.end());
  real sum = 0, total = 0, absolute = 0, relative = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    sum += weight(i) * std::exp(s.x[i] - most), total += weight(i);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const real exact = weight(i) * std::exp(s.x[i] - most) / sum;
    const real error = std::abs(real(y[std::ptrdiff_t(i)]) - exact);
    absolute = std::max(absolute, error * total / weight(i));
    relative = std::max(relative, error / exact);
  }
  return {absolute, relative};
}

}  // namespace

TEMPLATE_TEST_CASE("softmax_series_bound: no entry of any form is farther off",
                   "[series][property]", float, double) {
  using T = TestType;
  families::random r(881);
  double closest[5] = {};
  for (const double range : {1e-6, 0.01, 0.3, 1.0, 2.0, 3.0, 5.0, 12.0}) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
        const double offset = weighting == 1 ? 100 : 0;
        const auto s = families::ranged<T>(shape, weighting, 2 + r.below(15), range, offset, r);
        const int order = static_cast<int>(r.below(13));
        for (int f = 0; f < 5; ++f) {
          if (f == 0 && weighting == 1) continue;  // the one that takes its time
          const cumulus::series_options<T> o{.order = order, .form = forms[f]};
          const auto with = [&](auto call) {
            return s.w.empty() ? call(o)
                               : call(cumulus::series_options<T>{
                                     .weights = s.w, .order = order, .form = forms[f]});
          };
          const auto y = with([&](const auto& a) { return cumulus::softmax_series(s.x, a); });
          const auto bound = with([&](const auto& a) { return softmax_series_bound(s.x, a); });
          const auto [absolute, relative] = errors(s, y);
          if (!(absolute <= bound.absolute) || !(relative <= bound.relative)) {
            CAPTURE(s.hex(), order, name_of(forms[f]), absolute, bound.absolute, relative,
                    bound.relative);
            FAIL_CHECK("exceeded");
          }
          if (absolute > 1e-3) closest[f] = std::max(closest[f], double(absolute / bound.absolute));
          if (forms[f] == form::automatic) CHECK(least_of(y) > 0);
        }
      }
    }
  }
  for (const double ratio : closest) CHECK(ratio > 0.5);
}

TEST_CASE("softmax_series_bound: from moments, and what automatic chose", "[series][property]") {
  const std::vector<double> x{0, 0.5, 0.7, 1.5};
  cumulus::central_moments<double> m(8);
  m.add(x);
  for (const form f : forms) {
    const auto from = softmax_series_bound(m, {.order = 8, .form = f}),
               data = softmax_series_bound(x, {.order = 8, .form = f});
    CHECK(from.absolute == data.absolute);
    CHECK(from.relative == data.relative);
    CHECK(from.form == data.form);
    CHECK((f == form::automatic ? from.form == form::chebyshev : from.form == f));
  }
  CHECK(softmax_series_bound(std::vector<double>{0, 2.9}, {.order = 1, .form = form::automatic})
            .form == form::normaliser);
  CHECK(softmax_series_bound(std::vector<double>{0, 20}, {.order = 6, .form = form::automatic})
            .form == form::moment);
  // each order says more, but for rounding
  for (const form f : forms) {
    double before = inf;
    for (int order = 2; order <= 24; order += 2) {
      const auto b = softmax_series_bound(x, {.order = order, .form = f});
      CHECK(b.relative <= before * 1.001 + 1e-13);
      before = b.relative;
    }
    CHECK(before < (f == form::taylor || f == form::normaliser ? 1e-5 : 1e-12));
  }
}

TEST_CASE("softmax_series_bound: edges and refusals", "[series][edge]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{1, 2, 3}, constant{2, 2}, infinite{1, inf}, none;
  for (const form f : forms) {
    CHECK(softmax_series_bound(none, {.order = 3, .form = f}).absolute == 0);
    CHECK(softmax_series_bound(infinite, {.order = 3, .form = f}).relative == 0);
    CHECK(std::isnan(
        softmax_series_bound(std::vector<double>{1, nan}, {.order = 3, .form = f}).absolute));
    CHECK(softmax_series_bound(constant, {.order = 3, .form = f}).absolute < 1e-12);
    CHECK(softmax_series_bound(std::vector<double>{0, 1e5}, {.order = 3, .form = f}).absolute ==
          inf);
  }
  const auto call = [](auto f) { return refusal([&] { static_cast<void>(f()); }); };
  CHECK(names(call([&] { return softmax_series_bound(x, 65); }), {"order 65", "0..64"}));
  CHECK(names(call([&] { return softmax_series_bound(x, {.order = 2, .form = form::enclosure}); }),
              {"enclosure"}));
  CHECK(
      names(call([&] { return cumulus::softmax_series(x, {.order = 2, .form = form::enclosure}); }),
            {"softmax_series", "enclosure"}));
  CHECK(names(call([&] { return softmax_series_bound(x, {.weights = std::vector<double>{1, 2}}); }),
              {"x has 3", "weights has 2"}));
  cumulus::central_moments<double> m(4);
  m.add(x);
  CHECK(names(call([&] { return softmax_series_bound(m, 5); }), {"order 5", "0..4"}));
}
