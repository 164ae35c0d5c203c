// SPDX-License-Identifier: MIT
//
// What the programs free_energy and temperature report, against systems whose answer is known.
#include "support/free_energy_report.hpp"
#include "support/ising_ring.hpp"
#include "support/oscillator.hpp"
#include "support/temperature_report.hpp"

#include "catch.hpp"

TEST_CASE("free_energy: the oscillator's free energy, within its standard errors",
          "[examples][value]") {
  int within = 0;
  constexpr int trials = 200;
  const support::oscillator model{2.0, 0.3};
  for (int trial = 0; trial < trials; ++trial) {
    const auto work = model.work(500, 1000u + static_cast<unsigned>(trial));
    const auto r = support::free_energy(work, 1, 2, 1);
    within += std::abs(r.average - model.free_energy()) <= r.standard_error;
    CHECK(std::abs(r.average - model.free_energy()) <= 5 * r.standard_error);
    CHECK(!r.poor_overlap);
  }
  CHECK(within > 0.6 * trials);  // 68 % of a normal law's
  CHECK(within < 0.76 * trials);
}

TEST_CASE("free_energy: in the unit of kT, and the same orders whatever the highest",
          "[examples][property]") {
  const auto work = support::oscillator().work(300, 5);
  std::vector<double> scaled;
  for (const double w : work) scaled.push_back(4 * w);
  const auto one = support::free_energy(work, 1, 7, 1),
             four = support::free_energy(scaled, 4, 3, 1);
  CHECK(four.average == Approx(4 * one.average).epsilon(1e-14));
  CHECK(four.standard_error == Approx(4 * one.standard_error).epsilon(1e-14));
  REQUIRE(four.orders.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(four.orders[i].value == Approx(4 * one.orders[i].value).epsilon(1e-14));
    CHECK(four.orders[i].bound == Approx(4 * one.orders[i].bound).epsilon(1e-12));
    CHECK(std::abs(one.orders[i].truncation) <= one.orders[i].bound);
    CHECK(one.orders[i].truncation == Approx(one.orders[i].value - one.average).epsilon(1e-9));
  }
  // order 2: mean - variance / 2
  CHECK(one.orders[1].value == Approx(one.mean - one.deviation * one.deviation / 2).epsilon(1e-14));
}

TEST_CASE("free_energy: a stiff spring far away is a poor overlap", "[examples][value]") {
  const auto work = support::oscillator{4.0, 3.0}.work(4000, 6);
  const auto r = support::free_energy(work, 1, 4, 1);
  CHECK(r.poor_overlap);
  CHECK(support::verdict(r).find("Poor overlap") == 0);
}

TEST_CASE("temperature: the ring's closed form, and every row within its bounds",
          "[examples][value]") {
  const support::ising_ring ring{8};
  const auto energies = ring.energies();
  const std::vector<double> weights(energies.size(), 1.0);
  const auto r = support::over_temperature(energies, weights, 10, {-0.4, 0, 0.1, 0.3, 0.9});
  CHECK(r.rows.size() == 5);
  for (const auto& row : r.rows) {
    CAPTURE(row.beta);
    CHECK(row.log_z.exact == Approx(ring.log_z(row.beta)).epsilon(1e-14));
    for (const auto& c : {row.log_z, row.energy, row.heat_capacity})
      CHECK(std::abs(c.value - c.exact) <= c.bound);
    // dlog Z / dbeta by a difference of the closed form
    const double slope = (ring.log_z(row.beta + 1e-5) - ring.log_z(row.beta - 1e-5)) / 2e-5;
    CHECK(row.energy.exact == Approx(-slope).margin(1e-8));
  }
  // beta = 0: 2^8 states, n pairs of variance 1
  CHECK(r.rows[1].log_z.value == Approx(8 * std::log(2.0)).epsilon(1e-15));
  CHECK(r.deviation == Approx(std::sqrt(8.0)).epsilon(1e-14));
}
