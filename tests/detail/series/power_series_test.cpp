// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/power_series.hpp>
#include <array>

#include "catch.hpp"
#include "families.hpp"
#include "names.hpp"
#include "tables.hpp"
#include "wide.hpp"

namespace {

using oracle::rational;
using series = std::vector<rational>;

/// Small fractions, entry 0 as given.
series random_series(std::size_t size, int first, families::random& r) {
  series a(size);
  for (rational& c : a) c = rational(int(r.below(41)) - 20) / rational(int(r.below(12)) + 1);
  if (size > 0) a[0] = rational(first);
  return a;
}

/// m_k = mu_k / k! from mu, as the tables have it.
series over_factorials(series mu) {
  rational factorial(1);
  for (std::size_t k = 1; k < mu.size(); ++k) mu[k] /= factorial *= rational(int(k));
  return mu;
}

series derivative(const series& a) {
  series out;
  for (std::size_t k = 1; k < a.size(); ++k) out.push_back(a[k] * int(k));
  return out;
}

series head(series a, std::size_t size) {
  a.resize(size);
  return a;
}

}  // namespace

TEST_CASE("power_series: the reciprocal's coefficients are the table's polynomials, exactly",
          "[series][value]") {
  const auto table = tables::polynomials("reciprocal_terms.json", "orders");
  REQUIRE(table.size() == 11);
  families::random r(101);
  for (int trial = 0; trial < 20; ++trial) {
    series mu = random_series(11, 1, r);
    mu[1] = 0;
    const series reciprocal = cumulus::detail::series_reciprocal(over_factorials(mu));
    for (const auto& [k, polynomial] : table) {
      CAPTURE(trial, k);
      CHECK(bool(reciprocal[std::size_t(k)] == tables::value(polynomial, mu)));
    }
  }
}

TEST_CASE("power_series: e^{ty} / M(t) has the table's softmax terms, exactly", "[series][value]") {
  const auto table = tables::polynomials("softmax_terms.json", "degrees");
  REQUIRE(table.size() == 9);
  families::random r(102);
  for (int trial = 0; trial < 20; ++trial) {
    series mu = random_series(9, 1, r);
    mu[1] = 0;
    const rational y = rational(int(r.below(31)) - 15) / rational(7);
    series c(9, rational(0));
    c[1] = y;  // log e^{ty}
    const series terms =
        cumulus::detail::series_product(cumulus::detail::series_exponential(c),
                                        cumulus::detail::series_reciprocal(over_factorials(mu)));
    for (const auto& [degree, polynomial] : table) {
      CAPTURE(trial, degree);
      CHECK(bool(terms[std::size_t(degree)] == tables::value(polynomial, mu, y)));
    }
  }
}

TEST_CASE("power_series: known functions", "[series][value]") {
  const std::size_t size = 65;
  series line(size, rational(0));
  line[0] = 1;
  line[1] = 1;  // 1 + t
  const series logarithm = cumulus::detail::series_logarithm(line);
  const series reciprocal = cumulus::detail::series_reciprocal(line);
  series t(size, rational(0));
  t[1] = 1;
  const series power = cumulus::detail::series_exponential(t);
  CHECK(bool(logarithm[0] == 0));
  CHECK(bool(power[0] == 1));
  rational factorial(1);
  for (std::size_t k = 1; k < size; ++k) {
    factorial *= rational(int(k));
    CAPTURE(k);
    CHECK(bool(logarithm[k] == rational(k % 2 == 1 ? 1 : -1) / int(k)));
    CHECK(bool(reciprocal[k] == rational(k % 2 == 1 ? -1 : 1)));
    CHECK(bool(power[k] == 1 / factorial));
  }
}

TEST_CASE("power_series: the laws of a field, for every order", "[series][property]") {
  families::random r(103);
  for (std::size_t size = 0; size <= 24; ++size) {
    CAPTURE(size);
    const series a = random_series(size, 1, r), b = random_series(size, 1, r);
    const series any = random_series(size, -3, r), c = random_series(size, 0, r);
    series one(size, rational(0));
    if (size > 0) one[0] = 1;
    CHECK(bool(cumulus::detail::series_product(a, cumulus::detail::series_reciprocal(a)) == one));
    CHECK(bool(cumulus::detail::series_product(a, any) == cumulus::detail::series_product(any, a)));
    CHECK(bool(cumulus::detail::series_product(any, one) == any));
    CHECK(bool(cumulus::detail::series_logarithm(cumulus::detail::series_exponential(c)) == c));
    CHECK(bool(cumulus::detail::series_exponential(cumulus::detail::series_logarithm(a)) == a));
    series sum = cumulus::detail::series_logarithm(a);
    const series log_b = cumulus::detail::series_logarithm(b);
    for (std::size_t k = 0; k < size; ++k) sum[k] += log_b[k];
    CHECK(bool(cumulus::detail::series_logarithm(cumulus::detail::series_product(a, b)) == sum));
    if (size < 2) continue;
    const series log_a = cumulus::detail::series_logarithm(a);  // (log a)' a = a'
    CHECK(bool(cumulus::detail::series_product(derivative(log_a), head(a, size - 1)) ==
               derivative(a)));
  }
}

TEST_CASE("power_series: a truncation is the head of a longer one", "[series][property]") {
  families::random r(104);
  const series a = random_series(20, 1, r), c = random_series(20, 0, r);
  const series logarithm = cumulus::detail::series_logarithm(a),
               power = cumulus::detail::series_exponential(c),
               reciprocal = cumulus::detail::series_reciprocal(a),
               product = cumulus::detail::series_product(a, c);
  for (std::size_t size = 0; size <= 20; ++size) {
    const series b = head(a, size), d = head(c, size);
    CHECK(bool(cumulus::detail::series_logarithm(b) == head(logarithm, size)));
    CHECK(bool(cumulus::detail::series_exponential(d) == head(power, size)));
    CHECK(bool(cumulus::detail::series_reciprocal(b) == head(reciprocal, size)));
    CHECK(bool(cumulus::detail::series_product(b, d) == head(product, size)));
  }
}

TEST_CASE("power_series: written to any kind of sequence, the same as returned",
          "[series][property]") {
  const std::array<double, 5> a{1, 0, 0.5, -0.125, 2}, b{1, 3, 0.25, -1, 0.5}, c{0, 1, 2, 3, 4};
  const auto same = [](const auto& out, const std::vector<double>& returned) {
    return std::equal(out.begin(), out.end(), returned.begin(), returned.end());
  };
  std::array<double, 5> out{};
  cumulus::detail::series_product(a, b, out);
  CHECK(same(out, cumulus::detail::series_product(a, b)));
  std::array<double, 9> large{};
  const std::span<double> middle = std::span(large).subspan(2, 5);
  cumulus::detail::series_logarithm(std::span(a), middle);
  CHECK(same(middle, cumulus::detail::series_logarithm(a)));
  CHECK(large[1] == 0);
  CHECK(large[7] == 0);
  cumulus::detail::series_reciprocal(a, middle);
  CHECK(same(middle, cumulus::detail::series_reciprocal(std::vector<double>(a.begin(), a.end()))));
  cumulus::detail::series_exponential(c, std::span(large).first(5));
  CHECK(same(std::span(large).first(5), cumulus::detail::series_exponential(c)));
}

TEST_CASE("power_series: sizes that differ are refused by name", "[series][edge]") {
  const std::vector<double> a{1, 2, 3}, b{1, 2};
  std::vector<double> out(3), small(2);
  CHECK(names(refusal([&] { cumulus::detail::series_product(a, b, out); }),
              {"series_product", "a has 3", "b has 2"}));
  CHECK(names(refusal([&] { cumulus::detail::series_product(a, a, small); }),
              {"series_product", "a has 3", "out has 2"}));
  CHECK(names(refusal([&] { static_cast<void>(cumulus::detail::series_product(b, a)); }),
              {"series_product", "a has 2", "b has 3"}));
  CHECK(names(refusal([&] { cumulus::detail::series_reciprocal(a, small); }),
              {"series_reciprocal", "a has 3", "out has 2"}));
  CHECK(names(refusal([&] { cumulus::detail::series_logarithm(a, small); }),
              {"series_logarithm", "a has 3", "out has 2"}));
  CHECK(names(refusal([&] { cumulus::detail::series_exponential(b, out); }),
              {"series_exponential", "c has 2", "out has 3"}));
}
