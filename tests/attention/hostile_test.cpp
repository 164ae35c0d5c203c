// SPDX-License-Identifier: MIT
//
// Inputs that nobody sends on purpose: of each, what the headers of blocks/ and attention/ promise all the same.
#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "refusal.hpp"

#include <cumulus/attention/block_sparse.hpp>
#include <cumulus/blocks/certified_top.hpp>
#include <cumulus/blocks/exact_block_scores.hpp>

#include <cstdint>
#include <cstring>
#include <functional>

namespace {

using namespace cumulus;
template <class T>
using rows_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using rows = rows_of<double>;
using indices = std::vector<index_t>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
rows_of<T> normal_rows(families::random& r, index_t n, index_t width, double sigma = 1) {
  rows_of<T> x(n, width);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(sigma * r.normal());
  return x;
}

/// log sum_t e^(q . k_t) of all rows of k.
template <class T>
long double log_mass(const rows_of<T>& k, const std::vector<T>& q) {
  std::vector<long double> y;
  long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
  for (index_t t = 0; t < k.rows(); ++t) {
    long double score = 0;
    for (index_t i = 0; i < k.cols(); ++i)
      score += static_cast<long double>(q[std::size_t(i)]) * static_cast<long double>(k(t, i));
    y.push_back(score);
    top = std::max(top, score);
  }
  for (const long double s : y) sum += std::exp(s - top);
  return top + std::log(sum);
}

/// Of keys up to `at` the exact output, and the share of those that were read.
template <class T>
struct exact_attention {
  exact_attention(const rows_of<T>& q, index_t row, const rows_of<T>& k, const rows_of<T>& v,
                  index_t at, double scale, const std::function<bool(index_t)>& is_read)
      : output(std::size_t(v.cols()), 0) {
    std::vector<long double> score;
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (index_t t = 0; t <= at; ++t) {
      long double s = 0;
      for (index_t i = 0; i < k.cols(); ++i)
        s += static_cast<long double>(static_cast<double>(q(row, i))) *
             static_cast<long double>(static_cast<double>(k(t, i)));
      score.push_back(s * static_cast<long double>(scale));
      top = std::max(top, score.back());
    }
    for (index_t t = 0; t <= at; ++t) {
      const long double w = std::exp(score[std::size_t(t)] - top);
      sum += w;
      if (is_read(t)) kept += w;
      for (index_t j = 0; j < v.cols(); ++j)
        output[std::size_t(j)] += w * static_cast<long double>(static_cast<double>(v(t, j)));
    }
    kept /= sum;
    for (long double& o : output) o /= sum;
  }
  template <class Row>
  long double distance(const Row& row) const {
    long double square = 0;
    for (std::size_t j = 0; j < output.size(); ++j) {
      const long double by =
          output[j] - static_cast<long double>(static_cast<double>(row(index_t(j))));
      square += by * by;
    }
    return std::sqrt(square);
  }

  std::vector<long double> output;
  long double kept = 0;
};

/// Whether the bounds of block-sparse attention hold, for many small caches of T.
template <class T>
void check_bounds(unsigned seed, int rounds, double sharp, double values) {
  families::random r(seed);
  int misses = 0, kept_misses = 0;
  long double worst = 0, worst_kept = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto d = index_t(1 + r.below(5)), b = index_t(1 + r.below(4)),
               n = index_t(1 + r.below(40));
    const auto q = normal_rows<T>(r, n, d, sharp), k = normal_rows<T>(r, n, d),
               v = normal_rows<T>(r, n, 2, values);
    block_summaries<double> blocks({.key_width = d,
                                    .value_width = 2,
                                    .block = b,
                                    .covariance = covariance_kind::full,
                                    .value_mean = true,
                                    .value_covariance = true});
    blocks.append_rows(k, v);
    block_sparse_options o{.score = block_score::mean, .top = index_t(1 + r.below(4))};
    o.left_out = static_cast<left_out>(r.below(4));
    o.surrogate_mass = r.below(4) == 0;
    o.scale = r.uniform(-1, 1);
    const auto result = block_sparse_attention(q, k, v, blocks, o);
    for (index_t i = 0; i < n; ++i) {
      const indices& chosen = result.selected[std::size_t(i)];
      const exact_attention<T> exact(q, i, k, v, i, *o.scale, [&](index_t t) {
        return t / b >= i / b || std::find(chosen.begin(), chosen.end(), t / b) != chosen.end();
      });
      const long double beyond =
          exact.distance(result.output.row(i)) - static_cast<long double>(result.error_bound(i, 0));
      const long double outside =
          std::max(static_cast<long double>(result.kept_low(i, 0)) - exact.kept,
                   exact.kept - static_cast<long double>(result.kept_high(i, 0)));
      misses += beyond > 0;
      kept_misses += outside > 1e-17L;  // the rounding of long double
      worst = std::max(worst, beyond);
      worst_kept = std::max(worst_kept, outside);
    }
  }
  CAPTURE(worst, worst_kept);
  CHECK(misses == 0);
  CHECK(kept_misses == 0);
}

}  // namespace

TEST_CASE("hostile: block-sparse bounds hold in double and in half storage",
          "[attention][property]") {
  check_bounds<double>(1, 60, 1, 1);
  check_bounds<double>(2, 60, 20, 1);
  check_bounds<Eigen::half>(3, 60, 1, 1);
  check_bounds<Eigen::half>(4, 60, 20, 0.01);
}

TEST_CASE("hostile: kept_low counts thousands of blocks too small to see one by one",
          "[attention][property]") {
  const index_t n = 20001;
  rows k = rows::Constant(n, 1, 10 - 36.0);
  k(0, 0) = k(n - 1, 0) = 10;
  const rows q = rows::Ones(1, 1), v = rows::Ones(n, 1);
  block_summaries<double> blocks({.key_width = 1, .value_width = 1, .block = 1});
  blocks.append_rows(k, v);
  const auto r =
      block_sparse_attention(q, k, v, blocks, {.scale = 1.0, .score = block_score::mean, .top = 1});
  REQUIRE(r.selected[0].empty());
  const long double kept = 1 / (2 + (n - 2) * std::exp(-36.0L));
  CHECK(static_cast<long double>(r.kept_low(0, 0)) <= kept);
  CHECK(static_cast<long double>(r.kept_high(0, 0)) >= kept);
}

TEST_CASE("hostile: intervals hold where powers of tiny numbers vanish", "[blocks][edge]") {
  const auto holds = [](auto k, auto q, block_summary_options parts) {
    using T = typename decltype(q)::value_type;
    parts.key_width = k.cols();
    parts.block = k.rows();
    block_summaries<T> blocks(parts);
    blocks.append_rows(k);
    const auto s = block_scores(blocks, q, {.scale = 1, .score = block_score::mean}).at(0);
    const long double exact = log_mass<T>(k, q);
    CAPTURE(s.lower, s.upper, exact);
    CHECK((std::isnan(s.lower) || static_cast<long double>(s.lower) <= exact * (1 + 1e-18L)));
    CHECK((std::isnan(s.upper) || static_cast<long double>(s.upper) >= exact * (1 - 1e-18L)));
  };
  for (const double size : {1e-60, 1e-80, 1e-81, 1e-85, 1e-120}) {
    rows k(2, 2);
    k << size, 2 * size, -size, -2 * size;
    CAPTURE(size);
    for (const auto kind : {covariance_kind::none, covariance_kind::diagonal, covariance_kind::full,
                            covariance_kind::low_rank})
      holds(k, std::vector<double>(2, 1 / size), {.covariance = kind, .rank = 1});
  }
  {  // q_i q_j vanishes in float, q . k does not
    const index_t d = 512;
    rows_of<float> k(2, d);
    k.row(0).setConstant(7.5e17f);
    k.row(1).setConstant(-7.5e17f);
    holds(k, std::vector<float>(std::size_t(d), 2.5e-23f),
          {.covariance = covariance_kind::diagonal});
  }
  {  // the mean is half the least float
    rows_of<float> k(2, 1);
    k << 1.4e-45f, 0;
    holds(k, std::vector<float>(1, 3e38f), {});
  }
}

TEST_CASE("hostile: intervals hold at any size of keys and queries", "[blocks][property]") {
  families::random r(9);
  int misses = 0;
  const auto round = [&]<class T>(T, double least, double most) {
    const auto d = index_t(1 + r.below(9)), n = index_t(1 + r.below(9));
    const double size = std::pow(10, r.uniform(least, most));
    auto k = normal_rows<T>(r, n, d);
    if (r.below(3) == 0) k.rowwise() += 10 * normal_rows<T>(r, 1, d).row(0);
    k *= T(size);
    const double fits = double(std::numeric_limits<T>::max()) / 30;
    std::vector<T> q;
    const double length = std::min(fits, std::pow(10, r.uniform(-2, 2)) / size);
    for (index_t i = 0; i < d; ++i) q.push_back(T(length * r.normal()));
    block_summary_options parts{.key_width = d,
                                .block = n,
                                .covariance = static_cast<covariance_kind>(r.below(4)),
                                .rank = 2};
    parts.box = r.below(2) == 0;
    parts.landmark = r.below(2) == 0;
    parts.submeans = int(r.below(3));
    block_summaries<T> blocks(parts);
    blocks.append_rows(k);
    const auto s = block_scores(blocks, q, {.scale = 1, .score = block_score::mean}).at(0);
    const long double exact = log_mass<T>(k, q),
                      slack = 1e-17L *
                              (1 + std::abs(exact) +
                               static_cast<long double>(length) * static_cast<long double>(size));
    misses += !std::isnan(s.lower) && static_cast<long double>(s.lower) > exact + slack;
    misses += !std::isnan(s.upper) && static_cast<long double>(s.upper) < exact - slack;
  };
  for (int i = 0; i < 1000; ++i) {
    round(1.0, -150, -70);
    round(1.0, 70, 150);
    round(1.0f, -44, 36);
  }
  CHECK(misses == 0);
}

TEST_CASE("hostile: an interval is known where second orders overflow", "[blocks][edge]") {
  for (const auto kind : {covariance_kind::none, covariance_kind::diagonal, covariance_kind::full,
                          covariance_kind::low_rank}) {
    rows_of<float> k(3, 2);
    k << 1e10f, 2e10f, -1e10f, 1e10f, 2e10f, -3e10f;
    const std::vector<float> q{1e10f, 3e10f};
    block_summaries<float> blocks({.key_width = 2, .block = 3, .covariance = kind, .rank = 1});
    blocks.append_rows(k);
    const auto s = block_scores(blocks, q, {.scale = 1, .score = block_score::mean}).at(0);
    CAPTURE(s.lower, s.upper);
    CHECK(double(s.lower) <= 7e20);
    CHECK(double(s.upper) >= 7e20);
    CHECK(double(s.upper) <= 3e21);
    const auto beyond = block_scores(blocks, std::vector<float>{1e30f, 1e30f},
                                     {.scale = 1, .score = block_score::mean});
    CHECK(beyond[0].lower <= std::numeric_limits<float>::max());
    CHECK(beyond[0].upper == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("hostile: the smallest set of blocks, where one holds all and where all are equal",
          "[blocks][edge]") {
  const auto of = [](const std::vector<double>& s, double mass) {
    return select_blocks(s, {.mass = mass});
  };
  CHECK(of({0, inf, 0}, 0.5) == indices{1});
  CHECK(spurious_flags([&] { static_cast<void>(of({-inf, -inf}, 0.5)); }) == 0);
  CHECK(of({-inf, -inf}, 0.5).size() == 2);
  CHECK(of({inf, 0, inf, inf, inf}, 0.5) == indices{0, 2});
  CHECK(of({0, not_a_number, 9, -inf}, 0.1).size() == 4);
  CHECK(spurious_flags([&] { static_cast<void>(of({inf, not_a_number, 1}, 0.5)); }) == 0);
  for (const int n : {4, 8, 10, 14, 18}) {  // a share of k / n is that of k blocks
    int wrong = 0;
    for (int k = 1; k < n; ++k)
      wrong += of(std::vector<double>(std::size_t(n), 0.3), double(k) / n).size() != std::size_t(k);
    CAPTURE(n);
    CHECK(wrong == 0);
  }
}

TEST_CASE("hostile: certified_top is select_blocks of the exact scores, whatever the ends",
          "[blocks][property]") {
  families::random r(7);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t n = r.below(13);
    std::vector<double> exact(n);
    std::vector<scored_block<double>> s(n);
    std::vector<int> calls(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double special[] = {inf, -inf, not_a_number};
      exact[i] = r.below(8) == 0 ? special[r.below(3)] : double(r.below(4));
      const double width = r.below(3) == 0 ? 0 : r.uniform();
      s[i].lower = r.below(6) == 0 ? -inf : exact[i] - (std::isfinite(exact[i]) ? width : 0);
      s[i].upper = r.below(6) == 0 ? inf : exact[i] + (std::isfinite(exact[i]) ? width : 0);
      if (r.below(8) == 0) s[i].lower = not_a_number;
      if (r.below(8) == 0) s[i].upper = not_a_number;
    }
    const auto k = index_t(1 + r.below(15)), usable = index_t(r.below(15));
    const auto found = certified_top(
        s, k,
        [&](index_t B) {
          ++calls[std::size_t(B)];
          return exact[std::size_t(B)];
        },
        usable);
    CAPTURE(round);
    REQUIRE(found.blocks == select_blocks(exact, {.top = k, .usable = usable}));
    REQUIRE(std::count_if(calls.begin(), calls.end(), [](int c) { return c > 1; }) == 0);
    if (!found.blocks.empty()) REQUIRE(found.least_inside >= found.largest_outside);
  }
}

TEST_CASE("hostile: a soft-cap beyond the scalar's range is none, one below it takes all",
          "[attention][edge]") {
  families::random r(3);
  for (const int n : {1, 20}) {
    const auto q = normal_rows<float>(r, n, 4), k = normal_rows<float>(r, 9, 4),
               v = normal_rows<float>(r, 9, 2);
    const auto free = attention(q, k, v), flat = attention(q, k, v, {.scale = 0.0});
    for (const double cap : {1e30, 3e38, 1e300, inf})
      CHECK(attention(q, k, v, {.softcap = cap}).output == free.output);
    CHECK((attention(q, k, v, {.softcap = 1e-60}).output - flat.output).cwiseAbs().maxCoeff() <
          1e-5f);
    const auto qd = q.template cast<double>().eval(), kd = k.template cast<double>().eval(),
               vd = v.template cast<double>().eval();
    const auto without = attention(qd, kd, vd);
    for (const double cap : {1e30, 1e307, inf})
      CHECK(
          (attention(qd, kd, vd, {.softcap = cap}).output - without.output).cwiseAbs().maxCoeff() <
          1e-14);
  }
}

TEST_CASE("hostile: a query that its scale takes out of range, of scores that are not",
          "[attention][edge]") {
  families::random r(4);
  const rows_of<float> q = rows_of<float>::Constant(3, 2, 8);
  rows_of<float> k = normal_rows<float>(r, 9, 2).cwiseAbs();
  k.col(1) *= -1;  // inf - inf
  const auto v = normal_rows<float>(r, 9, 2);
  const auto wanted = attention(q, k, v, {.scale = 1.0});
  const auto found = attention(q, (k * 0x1p-126f).eval(), v, {.scale = 0x1p126});
  CHECK(((found.output - wanted.output).array().abs() < 1e-5f).all());  // of NaN false
}

TEST_CASE("hostile: positions at the ends of what they are counted in", "[attention][edge]") {
  families::random r(4);
  const auto q = normal_rows<double>(r, 3, 4), k = normal_rows<double>(r, 9, 4),
             v = normal_rows<double>(r, 9, 2);
  const index_t last = std::numeric_limits<index_t>::max(),
                first = std::numeric_limits<index_t>::min();
  const auto all = attention(q, k, v), none = attention_result<double>::none(3, 2);
  const auto at = [&](index_t position, std::optional<index_t> keys, bool causal) {
    std::optional<window> both;  // as far after the query as before it
    if (keys) both = window(*keys, *keys - 1);
    return attention(q, k, v, {.causal = causal, .window = both, .first_query = position}).output;
  };
  CHECK(at(last, {}, true) == all.output);
  CHECK(at(last, last, false) == at(9, 9, false));  // query i sees the keys from i + 1 on
  CHECK(at(last - 1, last, true) == at(8, 9, true));
  CHECK(at(last, 1, false) == none.output);
  CHECK(at(first, {}, true) == none.output);
  const auto edge = at(first, last, false);  // the last query is as far as that from key 0
  CHECK(edge.topRows(2) == none.output.topRows(2));
  CHECK(edge.row(2) == v.row(0));
  CHECK(at(0, last, false) == all.output);
  const token_rows<double> keys(k);
  const std::vector<double> query(4, 1.0);
  CHECK(refusal([&] { static_cast<void>(exact_block_score(keys, query, 2, last)); }) != "");
  CHECK(refusal([&] { static_cast<void>(exact_block_score(keys, query, last, last)); }) != "");
}

TEST_CASE("hostile: grouped queries in pages are those of a matrix", "[attention][value]") {
  families::random r(5);
  const auto q = normal_rows<double>(r, 12, 8), k = normal_rows<double>(r, 20, 4),
             v = normal_rows<double>(r, 20, 2);
  block_summaries<double> blocks(
      {.key_width = 4, .value_width = 2, .block = 4, .covariance = covariance_kind::full});
  blocks.append_rows(k, v);
  const indices table{3, 0, 2, 1};
  rows pool(12, 8);
  for (index_t t = 0; t < 12; ++t) pool.row(table[std::size_t(t / 3)] * 3 + t % 3) = q.row(t);
  const token_rows<double> paged(pool.data(), 3, table, 12, 8, 8), keys(k), values(v);
  const auto by_pages =
      block_sparse_attention(paged, keys, values, blocks, {.heads = {.queries = 2}});
  CHECK(by_pages.output ==
        block_sparse_attention(q, k, v, blocks, {.heads = {.queries = 2}}).output);
}

TEST_CASE("hostile: block-sparse calls that fit nowhere are refused before any work",
          "[attention][edge]") {
  families::random r(6);
  const auto q = normal_rows<double>(r, 3, 4), k = normal_rows<double>(r, 20, 4),
             v = normal_rows<double>(r, 20, 2);
  block_summaries<double> blocks(
      {.key_width = 4, .value_width = 2, .block = 4, .covariance = covariance_kind::full});
  blocks.append_rows(k, v);
  const auto sparse = [&](const block_sparse_options& o) {
    return refusal([&] { static_cast<void>(block_sparse_attention(q, k, v, blocks, o)); });
  };
  CHECK(sparse({.heads = {.queries = 3}}).find("queries of width 4 can't be split into 3 heads") !=
        std::string::npos);
  CHECK(sparse({.first_query = 18}).find("3 positions from 18 on, but there are 20 keys") !=
        std::string::npos);
  CHECK_THROWS_AS(block_sparse_attention(q, k, v, blocks,
                                         {.first_query = std::numeric_limits<index_t>::max() - 1}),
                  std::invalid_argument);

  const indices table{0, 1, 2, 3, 4, 5, 6};
  const token_rows<double> queries(q), keys(k.data(), 3, table, 20, 4, 4),
      values(v.data(), 3, table, 20, 2, 2);
  int parts = 0;
  const auto run = [&parts](index_t count, part_task task) {
    ++parts;
    for (index_t i = 0; i < count; ++i) task(i);
  };
  const std::string said = refusal([&] {
    static_cast<void>(
        block_sparse_attention(queries, keys, values, blocks,
                               {.first_query = 18, .threads = 2, .executor = executor(run)}));
  });
  CHECK(said.find("3 positions from 18 on, but there are 20 keys") != std::string::npos);
  CHECK(parts == 0);  // an exception must not leave a thread
}

TEMPLATE_TEST_CASE("hostile: a NaN key of any bits shows", "[attention][edge]", float, double) {
  using bits = std::conditional_t<sizeof(TestType) == 4, std::uint32_t, std::uint64_t>;
  const Eigen::Matrix<TestType, -1, -1, Eigen::RowMajor> q =
      Eigen::Matrix<TestType, -1, -1, Eigen::RowMajor>::Ones(3, 8);
  for (const bits low : {bits(0), bits(1), bits(0x2ffff), bits(0x15555)}) {
    Eigen::Matrix<TestType, -1, -1, Eigen::RowMajor> k =
        Eigen::Matrix<TestType, -1, -1, Eigen::RowMajor>::Ones(40, 8);
    const auto v = k;
    bits b;
    const TestType plain = std::numeric_limits<TestType>::quiet_NaN();
    std::memcpy(&b, &plain, sizeof b);
    b |= low;
    std::memcpy(&k(17, 3), &b, sizeof b);
    const auto result = attention(q, k, v);
    CHECK(std::isnan(result.output(0, 0)));
    CHECK(std::isnan(result.logsumexp[2]));
  }
}

TEST_CASE("hostile: garbage in empty parts of a merge tree never shows", "[attention][property]") {
  families::random r(8);
  for (int round = 0; round < 100; ++round) {
    const auto m = index_t(1 + r.below(30));
    const auto q = normal_rows<double>(r, 2, 3, 3), k = normal_rows<double>(r, m, 3),
               v = normal_rows<double>(r, m, 2);
    std::vector<attention_result<double>> parts;
    for (index_t t = 0; t < m;) {
      const index_t count = std::min(index_t(1 + r.below(6)), m - t);
      parts.push_back(attention(q, k.middleRows(t, count), v.middleRows(t, count)));
      if (r.below(2) == 0) {
        parts.insert(parts.begin() + std::ptrdiff_t(r.below(parts.size())),
                     attention_result<double>::none(2, 2));
        for (auto& part : parts) {
          if (part.logsumexp[0] == -inf) part.output.setConstant(not_a_number);
        }
      }
      t += count;
    }
    while (parts.size() > 1) {
      const std::size_t i = r.below(parts.size() - 1);
      merge(parts[i], parts.back());
      parts.pop_back();
    }
    CHECK((parts[0].output - attention(q, k, v).output).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("hostile: residual sums of features that vanish raise no flag and leave no NaN",
          "[attention][edge]") {
  rows k(2, 2), v(2, 1);
  k << 0, 1000, 0, 1000;
  v << 3, 5;
  residual_sums sums(2, 1, {.kernel = residual_kernel::softmax_pair});
  sums.add(token_rows<double>(k), token_rows<double>(v), 0, 2);
  const std::vector<double> q{1000, 0};
  attention_result<double> part;
  CHECK(spurious_flags(
            [&] { part = sums.rest(q, token_rows<double>(k), token_rows<double>(v), {}); }) == 0);
  CHECK_FALSE(std::isnan(part.output(0, 0)));
}

TEST_CASE("hostile: residual sums refuse a cache that is not theirs, and rows out of order",
          "[attention][edge]") {
  families::random r(4);
  const auto k = normal_rows<double>(r, 9, 4), v = normal_rows<double>(r, 9, 2);
  const token_rows<double> keys(k), values(v), few(k.data(), 5, 4, 4), fewer(v.data(), 5, 2, 2);
  residual_sums sums(4, 2);
  sums.add(keys, values, 0, 8);
  using ranges = std::vector<std::pair<index_t, index_t>>;
  const auto said = [&](const auto& a, const auto& b, const ranges& selected) {
    return refusal([&] { static_cast<void>(sums.rest(k.row(0), a, b, selected)); });
  };
  CHECK(
      said(few, fewer, {}) ==
      "cumulus: residual_sums::rest: 5 keys, but the sums are of 8; give the keys that were added");
  CHECK(said(keys, values, {{2, 9}}) ==
        "cumulus: residual_sums::rest: rows 2..9, but there are 8; give a range within them");
  CHECK(said(keys, values, {{2, 5}, {4, 6}}) ==
        "cumulus: residual_sums::rest: rows from 4 on follow rows up to 5; give ranges in order "
        "that do not meet");
  CHECK(said(keys, values, {{2, 4}, {4, 6}}).empty());
}
