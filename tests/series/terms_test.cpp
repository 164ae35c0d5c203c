// SPDX-License-Identifier: MIT
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/terms_text.hpp>
#include <fstream>
#include <iterator>
#include <map>

#include "catch.hpp"
#include "data/printed_terms.ipp"
#include "families.hpp"
#include "names.hpp"
#include "tables.hpp"

namespace {

using cumulus::exact_polynomial;
using cumulus::expansion_term;
using cumulus::logsumexp_terms;
using cumulus::moment_symbols;
using cumulus::moments_about;
using cumulus::softmax_terms;
using oracle::rational;

using exponents = std::vector<int>;  // of y, mu_1, mu_2, ..., without zeros at the end
using coefficients = std::map<exponents, rational>;

exponents trimmed(exponents e) {
  while (!e.empty() && e.back() == 0) e.pop_back();
  return e;
}

/// The terms in y and mu, times a number.
coefficients in_mu(const exact_polynomial& p, const rational& factor = 1) {
  coefficients out;
  for (const expansion_term& t : p) {
    const auto f = cumulus::detail::exact_coefficient(t, moment_symbols::mu);
    const exponents e = trimmed({t.exponents.begin(), t.exponents.end()});
    CHECK(out.count(e) == 0);
    out[e] = factor * rational(f.numerator) / rational(f.denominator.str());
  }
  return out;
}

coefficients in_mu(const tables::polynomial& p) {
  coefficients out;
  for (const tables::term& t : p) {
    exponents e{t.power, 0};
    e.insert(e.end(), t.exponents.begin(), t.exponents.end());
    out[trimmed(e)] = t.coefficient;
  }
  return out;
}

rational factorial(int n) {
  rational f(1);
  for (int i = 2; i <= n; ++i) f *= i;
  return f;
}

/// mu_k = k! m_k of small fractions m_k; mu_0 = 1, and mu_1 = 0 about the mean.
std::vector<rational> random_moments(int order, moments_about about, families::random& r) {
  std::vector<rational> mu{1};
  for (int k = 1; k <= order; ++k)
    mu.push_back(factorial(k) * (rational(int(r.below(7)) - 3) / rational(int(r.below(2)) + 1)));
  if (about == moments_about::mean && order > 0) mu[1] = 0;
  return mu;
}

constexpr moments_about origins[] = {moments_about::mean, moments_about::zero};

}  // namespace

TEST_CASE("terms: orders 2 to 10 of logsumexp are the table's cumulants", "[series][value]") {
  const auto table = tables::polynomials("cumulants_central.json", "orders");
  REQUIRE(table.size() == 9);
  for (const auto& [k, polynomial] : table) {
    CAPTURE(k);
    CHECK(bool(in_mu(logsumexp_terms(k), factorial(k)) == in_mu(polynomial)));
  }
}

TEST_CASE("terms: degrees 0 to 8 of softmax are the table's, those without y the reciprocal's",
          "[series][value]") {
  const auto table = tables::polynomials("softmax_terms.json", "degrees");
  REQUIRE(table.size() == 9);
  for (const auto& [k, polynomial] : table) {
    CAPTURE(k);
    CHECK(bool(in_mu(softmax_terms(k)) == in_mu(polynomial)));
  }
  for (const auto& [k, polynomial] : tables::polynomials("reciprocal_terms.json", "orders")) {
    coefficients without_y = in_mu(softmax_terms(k));
    std::erase_if(without_y, [](const auto& c) { return !c.first.empty() && c.first[0] > 0; });
    CAPTURE(k);
    CHECK(bool(without_y == in_mu(polynomial)));
  }
}

TEST_CASE("terms: the first orders, by hand", "[series][value]") {
  CHECK(logsumexp_terms(0).empty());
  CHECK(logsumexp_terms(1).empty());
  CHECK(logsumexp_terms(1, moments_about::zero).size() == 1);
  REQUIRE(softmax_terms(0).size() == 1);
  CHECK(softmax_terms(0)[0] == expansion_term{});
  const auto [powers, numerator, denominator] = logsumexp_terms(4)[1];
  CHECK(powers[2] == 2);
  CHECK(numerator == -1);
  CHECK(denominator == 2);
  // E x^2 / 2 - (E x)^2 / 2
  const std::vector<double> raw{1, 3, 13};
  CHECK(logsumexp_terms(2, moments_about::zero).evaluate(raw) == 2);
  // W p_i / w_i = 1 + y + (y^2 - mu_2) / 2 + ..
  const std::vector<double> mu{1, 0, 4};
  CHECK(softmax_terms(2).evaluate(mu, 3.0) == 2.5);
}

TEST_CASE("terms: every order of logsumexp at rational points is the logarithm of the series",
          "[series][property]") {
  families::random r(501);
  for (const moments_about about : origins) {
    for (const int order : {3, 11, 16, 23, about == moments_about::mean ? 40 : 26}) {
      const auto mu = random_moments(order, about, r);
      const auto c = cumulus::detail::series_logarithm(cumulus::detail::over_factorials(mu));
      CAPTURE(order, about == moments_about::mean);
      CHECK(bool(logsumexp_terms(order, about).evaluate(mu) == c.back()));
    }
  }
}

TEST_CASE("terms: every degree of softmax at rational points is the coefficient of e^{ty} / M",
          "[series][property]") {
  families::random r(502);
  for (const moments_about about : origins) {
    for (const int degree : {3, 9, 17, 24}) {
      const auto mu = random_moments(degree, about, r);
      const rational y = rational(int(r.below(9)) - 4) / 2;
      const auto m = cumulus::detail::over_factorials(mu);
      const auto terms = cumulus::detail::series_product(
          cumulus::detail::exponential_coefficients(m.size(), y), cumulus::detail::series_reciprocal(m));
      CAPTURE(degree, about == moments_about::mean);
      CHECK(bool(softmax_terms(degree, about).evaluate(mu, y) == terms.back()));
    }
  }
}

TEST_CASE("terms: the gradient of each order of logsumexp is the softmax of one degree less",
          "[series][property]") {
  // dm_k/dx_i = (w_i/W) (y^(k-1)/(k-1)! - m_(k-1)), m_0 = 1, m_1 = 0
  for (const int order : {2, 3, 4, 7, 12, 25, 40}) {
    std::map<decltype(expansion_term::exponents), rational> gradient;
    for (const expansion_term& t : logsumexp_terms(order)) {
      for (std::size_t k = 2; k < t.exponents.size(); ++k) {
        if (t.exponents[k] == 0) continue;
        const rational coefficient = rational(t.numerator) * t.exponents[k] / t.denominator;
        auto of_y = t.exponents, of_moment = t.exponents;
        of_y[0] = std::uint8_t(k - 1);
        --of_y[k];
        gradient[of_y] += coefficient;
        --of_moment[k];
        ++of_moment[k - 1];
        if (k > 2) gradient[of_moment] -= coefficient;
      }
    }
    std::erase_if(gradient, [](const auto& c) { return c.second == 0; });
    const exact_polynomial p = softmax_terms(order - 1);
    std::size_t equal = 0;
    for (const expansion_term& t : p)
      equal += std::size_t(gradient[t.exponents] * t.denominator == t.numerator);
    CAPTURE(order);
    CHECK(equal == p.size());
    CHECK(gradient.size() == p.size());
  }
}

TEST_CASE("terms: how many there are, and that they are reduced", "[series][value]") {
  const std::size_t counts[] = {1,  1,  2,  2,  4,  4,  7, 8,
                                12, 14, 21, 24, 34, 41, 55};  // from order 2
  for (int order = 2; order <= 16; ++order)
    CHECK(logsumexp_terms(order).size() == counts[order - 2]);
  CHECK(softmax_terms(40).size() == 37338);
  const exact_polynomial p = logsumexp_terms(40);
  CHECK(p.size() == 6153);
  CHECK(p.order() == 40);
  bool reduced = true;
  for (const expansion_term& t : p)
    reduced = reduced && t.denominator > 0 && std::gcd(t.numerator, t.denominator) == 1;
  CHECK(reduced);
}

TEST_CASE("terms: evaluated at a sample they are the orders of its series", "[series][property]") {
  const auto x = families::exponential<double>(50, 3.0, 0.4, 503);
  cumulus::central_moments<double, 12> m;
  cumulus::central_moments<float, 12> narrow;
  m.add(x);
  narrow.add(x);
  const auto kappa = cumulus::cumulants(m);
  double k_factorial = 1;
  for (int order = 2; order <= 12; ++order) {
    k_factorial *= order;
    const double c = kappa[order] / k_factorial;
    const double scale = m.moment(order + order % 2 - 2 * (order % 2)) / k_factorial + 1e-3;
    CAPTURE(order);
    CHECK(std::abs(logsumexp_terms(order).evaluate(m) - c) <= 1e-14 * scale);
    CHECK(std::abs(double(logsumexp_terms(order).evaluate(narrow)) - c) <= 1e-6 * scale);
  }
  // about zero the same c_k, less its digits
  CHECK(logsumexp_terms(3, moments_about::zero).evaluate(m) ==
        Approx(logsumexp_terms(3).evaluate(m)).epsilon(1e-10));
}

TEST_CASE("terms: what cannot be listed or evaluated is refused", "[series][edge]") {
  CHECK(names(refusal([] { (void)logsumexp_terms(41); }), {"logsumexp_terms", "41", "0..40"}));
  CHECK(names(refusal([] { (void)softmax_terms(-1); }), {"softmax_terms", "-1", "0..40"}));
  const std::vector<double> mu{1, 0, 1};
  CHECK(names(refusal([&] { (void)logsumexp_terms(3).evaluate(mu); }), {"3", "0..2"}));
  const cumulus::central_moments<double, 2> m;
  CHECK(names(refusal([&] { (void)softmax_terms(3).evaluate(m); }), {"3", "0..2"}));
}

TEST_CASE("terms: as text, LaTeX and Markdown", "[series][value]") {
  using cumulus::as_latex;
  using cumulus::as_markdown;
  using cumulus::as_text;
  constexpr auto mu = moment_symbols::mu;
  const auto raw = logsumexp_terms(3, moments_about::zero);
  CHECK(as_text(logsumexp_terms(1)) == "0");
  CHECK(as_text(softmax_terms(0)) == "1");
  CHECK(as_text(logsumexp_terms(4)) == "m4 - 1/2 m2^2");
  CHECK(as_text(logsumexp_terms(4), mu) == "1/24 mu4 - 1/8 mu2^2");
  CHECK(as_text(raw) == "m3' - m1' m2' + 1/3 m1'^3");
  CHECK(as_text(softmax_terms(4), mu) ==
        "1/24 y^4 - 1/4 y^2 mu2 - 1/6 y mu3 - 1/24 mu4 + 1/4 mu2^2");
  CHECK(as_text(softmax_terms(1, moments_about::zero)) == "x - m1'");
  CHECK(as_latex(logsumexp_terms(4), mu) == "\\frac{1}{24} \\mu_{4} - \\frac{1}{8} \\mu_{2}^{2}");
  CHECK(as_latex(raw) == "m'_{3} - m'_{1} m'_{2} + \\frac{1}{3} {m'_{1}}^{3}");
  CHECK(as_markdown(logsumexp_terms(4)) ==
        "*m*<sub>4</sub> &minus; 1/2 *m*<sub>2</sub><sup>2</sup>");
  CHECK(as_markdown(logsumexp_terms(2, moments_about::zero), mu) ==
        "1/2 *&mu;*&prime;<sub>2</sub> &minus; 1/2 *&mu;*&prime;<sub>1</sub><sup>2</sup>");
  // 40! = 815915283247897734345611269596115894272000000000
  CHECK(as_text(logsumexp_terms(40), mu).substr(0, 56) ==
        "1/815915283247897734345611269596115894272000000000 mu40 ");
}

TEST_CASE("terms: the C++ that is printed compiles, and computes the terms", "[series][value]") {
  using cumulus::as_cpp;
  const std::string printed =
      "// What as_cpp prints; terms_test.cpp compiles it and prints it again.\n" +
      as_cpp(softmax_terms(0), "softmax_0") + as_cpp(logsumexp_terms(1), "logsumexp_1") +
      as_cpp(logsumexp_terms(8), "logsumexp_8") +
      as_cpp(logsumexp_terms(23), "logsumexp_23", moment_symbols::mu) +
      as_cpp(softmax_terms(5), "softmax_5", moment_symbols::mu) +
      as_cpp(softmax_terms(3, moments_about::zero), "softmax_3_about_zero");
  std::ifstream file(CUMULUS_TEST_DATA "/printed_terms.ipp");
  CHECK(printed == std::string(std::istreambuf_iterator<char>(file), {}));

  std::vector<double> mu{1, 0}, m{1, 0};
  double k_factorial = 1;
  for (int k = 2; k <= 23; ++k) {
    k_factorial *= k;
    mu.push_back(k % 2 == 0 ? k_factorial * std::pow(0.5, k) : 0.1 * k);
    m.push_back(mu.back() / k_factorial);
  }
  CHECK(softmax_0(m.data(), 0.7) == 1);
  CHECK(logsumexp_1(m.data()) == 0);
  CHECK(logsumexp_8(m.data()) == Approx(logsumexp_terms(8).evaluate(mu)).epsilon(1e-13));
  CHECK(logsumexp_23(mu.data()) == Approx(logsumexp_terms(23).evaluate(mu)).epsilon(1e-11));
  CHECK(softmax_5(mu.data(), 0.7) == Approx(softmax_terms(5).evaluate(mu, 0.7)).epsilon(1e-13));
  mu[1] = m[1] = 0.3;
  CHECK(softmax_3_about_zero(m.data(), 0.7) ==
        Approx(softmax_terms(3, moments_about::zero).evaluate(mu, 0.7)).epsilon(1e-13));
}
