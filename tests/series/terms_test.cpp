// SPDX-License-Identifier: MIT
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/terms.hpp>
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
using cumulus::logsumexp_terms;
using cumulus::softmax_terms;
using monomial = exact_polynomial::monomial;
using origin = exact_polynomial::origin;
using symbols = exact_polynomial::symbols;
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
  for (const monomial& t : p) {
    const auto f = cumulus::detail::exact_coefficient<exact_polynomial>(t, symbols::mu);
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
std::vector<rational> random_moments(int order, origin about, families::random& r) {
  std::vector<rational> mu{1};
  for (int k = 1; k <= order; ++k)
    mu.push_back(factorial(k) * (rational(int(r.below(7)) - 3) / rational(int(r.below(2)) + 1)));
  if (about == origin::mean && order > 0) mu[1] = 0;
  return mu;
}

constexpr origin origins[] = {origin::mean, origin::zero};

}  // namespace

TEST_CASE("terms: orders 2 to 10 of logsumexp are the table's cumulants", "[series][value]") {
  const auto table = tables::polynomials("cumulants_central.json", "orders");
  REQUIRE(table.size() == 9);
  for (const auto& [k, polynomial] : table) {
    CAPTURE(k);
    CHECK(bool(in_mu(logsumexp_terms(k).term(k), factorial(k)) == in_mu(polynomial)));
  }
}

TEST_CASE("terms: degrees 0 to 8 of softmax are the table's, those without y the reciprocal's",
          "[series][value]") {
  const auto table = tables::polynomials("softmax_terms.json", "degrees");
  REQUIRE(table.size() == 9);
  for (const auto& [k, polynomial] : table) {
    CAPTURE(k);
    CHECK(bool(in_mu(softmax_terms(k).term(k)) == in_mu(polynomial)));
  }
  for (const auto& [k, polynomial] : tables::polynomials("reciprocal_terms.json", "orders")) {
    coefficients without_y = in_mu(softmax_terms(k).term(k));
    std::erase_if(without_y, [](const auto& c) { return !c.first.empty() && c.first[0] > 0; });
    CAPTURE(k);
    CHECK(bool(without_y == in_mu(polynomial)));
  }
}

TEST_CASE("terms: the first orders, by hand", "[series][value]") {
  CHECK(logsumexp_terms(0).term(0).empty());
  CHECK(logsumexp_terms(1).term(1).empty());
  CHECK(logsumexp_terms(1, origin::zero).term(1).size() == 1);
  REQUIRE(softmax_terms(0).term(0).size() == 1);
  CHECK(softmax_terms(0).term(0)[0] == monomial{});
  const auto [powers, numerator, denominator] = logsumexp_terms(4).term(4)[1];
  CHECK(powers[2] == 2);
  CHECK(numerator == -1);
  CHECK(denominator == 2);
  // E x^2 / 2 - (E x)^2 / 2
  const std::vector<double> raw{1, 3, 13};
  CHECK(logsumexp_terms(2, origin::zero).term(2).evaluate(raw) == 2);
  // W p_i / w_i = 1 + y + (y^2 - mu_2) / 2 + ..
  const std::vector<double> mu{1, 0, 4};
  CHECK(softmax_terms(2).term(2).evaluate(mu, 3.0) == 2.5);
}

TEST_CASE("terms: every order of logsumexp at rational points is the logarithm of the series",
          "[series][property]") {
  families::random r(501);
  for (const origin about : origins) {
    for (const int order : {3, 11, 16, 23, about == origin::mean ? 40 : 26}) {
      const auto mu = random_moments(order, about, r);
      const auto c = cumulus::detail::series_logarithm(cumulus::detail::over_factorials(mu));
      CAPTURE(order, about == origin::mean);
      CHECK(bool(logsumexp_terms(order, about).term(order).evaluate(mu) == c.back()));
    }
  }
}

TEST_CASE("terms: every degree of softmax at rational points is the coefficient of e^{ty} / M",
          "[series][property]") {
  families::random r(502);
  for (const origin about : origins) {
    for (const int degree : {3, 9, 17, 24}) {
      const auto mu = random_moments(degree, about, r);
      const rational y = rational(int(r.below(9)) - 4) / 2;
      const auto m = cumulus::detail::over_factorials(mu);
      const auto terms =
          cumulus::detail::series_product(cumulus::detail::exponential_coefficients(m.size(), y),
                                          cumulus::detail::series_reciprocal(m));
      CAPTURE(degree, about == origin::mean);
      CHECK(bool(softmax_terms(degree, about).term(degree).evaluate(mu, y) == terms.back()));
    }
  }
}

TEST_CASE("terms: the gradient of each order of logsumexp is the softmax of one degree less",
          "[series][property]") {
  // dm_k/dx_i = (w_i/W) (y^(k-1)/(k-1)! - m_(k-1)), m_0 = 1, m_1 = 0
  for (const int order : {2, 3, 4, 7, 12, 25, 40}) {
    std::map<decltype(monomial::exponents), rational> gradient;
    for (const monomial& t : logsumexp_terms(order).term(order)) {
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
    const exact_polynomial p = softmax_terms(order - 1).term(order - 1);
    std::size_t equal = 0;
    for (const monomial& t : p)
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
    CHECK(logsumexp_terms(order).term(order).size() == counts[order - 2]);
  CHECK(softmax_terms(40).term(40).size() == 37338);
  const exact_polynomial p = logsumexp_terms(40).term(40);
  CHECK(p.size() == 6153);
  CHECK(p.order() == 40);
  bool reduced = true;
  for (const monomial& t : p)
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
    CHECK(std::abs(logsumexp_terms(order).term(order).evaluate(m) - c) <= 1e-14 * scale);
    CHECK(std::abs(double(logsumexp_terms(order).term(order).evaluate(narrow)) - c) <=
          1e-6 * scale);
  }
  // about zero the same c_k, less its digits
  CHECK(logsumexp_terms(3, origin::zero).term(3).evaluate(m) ==
        Approx(logsumexp_terms(3).term(3).evaluate(m)).epsilon(1e-10));
}

TEST_CASE("terms: what cannot be listed or evaluated is refused", "[series][edge]") {
  CHECK(names(refusal([] { (void)logsumexp_terms(41); }), {"logsumexp_terms", "41", "0..40"}));
  CHECK(names(refusal([] { (void)softmax_terms(-1); }), {"softmax_terms", "-1", "0..40"}));
  const std::vector<double> mu{1, 0, 1};
  CHECK(names(refusal([&] { (void)logsumexp_terms(3).term(3).evaluate(mu); }), {"3", "0..2"}));
  const cumulus::central_moments<double, 2> m;
  CHECK(names(refusal([&] { (void)softmax_terms(3).term(3).evaluate(m); }), {"3", "0..2"}));
}

TEST_CASE("terms: as text, LaTeX and Markdown", "[series][value]") {
  constexpr auto mu = symbols::mu;
  const auto raw = logsumexp_terms(3, origin::zero).term(3);
  CHECK(logsumexp_terms(1).term(1).text() == "0");
  CHECK(softmax_terms(0).term(0).text() == "1");
  CHECK(logsumexp_terms(4).term(4).text() == "m4 - 1/2 m2^2");
  CHECK(logsumexp_terms(4).term(4).text(mu) == "1/24 mu4 - 1/8 mu2^2");
  CHECK(raw.text() == "m3' - m1' m2' + 1/3 m1'^3");
  CHECK(softmax_terms(4).term(4).text(mu) ==
        "1/24 y^4 - 1/4 y^2 mu2 - 1/6 y mu3 - 1/24 mu4 + 1/4 mu2^2");
  CHECK(softmax_terms(1, origin::zero).term(1).text() == "x - m1'");
  CHECK(logsumexp_terms(4).term(4).latex(mu) ==
        "\\frac{1}{24} \\mu_{4} - \\frac{1}{8} \\mu_{2}^{2}");
  CHECK(raw.latex() == "m'_{3} - m'_{1} m'_{2} + \\frac{1}{3} {m'_{1}}^{3}");
  CHECK(logsumexp_terms(4).term(4).markdown() ==
        "*m*<sub>4</sub> &minus; 1/2 *m*<sub>2</sub><sup>2</sup>");
  CHECK(logsumexp_terms(2, origin::zero).term(2).markdown(mu) ==
        "1/2 *&mu;*&prime;<sub>2</sub> &minus; 1/2 *&mu;*&prime;<sub>1</sub><sup>2</sup>");
  // 40! = 815915283247897734345611269596115894272000000000
  CHECK(logsumexp_terms(40).term(40).text(mu).substr(0, 56) ==
        "1/815915283247897734345611269596115894272000000000 mu40 ");
}

TEST_CASE("terms: the C++ that is printed compiles, and computes the terms", "[series][value]") {
  const std::string printed =
      "// What cpp() prints; terms_test.cpp compiles it and prints it again.\n" +
      softmax_terms(0).term(0).cpp("softmax_0") + logsumexp_terms(1).term(1).cpp("logsumexp_1") +
      logsumexp_terms(8).term(8).cpp("logsumexp_8") +
      logsumexp_terms(23).term(23).cpp("logsumexp_23", symbols::mu) +
      softmax_terms(5).term(5).cpp("softmax_5", symbols::mu) +
      softmax_terms(3, origin::zero).term(3).cpp("softmax_3_about_zero");
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
  CHECK(logsumexp_8(m.data()) == Approx(logsumexp_terms(8).term(8).evaluate(mu)).epsilon(1e-13));
  CHECK(logsumexp_23(mu.data()) ==
        Approx(logsumexp_terms(23).term(23).evaluate(mu)).epsilon(1e-11));
  CHECK(softmax_5(mu.data(), 0.7) ==
        Approx(softmax_terms(5).term(5).evaluate(mu, 0.7)).epsilon(1e-13));
  mu[1] = m[1] = 0.3;
  CHECK(softmax_3_about_zero(m.data(), 0.7) ==
        Approx(softmax_terms(3, origin::zero).term(3).evaluate(mu, 0.7)).epsilon(1e-13));
}

TEST_CASE("terms: a whole series holds each order once, from the lowest", "[series][property]") {
  for (const origin about : origins) {
    for (const bool of_softmax : {false, true}) {
      CAPTURE(name_of(about), of_softmax);
      const exact_polynomial whole =
          of_softmax ? softmax_terms(12, about) : logsumexp_terms(12, about);
      CHECK(whole.order() == 12);
      CHECK(whole.about() == about);
      CHECK(whole.takes_y() == of_softmax);
      std::size_t next = 0;
      for (int k = 0; k <= 12; ++k) {
        const exact_polynomial term = whole.term(k);
        CHECK(term.order() == k);
        for (const monomial& t : term) {
          REQUIRE(next < whole.size());
          CHECK(t.order() == k);
          CHECK(t == whole[next++]);
        }
      }
      CHECK(next == whole.size());
    }
  }
  CHECK(logsumexp_terms(6).text() ==
        "m2 + m3 + m4 - 1/2 m2^2 + m5 - m2 m3 + m6 - m2 m4 - 1/2 m3^2 + 1/3 m2^3");
  CHECK(softmax_terms(2).text(symbols::mu) == "1 + y + 1/2 y^2 - 1/2 mu2");
  CHECK(logsumexp_terms(1).text() == "0");
}

TEST_CASE("terms: evaluated at a sample, a whole series is logsumexp_series less log W + mean",
          "[series][property]") {
  const auto x = families::uniform<double>(30, -1, 1.5, 504);
  cumulus::central_moments<double, 10> m;
  m.add(x);
  for (int order = 1; order <= 10; ++order) {
    CAPTURE(order);
    const double k = cumulus::logsumexp_series(m, order).value - std::log(30.0) - m.mean();
    CHECK(logsumexp_terms(order).evaluate(m) == Approx(k).margin(1e-14));
    CHECK(logsumexp_terms(order, origin::zero).evaluate(m) == Approx(k + m.mean()).margin(1e-13));
  }
}

TEST_CASE("terms: an order that a series has not is refused", "[series][edge]") {
  CHECK(names(refusal([] { (void)logsumexp_terms(5).term(6); }),
              {"exact_polynomial::term", "6", "0..5"}));
  CHECK(names(refusal([] { (void)softmax_terms(5).term(-1); }),
              {"exact_polynomial::term", "-1", "0..5"}));
  CHECK(std::string(name_of(origin::zero)) == "zero");
  CHECK(std::string(name_of(symbols::mu)) == "mu");
}
