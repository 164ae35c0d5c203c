// SPDX-License-Identifier: MIT
#include <cumulus/blocks/block_scores.hpp>
#include <cumulus/blocks/exact_block_scores.hpp>
#include <cumulus/detail/blocks/gaussian_mass.hpp>

#include "catch.hpp"
#include "support/families.hpp"
#include "support/refusal.hpp"

using cumulus::block_score;
using cumulus::block_scores;
using cumulus::block_summaries;
using cumulus::block_summary_options;
using cumulus::covariance_kind;
using cumulus::index_t;
using cumulus::into;
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using vector = Eigen::VectorXd;

namespace {

matrix normal(index_t n, index_t d, double sigma, std::uint64_t seed) {
  families::random r(seed);
  matrix x(n, d);
  for (index_t i = 0; i < n * d; ++i) x.data()[i] = sigma * r.normal() + 0.2 * double(i % d);
  return x;
}

constexpr block_summary_options everything{.covariance = covariance_kind::full,
                                           .order = 5,
                                           .box = true,
                                           .landmark = true,
                                           .landmark_covariance = true,
                                           .submeans = 3,
                                           .calibration = true};

template <class T = double>
block_summaries<T> summaries(const matrix& keys, index_t b, block_summary_options parts,
                             const matrix& references = matrix()) {
  parts.key_width = keys.cols();
  parts.block = b;
  block_summaries<T> m(parts);
  m.set_references(references);
  m.append_rows(keys);
  m.summarise_tail();
  return m;
}

constexpr block_score all_scores[] = {
    block_score::pooled,    block_score::mean,      block_score::taylor2, block_score::moment2,
    block_score::frozen2,   block_score::smooth2,   block_score::taylor3, block_score::taylor,
    block_score::landmark,  block_score::landmark2, block_score::box,     block_score::submeans,
    block_score::calibrated};

/// The scores y = q . k of one block, centred, and what formulas need of them.
struct direct {
  double log_n, mean, variance, exact;
  std::vector<double> moment;  // E y^k
  direct(const matrix& keys, const vector& q) {
    const vector x = keys.lazyProduct(q);
    log_n = std::log(double(x.size()));
    mean = x.mean();
    for (int k = 0; k <= 6; ++k) moment.push_back((x.array() - mean).pow(k).mean());
    variance = moment[2];
    exact = cumulus::logsumexp(x);
  }
};

}  // namespace

TEST_CASE("block scores: each is its formula", "[blocks][value]") {
  const matrix k = normal(21, 4, 0.8, 1u), references = normal(2, 4, 0.5, 2u);
  const vector q = normal(4, 1, 0.7, 3u);
  const auto m = summaries(k, 8, everything, references);
  const auto score = [&](block_score s) { return block_scores(m, q, {.scale = 1, .score = s}); };
  const vector q0 = references.colwise().mean();
  for (index_t B = 0; B < 3; ++B) {
    const matrix keys = k.middleRows(8 * B, B == 2 ? 5 : 8);
    const direct x(keys, q);
    const std::size_t i = std::size_t(B);
    const auto check = [&](block_score s, double expected) {
      CAPTURE(B, name_of(s));
      CHECK(std::abs(score(s)[i].value - expected) <= 1e-13);
    };
    const double base = x.log_n + x.mean, m3 = x.moment[3], m4 = x.moment[4], v = x.variance;
    check(block_score::pooled, x.mean);
    check(block_score::mean, base);
    check(block_score::taylor2, base + v / 2);
    check(block_score::moment2, base + std::log(1 + v / 2));
    check(block_score::frozen2, base + cumulus::detail::frozen_mass(v, x.log_n));
    check(block_score::smooth2, base + cumulus::detail::smooth_mass(x.log_n)(v));
    check(block_score::taylor3, base + v / 2 + m3 / 6);
    const double c4 = (m4 - 3 * v * v) / 24, c5 = (x.moment[5] - 10 * v * m3) / 120;
    check(block_score::taylor, base + v / 2 + m3 / 6 + c4 + c5);
    double corner = x.log_n;
    for (index_t j = 0; j < 4; ++j)
      corner += std::max(q[j] * keys.col(j).maxCoeff(), q[j] * keys.col(j).minCoeff());
    check(block_score::box, corner);

    const direct at(keys, q0);
    vector p = (keys.lazyProduct(q0).array() - at.exact).exp();
    const vector tilted = keys.transpose().lazyProduct(p);
    const double h = -(p.array() * p.array().log()).sum();
    check(block_score::landmark, q.dot(tilted) + h);
    const vector y = (keys.rowwise() - tilted.transpose()).lazyProduct(q - q0);
    check(block_score::landmark2, q.dot(tilted) + h + p.dot(y.cwiseAbs2()) / 2);

    std::vector<double> runs;
    for (index_t j = 0; j < 3; ++j) {
      const index_t from = j * keys.rows() / 3, to = (j + 1) * keys.rows() / 3;
      runs.push_back(std::log(double(to - from)) +
                     q.dot(keys.middleRows(from, to - from).colwise().mean()));
    }
    check(block_score::submeans, cumulus::logsumexp(runs));
    double left_out = 0;
    for (index_t r = 0; r < 2; ++r) {
      const direct z(keys, references.row(r).transpose());
      left_out +=
          (z.exact - z.log_n - z.mean - cumulus::detail::smooth_mass(z.log_n)(z.variance)) / 2;
    }
    check(block_score::calibrated, base + cumulus::detail::smooth_mass(x.log_n)(v) + left_out);
  }
}

TEST_CASE("block scores: taylor of two keys is the series of log cosh", "[blocks][value]") {
  for (const index_t d : {1, 2, 3, 5, 9}) {
    const matrix c = normal(1, d, 1.0, 13u), y = normal(1, d, 0.4, 14u);
    matrix k(2, d);
    k << c + y, c - y;
    const vector q = normal(d, 1, 0.3, 15u);
    const double s = y.row(0).dot(q), base = std::log(2.0) + c.row(0).dot(q), s2 = s * s;
    double size = 0;  // what the terms of (q y)^p add up to in size
    for (index_t i = 0; i < d; ++i) size += std::abs(y(0, i) * q[i]);
    const double series[] = {s2 / 2, -s2 * s2 / 12, s2 * s2 * s2 / 45,
                             -17 * std::pow(s2, 4) / 2520};
    for (int order = 3; order <= 8; ++order) {
      const auto m = summaries(k, 2, {.covariance = covariance_kind::full, .order = order});
      double expected = base;
      for (int p = 2; p <= order; p += 2) expected += series[p / 2 - 1];
      CAPTURE(d, order, s);
      CHECK(std::abs(block_scores(m, q, {.scale = 1, .score = block_score::taylor})[0].value -
                     expected) <= 32 * 0x1p-53 * (1 + std::abs(base) + std::exp(size)));
      CHECK(std::abs(block_scores(m, q, {.scale = 1, .score = block_score::taylor3})[0].value -
                     base - s2 / 2) <= 32 * 0x1p-53 * (1 + std::abs(base) + std::exp(size)));
    }
  }
}

TEST_CASE("block scores: the landmark touches the log-mass at its query", "[blocks][property]") {
  const matrix k = normal(32, 6, 1.0, 4u), q0 = normal(1, 6, 0.6, 5u);
  const auto m = summaries(k, 8, everything, q0);
  const vector q = q0.row(0).transpose();
  const auto exact = cumulus::exact_block_scores(k, 8, q, {.scale = 1});
  for (const block_score s : {block_score::landmark, block_score::landmark2}) {
    const auto scores = block_scores(m, q, {.scale = 1, .score = s});
    for (std::size_t B = 0; B < 4; ++B) CHECK(std::abs(scores[B].value - exact[B]) <= 1e-13);
  }
}

TEST_CASE("block scores: the scale multiplies the query, and out holds the same values",
          "[blocks][property]") {
  const matrix k = normal(1100 * 4, 5, 0.7, 6u);  // more blocks than a run
  const vector q = normal(5, 1, 1.0, 7u);
  const auto m = summaries(k, 4, everything);
  for (const block_score s : all_scores) {
    const auto a = block_scores(m, q, {.scale = 0.25, .score = s});
    const auto b = block_scores(m, (q * 0.25).eval(), {.scale = 1, .score = s});
    std::vector<double> out(1100);
    block_scores(m, q, into(out), {.scale = 0.25, .score = s});
    for (std::size_t B = 0; B < 1100; ++B) {
      CHECK(a[B].value == b[B].value);
      CHECK(a[B].value == out[B]);
      CHECK(a[B].lower == b[B].lower);
      CHECK(a[B].bound() >= 0);
      CHECK(a[B].to_estimate().bound == a[B].bound());
    }
  }
}

// A hundred thousand blocks of these laws in both scalars were tried once; these are a share of them.
TEMPLATE_TEST_CASE("block scores: the interval contains the log-mass", "[blocks][property]", float,
                   double) {
  families::random r(31u);
  constexpr covariance_kind kinds[] = {covariance_kind::none, covariance_kind::diagonal,
                                       covariance_kind::full, covariance_kind::low_rank};
  for (int round = 0; round < 160; ++round) {
    const index_t d = 1 + index_t(r.below(20)), b = 1 + index_t(r.below(20)), n = b * 6 + 1;
    const double spread = std::pow(10.0, r.uniform(-3, 1)),
                 offset = std::pow(10.0, r.uniform(-2, 2));
    Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> k(n, d);
    for (index_t t = 0; t < n; ++t) {
      const double outlier = r.below(16) == 0 ? 8 : 1;
      for (index_t i = 0; i < d; ++i)
        k(t, i) = TestType(offset * std::sin(double(i)) + spread * outlier * r.normal());
    }
    const bool more = r.below(2) == 0;
    block_summaries<TestType> m({.key_width = d,
                                 .block = b,
                                 .covariance = kinds[round % 4],
                                 .rank = 2,
                                 .box = r.below(2) == 0,
                                 .landmark = more,
                                 .submeans = more ? 2 : 0});
    if (r.below(2) == 0) m.set_references(k.topRows(1) * TestType(0.1));
    m.append_rows(k);
    m.summarise_tail();
    Eigen::Matrix<TestType, Eigen::Dynamic, 1> q(d);
    for (index_t i = 0; i < d; ++i) q[i] = TestType(r.normal());
    const double scale = std::pow(10.0, r.uniform(-2, 1)) / std::sqrt(double(d));
    const auto exact = cumulus::exact_block_scores(k, b, q, {.scale = scale});
    const auto scores = block_scores(m, q, {.scale = scale, .score = block_score::mean});
    REQUIRE(exact.size() == scores.size());
    for (std::size_t B = 0; B < exact.size(); ++B) {
      if (double(scores[B].lower) <= exact[B] && exact[B] <= double(scores[B].upper)) continue;
      CAPTURE(round, d, b, spread, offset, scale, B, exact[B], scores[B].lower, scores[B].upper);
      FAIL();
    }
  }
}

TEST_CASE("block scores: what more is kept narrows the interval", "[blocks][property]") {
  const matrix k = normal(640, 16, 1.0, 8u);
  const vector q = normal(16, 1, 0.25, 9u);
  const auto width = [&](const block_summary_options& parts) {
    double sum = 0;
    for (const auto& s :
         block_scores(summaries(k, 64, parts), q, {.scale = 1, .score = block_score::mean}))
      sum += s.upper - s.lower;
    return sum / 10;
  };
  const double bare = width({}), boxed = width({.box = true}),
               rank = width({.covariance = covariance_kind::low_rank, .rank = 4}),
               full = width({.covariance = covariance_kind::full}),
               both = width({.covariance = covariance_kind::full, .box = true});
  CHECK(boxed <= bare);
  CHECK(rank < bare);
  CHECK(full < rank);
  CHECK(both <= full);
  // equal keys leave nothing open
  const matrix equal = matrix::Constant(8, 3, 0.5);
  const auto s = block_scores(summaries(equal, 8, {}), vector::Ones(3).eval(),
                              {.scale = 1, .score = block_score::mean})[0];
  CHECK(s.value == Approx(std::log(8.0) + 1.5));
  CHECK(s.upper - s.lower <= 1e-12);
}

TEST_CASE("block scores: NaN shows in its block, a NaN query in all", "[blocks][edge]") {
  matrix k = normal(24, 3, 1.0, 10u);
  k(9, 2) = std::nan("");
  vector q = vector::Ones(3);
  const auto m = summaries(k, 8, everything);
  for (const block_score s : all_scores) {
    const auto scores = block_scores(m, q, s);
    CAPTURE(name_of(s));
    CHECK(std::isnan(scores[1].value));
    CHECK(std::isnan(scores[1].lower));
    CHECK(std::isnan(scores[1].upper));
    CHECK(std::isfinite(scores[0].value));
    CHECK(std::isfinite(scores[2].upper));
    const vector bad = vector::Constant(3, std::nan(""));
    for (const auto& x : block_scores(m, bad, s)) {
      CHECK(std::isnan(x.value));
      CHECK(std::isnan(x.upper));
    }
  }
  k(9, 2) = -cumulus::detail::infinity<double>;
  const auto infinite = block_scores(summaries(k, 8, everything), q);
  CHECK(std::isnan(infinite[1].upper));
  CHECK(std::isfinite(infinite[0].upper));
  CHECK(block_scores(block_summaries<double>({.key_width = 3, .block = 8}), q, block_score::mean)
            .empty());
}

TEST_CASE("block scores: a query of 0 sees the counts, a huge one no bound", "[blocks][edge]") {
  const auto m = summaries(normal(12, 3, 1.0, 12u), 8, everything);
  const vector zero = vector::Zero(3);
  for (const block_score s : all_scores) {
    if (s == block_score::pooled || s == block_score::calibrated)
      continue;  // do not start at log b
    const auto scores = block_scores(m, zero, s);
    CAPTURE(name_of(s));
    for (std::size_t B = 0; B < 2; ++B) {
      CHECK(scores[B].value == Approx(std::log(B == 0 ? 8.0 : 4.0)));
      CHECK(scores[B].upper - scores[B].lower <= 1e-13);
    }
  }
  for (const auto& x : block_scores(m, vector::Constant(3, 1e200).eval(), {.scale = 1})) {
    CHECK_FALSE(x.lower > x.upper);
    CHECK((std::isnan(x.upper) || x.upper > 1e199));
  }
}

TEST_CASE("block scores: a part that is not kept is refused", "[blocks][edge]") {
  const auto m = summaries(normal(8, 3, 1.0, 11u), 8, {});
  const vector q = vector::Ones(3);
  CHECK(refusal([&] { static_cast<void>(block_scores(m, q)); }) ==
        "cumulus: block_scores: smooth2 needs summaries with a covariance; give "
        "block_summary_options "
        ".covariance");
  CHECK(refusal([&] { static_cast<void>(block_scores(m, q, block_score::box)); }) ==
        "cumulus: block_scores: box needs summaries with a box; give block_summary_options .box");
  const auto tensors = summaries(normal(8, 3, 1.0, 11u), 8, {.order = 3});
  for (const block_score s :
       {block_score::landmark, block_score::landmark2, block_score::submeans,
        block_score::calibrated, block_score::taylor, block_score::taylor3, block_score::frozen2})
    CHECK(refusal([&] { static_cast<void>(block_scores(tensors, q, s)); }) != "");
  CHECK(refusal([&] {
          static_cast<void>(block_scores(m, vector::Ones(4).eval(), block_score::mean));
        }) == "cumulus: block_scores: a key has 3 elements, q has 4");
  std::vector<double> out(2);
  CHECK(refusal([&] { block_scores(m, q, into(out), {.score = block_score::mean}); }) ==
        "cumulus: block_scores: the result has 1 elements, out has 2");
  for (const double scale : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    CHECK(refusal([&] {
            static_cast<void>(block_scores(m, q, {.scale = scale, .score = block_score::mean}));
          }).find(".scale is") != std::string::npos);
}

TEST_CASE("block scores: without a scale it is that of attention, 1 / sqrt(d)", "[blocks][value]") {
  const matrix k = normal(16, 4, 0.7, 16u);
  const vector q = normal(4, 1, 1.0, 17u);
  const auto m = summaries(k, 8, everything);
  for (const block_score s : all_scores) {
    const auto a = block_scores(m, q, s), b = block_scores(m, q, {.scale = 0.5, .score = s});
    for (std::size_t B = 0; B < 2; ++B) {
      CHECK(a[B].value == b[B].value);
      CHECK(a[B].upper == b[B].upper);
    }
  }
  CHECK(cumulus::exact_block_scores(k, 8, q) ==
        cumulus::exact_block_scores(k, 8, q, {.scale = 0.5}));
}

TEST_CASE("block scores: what is written to is marked, and of the summaries' scalar",
          "[blocks][edge]") {
  using summaries_type = block_summaries<double>;
  const auto takes = []<class Out>(Out) {
    return requires(const summaries_type& m, const vector& q, Out& out) {
      block_scores(m, q, into(out));
    };
  };
  const auto takes_bare = []<class Out>(Out) {
    return requires(const summaries_type& m, const vector& q, Out& out) {
      block_scores(m, q, out);
    };
  };
  CHECK(takes(std::vector<double>{}));
  CHECK_FALSE(takes(std::vector<float>{}));
  CHECK_FALSE(takes_bare(std::vector<double>{}));
}
