// SPDX-License-Identifier: MIT
#include <cumulus/blocks/block_scores.hpp>
#include <cumulus/blocks/block_summaries.hpp>

#include <limits>
#include <string>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::block_score;
using cumulus::block_summaries;
using cumulus::block_summary_options;
using cumulus::covariance_kind;
using cumulus::index_t;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

matrix normal(index_t n, index_t d, std::uint64_t seed) {
  families::random r(seed);
  matrix x(n, d);
  for (index_t i = 0; i < n * d; ++i) x.data()[i] = r.normal() + double(i % d);
  return x;
}

/// Every part, of keys of width d and values of width e in blocks of 8 tokens.
constexpr block_summary_options everything(index_t d, index_t e) {
  return {.key_width = d,
          .value_width = e,
          .block = 8,
          .covariance = covariance_kind::low_rank,
          .rank = 2,
          .order = 3,
          .box = true,
          .landmark = true,
          .landmark_covariance = true,
          .submeans = 3,
          .calibration = true,
          .value_mean = true,
          .value_covariance = true};
}

/// The same bits in every part: those that are read, and the rest by the scores that rest on it.
template <class T>
void check_same(const block_summaries<T>& a, const block_summaries<T>& b) {
  REQUIRE(a.blocks() == b.blocks());
  const block_summary_options& kept = a.options();
  CHECK(a.means() == b.means());
  for (index_t B = 0; B < a.blocks(); ++B) {
    CAPTURE(B);
    CHECK(a.count(B) == b.count(B));
    CHECK(a.reach(B) == b.reach(B));
    CHECK(a.radius(B) == b.radius(B));
    if (kept.covariance != covariance_kind::none) CHECK(a.covariance(B) == b.covariance(B));
    if (kept.box) CHECK((a.high(B) == b.high(B) && a.low(B) == b.low(B)));
    if (kept.landmark) CHECK((a.landmark(B) == b.landmark(B) && a.entropy(B) == b.entropy(B)));
    if (kept.value_width > 0) CHECK(a.value_reach(B) == b.value_reach(B));
    if (kept.value_mean) CHECK(a.value_mean(B) == b.value_mean(B));
    if (kept.value_covariance) CHECK(a.value_covariance(B) == b.value_covariance(B));
  }
  if (kept.order == 0 || kept.submeans == 0 || !kept.calibration || !kept.landmark_covariance)
    return;
  for (index_t i = 0; i < a.width(); ++i) {
    const Eigen::VectorXd q = Eigen::VectorXd::Unit(a.width(), i) * 0.75;
    for (const block_score score : {block_score::mean, block_score::taylor, block_score::landmark2,
                                    block_score::submeans, block_score::calibrated}) {
      const auto x = block_scores(a, q, score), y = block_scores(b, q, score);
      for (std::size_t B = 0; B < x.size(); ++B) CHECK(x[B].value == y[B].value);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("block summaries: each part is that of the block's tokens", "[blocks][value]",
                   float, double) {
  const matrix k = normal(21, 5, 1u), v = normal(21, 3, 2u);
  block_summary_options parts = everything(5, 3);
  parts.covariance = covariance_kind::full;
  block_summaries<TestType> m(parts);
  m.append_rows(k, v);
  REQUIRE(m.blocks() == 2);
  m.summarise_tail();
  REQUIRE(m.blocks() == 3);
  const double u = 64 * double(cumulus::detail::unit_roundoff<TestType>);
  for (index_t B = 0; B < 3; ++B) {
    const index_t n = B == 2 ? 5 : 8;
    const matrix keys = k.middleRows(8 * B, n), values = v.middleRows(8 * B, n);
    const matrix y = keys.rowwise() - keys.colwise().mean(),
                 w = values.rowwise() - values.colwise().mean();
    CAPTURE(B);
    CHECK(m.count(B) == n);
    const auto close = [u](const auto& a, const auto& b) {
      return (a.template cast<double>() - b).norm() <= u * (1 + b.norm());
    };
    CHECK(close(m.mean(B), keys.colwise().mean().transpose()));
    CHECK(close(m.covariance(B), y.transpose().lazyProduct(y) / double(n)));
    CHECK(close(m.value_mean(B), values.colwise().mean().transpose()));
    CHECK(close(m.value_covariance(B), w.transpose().lazyProduct(y) / double(n)));
    CHECK(close(m.high(B), keys.colwise().maxCoeff().transpose()));
    CHECK(close(m.low(B), keys.colwise().minCoeff().transpose()));
    CHECK(double(m.radius(B)) >= y.rowwise().norm().maxCoeff());
    CHECK(double(m.radius(B)) <=
          y.rowwise().norm().maxCoeff() + u * keys.rowwise().norm().maxCoeff());
    CHECK(double(m.reach(B)) >= keys.rowwise().norm().maxCoeff());
    CHECK(double(m.value_reach(B)) >= values.rowwise().norm().maxCoeff());
    CHECK(double(m.value_reach(B)) <= values.rowwise().norm().maxCoeff() * (1 + u));
    CHECK(close(m.landmark(B), keys.colwise().mean().transpose()));  // about the query 0
    CHECK(double(m.entropy(B)) == Approx(std::log(double(n))));
  }
}

TEST_CASE("block summaries: any pieces, and building at once, give the same bits",
          "[blocks][property]") {
  const matrix k = normal(43, 4, 3u), v = normal(43, 2, 4u), q = normal(3, 4, 5u);
  block_summaries<float> whole(everything(4, 2)), single(everything(4, 2)),
      pieces(everything(4, 2));
  for (auto* m : {&whole, &single, &pieces}) m->set_references(q);
  whole.append_rows(k, v);
  for (index_t t = 0; t < 43; ++t) {
    single.append(k.row(t), v.row(t));
    if (t % 5 == 0) single.summarise_tail();  // and goes on
  }
  for (index_t t = 0; t < 43;) {
    const index_t n = std::min<index_t>(1 + t % 11, 43 - t);
    pieces.append_rows(k.middleRows(t, n), v.middleRows(t, n));
    t += n;
  }
  for (auto* m : {&whole, &single, &pieces}) {
    m->summarise_tail();
    m->summarise_tail();
    CHECK(m->tokens() == 43);
    CHECK(m->blocks() == 6);
    CHECK(m->count(5) == 3);
  }
  check_same(whole, single);
  check_same(whole, pieces);
}

TEST_CASE("block summaries: keys of any scalar, storage order and paging", "[blocks][property]") {
  const Eigen::MatrixXf k = (normal(20, 4, 6u) * 4).array().round().matrix().cast<float>() / 4;
  const block_summary_options parts{
      .key_width = 4, .block = 8, .covariance = covariance_kind::diagonal, .box = true};
  block_summaries<float> expected(parts);
  expected.append_rows(k);
  const auto check = [&](const auto& keys) {
    block_summaries<float> m(parts);
    m.append_rows(keys);
    check_same(m, expected);
  };
  check(k.cast<double>().eval());
  check(k.cast<Eigen::half>().eval());  // quarters are exact in both
  check(k.cast<Eigen::bfloat16>().eval());
  check((k * 2.0f) / 2.0f);
  matrix pool = matrix::Zero(30, 4);  // pages of 5 tokens, out of order
  const std::vector<index_t> table{4, 0, 5, 2};
  for (index_t t = 0; t < 20; ++t)
    pool.row(table[std::size_t(t / 5)] * 5 + t % 5) = k.row(t).cast<double>();
  check(cumulus::token_rows<double>(pool.data(), 5, table, 20, 4, 4));
  const std::vector<float> one{1, 2, 3, 4};
  block_summaries<float> from_vector({.key_width = 4, .block = 1});
  from_vector.append(one);
  CHECK(from_vector.mean(0) == Eigen::Map<const Eigen::VectorXf>(one.data(), 4));
}

TEST_CASE("block summaries: tokens taken back are as if they had never come",
          "[blocks][property]") {
  const matrix k = normal(60, 5, 11), v = normal(60, 3, 12), draft = normal(20, 5, 13),
               draft_values = normal(20, 3, 14);
  const auto add = [](auto& blocks, const matrix& keys, const matrix& values, index_t first,
                      index_t count) {
    blocks.append_rows(matrix(keys.middleRows(first, count)),
                       matrix(values.middleRows(first, count)));
  };
  for (const index_t kept : {0, 5, 8, 13, 16, 31}) {
    for (const index_t extra : {1, 3, 8}) {
      for (const bool tail : {false, true}) {
        CAPTURE(kept, extra, tail);
        block_summaries<double> back(everything(5, 3)), plain(everything(5, 3));
        add(back, k, v, 0, kept);
        add(plain, k, v, 0, kept);
        if (tail) back.summarise_tail();
        add(back, draft, draft_values, 0, extra);
        if (tail) back.summarise_tail();
        back.take_back(extra);
        CHECK(back.tokens() == kept);
        check_same(back, plain);
        add(back, k, v, kept, 60 - kept);
        add(plain, k, v, kept, 60 - kept);
        check_same(back, plain);
      }
    }
  }
  block_summaries<double> blocks(everything(5, 3));
  add(blocks, k, v, 0, 21);
  CHECK(blocks.reversible() == 13);  // 5 of the open block, 8 of the one before
  CHECK(refusal([&] { blocks.take_back(14); }) ==
        "cumulus: block_summaries::take_back: 14 tokens, but the last 13 are held; give 0 or more, "
        "at most that");
  CHECK(refusal([&] { blocks.take_back(-1); }) != "");
  blocks.take_back(13);
  CHECK(blocks.reversible() == 0);
  CHECK(blocks.blocks() == 1);
}

TEST_CASE("block summaries: without the oldest blocks they are those of the other tokens",
          "[blocks][property]") {
  const matrix k = normal(60, 5, 15), v = normal(60, 3, 16);
  for (const index_t tokens : {0, 7, 8, 24, 43}) {
    for (index_t dropped = 0; dropped <= tokens / 8; ++dropped) {
      for (const bool tail : {false, true}) {
        CAPTURE(tokens, dropped, tail);
        block_summaries<double> rest(everything(5, 3)), plain(everything(5, 3));
        rest.append_rows(matrix(k.topRows(tokens)), matrix(v.topRows(tokens)));
        plain.append_rows(matrix(k.middleRows(8 * dropped, tokens - 8 * dropped)),
                          matrix(v.middleRows(8 * dropped, tokens - 8 * dropped)));
        if (tail) rest.summarise_tail();
        if (tail) plain.summarise_tail();
        rest.drop_oldest(dropped);
        CHECK(rest.tokens() == plain.tokens());
        check_same(rest, plain);
        for (auto* const blocks : {&rest, &plain})
          blocks->append_rows(matrix(k.middleRows(tokens, 60 - tokens)),
                              matrix(v.middleRows(tokens, 60 - tokens)));
        check_same(rest, plain);
        rest.take_back(std::min<index_t>(rest.reversible(), plain.reversible()));
        plain.take_back(std::min<index_t>(plain.reversible(), plain.reversible()));
        check_same(rest, plain);
      }
    }
  }
  block_summaries<double> blocks(everything(5, 3));
  blocks.append_rows(matrix(k.topRows(20)), matrix(v.topRows(20)));
  CHECK(refusal([&] { blocks.drop_oldest(3); }) ==
        "cumulus: block_summaries::drop_oldest: 3 blocks, but 2 are full; give 0 or more, at most "
        "that");
}

TEST_CASE("block summaries: a query uses the blocks that end before it", "[blocks][edge]") {
  block_summaries<double> m({.key_width = 2, .block = 4});
  CHECK(m.usable(100) == 0);
  m.append_rows(normal(11, 2, 7u));
  CHECK(m.blocks() == 2);
  for (index_t t = 0; t < 14; ++t) CHECK(m.usable(t) == (t < 4 ? 0 : t < 8 ? 1 : 2));
  m.summarise_tail();
  CHECK(m.usable(10) == 2);
  CHECK(m.usable(11) == 3);
  CHECK(m.usable(-1) == 0);
}

TEST_CASE("block summaries: bytes are those of the parts", "[blocks][edge]") {
  CHECK(block_summaries<float>({.key_width = 64}).bytes_per_block() == 4 * (64 + 4));
  CHECK(block_summaries<float>({.key_width = 64, .covariance = covariance_kind::low_rank})
            .bytes_per_block() == 4 * (64 + 3 + 2 + 5 * 64));
  const block_summaries<double> m(everything(5, 3));
  CHECK(m.bytes_per_block() ==
        8 * (5 + 3 + 17 + 10 + 35 + (5 + 1) + (17 + 5 + 1) + 15 + 1 + 1 + 3 + 15));
}

TEST_CASE("block summaries: a NaN stays in its block", "[blocks][edge]") {
  matrix k = normal(24, 3, 8u);
  k(10, 1) = std::nan("");
  for (const covariance_kind kind : {covariance_kind::full, covariance_kind::low_rank}) {
    block_summaries<double> m(
        {.key_width = 3, .block = 8, .covariance = kind, .rank = 2, .order = 3, .box = true});
    m.append_rows(k);
    CHECK(std::isnan(m.mean(1)[1]));
    CHECK(std::isnan(m.radius(1)));
    CHECK(std::isnan(m.high(1)[1]));
    CHECK(m.covariance(1).hasNaN());
    for (const index_t B : {0, 2}) {
      CHECK_FALSE(m.mean(B).hasNaN());
      CHECK_FALSE(m.covariance(B).hasNaN());
    }
  }
}

TEST_CASE("block summaries: what cannot be kept is refused before any work", "[blocks][edge]") {
  using m = block_summaries<double>;
  CHECK(refusal([] { m(block_summary_options{}); }) ==
        "cumulus: block_summaries: .key_width is 0; give 1 or more");
  CHECK(refusal([] { m({.key_width = 4, .block = 0}); }) ==
        "cumulus: block_summaries: .block is 0; give 1 or more");
  CHECK(refusal([] { m({.key_width = 4, .value_width = -1}); }) ==
        "cumulus: block_summaries: .value_width is -1; give 0 or more");
  CHECK(refusal([] { m({.key_width = 4, .value_mean = true}); }) ==
        "cumulus: block_summaries: .value_mean and .value_covariance need values, but .value_width "
        "is 0");
  CHECK(refusal([] { m({.key_width = 4, .order = 2}); }).find("order 2") != std::string::npos);
  CHECK(refusal([] { m({.key_width = 1, .order = 9}); }) ==
        "cumulus: block_summaries: tensors of order 9; give .order 3 to 8, or 0 for no tensor");
  CHECK(refusal([] { m({.key_width = 500, .order = 4}); }).find("has more than 16777216") !=
        std::string::npos);
  CHECK(refusal([] { m({.key_width = index_t(1) << 40, .order = 3}); }) ==
        "cumulus: block_summaries: a tensor of order 3 in 1099511627776 dimensions has more than "
        "16777216 numbers; give a lower .order");
  CHECK(refusal([] { m({.key_width = 465, .order = 3}); }).find("has more than") !=
        std::string::npos);
  CHECK(
      refusal([] { m({.key_width = 464, .order = 3}); }).empty());  // C(466, 3) < 2^24 < C(467, 3)
  CHECK(refusal([] { m({.key_width = 4, .covariance = covariance_kind::low_rank, .rank = 0}); }) ==
        "cumulus: block_summaries: .rank is 0; give 1 to 256");
  CHECK(refusal([] { m({.key_width = 4, .landmark_covariance = true}); }) ==
        "cumulus: block_summaries: .landmark_covariance needs a landmark; give .landmark = true");
  CHECK(refusal([] { m({.key_width = 4, .landmark = true, .landmark_covariance = true}); }) != "");
  CHECK(refusal([] { m({.key_width = 4, .submeans = -1}); }) != "");
  m with_values({.key_width = 4, .value_width = 2, .block = 8});
  const Eigen::VectorXd key = Eigen::VectorXd::Zero(4), value = Eigen::VectorXd::Zero(2);
  CHECK(refusal([&] { with_values.append(value, value); }) ==
        "cumulus: block_summaries::append: a key of the summaries has 4 elements, the key has 2");
  CHECK(
      refusal([&] { with_values.append(key); }) ==
      "cumulus: block_summaries::append: a value of the summaries has 2 elements, the value has 0");
  CHECK(refusal([&] { with_values.append_rows(matrix(3, 4), matrix(2, 2)); }) != "");
  CHECK(refusal([&] { with_values.set_references(matrix(1, 3)); }) != "");
  CHECK(with_values.tokens() == 0);
  CHECK(refusal([&] { static_cast<void>(with_values.covariance(0)); }) ==
        "cumulus: block_summaries: no covariance is kept; give block_summary_options .covariance");
}

TEST_CASE("block summaries: a block that there is not is refused by every member",
          "[blocks][edge]") {
  block_summaries<double> blocks({.key_width = 2,
                                  .value_width = 1,
                                  .block = 3,
                                  .covariance = covariance_kind::low_rank,
                                  .rank = 1,
                                  .box = true,
                                  .landmark = true,
                                  .value_mean = true,
                                  .value_covariance = true});
  const auto check = [&](index_t B) {
    const auto refused = [&](const std::string& member, auto f) {
      return refusal([&] { static_cast<void>(f()); }) ==
             "cumulus: block_summaries::" + member + ": block " + std::to_string(B) +
                 ", but there are " + std::to_string(blocks.blocks()) +
                 "; give 0 or more, below that";
    };
    CAPTURE(B);
    CHECK(refused("count", [&] { return blocks.count(B); }));
    CHECK(refused("mean", [&] { return blocks.mean(B); }));
    CHECK(refused("radius", [&] { return blocks.radius(B); }));
    CHECK(refused("reach", [&] { return blocks.reach(B); }));
    CHECK(refused("value_reach", [&] { return blocks.value_reach(B); }));
    CHECK(refused("covariance", [&] { return blocks.covariance(B); }));
    CHECK(refused("factors", [&] { return blocks.factors(B); }));
    CHECK(refused("high", [&] { return blocks.high(B); }));
    CHECK(refused("low", [&] { return blocks.low(B); }));
    CHECK(refused("landmark", [&] { return blocks.landmark(B); }));
    CHECK(refused("entropy", [&] { return blocks.entropy(B); }));
    CHECK(refused("value_mean", [&] { return blocks.value_mean(B); }));
    CHECK(refused("value_covariance", [&] { return blocks.value_covariance(B); }));
    if (B != blocks.blocks()) CHECK(refused("begin", [&] { return blocks.begin(B); }));
  };
  for (const index_t B : {index_t(-1), index_t(0), index_t(1)}) check(B);  // of none
  blocks.append_rows(matrix(8, 2), matrix(8, 1));
  REQUIRE(blocks.blocks() == 2);  // the third has no summary yet
  for (const index_t B : {index_t(-1), index_t(2), index_t(3), std::numeric_limits<index_t>::max(),
                          std::numeric_limits<index_t>::min()})
    check(B);
  CHECK(blocks.count(1) == 3);
  CHECK(blocks.begin(2) == 6);
  blocks.summarise_tail();
  CHECK(blocks.count(2) == 2);
}

TEST_CASE("block summaries: every enum has its names", "[blocks][edge]") {
  CHECK(std::string(name_of(covariance_kind::none)) == "none");
  CHECK(std::string(name_of(covariance_kind::low_rank)) == "low_rank");
}
