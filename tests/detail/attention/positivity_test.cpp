// SPDX-License-Identifier: MIT
#include <cumulus/detail/attention/positivity.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"

namespace {

using vector = Eigen::VectorXd;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("positivity: no negative weight, no logarithm of one", "[attention][edge]") {
  const std::vector<double> p = {0.75, -0.25, 0.5, 0.0};
  const auto clipped = cumulus::detail::clip_and_renormalise(p);
  CHECK(clipped.weights == Eigen::Vector4d(0.6, 0, 0.4, 0));
  CHECK(clipped.negative_mass == 0.25);
  CHECK(cumulus::detail::clipped_entropy(p) == Approx(-0.6 * std::log(0.6) - 0.4 * std::log(0.4)));
  CHECK(cumulus::detail::clipped_entropy(std::vector<double>{-1, -2}) == 0);
  CHECK(cumulus::detail::clip_and_renormalise(std::vector<double>{-1, -2}).weights.norm() == 0);
  CHECK(std::isnan(cumulus::detail::clipped_entropy(
      std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()})));
  CHECK(cumulus::detail::clipped_entropy(std::vector<float>{2.f, 2.f}) == Approx(std::log(2.f)));
}

TEST_CASE("clip_and_renormalise: whatever the weights, they add up to one or are 0",
          "[attention][hostile]") {
  CHECK(cumulus::detail::clip_and_renormalise(vector::Zero(3)).weights == vector::Zero(3));
  CHECK(cumulus::detail::clip_and_renormalise(vector::Constant(3, -1)).weights == vector::Zero(3));
  CHECK(cumulus::detail::clip_and_renormalise(vector::Constant(3, -1)).negative_mass == 3);
  CHECK(cumulus::detail::clip_and_renormalise(vector(0)).weights.size() == 0);
  CHECK(cumulus::detail::clipped_entropy(vector::Zero(3)) == 0);
  CHECK(cumulus::detail::clip_and_renormalise(vector{{inf, 1, -1, inf}}).weights ==
        vector{{0.5, 0, 0, 0.5}});
  CHECK(cumulus::detail::clip_and_renormalise(vector{{inf, not_a_number}})
            .weights.array()
            .isNaN()
            .all());
  for (const double weight : {5e-324, 1e-300, 1.0, 1e300, 1e308}) {
    INFO("two weights of " << weight);
    CHECK(
        std::abs(cumulus::detail::clip_and_renormalise(vector::Constant(2, weight)).weights.sum() -
                 1) < 1e-12);
    CHECK(std::abs(cumulus::detail::clipped_entropy(vector::Constant(2, weight)) - std::log(2.0)) <
          1e-12);
  }
}
