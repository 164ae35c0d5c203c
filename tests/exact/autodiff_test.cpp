// SPDX-License-Identifier: MIT
//
// Derivatives carried through the functions by an autodiff scalar: those that the library states
// itself.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "any_options.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "kinds.hpp"

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
constexpr int n = 5;

using fixed = Eigen::AutoDiffScalar<Eigen::Matrix<double, n, 1>>;
using sized = Eigen::AutoDiffScalar<Eigen::VectorXd>;

template <class S>
using column = Eigen::Matrix<S, Eigen::Dynamic, 1>;

/// x with the derivatives d x_i / d x_j.
template <class S>
column<S> variables(const std::vector<double>& x) {
  column<S> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    result[Eigen::Index(i)] = S(x[i], int(x.size()), int(i));
  return result;
}

template <class S>
Eigen::VectorXd slope(const S& y, std::size_t size) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(Eigen::Index(size));
  if (y.derivatives().size() != 0) result = y.derivatives();  // none for a constant
  return result;
}

template <class B>
bool close(const Eigen::VectorXd& a, const B& b) {
  bool result = a.size() == Eigen::Index(b.size());
  for (Eigen::Index i = 0; result && i < a.size(); ++i) {
    result = (std::isnan(a[i]) && std::isnan(b[i])) ||
             std::abs(a[i] - b[i]) <= 16 * 0x1p-53 * (1 + std::abs(b[i]));
  }
  return result;
}

/// The derivatives of all functions at x against the ones stated in closed form.
template <class S, class Options, class DoubleOptions>
void check_at(const std::vector<double>& x, const Options& o, const DoubleOptions& o2) {
  const column<S> v = variables<S>(x);
  const auto p = cumulus::softmax(x, o2);
  const S sum = cumulus::logsumexp(v, o);
  CHECK(std::abs(sum.value() - cumulus::logsumexp(x, o2)) <=
        4 * 0x1p-53 * (1 + std::abs(sum.value())));
  CHECK(close(slope(sum, x.size()), cumulus::logsumexp_gradient(x, o2)));
  const column<S> shares = cumulus::softmax(v, o), logs = cumulus::log_softmax(v, o);
  const S entropy = cumulus::softmax_entropy(v, o);
  Eigen::VectorXd entropy_slope = Eigen::VectorXd::Zero(Eigen::Index(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = Eigen::Index(i);
    CAPTURE(i);
    std::vector<double> unit(x.size(), 0.0);
    unit[i] = 1;
    CHECK(std::abs(shares[k].value() - p[k]) <= 8 * 0x1p-53 * p[k]);
    CHECK(close(slope(shares[k], x.size()), cumulus::softmax_vjp(x, unit, o2)));
    if (p[k] > 0) {
      CHECK(close(slope(logs[k], x.size()), cumulus::log_softmax_vjp(x, unit, o2)));
      entropy_slope -= (1 + std::log(p[k])) * kinds::column_of(cumulus::softmax_vjp(x, unit, o2));
    }
    CHECK(logs[k].value() == Approx(cumulus::log_softmax(x, o2)[k]).epsilon(1e-15));
  }
  if (!o2.sink.has_value()) CHECK(close(slope(entropy, x.size()), entropy_slope));
}

}  // namespace

TEMPLATE_TEST_CASE("autodiff: the derivative of logsumexp is softmax, that of softmax its Jacobian",
                   "[exact][value]", fixed, sized) {
  for (const double offset : {0.0, 1e4, -700.0}) {
    for (const double spread : {1e-3, 1.0, 20.0}) {
      const auto x = families::normal<double>(n, offset, spread, 4u);
      CAPTURE(offset, spread);
      check_at<TestType>(x, any_options<TestType>{}, any_options<double>{});
    }
  }
}

TEMPLATE_TEST_CASE("autodiff: at ties, at 1e16 and beside terms that vanish", "[exact][edge]",
                   fixed, sized) {
  for (const std::vector<double>& x : {std::vector<double>{2, 2, 2, 2, 2},
                                       {3, 1, 3, 0, 3},
                                       {1e16, 1e16, 0, 1e16, -5},
                                       {0, -40, -800, -1e300, 0},
                                       {0, 0, -30, -60, -90}}) {
    CAPTURE(x);
    check_at<TestType>(x, any_options<TestType>{}, any_options<double>{});
  }
}

TEMPLATE_TEST_CASE("autodiff: entries of -inf, and masked ones whatever they hold", "[exact][edge]",
                   fixed, sized) {
  using S = TestType;
  const std::vector<double> below{1, -inf, 2, -inf, 2};
  check_at<S>(below, any_options<S>{}, any_options<double>{});
  const std::array mask{true, false, true, false, true};
  for (const double junk : {qnan, inf, -inf, 1e308}) {
    CAPTURE(junk);
    const std::vector<double> x{1, junk, 2, junk, 2};
    check_at<S>(x, any_options<S>{.mask = mask}, any_options<double>{.mask = mask});
  }
  // Nothing kept: constants.
  const std::array none{false, false, false, false, false};
  const S sum = cumulus::logsumexp(variables<S>(below), {.mask = none});
  CHECK(sum.value() == -inf);
  CHECK(slope(sum, n) == Eigen::VectorXd::Zero(n));
}

TEMPLATE_TEST_CASE("autodiff: scales and sinks", "[exact][value]", fixed, sized) {
  using S = TestType;
  const auto x = families::normal<double>(n, 1.0, 2.0, 6u);
  for (const double scale : {-1.0, 0.25, 3.0}) {
    CAPTURE(scale);
    check_at<S>(x, any_options<S>{.scale = scale}, any_options<double>{.scale = scale});
    check_at<S>(x, any_options<S>{.scale = scale, .sink = 0.5},
                any_options<double>{.scale = scale, .sink = 0.5});
  }
}

TEMPLATE_TEST_CASE("autodiff: weights are variables too, their slope that of the library",
                   "[exact][value]", fixed, sized) {
  using S = TestType;
  const auto x = families::normal<double>(n, 1.0, 2.0, 6u),
             w = families::wild_weights<double>(n, 2.0, 7u);
  column<S> constants(n);
  for (int i = 0; i < n; ++i) constants[i] = S(x[std::size_t(i)], Eigen::VectorXd::Zero(n));
  const S sum = cumulus::logsumexp(constants, {.weights = variables<S>(w)});
  CHECK(close(slope(sum, n), cumulus::logsumexp_gradient_weights(x, {.weights = w})));
}

TEMPLATE_TEST_CASE("autodiff: logmeanexp near 0, by its two ways", "[exact][value]", fixed, sized) {
  using S = TestType;
  for (const double spread : {0.0, 1e-9, 1e-3, 1.0, 8.0, 900.0}) {
    for (const double offset : {0.0, 50.0}) {
      const auto x = families::normal<double>(n, offset, spread, 4u);
      const S mean = cumulus::logmeanexp(variables<S>(x));
      CAPTURE(spread, offset);
      CHECK(mean.value() == Approx(cumulus::logmeanexp(x)).epsilon(1e-14).margin(1e-25));
      CHECK(close(slope(mean, n), cumulus::softmax(x)));
    }
  }
  // d/dx of the log of the variance: 2 (p_i (e^x_i - m)) / ..; by a difference of the function
  // itself.
  const auto x = families::normal<double>(n, 0.0, 1.0, 9u);
  const S variance = cumulus::logvarexp(variables<S>(x), {.correction = 1});
  for (std::size_t i = 0; i < n; ++i) {
    auto up = x, down = x;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double difference =
        (cumulus::logvarexp(up, {.correction = 1}) - cumulus::logvarexp(down, {.correction = 1})) /
        2e-5;
    CHECK(slope(variance, n)[Eigen::Index(i)] == Approx(difference).epsilon(1e-7));
  }
}
