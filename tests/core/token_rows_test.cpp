// SPDX-License-Identifier: MIT
#include "catch.hpp"
#include "refusal.hpp"

#include <cumulus/core/token_rows.hpp>
#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

namespace {

using by_rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using cumulus::index_t;
using cumulus::token_rows;

/// Row t holds 10 t, 10 t + 1, ...
by_rows counted(int n, int d) {
  by_rows x(n, d);
  for (int t = 0; t < n; ++t) {
    for (int i = 0; i < d; ++i) x(t, i) = 10 * t + i;
  }
  return x;
}

}  // namespace

TEST_CASE("token_rows: rows of a matrix lie where they are, or are copied", "[core][value]") {
  const by_rows x = counted(6, 3);
  const token_rows<double> whole(x), part(x.block(2, 1, 3, 2));
  CHECK(whole.row(4) == x.data() + 12);
  CHECK(whole.run(1) == 5);
  CHECK(part.row(1) == &x(3, 1));
  CHECK(part.width() == 2);
  CHECK(part.row_stride() == 3);

  const Eigen::MatrixXd by_columns = x;
  const token_rows<double> copied(by_columns);
  const token_rows<float> narrowed(x), evaluated((2 * x).cast<float>());
  for (int t = 0; t < 6; ++t) {
    for (int i = 0; i < 3; ++i) {
      CHECK(copied.row(t)[i] == x(t, i));
      CHECK(narrowed.row(t)[i] == float(x(t, i)));
      CHECK(evaluated.row(t)[i] == float(2 * x(t, i)));
    }
  }
}

TEST_CASE("token_rows: pages and blocks are found through their tables", "[core][value]") {
  const by_rows pool = counted(16, 2);
  const index_t table[] = {2, 0, 3};
  const token_rows<double> cache(pool.data(), 4, table, 10, 2, 2);
  const int places[] = {8, 9, 10, 11, 0, 1, 2, 3, 12, 13};
  for (int t = 0; t < 10; ++t) CHECK(*cache.row(t) == 10 * places[t]);
  CHECK(cache.run(0) == 4);
  CHECK(cache.run(6) == 2);
  CHECK(cache.run(8) == 2);

  const index_t chosen[] = {4, 1};  // blocks of 2: tokens 8 and 9, then 2
  const token_rows<double> some(cache, 2, chosen, 3);
  CHECK(*some.row(0) == 120);
  CHECK(*some.row(1) == 130);
  CHECK(*some.row(2) == 100);
  const token_rows<double> plain(pool), two(plain, 3, chosen, 5);
  CHECK(*two.row(0) == 120);
  CHECK(*two.row(4) == 40);
}

TEST_CASE("token_rows: refuses tables that are too short", "[core][edge]") {
  const by_rows pool = counted(16, 2);
  const index_t table[] = {2, 0};
  CHECK(refusal([&] { token_rows<double>(pool.data(), 4, table, 9, 2, 2); }) ==
        "cumulus: token_rows: 9 tokens in pages of 4 need a table of 3, the table has 2");
  CHECK(refusal([&] { token_rows<double>(pool.data(), 0, table, 1, 2, 2); }) ==
        "cumulus: token_rows: a page of 0 tokens; give 1 or more");
  CHECK(refusal([&] { token_rows<double>(pool.data(), -1, 2, 2); }) ==
        "cumulus: token_rows: -1 tokens of width 2; give 0 or more of each");
}

TEST_CASE("token_rows: blocks of tokens in pages of any size", "[core][value]") {
  const index_t page = GENERATE(1, 2, 3, 4, 6, 12), block = GENERATE(1, 2, 3, 4, 8, 12);
  const by_rows pool = counted(24, 1);
  std::vector<index_t> table;
  for (index_t p = 24 / page; p-- > 0;) table.push_back(p);
  const token_rows<double> all(pool.data(), page, table, 22, 1, 1);
  const std::vector<index_t> blocks{20 / block - 1, 0, 1};
  const index_t tokens = std::min(3 * block, index_t(2 * block + 1));
  const token_rows<double> some(all, block, blocks, tokens);
  for (index_t t = 0; t < tokens; ++t) {
    CAPTURE(page, block, t);
    CHECK(*some.row(t) == *all.row(blocks[std::size_t(t / block)] * block + t % block));
    for (index_t j = 0; j < some.run(t); ++j) CHECK(*some.row(t + j) == *(some.row(t) + j));
  }
}

TEST_CASE("token_rows: refuses a block or a page that lies outside", "[core][edge]") {
  const by_rows pool = counted(16, 2);
  const index_t table[] = {2, 0, -1};
  CHECK(
      refusal([&] { token_rows<double>(pool.data(), 4, table, 9, 2, 2); }) ==
      "cumulus: token_rows: entry 2 of the table is page -1; give 0 or more for each page that has "
      "tokens");
  CHECK(refusal([&] { token_rows<double>(pool.data(), 4, table, 8, 2, 2); }).empty());
  const token_rows<double> cache(pool.data(), 4, table, 7, 2, 2), plain(pool);
  const index_t most = std::numeric_limits<index_t>::max();
  const auto some = [&](const token_rows<double>& all, index_t block, std::vector<index_t> blocks,
                        index_t tokens) {
    return refusal([&] { token_rows<double>(all, block, blocks, tokens); });
  };
  CHECK(some(cache, 2, {4}, 2) ==
        "cumulus: token_rows: 2 tokens of block 4 of 2, but there are 7 tokens in all; give blocks "
        "within them");
  CHECK(some(cache, 2, {0, 3}, 4).find("2 tokens of block 3 of 2") != std::string::npos);
  CHECK(some(cache, 2, {0, 3}, 3).empty());     // one token of it, the last
  CHECK(some(cache, 2, {1, most}, 2).empty());  // no token of the other
  CHECK(some(cache, 2, {most}, 1).find("1 tokens of block") != std::string::npos);
  CHECK(some(plain, 3, {5}, 1).empty());
  CHECK(some(plain, 3, {5}, 2).find("but there are 16 tokens") != std::string::npos);
  CHECK(some(plain, 3, {6}, 1).find("but there are 16 tokens") != std::string::npos);
  for (const token_rows<double>* all : {&cache, &plain})
    CHECK(some(*all, 2, {-1}, 1).find("is page -1") != std::string::npos);
}

TEST_CASE("token_rows: copies and moves see the same rows", "[core][value]") {
  const by_rows x = counted(6, 3);
  token_rows<double> view(x), owner(by_rows(x * 1.0).leftCols(2) * 1.0);
  const token_rows<double> view_again = view;
  CHECK(view_again.row(3) == view.row(3));
  token_rows<double> copy = owner;
  CHECK(copy.row(5) != owner.row(5));
  CHECK(copy.row(5)[1] == 51);
  const double* const place = owner.row(0);
  const token_rows<double> moved = std::move(owner);
  CHECK(moved.row(0) == place);
  CHECK(owner.size() == 0);
  copy = view;
  CHECK(copy.row(2) == view.row(2));
  // blocks of a paged cache hold a table of their own
  const std::vector<index_t> table{1, 0}, blocks{2, 0};
  const token_rows<double> paged(x.data(), 2, table, 4, 3, 3);
  token_rows<double> chosen(paged, 1, blocks, 2);
  const token_rows<double> chosen_again = chosen;
  chosen = view;
  CHECK(chosen_again.row(0)[0] == 0);
  CHECK(chosen_again.row(1)[0] == 20);
}

TEST_CASE("token_rows: of another scalar a copy", "[core][value]") {
  const by_rows x = counted(4, 3);
  const std::vector<index_t> table{1, 0};
  const token_rows<double> paged(x.data(), 2, table, 4, 3, 3);
  const token_rows<float> narrow(paged);
  CHECK(narrow.row(0)[1] == 21.0f);
  CHECK(narrow.row(3)[2] == 12.0f);
}
