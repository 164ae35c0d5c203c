// SPDX-License-Identifier: MIT
#include <cumulus/blocks/block_moments.hpp>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::block_moments;
using cumulus::block_summary;
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

constexpr block_summary everything{.covariance = covariance_kind::low_rank,
                                   .rank = 2,
                                   .order = 3,
                                   .box = true,
                                   .landmark = true,
                                   .landmark_covariance = true,
                                   .submeans = 3,
                                   .calibration = true,
                                   .value_mean = true,
                                   .value_covariance = true};

template <class T>
void check_same(const block_moments<T>& a, const block_moments<T>& b) {
  const auto &x = a.kept(), &y = b.kept();
  CHECK(x.count == y.count);
  CHECK(x.log_count == y.log_count);
  CHECK(x.reach == y.reach);
  CHECK(x.radius == y.radius);
  CHECK(x.mean == y.mean);
  CHECK(x.box == y.box);
  CHECK(x.tensors == y.tensors);
  CHECK(x.landmark == y.landmark);
  CHECK(x.entropy == y.entropy);
  CHECK(x.tangent == y.tangent);
  CHECK(x.constant == y.constant);
  CHECK(x.submeans == y.submeans);
  CHECK(x.correction == y.correction);
  CHECK(x.value_reach == y.value_reach);
  CHECK(x.value_mean == y.value_mean);
  CHECK(x.value_covariance == y.value_covariance);
  REQUIRE(a.blocks() == b.blocks());
  for (index_t B = 0; B < a.blocks(); ++B) CHECK(a.covariance(B) == b.covariance(B));
}

}  // namespace

TEMPLATE_TEST_CASE("block moments: each part is that of the block's tokens", "[blocks][value]",
                   float, double) {
  const matrix k = normal(21, 5, 1u), v = normal(21, 3, 2u);
  block_summary parts = everything;
  parts.covariance = covariance_kind::full;
  block_moments<TestType> m(5, 8, parts, 3);
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

TEST_CASE(
    "block moments: a tensor keeps each component once, i <= j <= k at i + C(j + 1, 2) + C(k + 2, "
    "3)",
    "[blocks][value]") {
  const matrix k = normal(7, 4, 9u), y = k.rowwise() - k.colwise().mean();
  block_moments<double> m(4, 7, {.order = 4});
  m.append_rows(k);
  const auto& tensors = m.kept().tensors;
  REQUIRE(tensors.size() == 2);
  REQUIRE(tensors[0].size() == 20);
  REQUIRE(tensors[1].size() == 35);
  for (index_t c = 0; c < 4; ++c) {
    for (index_t b = 0; b <= c; ++b) {
      for (index_t a = 0; a <= b; ++a) {
        const auto third = y.col(a).array() * y.col(b).array() * y.col(c).array();
        const std::size_t at = std::size_t(a + b * (b + 1) / 2 + c * (c + 1) * (c + 2) / 6);
        CAPTURE(a, b, c);
        CHECK(std::abs(tensors[0][at] - third.mean()) <= 1e-14);
        // times the last coordinate: among the last 20 of order 4
        const double fourth = (third * y.col(3).array()).mean();
        CHECK(std::abs(tensors[1][15 + at] - fourth) <= 1e-14 * (1 + std::abs(fourth)));
      }
    }
  }
}

TEST_CASE("block moments: any pieces, and building at once, give the same bits",
          "[blocks][property]") {
  const matrix k = normal(43, 4, 3u), v = normal(43, 2, 4u), q = normal(3, 4, 5u);
  block_moments<float> whole(4, 8, everything, 2), single(4, 8, everything, 2),
      pieces(4, 8, everything, 2);
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

TEST_CASE("block moments: keys of any scalar, storage order and paging", "[blocks][property]") {
  const Eigen::MatrixXf k = (normal(20, 4, 6u) * 4).array().round().matrix().cast<float>() / 4;
  const block_summary parts{.covariance = covariance_kind::diagonal, .box = true};
  block_moments<float> expected(4, 8, parts);
  expected.append_rows(k);
  const auto check = [&](const auto& keys) {
    block_moments<float> m(4, 8, parts);
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
  block_moments<float> from_vector(4, 1);
  from_vector.append(one);
  CHECK(from_vector.mean(0) == Eigen::Map<const Eigen::VectorXf>(one.data(), 4));
}

TEST_CASE("block moments: a query uses the blocks that end before it", "[blocks][edge]") {
  block_moments<double> m(2, 4);
  CHECK(m.usable(100) == 0);
  m.append_rows(normal(11, 2, 7u));
  CHECK(m.blocks() == 2);
  for (index_t t = 0; t < 14; ++t) CHECK(m.usable(t) == (t < 4 ? 0 : t < 8 ? 1 : 2));
  m.summarise_tail();
  CHECK(m.usable(10) == 2);
  CHECK(m.usable(11) == 3);
  CHECK(m.usable(-1) == 0);
}

TEST_CASE("block moments: bytes are those of the parts", "[blocks][edge]") {
  CHECK(block_moments<float>(64, 64).bytes_per_block() == 4 * (64 + 4));
  CHECK(block_moments<float>(64, 64, {.covariance = covariance_kind::low_rank}).bytes_per_block() ==
        4 * (64 + 3 + 2 + 5 * 64));
  const block_moments<double> m(5, 8, everything, 3);
  CHECK(m.bytes_per_block() ==
        8 * (5 + 3 + 17 + 10 + 35 + (5 + 1) + (17 + 5 + 1) + 15 + 1 + 1 + 3 + 15));
}

TEST_CASE("block moments: a NaN stays in its block", "[blocks][edge]") {
  matrix k = normal(24, 3, 8u);
  k(10, 1) = std::nan("");
  for (const covariance_kind kind : {covariance_kind::full, covariance_kind::low_rank}) {
    block_moments<double> m(3, 8, {.covariance = kind, .rank = 2, .order = 3, .box = true});
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

TEST_CASE("block moments: what cannot be kept is refused before any work", "[blocks][edge]") {
  using m = block_moments<double>;
  CHECK(refusal([] { m(0, 8); }) == "cumulus: block_moments: keys of width 0");
  CHECK(refusal([] { m(4, 0); }) == "cumulus: block_moments: blocks of 0 tokens");
  CHECK(refusal([] { m(4, 8, {.value_mean = true}); }) ==
        "cumulus: block_moments: a value part, but e is 0");
  CHECK(refusal([] { m(4, 8, {.order = 2}); }).find("order 2") != std::string::npos);
  CHECK(refusal([] { m(1, 8, {.order = 9}); }) ==
        "cumulus: block_moments: tensors of order 9; the highest is 8");
  CHECK(refusal([] { m(500, 8, {.order = 4}); }).find("too large") != std::string::npos);
  CHECK(refusal([] { m(index_t(1) << 40, 8, {.order = 3}); }) ==
        "cumulus: block_moments: a tensor of order 3 in 1099511627776 dimensions is too large");
  CHECK(refusal([] { m(465, 8, {.order = 3}); }).find("too large") != std::string::npos);
  CHECK(refusal([] { m(464, 8, {.order = 3}); }).empty());  // C(466, 3) < 2^24 < C(467, 3)
  CHECK(refusal([] {
          m(4, 8, {.covariance = covariance_kind::low_rank, .rank = 0});
        }).find("rank 0") != std::string::npos);
  CHECK(refusal([] { m(4, 8, {.landmark_covariance = true}); }) != "");
  m with_values(4, 8, {}, 2);
  const Eigen::VectorXd key = Eigen::VectorXd::Zero(4), value = Eigen::VectorXd::Zero(2);
  CHECK(refusal([&] { with_values.append(value, value); }) ==
        "cumulus: block_moments: a key has 4 elements, the key given has 2");
  CHECK(refusal([&] { with_values.append(key); }) ==
        "cumulus: block_moments: a value has 2 elements, the value given has 0");
  CHECK(refusal([&] { with_values.append_rows(matrix(3, 4), matrix(2, 2)); }) != "");
  CHECK(refusal([&] { with_values.set_references(matrix(1, 3)); }) != "");
  CHECK(with_values.tokens() == 0);
  CHECK(refusal([&] { static_cast<void>(with_values.covariance(0)); }) ==
        "cumulus: block_moments: the summary keeps no covariance");
}
