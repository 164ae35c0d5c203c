// SPDX-License-Identifier: MIT
#include <cumulus/series/series_derivatives.hpp>
#include <Eigen/Core>
#include <cmath>

#include "catch.hpp"
#include "families.hpp"
#include "least.hpp"
#include "names.hpp"
#include "wide.hpp"

namespace {

using cumulus::form;
using cumulus::logsumexp_series_gradient;
using cumulus::logsumexp_series_hvp;
using cumulus::softmax_series_jvp;
using cumulus::softmax_series_vjp;
using oracle::wide;
using column = Eigen::Matrix<wide, Eigen::Dynamic, 1>;

constexpr form forms[] = {form::taylor, form::normaliser, form::moment};
constexpr int orders[] = {0, 1, 2, 3, 4, 5, 8, 11};
const wide step("1e-16");

column wide_of(const std::vector<double>& x) {
  column out(Eigen::Index(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) out[Eigen::Index(i)] = wide(x[i]);
  return out;
}

/// |a - b| over the largest |b| or 1.
double distance(const column& a, const column& b) {
  wide gap = 0, size = 1;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    gap = std::max(gap, wide(abs(a[i] - b[i])));
    size = std::max(size, wide(abs(b[i])));
  }
  return double(gap / size);
}

/// One sample, weighted or not, and two directions.
struct sample {
  column x, w, v, g;
};
sample sample_of(bool weighted) {
  const auto x = families::exponential<double>(9, 20.0, 0.7, 801);
  const auto w =
      weighted ? families::wild_weights<double>(9, 2.0, 802) : std::vector<double>(9, 1.0);
  return {wide_of(x), wide_of(w), wide_of(families::normal<double>(9, 1.0, 1.0, 803)),
          wide_of(families::normal<double>(9, -2.0, 1.0, 804))};
}

}  // namespace

TEST_CASE("series_derivatives: gradients, by central differences in 50 digits", "[series][value]") {
  for (const bool weighted : {false, true}) {
    const sample s = sample_of(weighted);
    for (const int order : orders) {
      for (const form f : forms) {
        column differences(s.x.size());
        for (Eigen::Index i = 0; i < s.x.size(); ++i) {
          column above = s.x, below = s.x;
          above[i] += step;
          below[i] -= step;
          const auto value = [&](const column& x) {
            return cumulus::logsumexp_series(x, {.weights = s.w, .order = order, .form = f}).value;
          };
          differences[i] = (value(above) - value(below)) / (2 * step);
        }
        const column gradient =
            logsumexp_series_gradient(s.x, {.weights = s.w, .order = order, .form = f});
        CAPTURE(weighted, order, int(f));
        CHECK(distance(gradient, differences) < 1e-28);
      }
    }
  }
}

TEST_CASE("series_derivatives: products with the Hessian and Jacobian, by differences in 50 digits",
          "[series][value]") {
  for (const bool weighted : {false, true}) {
    const sample s = sample_of(weighted);
    const column above = s.x + step * s.v, below = s.x - step * s.v;
    for (const int order : orders) {
      for (const form f : forms) {
        CAPTURE(weighted, order, int(f));
        const column hvp =
            logsumexp_series_hvp(s.x, s.v, {.weights = s.w, .order = order, .form = f});
        const column gradients =
            logsumexp_series_gradient(above, {.weights = s.w, .order = order, .form = f}) -
            logsumexp_series_gradient(below, {.weights = s.w, .order = order, .form = f});
        CHECK(distance(hvp, gradients / (2 * step)) < 1e-28);

        const column jvp =
            softmax_series_jvp(s.x, s.v, {.weights = s.w, .order = order, .form = f});
        const column shares =
            cumulus::softmax_series(above, {.weights = s.w, .order = order, .form = f}) -
            cumulus::softmax_series(below, {.weights = s.w, .order = order, .form = f});
        CHECK(distance(jvp, shares / (2 * step)) < 1e-28);

        const column vjp =
            softmax_series_vjp(s.x, s.g, {.weights = s.w, .order = order, .form = f});
        CHECK(double(abs(vjp.dot(s.v) - s.g.dot(jvp))) < 1e-40);
      }
    }
  }
}

TEST_CASE("series_derivatives: the laws of the taylor form", "[series][property]") {
  const auto x = families::normal<double>(50, 1e3, 0.4, 805),
             v = families::normal<double>(50, 0.0, 1.0, 806);
  for (const int order : {1, 2, 4, 7}) {
    CAPTURE(order);
    // the gradient is the softmax of one degree less; its derivative is symmetric
    const Eigen::VectorXd gradient = as_column(logsumexp_series_gradient(x, order)),
                          shares = as_column(cumulus::softmax_series(x, order - 1)),
                          hvp = as_column(logsumexp_series_hvp(x, v, order)),
                          jvp = as_column(softmax_series_jvp(x, v, order - 1)),
                          vjp = as_column(softmax_series_vjp(x, v, order - 1));
    CHECK((gradient - shares).cwiseAbs().maxCoeff() < 1e-16);
    CHECK((hvp - jvp).cwiseAbs().maxCoeff() < 1e-16);
    CHECK((jvp - vjp).cwiseAbs().maxCoeff() < 1e-16);
    CHECK(gradient.sum() == Approx(1).epsilon(1e-14));
    CHECK(std::abs(hvp.sum()) < 1e-15);
    // a common shift changes nothing
    CHECK(as_column(logsumexp_series_hvp(x, std::vector<double>(50, 3.0), order))
              .cwiseAbs()
              .maxCoeff() < 1e-16);
  }
}

TEST_CASE("series_derivatives: tend to those of the exact functions", "[series][value]") {
  const auto x = families::normal<float>(20, 5.0, 0.2, 807),
             v = families::normal<float>(20, 0.0, 1.0, 808);
  for (const form f : forms) {
    CAPTURE(int(f));
    CHECK((as_column(logsumexp_series_gradient(x, {.order = 12, .form = f})) -
           as_column(cumulus::softmax(x)))
              .cwiseAbs()
              .maxCoeff() < 1e-7f);
    CHECK((as_column(logsumexp_series_hvp(x, v, {.order = 12, .form = f})) -
           as_column(cumulus::logsumexp_hvp(x, v)))
              .cwiseAbs()
              .maxCoeff() < 1e-7f);
    CHECK((as_column(softmax_series_jvp(x, v, {.order = 12, .form = f})) -
           as_column(cumulus::softmax_jvp(x, v)))
              .cwiseAbs()
              .maxCoeff() < 1e-7f);
    CHECK((as_column(softmax_series_vjp(x, v, {.order = 12, .form = f})) -
           as_column(cumulus::softmax_vjp(x, v)))
              .cwiseAbs()
              .maxCoeff() < 1e-7f);
  }
}

TEST_CASE("series_derivatives: edges and refusals", "[series][edge]") {
  const double inf = std::numeric_limits<double>::infinity();
  using numbers = std::vector<double>;
  CHECK(logsumexp_series_gradient(numbers{}, 3).size() == 0);
  CHECK(softmax_series_jvp(numbers{}, numbers{}, 3).size() == 0);
  // not finite: as the exact functions, whose values the series then have
  const numbers x{0, -inf, 1}, v{1, 2, 3}, w{2, 1, 1};
  CHECK(logsumexp_series_gradient(x, 3) == cumulus::logsumexp_gradient(x));
  CHECK(logsumexp_series_hvp(x, v, {.weights = w, .order = 3}) ==
        cumulus::logsumexp_hvp(x, v, {.weights = w}));
  CHECK(softmax_series_vjp(x, v, 3) == cumulus::softmax_vjp(x, v));
  // a weight of 0 removes what comes with it
  const numbers junk{1, std::nan(""), 2}, direction{1, inf, 3}, no{1, 0, 1}, two{1, 2}, along{1, 3};
  const std::vector<double> hvp =
      logsumexp_series_hvp(junk, direction, {.weights = no, .order = 3});
  CHECK(hvp[1] == 0);
  CHECK(hvp[2] == Approx(logsumexp_series_hvp(two, along, 3)[1]).epsilon(1e-15));
  CHECK(logsumexp_series_gradient(numbers{2, 2}, 5)[0] == 0.5);

  CHECK(names(refusal([&] { (void)logsumexp_series_gradient(v, 65); }),
              {"logsumexp_series_gradient", "65", "0..64"}));
  CHECK(names(refusal([&] { (void)softmax_series_jvp(v, two, 2); }),
              {"softmax_series_jvp", "x has 3", "v has 2"}));
  CHECK(names(refusal([&] { (void)softmax_series_vjp(v, two, 2); }), {"g has 2"}));
  CHECK(names(refusal([&] { (void)logsumexp_series_hvp(v, v, {.weights = two}); }),
              {"weights has 2"}));
  CHECK(names(refusal([&] { (void)logsumexp_series_gradient(v, {.order = 2, .form = form(55)}); }),
              {"form unknown", "derivative", "give form taylor, normaliser or moment"}));
}
