// SPDX-License-Identifier: MIT
#include <cumulus/blocks/certified_top.hpp>

#include <cmath>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::certified_top;
using cumulus::index_t;
using scored = cumulus::scored_block<double>;
using indices = std::vector<index_t>;

TEST_CASE("certified top: always the exact top k, with its proof, reading a block once at most",
          "[blocks][property]") {
  families::random r(41u);
  std::size_t read = 0, whole = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::size_t n = 1 + r.below(40);
    const bool ties = r.below(3) == 0;
    const double wide = std::pow(10.0, r.uniform(-3, 1));
    std::vector<double> exact(n);
    std::vector<scored> intervals(n);
    for (std::size_t B = 0; B < n; ++B) {
      exact[B] = ties ? double(r.below(4)) : 3 * r.normal();
      const bool point = r.below(8) == 0;
      intervals[B] = {exact[B], exact[B] - (point ? 0 : wide * r.exponential()),
                      exact[B] + (point ? 0 : wide * r.exponential())};
      if (r.below(50) == 0) intervals[B].lower = intervals[B].upper = std::nan("");
      if (r.below(200) == 0) exact[B] = intervals[B].lower = intervals[B].upper = std::nan("");
    }
    const index_t k = 1 + index_t(r.below(12)), usable = index_t(r.below(n + 3));
    std::vector<int> calls(n, 0);
    const auto found = certified_top(
        intervals, k,
        [&](index_t B) {
          ++calls[std::size_t(B)];
          return exact[std::size_t(B)];
        },
        usable);
    CAPTURE(round, n, k, usable, ties, wide, exact);
    CHECK(found.blocks == cumulus::select_blocks(exact, {.top = k, .usable = usable}));
    CHECK(found.least_inside >= found.largest_outside);
    std::size_t total = 0;
    for (const int c : calls) {
      CHECK(c <= 1);
      total += std::size_t(c);
    }
    CHECK(total == found.evaluated.size());
    read += total;
    whole += n;
  }
  CHECK(read * 2 < whole);
}

TEST_CASE("certified top: disjoint intervals need no key, and only the open ones are read",
          "[blocks][edge]") {
  const auto none = [](index_t) -> double { throw std::logic_error("read"); };
  const std::vector<scored> apart{{1, 0, 2}, {5, 4, 6}, {9, 8, 10}, {3, 2.5, 3}};
  CHECK(certified_top(apart, 2, none).blocks == indices{1, 2});
  CHECK(certified_top(apart, 9, none).blocks == indices{0, 1, 2, 3});
  CHECK(certified_top(std::vector<scored>(), 2, none).blocks.empty());
  const std::vector<scored> one_pair{{1, 0, 2}, {5, 4, 6}, {9, 8, 10}, {5, 3, 5}};
  const auto found = certified_top(one_pair, 2, [](index_t B) { return B == 1 ? 5.5 : 4.9; });
  CHECK(found.blocks == indices{1, 2});
  CHECK(found.evaluated == indices{1});  // 5.5 is above what block 3 can have
  CHECK(found.least_inside == 5.5);
  CHECK(found.largest_outside == 5);
  CHECK(refusal([&] { static_cast<void>(certified_top(apart, 0, none)); }) ==
        "cumulus: certified_top: k is 0; give 1 or more");
  CHECK(refusal([&] { static_cast<void>(certified_top(apart, 2, none, -1)); }) ==
        "cumulus: certified_top: usable is -1; give 0 or more");
}
