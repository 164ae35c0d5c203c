// SPDX-License-Identifier: MIT
#include "catch.hpp"
#include "refusal.hpp"

#include <cumulus/core/scaled_rows.hpp>
#include <Eigen/Core>
#include <array>
#include <vector>

namespace {

using cumulus::index_t;
using cumulus::scaled_rows;
using cumulus::token_rows;
using integers = Eigen::Matrix<std::int8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

integers counted(int n, int d) {
  integers x(n, d);
  for (int t = 0; t < n; ++t) {
    for (int i = 0; i < d; ++i) x(t, i) = std::int8_t(10 * t + i);
  }
  return x;
}

}  // namespace

TEST_CASE("scaled_rows: a scale for each token or block, in the order of tokens", "[core][value]") {
  const integers x = counted(5, 3);
  const std::vector<float> each{1, 2, 3, 4, 5}, blocks{7, 8, 9};
  const scaled_rows one(x, each), two(x, blocks, {.block = 2});
  CHECK(one.size() == 5);
  CHECK(one.width() == 3);
  CHECK(one.row(4)[2] == 42);
  for (int t = 0; t < 5; ++t) {
    CHECK(one.scale(t) == each[std::size_t(t)]);
    CHECK(two.scale(t) == blocks[std::size_t(t) / 2]);
  }
  // pages backwards: scales stay in the order of the tokens
  const std::array<index_t, 3> table{2, 1, 0};
  const integers pool = counted(6, 3);
  const token_rows<std::int8_t> paged(pool.data(), 2, table, 5, 3, 3);
  const scaled_rows turned(paged, blocks, {.block = 2});
  CHECK(turned.row(0)[0] == 40);
  CHECK(turned.row(4)[0] == 0);
  CHECK(turned.scale(4) == 9);
}

TEST_CASE("scaled_rows: scales are read where they lie if they are floats", "[core][value]") {
  const integers x = counted(4, 2);
  std::vector<float> floats{1, 2, 3, 4};
  std::vector<double> doubles{1, 2, 3, 4};
  const scaled_rows seen(x, floats), copied(x, doubles);
  floats[2] = 30;
  doubles[2] = 30;
  CHECK(seen.scale(2) == 30);
  CHECK(copied.scale(2) == 3);
  const scaled_rows again = copied;
  scaled_rows moved = std::move(again);
  CHECK(moved.scale(3) == 4);
  moved = seen;
  CHECK(moved.scale(2) == 30);
}

TEST_CASE("scaled_rows: too few scales and blocks below 1 are refused", "[core][edge]") {
  const integers x = counted(5, 3);
  const std::vector<float> two{1, 2};
  CHECK(refusal([&] { static_cast<void>(scaled_rows(x, two, {.block = 2})); }) ==
        "cumulus: scaled_rows: 5 tokens in blocks of 2 need 3 scales, there are 2");
  CHECK(refusal([&] { static_cast<void>(scaled_rows(x, two, {.block = 0})); }) ==
        "cumulus: scaled_rows: .block is 0; give 1 or more");
  CHECK(scaled_rows(integers(0, 3), std::vector<float>{}).size() == 0);
}
