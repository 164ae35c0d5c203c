// SPDX-License-Identifier: MIT
#include <cumulus/blocks/select_blocks.hpp>

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::index_t;
using cumulus::select_blocks;
using cumulus::selection_options;
using indices = std::vector<index_t>;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

}  // namespace

TEST_CASE("select blocks: the top k, ascending, ties to the lower index", "[blocks][value]") {
  const std::vector<double> s{3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  CHECK(select_blocks(s, {.top = 1}) == indices{5});
  CHECK(select_blocks(s, {.top = 3}) == indices{4, 5, 7});
  CHECK(select_blocks(s, {.top = 4}) == indices{4, 5, 7, 8});
  CHECK(select_blocks(s, {.top = 6}) == indices{0, 2, 4, 5, 7, 8});
  CHECK(select_blocks(s, {.top = 99}).size() == 10);
  CHECK(select_blocks(s).size() == 10);
  CHECK(select_blocks(std::vector<float>(7, 2.0f), {.top = 3}) == indices{0, 1, 2});
  CHECK(select_blocks(std::vector<double>(), {.top = 3}).empty());
  CHECK(select_blocks(Eigen::Vector3f(1, 3, 2), {.top = 2}) == indices{1, 2});
}

TEST_CASE("select blocks: own and first blocks count among the top", "[blocks][edge]") {
  const std::vector<double> s{0, 1, 2, 3, 4, 5};
  CHECK(select_blocks(s, {.top = 1, .own = 6}) == indices{6});  // MoBA's top 1
  CHECK(select_blocks(s, {.top = 3, .own = 6}) == indices{4, 5, 6});
  CHECK(select_blocks(s, {.top = 3, .own = 3, .usable = 3}) == indices{1, 2, 3});
  CHECK(select_blocks(s, {.top = 4, .first_blocks = 1, .own = 5, .usable = 5}) ==
        indices{0, 3, 4, 5});
  CHECK(select_blocks(s, {.top = 2, .first_blocks = 3}) ==
        indices{0, 1, 2});  // forced all the same
  CHECK(select_blocks(s, {.top = 2, .first_blocks = 1, .own = 0}) == indices{0, 5});
  CHECK(select_blocks(s, {.top = 2, .first_blocks = 9, .usable = 2}) == indices{0, 1});
  CHECK(select_blocks(s, {.top = 2, .usable = 0}).empty());
  CHECK(select_blocks(s, {.top = 9, .own = 2, .usable = 2}) == indices{0, 1, 2});
}

TEST_CASE("select blocks: the fewest blocks that hold a share", "[blocks][property]") {
  families::random r(5u);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + r.below(30);
    const auto s = families::draws<double>(n, [&] { return 3 * r.normal(); });
    const double mass = r.uniform();
    const indices chosen = select_blocks(s, {.mass = mass});
    double whole = 0, held = 0, least = inf, largest_left = -inf;
    for (std::size_t B = 0, i = 0; B < n; ++B) {
      whole += std::exp(s[B]);
      if (i < chosen.size() && chosen[i] == index_t(B)) {
        held += std::exp(s[B]);
        least = std::min(least, s[B]);
        ++i;
      } else {
        largest_left = std::max(largest_left, s[B]);
      }
    }
    CAPTURE(round, n, mass, chosen);
    CHECK(held >= mass * whole * (1 - 1e-12));
    CHECK(held - std::exp(least) < mass * whole);
    CHECK(largest_left <= least);
  }
  // the first blocks are paid for first; the own block has no score
  const std::vector<double> s{std::log(1.0), std::log(6.0), std::log(3.0)};
  CHECK(select_blocks(s, {.mass = 0.65}) == indices{1, 2});
  CHECK(select_blocks(s, {.mass = 0.65, .first_blocks = 1}) == indices{0, 1});
  CHECK(select_blocks(s, {.mass = 0.65, .own = 2}) == indices{1, 2});
  CHECK(select_blocks(std::vector<double>{1000, 0}, {.mass = 0.99}) == indices{0});
}

TEST_CASE("select blocks: a threshold, and the first limit met ends it", "[blocks][edge]") {
  const std::vector<double> s{3, 1, 4, 1, 5};
  CHECK(select_blocks(s, {.threshold = 3}) == indices{0, 2, 4});
  CHECK(select_blocks(s, {.top = 2, .threshold = 3}) == indices{2, 4});
  CHECK(select_blocks(s, {.threshold = 9, .own = 5}) == indices{5});
  CHECK(select_blocks(s, {.top = 5, .mass = 0.5}) == indices{4});
}

TEST_CASE("select blocks: NaN is taken first, -inf last", "[blocks][edge]") {
  const std::vector<double> s{1, not_a_number, -inf, inf, 2};
  CHECK(select_blocks(s, {.top = 1}) == indices{1});
  CHECK(select_blocks(s, {.top = 2}) == indices{1, 3});
  CHECK(select_blocks(s, {.top = 4}) == indices{0, 1, 3, 4});
  CHECK(select_blocks(s, {.mass = 0.5}).size() == 5);  // no share of a NaN is known
  CHECK(select_blocks(std::vector<double>{1, not_a_number}, {.threshold = 5}) == indices{1});
}

TEST_CASE("select blocks: limits that say nothing are refused", "[blocks][edge]") {
  const std::vector<double> s{1, 2};
  const auto refused = [&](const selection_options& o) {
    return refusal([&] { static_cast<void>(select_blocks(s, o)); });
  };
  CHECK(refused({.top = 0}) == "cumulus: select_blocks: .top is 0; give 1 or more");
  CHECK(refused({.mass = 0}) == "cumulus: select_blocks: .mass is 0; give a share in (0, 1]");
  CHECK(refused({.mass = 1.5}) != "");
  CHECK(refused({.mass = not_a_number}) != "");
  CHECK(refused({.threshold = not_a_number}) != "");
  CHECK(refused({.own = -2}) != "");
  CHECK(refused({.first_blocks = -1}) != "");
  CHECK(refused({.usable = -1}) != "");
}
