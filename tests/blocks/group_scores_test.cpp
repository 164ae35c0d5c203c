// SPDX-License-Identifier: MIT
#include <cumulus/blocks/group_scores.hpp>
#include <cumulus/blocks/select_blocks.hpp>

#include <limits>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::group_rule;
using cumulus::group_scores;

TEST_CASE("group scores: the mean share, and the largest share, of each block", "[blocks][value]") {
  families::random r(51u);
  Eigen::MatrixXf s(3, 7);
  for (int i = 0; i < s.size(); ++i) s.data()[i] = float(2 * r.normal());
  s.row(1).array() += 500.0f;  // a head's offset has no part
  const auto mean = group_scores(s), most = group_scores(s, group_rule::largest);
  Eigen::MatrixXd share(3, 7);
  for (int h = 0; h < 3; ++h) {
    const Eigen::ArrayXd e = (s.row(h).cast<double>().array() - double(s.row(h).maxCoeff())).exp();
    share.row(h) = e / e.sum();
  }
  for (int B = 0; B < 7; ++B) {
    CHECK(mean[std::size_t(B)] == Approx(std::log(share.col(B).mean())));
    CHECK(most[std::size_t(B)] == Approx(std::log(share.col(B).maxCoeff())));
  }
  const auto alone = cumulus::select_blocks(s.row(0), {.top = 3});
  CHECK(cumulus::select_blocks(group_scores(s.topRows(1)), {.top = 3}) == alone);
}

TEST_CASE("group scores: empty rows, NaN and no queries", "[blocks][edge]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Eigen::MatrixXd s(2, 2);
  s << -inf, -inf, 0, 0;
  CHECK(group_scores(s)[0] == Approx(std::log(0.25)));
  CHECK(group_scores(s, group_rule::largest)[1] == Approx(std::log(0.5)));
  s(0, 1) = std::nan("");
  CHECK(std::isnan(group_scores(s)[0]));
  CHECK(std::isnan(group_scores(s)[1]));
  CHECK(group_scores(Eigen::MatrixXd(0, 2)) == std::vector<double>{-inf, -inf});
  CHECK(group_scores(Eigen::MatrixXd(2, 0)).empty());
}
