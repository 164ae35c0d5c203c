// SPDX-License-Identifier: MIT
#include <cumulus/attention/performer.hpp>
#include <cumulus/detail/attention/positive_random_features.hpp>

#include <cmath>
#include <vector>

#include "attention/naive_linear.hpp"
#include "catch.hpp"

using cumulus::index_t;
using naive::matrix;
using naive::normal;
using naive::real;
namespace presets = cumulus::presets;

namespace {

constexpr index_t n = 90, d = 6, e = 4;

}  // namespace

TEST_CASE("performer: its features are its definition, causal or not", "[attention][value]") {
  const matrix<double> q = normal<double>(n, d, 13u), k = normal<double>(n, d, 14u),
                       v = normal<double>(n, e, 15u);
  for (const bool orthogonal : {true, false}) {
    const index_t count = 37;
    cumulus::detail::positive_random_features<double> map(d, count, 5u, orthogonal);
    for (const bool causal : {true, false}) {
      const auto result = presets::performer(
          q, k, v, {.causal = causal, .features = count, .seed = 5, .orthogonal = orthogonal});
      for (index_t i = 0; i < n; ++i) {
        const index_t visible = causal ? i + 1 : n;
        std::vector<real> w(std::size_t(visible), 0);
        const real root = std::sqrt(1 / std::sqrt(real(d)));
        for (index_t r = 0; r < count; ++r) {
          const auto phi = [&](const auto& x) {
            real dot = 0, square = 0;
            for (index_t c = 0; c < d; ++c) {
              dot += real(map.direction(r)[std::size_t(c)]) * root * real(x[c]);
              square += root * root * real(x[c]) * real(x[c]);
            }
            return std::exp(dot - square / 2);
          };
          for (index_t j = 0; j < visible; ++j)
            w[std::size_t(j)] += phi(q.row(i)) * phi(k.row(j)) / real(count);
        }
        const naive::answer expected = naive::average(w, v);
        REQUIRE(naive::distance(result.output.row(i), expected.output) <= 1e-12);
        REQUIRE(std::abs(double(expected.log_sum) - result.logsumexp(i, 0)) <= 1e-12);
      }
    }
  }
  cumulus::detail::positive_random_features<double> map(d, 3 * d + 2, 9u, true);
  for (index_t r = 0; r < map.count(); ++r) {  // within a group of d orthogonal
    for (index_t s = r / d * d; s < r; ++s) {
      double dot = 0;
      for (std::size_t c = 0; c < std::size_t(d); ++c)
        dot += map.direction(r)[c] * map.direction(s)[c];
      CHECK(std::abs(dot) <= 1e-13);
    }
  }
}
