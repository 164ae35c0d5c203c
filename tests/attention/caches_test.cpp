// SPDX-License-Identifier: MIT
//
// Attention over caches that are kept in another kind than the queries: the same as over the numbers that they stand for.
#include "catch.hpp"
#include "families.hpp"

#include <cumulus/attention/attention_result.hpp>
#include <cumulus/attention/block_sparse.hpp>
#include <cumulus/attention/dense.hpp>
#include <cmath>
#include <random>

namespace {

using namespace cumulus;
template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T = float>
rows<T> drawn(index_t n, index_t d, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  rows<float> x(n, d);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = normal(engine);
  return x.cast<T>();
}

/// Rows in 8 bits, in blocks of `block` tokens, and the numbers that they stand for.
struct quantised {
  rows<std::int8_t> integers;
  std::vector<float> scales;
  rows<float> numbers;
  index_t block;

  quantised(const rows<float>& x, index_t tokens)
      : integers(x.rows(), x.cols()), numbers(x.rows(), x.cols()), block(tokens) {
    for (index_t t = 0; t < x.rows(); ++t) {
      if (t % block == 0)
        scales.push_back(x.middleRows(t, std::min(block, x.rows() - t)).cwiseAbs().maxCoeff() /
                         127);
      for (index_t c = 0; c < x.cols(); ++c) {
        integers(t, c) = std::int8_t(std::lround(x(t, c) / scales.back()));
        numbers(t, c) = float(integers(t, c)) * scales.back();
      }
    }
  }
  [[nodiscard]] scaled_rows view() const { return scaled_rows(integers, scales, {.block = block}); }
};

template <class A, class B>
double apart(const A& a, const B& b) {
  return double((a.output - b.output).cwiseAbs().maxCoeff()) +
         double((a.logsumexp - b.logsumexp).cwiseAbs().maxCoeff());
}

}  // namespace

TEMPLATE_TEST_CASE("attention: a cache of 16 bits is read exactly", "[attention][value]",
                   Eigen::half, Eigen::bfloat16) {
  const index_t n = GENERATE(1, 3, 12, 20), m = GENERATE(1, 7, 300, 1500);
  const index_t d = GENERATE(5, 32, 64, 300);
  const auto q = drawn(n, d, 1);
  const auto k = drawn<TestType>(m, d, 2), v = drawn<TestType>(m, d + 3, 3);
  const auto kept = attention(q, k, v, {.softcap = 20});
  const auto wide = attention(q, rows<float>(k.template cast<float>()),
                              rows<float>(v.template cast<float>()), {.softcap = 20});
  CHECK(kept.output == wide.output);
  CHECK(kept.logsumexp == wide.logsumexp);
}

TEST_CASE("attention: a cache of 8 bits is what its integers and scales stand for",
          "[attention][value]") {
  const index_t n = GENERATE(1, 5, 16), m = GENERATE(1, 40, 1100), block = GENERATE(1, 16, 64);
  const index_t d = GENERATE(7, 64);
  const auto q = drawn(n, d, 4);
  const quantised k(drawn(m, d, 5), block), v(drawn(m, d + 1, 6), block);
  const auto kept = attention(q, k.view(), v.view()), wide = attention(q, k.numbers, v.numbers);
  // the scale is multiplied after the sum instead of before: a rounding of each
  CHECK(apart(kept, wide) <= 2e-6);
}

TEST_CASE("attention: pages, heads and float results of queries of 16 bits", "[attention][value]") {
  using brain = Eigen::bfloat16;
  const index_t m = 50, d = 16, page = 8;
  const auto q = drawn<brain>(6, 4 * d, 7), k = drawn<brain>(m, 2 * d, 8),
             v = drawn<brain>(m, 2 * d, 9);
  std::vector<index_t> table;
  for (index_t p = 0; p * page < m; ++p) table.push_back((m - 1) / page - p);
  rows<brain> keys = rows<brain>::Zero(index_t(table.size()) * page, 2 * d), values = keys;
  for (index_t t = 0; t < m; ++t) {
    keys.row(table[std::size_t(t / page)] * page + t % page) = k.row(t);
    values.row(table[std::size_t(t / page)] * page + t % page) = v.row(t);
  }
  const token_rows<brain> key_rows(keys.data(), page, table, m, 2 * d, 2 * d),
      value_rows(values.data(), page, table, m, 2 * d, 2 * d);
  const multi_head_options<float> o{.heads = {.queries = 4, .keys = 2}, .causal = true};
  const auto kept = multi_head_attention<float>(q, key_rows, value_rows, o);
  const auto wide = multi_head_attention(rows<float>(q.cast<float>()), rows<float>(k.cast<float>()),
                                         rows<float>(v.cast<float>()), o);
  CHECK(kept.output == wide.output);
  CHECK(kept.logsumexp == wide.logsumexp);
  // written to memory of float
  rows<float> out(6, 4 * d), sums(6, 4);
  multi_head_attention(q, key_rows, value_rows, into(out), into(sums),
                       {.heads = {.queries = 4, .keys = 2}, .causal = true});
  CHECK(out == wide.output);
  CHECK(sums == wide.logsumexp);
}

TEST_CASE("attention: results of float merge to the rounding of float", "[attention][value]") {
  using brain = Eigen::bfloat16;
  const auto q = drawn<brain>(3, 32, 10), k = drawn<brain>(400, 32, 11),
             v = drawn<brain>(400, 32, 12);
  auto parts = attention<float>(q, k.topRows(150), v.topRows(150));
  merge(parts, attention<float>(q, k.bottomRows(250), v.bottomRows(250)));
  CHECK(apart(parts, attention<float>(q, k, v)) <= 4e-6);
}

TEST_CASE("attention: what a cache of another kind holds shows as it does in float",
          "[attention][edge]") {
  using half = Eigen::half;
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  rows<float> q(1, 1), v(4, 1);
  q << 1;
  rows<float> k(4, 1);
  k << 1, 2, 0x1p-24f, -3;  // the least subnormal half
  v << 1, 2, 0x1p-24f, 4;
  const auto both = [&](const rows<float>& keys, const rows<float>& values) {
    const auto kept = attention(q, rows<half>(keys.cast<half>()), rows<half>(values.cast<half>()));
    const auto wide = attention(q, keys, values);
    CHECK((kept.output(0, 0) == wide.output(0, 0) ||
           (std::isnan(kept.output(0, 0)) && std::isnan(wide.output(0, 0)))));
    CHECK((kept.logsumexp[0] == wide.logsumexp[0] ||
           (std::isnan(kept.logsumexp[0]) && std::isnan(wide.logsumexp[0]))));
  };
  both(k, v);
  for (const float special : {inf, -inf, nan}) {
    for (int t = 0; t < 4; ++t) {
      rows<float> keys = k, values = v;
      keys(t, 0) = special;
      both(keys, v);
      values(t, 0) = special;
      both(k, values);
    }
  }
  // values of 8 bits whose scale is infinite
  const rows<std::int8_t> ones = rows<std::int8_t>::Constant(4, 1, 1);
  const std::vector<float> unit(4, 1.0f), one_infinite{1, inf, 1, 1};
  const auto result = attention(q, scaled_rows(ones, unit), scaled_rows(ones, one_infinite));
  CHECK(result.output(0, 0) == inf);
}

TEST_CASE("merge: of all heads is that of each", "[attention][value]") {
  const auto q = drawn(3, 4 * 8, 13), k = drawn(90, 2 * 8, 14), v = drawn(90, 2 * 5, 15);
  const auto over = [&](index_t first, index_t count) {
    return multi_head_attention(q, rows<float>(k.middleRows(first, count)),
                                rows<float>(v.middleRows(first, count)),
                                {.heads = {.queries = 4, .keys = 2}});
  };
  auto parts = over(0, 30);
  merge(parts, over(30, 60));
  CHECK(apart(parts, over(0, 90)) <= 4e-6);
  auto nothing = parts;
  nothing.logsumexp.setConstant(-std::numeric_limits<float>::infinity());
  auto same = parts;
  CHECK(merge(same, nothing).output == parts.output);
  multi_head_result<float> narrow{rows<float>::Zero(3, 20), rows<float>::Zero(3, 2)};
  CHECK_THROWS_AS(merge(narrow, parts), std::invalid_argument);
}

TEST_CASE("block_sparse_attention: caches of 16 and 8 bits, in pages smaller than a block",
          "[attention][value]") {
  using brain = Eigen::bfloat16;
  const index_t m = 200, d = 16, page = 4;
  const auto q = drawn(5, 2 * d, 16), keys = drawn(m, d, 17), values = drawn(m, d, 18);
  std::vector<index_t> table;
  for (index_t p = m / page; p-- > 0;) table.push_back(p);
  const block_sparse_options o{.heads = {.queries = 2},
                               .score = block_score::mean,
                               .top = 4,
                               .left_out = left_out::value_mean};
  const auto sparse = [&](const auto& k, const auto& v) {
    block_summaries<float> blocks(
        {.key_width = d, .value_width = d, .block = 16, .value_mean = true});
    blocks.append_rows(k, v);
    return block_sparse_attention(q, k, v, blocks, o);
  };
  const auto same = [](const auto& a, const auto& b, double off) {
    CHECK(apart(a, b) <= off);
    CHECK(a.selected == b.selected);
  };
  const rows<brain> kb = keys.cast<brain>(), vb = values.cast<brain>();
  const rows<float> kf = kb.cast<float>(), vf = vb.cast<float>();
  const auto wide = sparse(kf, vf);
  same(sparse(kb, vb), wide, 0);
  rows<brain> key_pool(m, d), value_pool(m, d);
  for (index_t t = 0; t < m; ++t) {
    key_pool.row(table[std::size_t(t / page)] * page + t % page) = kb.row(t);
    value_pool.row(table[std::size_t(t / page)] * page + t % page) = vb.row(t);
  }
  same(sparse(token_rows<brain>(key_pool.data(), page, table, m, d, d),
              token_rows<brain>(value_pool.data(), page, table, m, d, d)),
       wide, 0);
  const quantised k8(keys, 16), v8(values, 16);
  same(sparse(k8.view(), v8.view()), sparse(k8.numbers, v8.numbers), 2e-6);
  CHECK_THROWS_AS(block_sparse_attention(q, k8.view(), v8.view(),
                                         block_summaries<float>({.key_width = d, .block = 16}),
                                         {.left_out = left_out::residual}),
                  std::invalid_argument);
}
