// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/conversions.hpp>
#include <array>

#include "catch.hpp"
#include "families.hpp"
#include "oracle.hpp"
#include "tables.hpp"

namespace {

using oracle::rational;
using numbers = std::vector<rational>;

numbers random_numbers(std::size_t size, families::random& r) {
  numbers a(size);
  for (rational& c : a) c = rational(int(r.below(41)) - 20) / rational(int(r.below(12)) + 1);
  return a;
}

/// mu_0 = 1 and mu_1 = 0, the rest any.
numbers random_central(std::size_t size, families::random& r) {
  numbers mu = random_numbers(size, r);
  if (size > 0) mu[0] = 1;
  if (size > 1) mu[1] = 0;
  return mu;
}

/// E f(x) of a sample with rational values and weights.
struct rational_sample {
  numbers x, w;
  numbers moments_about(const rational& centre, std::size_t size) const {
    numbers out(size, rational(0));
    rational total(0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      total += w[i];
      rational power = w[i];
      for (rational& m : out) m += power, power *= x[i] - centre;
    }
    for (rational& m : out) m /= total;
    return out;
  }
};

}  // namespace

TEST_CASE("cumulants: the polynomials of the tables, exactly", "[series][value]") {
  const auto to = tables::polynomials("cumulants_central.json", "orders");
  const auto from = tables::polynomials("central_cumulants.json", "orders");
  REQUIRE(to.size() == 9);
  REQUIRE(from.size() == 9);
  families::random r(401);
  for (int trial = 0; trial < 20; ++trial) {
    const numbers mu = random_central(11, r);
    const numbers kappa = cumulus::detail::cumulants_from_central(mu);
    CHECK(bool(kappa[0] == 0));
    CHECK(bool(kappa[1] == 0));
    const numbers any = random_numbers(11, r);  // kappa_0 and kappa_1 do not matter
    numbers cumulants = any;
    cumulants[0] = 0;
    const numbers central = cumulus::detail::central_from_cumulants(cumulants);
    CHECK(bool(central[0] == 1));
    CHECK(bool(central[1] == 0));
    for (int k = 2; k <= 10; ++k) {
      CAPTURE(trial, k);
      CHECK(bool(kappa[std::size_t(k)] == tables::value(to.at(k), mu)));
      CHECK(bool(central[std::size_t(k)] == tables::value(from.at(k), cumulants)));
    }
  }
}

TEST_CASE("cumulants: every conversion has its inverse", "[series][property]") {
  families::random r(402);
  for (std::size_t size = 1; size <= 20; ++size) {
    CAPTURE(size);
    const numbers mu = random_central(size, r);
    CHECK(bool(cumulus::detail::central_from_cumulants(
                   cumulus::detail::cumulants_from_central(mu)) == mu));
    numbers raw = random_numbers(size, r);
    raw[0] = 1;
    CHECK(
        bool(cumulus::detail::raw_from_cumulants(cumulus::detail::cumulants_from_raw(raw)) == raw));
    const rational mean = size > 1 ? raw[1] : rational(0);
    CHECK(bool(cumulus::detail::raw_from_central(cumulus::detail::central_from_raw(raw), mean) ==
               raw));
    CHECK(bool(cumulus::detail::central_from_raw(
                   cumulus::detail::raw_from_central(mu, rational(7) / 3)) == mu) == true);
  }
}

TEST_CASE("cumulants: moments of a sample about 0 and about its mean, exactly", "[series][value]") {
  families::random r(403);
  for (int trial = 0; trial < 10; ++trial) {
    rational_sample sample{random_numbers(6, r), numbers(6)};
    for (rational& w : sample.w) w = rational(int(r.below(9)) + 1) / 7;
    const std::size_t size = 13;
    const numbers raw = sample.moments_about(rational(0), size);
    const numbers central = sample.moments_about(raw[1], size);
    CHECK(bool(cumulus::detail::central_from_raw(raw) == central));
    CHECK(bool(cumulus::detail::raw_from_central(central, raw[1]) == raw));
    numbers from_raw = cumulus::detail::cumulants_from_raw(raw);
    const numbers from_central = cumulus::detail::cumulants_from_central(central);
    CHECK(bool(from_raw[1] == raw[1]));
    from_raw[1] = 0;  // a shift changes kappa_1 alone
    CHECK(bool(from_raw == from_central));
  }
}

TEST_CASE("cumulants: of independent sums they add, of multiples they scale",
          "[series][property]") {
  families::random r(404);
  const rational_sample a{random_numbers(4, r), numbers(4, rational(1))},
      b{random_numbers(3, r), numbers(3, rational(1))};
  rational_sample sum{{}, numbers(12, rational(1))}, scaled = a;
  for (const rational& x : a.x)
    for (const rational& y : b.x) sum.x.push_back(x + y);
  for (rational& x : scaled.x) x *= -3;
  const auto kappa = [](const rational_sample& s) {
    return cumulus::detail::cumulants_from_raw(s.moments_about(rational(0), 11));
  };
  rational power(1);
  for (std::size_t k = 0; k <= 10; ++k, power *= -3) {
    CAPTURE(k);
    CHECK(bool(kappa(sum)[k] == kappa(a)[k] + kappa(b)[k]));
    CHECK(bool(kappa(scaled)[k] == power * kappa(a)[k]));
  }
}

TEST_CASE("cumulants: known distributions", "[series][value]") {
  // Poisson of mean 2: every cumulant 2. Bernoulli 1/2: mu_2 = 1/4, kappa_4 = -1/8.
  numbers poisson(9, rational(2));
  poisson[0] = 0;
  const numbers raw = cumulus::detail::raw_from_cumulants(poisson);
  const int touchard[] = {1, 2, 6, 22, 94, 454, 2430, 14214, 89918};
  for (std::size_t k = 0; k < 9; ++k) CHECK(bool(raw[k] == touchard[k]));
  const std::array<double, 5> mu{1, 0, 0.25, 0, 0.0625};
  const std::vector<double> kappa = cumulus::detail::cumulants_from_central(mu);
  CHECK(kappa == std::vector<double>{0, 0, 0.25, 0, -0.125});
  // of a Gaussian, all but two vanish
  const numbers gauss{0, 5, 3, 0, 0, 0, 0};
  CHECK(bool(cumulus::detail::central_from_cumulants(gauss) == numbers{1, 0, 3, 0, 27, 0, 405}));
}
