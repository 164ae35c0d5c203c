// SPDX-License-Identifier: MIT
#include <cumulus/blocks/exact_block_scores.hpp>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::exact_block_score;
using cumulus::exact_block_scores;
using cumulus::index_t;

TEST_CASE("exact block scores: the log-mass of each block, the last by what it has",
          "[blocks][value]") {
  families::random r(61u);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic> k(11, 5);
  Eigen::VectorXf q(5);
  for (int i = 0; i < k.size(); ++i) k.data()[i] = float(r.normal());
  for (int i = 0; i < 5; ++i) q[i] = float(20 * r.normal());
  const auto scores = exact_block_scores(k, 4, q, {.scale = 0.5});
  REQUIRE(scores.size() == 3);
  for (int B = 0; B < 3; ++B) {
    long double sum = 0;
    for (int t = 4 * B; t < std::min(4 * B + 4, 11); ++t) {
      long double x = 0;
      for (int i = 0; i < 5; ++i) x += 0.5L * (long double)(q[i]) * (long double)(k(t, i));
      sum += std::exp(x);
    }
    const double exact = double(std::log(sum));
    CHECK(std::abs(scores[std::size_t(B)] - exact) <= 0x1p-48);
    CHECK(exact_block_score(cumulus::token_rows<float>(k), q, 4 * B, B == 2 ? 3 : 4,
                            {.scale = 0.5}) == scores[std::size_t(B)]);
  }
}

TEST_CASE("exact block scores: ends", "[blocks][edge]") {
  const Eigen::MatrixXd k = Eigen::MatrixXd::Ones(4, 2);
  const Eigen::Vector2d q(1, 2);
  const cumulus::token_rows<double> rows(k);
  CHECK(exact_block_score(rows, q, 2, 0) == -cumulus::detail::infinity<double>);
  CHECK(exact_block_scores(Eigen::MatrixXd(0, 2), 4, q).empty());
  CHECK(std::isnan(exact_block_score(rows, Eigen::Vector2d(std::nan(""), 0), 0, 4)));
  CHECK(refusal([&] { static_cast<void>(exact_block_scores(k, 0, q)); }) ==
        "cumulus: exact_block_scores: a block of 0 tokens; give 1 or more");
  CHECK(refusal([&] { static_cast<void>(exact_block_score(rows, q, 2, 3)); }) ==
        "cumulus: exact_block_score: 3 tokens from token 2 on, but there are 4; give a range "
        "within them");
  CHECK(refusal([&] { static_cast<void>(exact_block_scores(k, 2, Eigen::Vector3d(1, 2, 3))); }) !=
        "");
  CHECK(refusal([&] { static_cast<void>(exact_block_scores(k, 2, q, {.scale = std::nan("")})); }) ==
        "cumulus: exact_block_scores: .scale is nan; give a finite number");
}
