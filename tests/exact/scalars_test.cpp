// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/scalar.hpp>

#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "any_options.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "kinds.hpp"
#include "worst.hpp"

using cumulus::colwise;
using cumulus::rowwise;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

/// In ulp of the 16-bit type S at the size of `expected`; infinitely far where one is finite and
/// the other is not.
template <class S>
double ulps_of(S actual, double expected) {
  const double a = double(actual), nearest = double(S(expected));
  if (std::isnan(a) || std::isnan(nearest)) return std::isnan(a) && std::isnan(nearest) ? 0 : inf;
  if (std::isinf(a) || std::isinf(nearest)) return a == nearest ? 0 : inf;
  const double least = double(std::numeric_limits<S>::min());
  const double size = std::max(std::abs(nearest), least);
  return std::abs(a - expected) /
         std::ldexp(1.0, std::ilogb(size) - std::numeric_limits<S>::digits + 1);
}

template <class S>
std::vector<double> widened(const std::vector<S>& x) {
  std::vector<double> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = double(x[i]);
  return out;
}

/// The largest error of entries that should be the double ones, rounded.
template <class S, class Narrow, class Wide>
void see_all(worst& error, const char* what, std::size_t n, const Narrow& narrow,
             const Wide& wide) {
  for (Eigen::Index i = 0; i < Eigen::Index(std::size(narrow)); ++i)
    error.see(ulps_of<S>(narrow[i], double(wide[i])), what, "n =", n, "entry", i);
}

}  // namespace

TEMPLATE_TEST_CASE("scalars: of 16 bits, every function is the wide one rounded once",
                   "[exact][value]", Eigen::half, Eigen::bfloat16) {
  using S = TestType;
  worst error, derivative_error;
  for (const std::size_t n : {1u, 2u, 5u, 16u, 70u, 600u}) {
    for (const double spread : {1e-2, 1.0, 6.0}) {
      for (const double offset : {0.0, 100.0, -3000.0}) {
        for (const double scale : {1.0, -0.5, 3.0}) {
          std::vector<S> x, v, w;
          families::random r(n);
          for (std::size_t i = 0; i < n; ++i) {
            x.push_back(S(float(offset + spread * r.normal())));
            v.push_back(S(float(r.normal())));
            w.push_back(S(float(r.uniform(0.1, 3))));
          }
          const auto x2 = widened(x), v2 = widened(v), w2 = widened(w);
          const any_options<S> o{.weights = w, .scale = scale};
          const any_options<double> o2{.weights = w2, .scale = scale};
          const auto see = [&](const char* what, S narrow, double wide) {
            error.see(ulps_of<S>(narrow, wide), what, "n =", n, spread, offset, scale);
          };
          see("logsumexp", cumulus::logsumexp(x, o), cumulus::logsumexp(x2, o2));
          see("logmeanexp", cumulus::logmeanexp(x, o), cumulus::logmeanexp(x2, o2));
          see("logvarexp", cumulus::logvarexp(x, o), cumulus::logvarexp(x2, o2));
          see("entropy", cumulus::softmax_entropy(x, o), cumulus::softmax_entropy(x2, o2));
          see("sample size", cumulus::effective_sample_size(x), cumulus::effective_sample_size(x2));
          see("perplexity", cumulus::perplexity(x), cumulus::perplexity(x2));
          see_all<S>(error, "softmax", n, cumulus::softmax(x, o), cumulus::softmax(x2, o2));
          see_all<S>(error, "log_softmax", n, cumulus::log_softmax(x, o),
                     cumulus::log_softmax(x2, o2));
          see_all<S>(derivative_error, "gradient", n, cumulus::logsumexp_gradient(x, o),
                     cumulus::logsumexp_gradient(x2, o2));
          see_all<S>(error, "gradient in weights", n, cumulus::logsumexp_gradient_weights(x, o),
                     cumulus::logsumexp_gradient_weights(x2, o2));
          see_all<S>(derivative_error, "jvp", n, cumulus::softmax_jvp(x, v, o),
                     cumulus::softmax_jvp(x2, v2, o2));
          see_all<S>(derivative_error, "log vjp", n, cumulus::log_softmax_vjp(x, v, o),
                     cumulus::log_softmax_vjp(x2, v2, o2));
          see_all<S>(derivative_error, "hvp", n, cumulus::logsumexp_hvp(x, v, o),
                     cumulus::logsumexp_hvp(x2, v2, o2));
        }
      }
    }
  }
  CHECK_WORST(error, 1);
  CHECK_WORST(derivative_error, 1);
}

TEMPLATE_TEST_CASE("scalars: of 16 bits, long rows of equals do not stick", "[exact][value]",
                   Eigen::half, Eigen::bfloat16) {
  using S = TestType;
  for (const int n : {512, 4096, 8192}) {
    const kinds::column<S> x = kinds::column<S>::Zero(n);
    CAPTURE(n);
    const kinds::column<S> p = cumulus::softmax(x);
    CHECK(double(p[0]) == 1.0 / n);
    CHECK(double(p[n - 1]) == 1.0 / n);
    CHECK(ulps_of<S>(cumulus::logsumexp(x), std::log(double(n))) <= 0.51);
    CHECK(double(cumulus::effective_sample_size(x)) == n);
  }
}

TEMPLATE_TEST_CASE("scalars: of 16 bits, edges, rows and places", "[exact][edge]", Eigen::half,
                   Eigen::bfloat16) {
  using S = TestType;
  const auto list = [](std::initializer_list<double> values) {
    std::vector<S> x;
    for (const double v : values) x.push_back(S(float(v)));
    return x;
  };
  CHECK(double(cumulus::logsumexp(list({}))) == -inf);
  CHECK(double(cumulus::logsumexp(list({inf, 1}))) == inf);
  CHECK(std::isnan(double(cumulus::logsumexp(list({inf, qnan})))));
  CHECK(double(cumulus::softmax(list({-inf, 3}))[1]) == 1);
  CHECK(double(cumulus::softmax(list({qnan, 3}), {.weights = list({0, 1})})[1]) == 1);
  CHECK(std::isnan(double(cumulus::softmax(list({-inf, -inf}))[0])));
  auto memory = list({0, 0});
  cumulus::softmax(memory, cumulus::into(memory));
  CHECK(double(memory[0]) == 0.5);
  kinds::row_major<S> a = kinds::row_major<S>::Zero(2, 3);
  CHECK(double(cumulus::logsumexp(a, colwise)[2]) == double(S(float(std::log(2.0)))));
  cumulus::softmax(a, cumulus::into(a), colwise, {.scale = 3});
  CHECK(double(a(1, 2)) == 0.5);
  CHECK(double(cumulus::softmax_jvp(a, a, rowwise)(0, 0)) == 0);
}

TEMPLATE_TEST_CASE("scalars: integers of every kind promote to double", "[exact][value]",
                   signed char, unsigned char, short, unsigned short, int, unsigned, long,
                   unsigned long, long long, unsigned long long) {
  using I = TestType;
  const std::array<I, 4> x{I(1), I(0), I(1), I(1)};
  const std::array<double, 4> y{double(x[0]), double(x[1]), double(x[2]), double(x[3])};
  static_assert(std::is_same_v<decltype(cumulus::logsumexp(x)), double>);
  static_assert(std::is_same_v<decltype(cumulus::softmax(x)), std::array<double, 4>>);
  CHECK(cumulus::logsumexp(x) == cumulus::logsumexp(y));
  CHECK(cumulus::softmax(x) == cumulus::softmax(y));
  CHECK(cumulus::log_softmax(x) == cumulus::log_softmax(y));
  CHECK(cumulus::logmeanexp(x) == cumulus::logmeanexp(y));
  CHECK(cumulus::softmax_entropy(x) == cumulus::softmax_entropy(y));
  CHECK(cumulus::effective_sample_size(x) == cumulus::effective_sample_size(y));
  CHECK(cumulus::logsumexp_gradient(x, {.weights = x}) ==
        cumulus::logsumexp_gradient(y, {.weights = y}));
  CHECK(cumulus::softmax_jvp(x, x) == cumulus::softmax_jvp(y, y));
  const Eigen::Matrix<I, 2, 2> a = Eigen::Map<const Eigen::Matrix<I, 2, 2>>(x.data());
  const Eigen::Matrix2d b = Eigen::Map<const Eigen::Matrix2d>(y.data());
  CHECK(cumulus::logsumexp(a, rowwise) == cumulus::logsumexp(b, rowwise));
  CHECK(cumulus::softmax_vjp(a, a, colwise) == cumulus::softmax_vjp(b, b, colwise));
}

TEST_CASE("scalars: integers that float does not hold, and the largest", "[exact][edge]") {
  CHECK(cumulus::logsumexp(std::array{(1 << 24) + 1, 0}) == (1 << 24) + 1);
  const auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(cumulus::logsumexp(std::array{most, std::int64_t(0)}) == double(most));
  const std::array<double, 2> p = cumulus::softmax(std::array{most, -most});
  CHECK(p[0] == 1);
  CHECK(p[1] == 0);
  const Eigen::VectorXi v = Eigen::VectorXi::LinSpaced(5, 0, 4);
  CHECK(cumulus::logsumexp(v.reverse()) ==
        cumulus::logsumexp(Eigen::VectorXd(v.cast<double>().reverse())));
  CHECK(cumulus::softmax(Eigen::MatrixXi(Eigen::MatrixXi::Zero(2, 4)), rowwise)(0, 0) == 0.25);
}
