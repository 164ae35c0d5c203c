// SPDX-License-Identifier: MIT
//
// The forms and bounds of one evaluation, on a few thousand samples against long double.
#include <cumulus/series/logsumexp_series.hpp>
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "names.hpp"
#include "series_samples.hpp"

namespace {

using cumulus::bound_kind;
using cumulus::central_moments;
using cumulus::form;
using cumulus::logsumexp_series;
using real = long double;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr form forms[] = {form::taylor,    form::normaliser, form::moment,
                          form::chebyshev, form::enclosure,  form::automatic};

real exact(const std::vector<double>& x, const std::vector<double>& w) {
  const real most = *std::max_element(x.begin(), x.end());
  real sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += (w.empty() ? real(1) : real(w[i])) * std::exp(x[i] - most);
  return most + std::log(sum);
}

central_moments<double> accumulated(const std::vector<double>& x, const std::vector<double>& w,
                                    int order) {
  central_moments<double> m(order);
  if (w.empty())
    m.add(x);
  else
    m.add(x, w);
  return m;
}

}  // namespace

TEST_CASE("expansion: no error of any form exceeds its bound on 3,000 samples",
          "[series][property]") {
  families::random r(901);
  double closest[6] = {};
  long seen[8] = {};
  for (int trial = 0; trial < 3000; ++trial) {
    const double range = std::pow(10.0, r.uniform(-6, std::log10(12.0)));
    const auto s = families::ranged<double>(trial % 11, trial / 11 % 3, 2 + r.below(20), range,
                                            r.below(4) == 0 ? 1e3 : 0, r);
    const real expected = exact(s.x, s.w);
    const auto whole = accumulated(s.x, s.w, 24);
    for (const int order : {0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 24}) {
      const bool sharp = trial % 10 == 0;
      for (int f = 0; f < 6; ++f) {
        const auto e =
            sharp ? logsumexp_series(whole, {.order = order, .form = forms[f], .sharp = true})
                  : logsumexp_series(whole, {.order = order, .form = forms[f]});
        const double error = static_cast<double>(std::abs(e.value - expected));
        if (!(error <= e.bound) || !std::isfinite(e.bound)) {
          CAPTURE(s.hex(), order, name_of(forms[f]), name_of(e.kind), error, e.bound);
          FAIL_CHECK("not bounded");
        }
        if (error > 1e-9 * (1 + std::abs(e.value)))
          closest[f] = std::max(closest[f], error / e.bound);
        ++seen[static_cast<int>(e.kind)];
        if (forms[f] != form::automatic && e.form != forms[f]) FAIL_CHECK("another form");
        if (e.form == form::automatic) FAIL_CHECK("does not say which form");
      }
    }
  }
  for (const double ratio : closest) CHECK(ratio > 0.95);
  for (const bound_kind kind : {bound_kind::bracket, bound_kind::remainder, bound_kind::sharp,
                                bound_kind::economised, bound_kind::quadrature})
    CHECK(seen[static_cast<int>(kind)] > 100);
}

TEST_CASE("expansion: chebyshev and enclosure err by 1e-7 at range 3 and order 8, taylor by 1e-4",
          "[series][value]") {
  families::random r(911);
  std::vector<double> errors[3];
  for (const int shape : {0, 1, 2, 3, 7, 10}) {
    for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
      for (int i = 0; i < 5; ++i) {
        const auto s = families::ranged<double>(shape, weighting, 32, 3, 0, r);
        const auto m = accumulated(s.x, s.w, 8);
        const real expected = exact(s.x, s.w);
        int f = 0;
        for (const form each : {form::chebyshev, form::enclosure, form::taylor})
          errors[f++].push_back(static_cast<double>(
              std::abs(logsumexp_series(m, {.order = 8, .form = each}).value - expected)));
      }
    }
  }
  double median[3];
  for (int f = 0; f < 3; ++f) {
    std::sort(errors[f].begin(), errors[f].end());
    median[f] = errors[f][errors[f].size() / 2];
  }
  CAPTURE(median[0], median[1], median[2]);
  CHECK(median[0] <= 1e-7);
  CHECK(median[1] <= 1e-7);
  CHECK(median[2] > 100 * median[0]);
  CHECK(median[2] < 1e-3);
}

TEST_CASE("expansion: the sharp bounds are the least, and say so", "[series][property]") {
  families::random r(921);
  int better = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto s = families::ranged<double>(trial % 11, trial % 3, 12, r.uniform(0.1, 5), 0, r);
    for (const form f : forms) {
      const int order = 1 + trial % 8;
      const auto plain = s.w.empty()
                             ? logsumexp_series(s.x, {.order = order, .form = f})
                             : logsumexp_series(s.x, {.weights = s.w, .order = order, .form = f});
      const auto sharp =
          s.w.empty()
              ? logsumexp_series(s.x, {.order = order, .form = f, .sharp = true})
              : logsumexp_series(s.x, {.weights = s.w, .order = order, .form = f, .sharp = true});
      CHECK(sharp.value == plain.value);
      CHECK(sharp.bound <= plain.bound);
      better += sharp.bound < 0.9 * plain.bound;
    }
  }
  CHECK(better > 300);
}

TEST_CASE("expansion: the kind of a bound at its edges", "[series][edge]") {
  for (const form f : forms) {
    CHECK(logsumexp_series(std::vector<double>{}, {.order = 3, .form = f}).kind ==
          bound_kind::exact);
    CHECK(logsumexp_series(std::vector<double>{1, inf}, {.order = 3, .form = f}).kind ==
          bound_kind::exact);
    CHECK(logsumexp_series(std::vector<double>{1, std::nan("")}, {.order = 3, .form = f}).kind ==
          bound_kind::none);
    CHECK(logsumexp_series(std::vector<double>{-1.7e308, 1.7e308}, {.order = 3, .form = f}).kind ==
          bound_kind::none);
    const auto constant = logsumexp_series(std::vector<double>(4, 7.5), {.order = 5, .form = f});
    CHECK(constant.value == Approx(7.5 + std::log(4.0)).epsilon(1e-15));
    CHECK(constant.bound < 1e-13);
    // far out of reach: still an answer, in the range that every sample obeys
    const auto far = logsumexp_series(std::vector<double>{0, 5e3}, {.order = 4, .form = f});
    CHECK(std::abs(far.value - 5e3) <= far.bound);
    if (f == form::chebyshev || f == form::enclosure) CHECK(far.bound <= 2500);
  }
  CHECK(std::string(name_of(bound_kind::none)) == "none");
  CHECK(std::string(name_of(bound_kind::groups)) == "groups");
  CHECK(std::string(name_of(form::automatic)) == "automatic");
  const cumulus::estimate<double> plain{1, 2, 3};  // as an aggregate of three
  CHECK(plain.kind == bound_kind::none);
  CHECK(plain.form == form::taylor);
}

TEST_CASE("expansion: automatic takes taylor, chebyshev or enclosure by order and range",
          "[series][property]") {
  const auto chosen = [](double range, int order) {
    return logsumexp_series(std::vector<double>{0, 0.3 * range, range},
                            {.order = order, .form = form::automatic})
        .form;
  };
  CHECK(chosen(1e-3, 8) == form::taylor);  // what is left out is rounding
  CHECK(chosen(0, 8) == form::taylor);
  CHECK(chosen(1, 1) == form::taylor);
  CHECK(chosen(1, 3) == form::enclosure);
  CHECK(chosen(8, 6) == form::enclosure);
  CHECK(chosen(1, 6) == form::chebyshev);
  CHECK(chosen(3, 16) == form::chebyshev);
}
