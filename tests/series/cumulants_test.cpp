// SPDX-License-Identifier: MIT
#include <cumulus/series/cumulants.hpp>
#include <Eigen/Core>

#include "catch.hpp"
#include "families.hpp"
#include "least.hpp"
#include "oracle.hpp"
#include "tables.hpp"
#include "ulp.hpp"

namespace {

using oracle::wide;

const wide u = wide(1) / wide(9007199254740992.0);  // 2^-53

/// How much an error of u in every E |y|^k / k! can change c_k: the coefficients of
/// (M - 1) / (2 - M), M = sum E |y|^k t^k / k!, since delta log M = delta M / M and |1 / M| <= 1 / (2 - M).
std::vector<wide> sensitivity(const std::vector<oracle::moment_pair>& moments) {
  const std::size_t size = moments.size();
  std::vector<wide> excess(size, wide(0)), out(size, wide(0));
  wide factorial = 1;
  for (std::size_t k = 2; k < size; ++k)
    excess[k] = moments[k].absolute_value / (factorial *= wide(int(k)));
  for (std::size_t k = 0; k < size; ++k) {
    out[k] = excess[k];
    for (std::size_t j = 2; j < k; ++j) out[k] += excess[j] * out[k - j];
  }
  return out;
}

/// The roundings of c_k per order: those of the moments, and three in each step of the recurrence.
constexpr int roundings = cumulus::central_moments_weighted_max_roundings + 3;

}  // namespace

TEST_CASE("cumulants: the 43 tabulated samples", "[series][value]") {
  for (const auto& c : tables::series_cases()) {
    CAPTURE(c.id);
    cumulus::central_moments<double> m(c.order);
    if (c.w.empty())
      m.add(c.x);
    else
      m.add(c.x, c.w);
    const Eigen::VectorXd kappa = as_column(cumulus::cumulants(m));
    REQUIRE(kappa.size() == c.order + 1);
    CHECK(kappa[0] == 0);
    if (c.order >= 1)
      CHECK(ulps(kappa[1], c.mean, std::max(std::abs(m.min()), std::abs(m.max()))) <= 1);
    const auto sensitive = sensitivity(oracle::central_moments(c.x, c.order, c.w));
    wide factorial = 1, k_series = 0, k_tolerance = 0;
    for (int k = 2; k <= c.order; ++k) {
      CAPTURE(k);
      const std::size_t i = std::size_t(k);
      factorial *= wide(k);
      const wide tolerance = sensitive[i] * (u * roundings * k + wide(1e-38));
      CHECK(abs(wide(kappa[k]) / factorial - c.c[i]) <= tolerance);
      k_series += wide(kappa[k]) / factorial;
      k_tolerance += tolerance;
    }
    // in units of K itself, at an offset of 1e8 as well as at 0
    CHECK(abs(k_series - c.k_series) <= k_tolerance);
    if (c.k_exact > 0 && c.order >= 2 && c.bound_b1 < 0.01)
      CHECK(k_tolerance <= wide(1e-13) * c.k_exact);
  }
}

TEST_CASE("cumulants: float, fixed orders, constant and missing data", "[series][edge]") {
  const auto x = families::normal<float>(1000, 100, 2, 411);
  cumulus::central_moments<float, 4> m;
  m.add(x);
  const Eigen::VectorXf kappa = as_column(cumulus::cumulants(m));
  const Eigen::VectorXd wide_kappa = as_column(cumulus::cumulants(cumulus::detail::wide(m)));
  REQUIRE(kappa.size() == 5);
  for (int k = 0; k <= 4; ++k) CHECK(kappa[k] == static_cast<float>(wide_kappa[k]));
  CHECK(wide_kappa[1] == cumulus::detail::wide(m).mean());
  CHECK(wide_kappa[2] == Approx(cumulus::detail::wide(m).moment(2)).epsilon(1e-15));

  cumulus::central_moments<double, 6> constant;
  constant.add(families::ties<double>(9, 1.1));
  const Eigen::VectorXd none = as_column(cumulus::cumulants(constant));
  CHECK(none[1] == 1.1);
  for (int k = 2; k <= 6; ++k) CHECK(none[k] == 0);

  const Eigen::VectorXd only = as_column(cumulus::cumulants(cumulus::central_moments<double, 0>()));
  CHECK(only.size() == 1);
  const Eigen::VectorXd empty =
      as_column(cumulus::cumulants(cumulus::central_moments<double, 3>()));
  for (int k = 1; k <= 3; ++k) CHECK(std::isnan(empty[k]));
}

TEST_CASE("cumulants: additivity holds for merged copies of one shape", "[series][property]") {
  // all pairs x_i + y_j: kappa of the sum sample is the sum
  const auto x = families::exponential<double>(40, 3, 1, 421),
             y = families::uniform<double>(30, -1, 1, 422);
  std::vector<double> sums;
  for (const double a : x)
    for (const double b : y) sums.push_back(a + b);
  const auto kappa = [](const std::vector<double>& values) {
    cumulus::central_moments<double, 4> m;
    m.add(values);
    return cumulus::cumulants(m);
  };
  const Eigen::VectorXd a = as_column(kappa(x)), b = as_column(kappa(y)),
                        c = as_column(kappa(sums));
  for (int k = 1; k <= 4; ++k) CHECK(c[k] == Approx(a[k] + b[k]).epsilon(1e-12));
}
