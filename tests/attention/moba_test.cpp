// SPDX-License-Identifier: MIT
#include "attention/naive_moba.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"

#include <cumulus/attention/block_sparse.hpp>
#include <cumulus/attention/sparse_presets.hpp>

namespace {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

rows normal_rows(int n, int width, double mean, double sigma, unsigned seed) {
  const auto x = families::normal<double>(std::size_t(n * width), mean, sigma, seed);
  return Eigen::Map<const rows>(x.data(), n, width);
}

double distance(const cumulus::block_sparse_result<double>& a,
                const cumulus::attention_result<double>& b) {
  return std::max((a.output - b.output).cwiseAbs().maxCoeff(),
                  (a.logsumexp.col(0) - b.logsumexp).cwiseAbs().maxCoeff());
}

/// By the preset.
cumulus::block_sparse_result<double> moba(const rows& q, const rows& k, const rows& v,
                                          const naive_moba::options& o) {
  auto preset = cumulus::presets::moba(o.block, o.top);
  preset.options.scale = o.scale;
  cumulus::block_summaries<double> blocks(preset.summary_of(k.cols(), v.cols()));
  blocks.append_rows(k, v);
  return cumulus::block_sparse_attention(q, k, v, blocks, preset.options);
}

}  // namespace

TEST_CASE("presets::moba: by summaries it equals the definition", "[attention][property]") {
  const int n = GENERATE(1, 7, 8, 61, 64, 100);
  const auto top = GENERATE(1, 2, 3, 20);
  const rows q = normal_rows(n, 6, 0, 2, 1), k = normal_rows(n, 6, 0.3, 1, 2);
  const rows v = normal_rows(n, 3, 0, 1, 3);
  const naive_moba::options o{.block = 8, .top = top};
  CAPTURE(n, top);
  CHECK(distance(moba(q, k, v, o), naive_moba::attend(q, k, v, o)) <= 1e-13);
}

TEST_CASE("presets::moba: with every block it is causal attention, with one its own block alone",
          "[attention][value]") {
  const int n = 45;
  const rows q = normal_rows(n, 6, 0, 1, 4), k = normal_rows(n, 6, 0, 1, 5);
  const rows v = normal_rows(n, 3, 0, 1, 6);
  CHECK(distance(moba(q, k, v, {.block = 8, .top = 6}),
                 cumulus::attention(q, k, v, {.causal = true})) <= 1e-13);
  const auto own = moba(q, k, v, {.block = 8, .top = 1, .scale = 0.5});
  for (int t = 0; t < n; ++t) {
    const int first = t / 8 * 8;
    const auto alone = cumulus::attention(q.middleRows(t, 1), k.middleRows(first, t + 1 - first),
                                          v.middleRows(first, t + 1 - first), {.scale = 0.5});
    CHECK((own.output.row(t) - alone.output.row(0)).norm() <= 1e-14);
  }
}

TEST_CASE(
    "presets::moba: the gate is the product with the mean key at any positive scale, and counts no "
    "tokens",
    "[attention][value]") {
  // Blocks of 2 in one dimension: means 1, 3, 2; the last query sees its own block and the top 1 of the others.
  rows k(8, 1), q = rows::Constant(8, 1, 1), v(8, 1);
  k << 0, 2, -7, 13, 1, 3, 0, 0;
  v << 1, 1, 2, 2, 3, 3, 4, 4;
  const auto result = moba(q, k, v, {.block = 2, .top = 2, .scale = 1e-9});
  CHECK(result.output(7, 0) == Approx((2 + 2 + 4 + 4) / 4.0));
  CHECK(result.output(6, 0) == Approx((2 + 2 + 4) / 3.0));
  k(2, 0) = -7 - 2 * (3 - 2);  // now the means tie at 2: the earlier block is taken
  CHECK(moba(q, k, v, {.block = 2, .top = 2, .scale = 1e-9}).output(7, 0) ==
        Approx((2 + 2 + 4 + 4) / 4.0));
}

TEST_CASE("presets::moba: refuses a block or a count of none", "[attention][edge]") {
  const rows x = normal_rows(4, 2, 0, 1, 7), fewer = normal_rows(3, 2, 0, 1, 8);
  CHECK(refusal([&] { (void)moba(x, x, x, {.block = 0}); }) ==
        "cumulus: block_summaries: .block is 0; give 1 or more");
  CHECK(refusal([&] { (void)moba(x, x, x, {.top = 0}); }) ==
        "cumulus: block_sparse_attention: .top is 0; give 1 or more");
  CHECK(refusal([&] { (void)moba(x, fewer, fewer, {.block = 2}); }) ==
        "cumulus: block_sparse_attention: 4 positions from -1 on, but there are 3 keys; give each "
        "position its own key");
  CHECK(refusal([&] {
          (void)moba(rows::Ones(8, 3), rows::Ones(8, 4), rows::Ones(8, 2), {.block = 2});
        }) == "cumulus: block_sparse_attention: a key has 4 elements, a query has 3");
}
