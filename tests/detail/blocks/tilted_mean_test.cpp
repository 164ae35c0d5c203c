// SPDX-License-Identifier: MIT
#include <cumulus/detail/blocks/tilted_mean.hpp>

#include "catch.hpp"
#include "support/families.hpp"

TEST_CASE("tilted mean: the log-mass is the query on the mean key, plus the entropy",
          "[blocks][property]") {
  for (const double sigma : {0.0, 0.3, 3.0, 300.0}) {
    const auto keys = families::normal<double>(12 * 5, 1.0, sigma, 71u);
    const auto q = families::normal<double>(5, 0.0, 1.0, 72u);
    const auto tilted = cumulus::detail::tilted_mean_of(keys.data(), 12, 5, q.data());
    double at_mean = tilted.entropy, total = 0, largest = -1e300, sum = 0;
    for (std::size_t i = 0; i < 5; ++i) at_mean += q[i] * tilted.key[i];
    for (const double p : tilted.share) total += p;
    CAPTURE(sigma);
    CHECK(total == Approx(1).epsilon(1e-14));
    CHECK(tilted.mass == Approx(at_mean).epsilon(1e-13));
    CHECK(tilted.entropy >= 0);
    std::vector<double> x(12, 0.0);
    for (std::size_t t = 0; t < 12; ++t) {
      for (std::size_t i = 0; i < 5; ++i) x[t] += q[i] * keys[t * 5 + i];
      largest = std::max(largest, x[t]);
    }
    for (const double score : x) sum += std::exp(score - largest);
    CHECK(tilted.mass == Approx(largest + std::log(sum)).epsilon(1e-14));
    CHECK(tilted.share[3] == Approx(std::exp(x[3] - tilted.mass)).margin(1e-300));
  }
}

TEST_CASE("tilted mean: a NaN shows in all of it", "[blocks][edge]") {
  const std::vector<double> keys{1, 2, std::nan(""), 4}, q{1, 1};
  const auto tilted = cumulus::detail::tilted_mean_of(keys.data(), 2, 2, q.data());
  CHECK(std::isnan(tilted.mass));
  CHECK(std::isnan(tilted.entropy));
  CHECK(std::isnan(tilted.key[0]));
}
