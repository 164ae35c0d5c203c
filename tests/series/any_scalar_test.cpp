// SPDX-License-Identifier: MIT
//
// The series in other scalars: 100 digits, and complex numbers (autodiff_series_test.cpp has
// automatic differentiation).
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/series/series_derivatives.hpp>
#include <cumulus/series/standard_error.hpp>
#include <cumulus/series/temperature.hpp>
#include <cumulus/series/terms.hpp>

#include <complex>

#include "catch.hpp"
#include "families.hpp"
#include "wide.hpp"

namespace {

using cumulus::form;
using oracle::wider;  // 100 digits

}  // namespace

TEST_CASE("any scalar: 100 digits, order 60 to 95 of them", "[series][value]") {
  std::vector<wider> x;
  for (int i = 0; i < 12; ++i) x.push_back(wider(3) + wider(i * i % 17) / 211);
  wider sum = 0, first = 0;
  for (const wider& v : x) sum += exp(v), first += v * exp(v);
  const wider exact = log(sum), least("1e-95");
  for (const form f : {form::taylor, form::normaliser, form::moment}) {
    const auto series = cumulus::logsumexp_series(x, {.order = 60, .form = f});
    CHECK(bool(abs(series.value - exact) < least));
    CHECK(bool(abs(series.value - exact) <= series.bound));
    CHECK(bool(series.bound < least * 100));
    CHECK(series.order == 60);
  }
  const auto shares = cumulus::softmax_series(x, 60);
  const auto gradient = cumulus::logsumexp_series_gradient(x, {.order = 60, .form = form::moment});
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(bool(abs(shares[i] - exp(x[i]) / sum) < least));
    CHECK(bool(abs(gradient[i] - exp(x[i]) / sum) < least));
  }
  cumulus::central_moments<wider> m(60);
  m.add(x);
  const auto point = cumulus::temperature_series(m, wider(1), 60);
  CHECK(bool(abs(point.slope.value - first / sum) < least));
  CHECK(bool(abs(point.entropy.value - (exact - first / sum)) < least));
  wider c = 0;
  for (int order = 2; order <= 25; ++order)
    c += cumulus::logsumexp_terms(order).term(order).evaluate(m);
  CHECK(bool(abs(log(wider(12)) + m.mean() + c - cumulus::logsumexp_series(x, 25).value) < least));
  wider square = 0;
  for (const wider& v : x) square += pow(exp(v) / sum - wider(1) / 12, 2);
  CHECK(bool(abs(cumulus::standard_error(x, 60) - sqrt(square)) < least));
}

TEST_CASE("any scalar: complex, in the terms and in products and reciprocals of series",
          "[series][value]") {
  // log E e^{itx}, the characteristic function's logarithm: moments i^k mu_k, mean i mean
  using complex = std::complex<double>;
  const auto x = families::exponential<double>(20, 1.0, 0.2, 904);
  cumulus::central_moments<double> m(14);
  m.add(x);
  const complex t(0.1, 0.6);
  std::vector<complex> mu{1};
  complex power(1), expected(0), share(0);
  for (int k = 1; k <= 14; ++k) {
    power *= t;
    mu.push_back(k == 1 ? complex(0) : m.moment(k) * power);
  }
  for (const double value : x) expected += std::exp(t * (value - m.mean())) / 20.0;
  complex sum(0);
  const complex y = t * (x[3] - m.mean());
  for (int order = 0; order <= 14; ++order) {
    sum += cumulus::logsumexp_terms(order).term(order).evaluate(mu);
    share += cumulus::softmax_terms(order).term(order).evaluate(mu, y);
  }
  CHECK(std::abs(sum - std::log(expected)) < 1e-11);
  CHECK(std::abs(share - std::exp(y) / expected) < 1e-10);

  std::vector<complex> series = mu;
  double factorial = 1;
  for (std::size_t k = 2; k < series.size(); ++k) series[k] /= factorial *= double(k);
  const auto one =
      cumulus::detail::series_product(series, cumulus::detail::series_reciprocal(series));
  CHECK(one[0] == complex(1));
  for (std::size_t k = 1; k < one.size(); ++k) CHECK(std::abs(one[k]) < 1e-16);
}
