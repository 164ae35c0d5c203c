// SPDX-License-Identifier: MIT
//
// Derivatives carried through the series by an autodiff scalar: those that the library states
// itself.
#include <cumulus/series/series_derivatives.hpp>
#include <cumulus/series/temperature.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include "catch.hpp"
#include "families.hpp"
#include "least.hpp"

namespace {

using cumulus::form;

constexpr int n = 6;
using fixed = Eigen::AutoDiffScalar<Eigen::Matrix<double, n, 1>>;

std::vector<fixed> variables(const std::vector<double>& x) {
  std::vector<fixed> out;
  for (int i = 0; i < n; ++i) out.emplace_back(x[std::size_t(i)], n, i);
  return out;
}

double gap(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("autodiff_series: through the series it gives the derivative functions",
          "[series][value]") {
  const auto x = families::normal<double>(n, 30.0, 0.8, 901),
             v = families::normal<double>(n, 0.0, 1.0, 902);
  const auto variable = variables(x);
  for (const form f : {form::taylor, form::normaliser, form::moment}) {
    for (const int order : {1, 2, 3, 6}) {
      CAPTURE(int(f), order);
      const fixed value = cumulus::logsumexp_series(variable, {.order = order, .form = f}).value;
      CHECK(value.value() ==
            Approx(cumulus::logsumexp_series(x, {.order = order, .form = f}).value).epsilon(1e-15));
      CHECK(gap(value.derivatives(), as_column(cumulus::logsumexp_series_gradient(
                                         x, {.order = order, .form = f}))) < 1e-14);

      const auto shares = cumulus::softmax_series(variable, {.order = order, .form = f});
      const auto gradient =
          cumulus::logsumexp_series_gradient(variable, {.order = order, .form = f});
      Eigen::VectorXd along_shares(n), along_gradient(n);
      for (int i = 0; i < n; ++i) {
        double share = 0, slope = 0;
        for (int k = 0; k < n; ++k) {
          share += shares[std::size_t(i)].derivatives()[k] * v[std::size_t(k)];
          slope += gradient[std::size_t(i)].derivatives()[k] * v[std::size_t(k)];
        }
        along_shares[i] = share;
        along_gradient[i] = slope;
      }
      CHECK(gap(along_shares,
                as_column(cumulus::softmax_series_jvp(x, v, {.order = order, .form = f}))) < 1e-13);
      CHECK(gap(along_gradient, as_column(cumulus::logsumexp_series_hvp(
                                    x, v, {.order = order, .form = f}))) < 1e-13);
    }
  }
}

TEST_CASE("autodiff_series: in the temperature", "[series][value]") {
  const auto x = families::normal<double>(40, -2.0, 0.3, 903);
  cumulus::central_moments<double> m(8);
  m.add(x);
  std::vector<fixed> constants;
  for (const double value : x) constants.emplace_back(value, Eigen::Matrix<double, n, 1>::Zero());
  cumulus::central_moments<fixed> moving(8);
  moving.add(constants);
  const auto point = cumulus::temperature_series(m, 0.7, 8);
  const auto along = cumulus::temperature_series(moving, fixed(0.7, n, 0), 8);
  CHECK(along.value.value.derivatives()[0] == Approx(point.slope.value).epsilon(1e-13));
  CHECK(along.slope.value.derivatives()[0] == Approx(point.curvature.value).epsilon(1e-13));
}
