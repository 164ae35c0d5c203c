// SPDX-License-Identifier: MIT
#include <cumulus/moments/comoments.hpp>
#include <array>
#include <limits>

#include "catch.hpp"
#include "merge_tree.hpp"
#include "refusal.hpp"
#include "vector_oracle.hpp"
#include "worst.hpp"

namespace {

using cumulus::comoments;
using cumulus::index_t;
using oracle::rows;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double u = 0x1p-53;
constexpr double streaming = cumulus::comoments_streaming_error;

/// What an error of Cov(z_i, z_j) is measured by: sum w |y_i y_j| / W, or the product of the standard deviations.
enum class scale_of { products, deviations };

/// The largest error of the means, in units of 1e-12 of the spread, and of the covariances, in `unit` of their scale; the first d
/// columns of z are x, the others v.
template <class T>
void see(worst& w, const comoments<T>& m, const rows& z, double unit, scale_of by,
         const std::vector<double>& weights = {}) {
  const auto c = oracle::centre(z, weights);
  const index_t d = m.width();
  const auto check_entry = [&](T actual, index_t i, index_t j) {
    const auto exact = oracle::covariance(c, std::size_t(i), std::size_t(j), weights);
    const double error = double(std::abs(actual - exact.signed_value));
    const auto variance = [&](index_t k) {
      return oracle::covariance(c, std::size_t(k), std::size_t(k), weights).signed_value;
    };
    const double scale = double(by == scale_of::products ? exact.absolute_value
                                                         : std::sqrt(variance(i) * variance(j)));
    w.see(error == 0 ? 0 : error / (scale * unit), "covariance", i, j, "n", z.rows(), "of", d);
  };
  for (index_t i = 0; i < d; ++i) {
    for (index_t j = 0; j <= i; ++j) check_entry(m.covariance(i, j), i, j);
  }
  const auto cross = m.cross_covariance();
  for (index_t i = 0; i < cross.rows(); ++i) {
    for (index_t j = 0; j < d; ++j) check_entry(cross(i, j), d + i, j);
  }
  for (index_t i = 0; i < z.cols(); ++i) {
    const auto pair = cumulus::detail::moment_access::mean_pair(m, i);
    const long double error = (static_cast<long double>(pair.high) - z(0, i)) + pair.low -
                              c.mean_from_first[std::size_t(i)];
    const auto spread = double(
        std::sqrt(oracle::covariance(c, std::size_t(i), std::size_t(i), weights).signed_value));
    if (error != 0) w.see(double(std::abs(error)) / (10 * spread * streaming), "mean", i);
  }
}

comoments<double> of_rows(const rows& z, index_t d, const std::vector<double>& w = {}) {
  const index_t e = z.cols() - d;
  comoments<double> m(d, e);
  if (e == 0 && w.empty()) m.add_rows(z);
  if (e == 0 && !w.empty()) m.add_rows(z, w);
  if (e > 0 && w.empty()) m.add_rows(z.leftCols(d), z.rightCols(e));
  if (e > 0 && !w.empty()) m.add_rows(z.leftCols(d), z.rightCols(e), w);
  return m;
}

comoments<double> one_by_one(const rows& z, index_t d, const std::vector<double>& w = {}) {
  const index_t e = z.cols() - d;
  comoments<double> m(d, e);
  for (index_t i = 0; i < z.rows(); ++i) {
    const double weight = w.empty() ? 1 : w[std::size_t(i)];
    if (e == 0) {
      m.add(z.row(i), weight);
    } else {
      m.add(z.row(i).head(d), z.row(i).tail(e), weight);
    }
  }
  return m;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Everything that can be observed, bit for bit.
bool observably_equal(const comoments<double>& a, const comoments<double>& b) {
  bool equal = a.width() == b.width() && a.second_width() == b.second_width() &&
               a.empty() == b.empty() && same(a.weight(), b.weight());
  for (index_t i = 0; i < a.width(); ++i) {
    equal = equal && same(a.mean()(i), b.mean()(i));
    for (index_t j = 0; j <= i; ++j) equal = equal && same(a.covariance(i, j), b.covariance(i, j));
  }
  for (index_t i = 0; i < a.second_width(); ++i) {
    equal = equal && same(a.second_mean()(i), b.second_mean()(i));
    for (index_t j = 0; j < a.width(); ++j)
      equal = equal && same(a.cross_covariance()(i, j), b.cross_covariance()(i, j));
  }
  return equal;
}

/// Every number is NaN.
template <class M>
bool all_nan(const M& m) {
  return m.array().isNaN().all();
}

}  // namespace

// ---- values

TEST_CASE("comoments: rows within their roundings at every length and offset", "[moments][value]") {
  const double offset = GENERATE(0.0, -1e3, 1e8, 1e12);
  worst rounding, step;
  for (std::size_t n = 1; n <= 70; ++n) {
    const rows z = oracle::shapes(n, 8, offset, n);
    see(rounding, of_rows(z, 6), z, u, scale_of::products);
    see(step, one_by_one(z, 6), z, streaming, scale_of::deviations);
  }
  for (const std::size_t n : {127u, 255u, 256u, 257u, 1000u, 4097u, 9000u}) {
    const rows z = oracle::shapes(n, 8, offset, n);
    see(rounding, of_rows(z, 6), z, u, scale_of::products);
    see(step, one_by_one(z, 6), z, streaming, scale_of::deviations);
  }
  CHECK_WORST(rounding, cumulus::comoments_max_roundings);
  CHECK_WORST(step, 1);
}

TEST_CASE("comoments: weighted rows within their roundings", "[moments][value]") {
  const double offset = GENERATE(0.0, -1e6, 1e12);
  worst rounding, step;
  for (const std::size_t n : {1u, 2u, 17u, 128u, 1000u, 5000u}) {
    const rows z = oracle::shapes(n, 8, offset, n);
    for (const auto& w :
         {families::uniform<double>(n, 0.1, 2, 41), families::wild_weights<double>(n, 16, 42),
          families::ties<double>(n, 2), families::uniform<double>(n, 0x1p53, 0x1p60, 43),
          families::uniform<double>(n, 1e280, 1e282, 44),
          families::uniform<double>(n, 1e-280, 1e-278, 45)}) {
      see(rounding, of_rows(z, 6, w), z, u, scale_of::products, w);
      see(step, one_by_one(z, 6, w), z, streaming, scale_of::deviations, w);
    }
  }
  CHECK_WORST(rounding, cumulus::comoments_weighted_max_roundings);
  CHECK_WORST(step, 1);
}

TEST_CASE("comoments: every width, and clusters one after the other", "[moments][value]") {
  worst rounding;
  for (index_t d = 1; d <= 30; ++d) {
    const rows z = oracle::shapes(90, d + d % 3, 1e6, std::uint64_t(d));
    see(rounding, of_rows(z, d), z, u, scale_of::products);
  }
  for (const double gap : {0.5, 10.0, 1e6, 1e12}) {
    for (const double share : {0.1, 0.5, 0.9}) {
      rows z = oracle::shapes(2500, 3, 0, 24);
      for (index_t i = index_t(2500 * share); i < 2500; ++i) z.row(i).array() += gap;
      see(rounding, of_rows(z, 2), z, u, scale_of::products);
    }
  }
  CHECK_WORST(rounding, cumulus::comoments_max_roundings);
}

TEST_CASE("comoments: equal rows beside another, whose roundings all go one way",
          "[moments][value]") {
  worst rounding, weighted;
  for (const std::size_t n : {8u, 16u, 18u, 64u, 256u, 1000u, 4096u}) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      const auto levels = families::uniform<double>(4, 0.1, 8, 300 + seed);
      rows z = rows::Constant(index_t(n), 1, levels[0]);
      z(0, 0) = -levels[1];
      auto w = std::vector<double>(n, levels[2]);
      w[0] = levels[3];
      see(rounding, of_rows(z, 1), z, u, scale_of::products);
      see(weighted, of_rows(z, 1, w), z, u, scale_of::products, w);
    }
  }
  CHECK_WORST(rounding, cumulus::comoments_max_roundings);
  CHECK_WORST(weighted, cumulus::comoments_weighted_max_roundings);
}

TEST_CASE("comoments: a common weight of 2 counts every row twice", "[moments][value]") {
  const rows z = oracle::shapes(700, 8, 5, 3);
  const auto once = of_rows(z, 6), twice = of_rows(z, 6, families::ties<double>(700, 2));
  CHECK(twice.weight() == 1400);
  CHECK(twice.packed() == once.packed());
  CHECK(twice.cross_covariance() == once.cross_covariance());
}

TEST_CASE("comoments: float rows are held in double", "[moments][value]") {
  for (const float offset : {0.0f, 1e4f}) {
    const Eigen::MatrixXf x = oracle::shapes(3000, 7, offset, 5).cast<float>();
    const auto w = families::wild_weights<float>(3000, 4, 6);
    comoments<float> m(7), weighted(7);
    m.add_rows(x);
    weighted.add_rows(x, w);
    worst rounding;  // of the float that the double becomes
    see(rounding, m, x.cast<double>(), 0x1p-24, scale_of::products);
    see(rounding, weighted, x.cast<double>(), 0x1p-24, scale_of::products,
        std::vector<double>(w.begin(), w.end()));
    CHECK_WORST(rounding, 1.001);
  }
}

// ---- edges

TEST_CASE("comoments: a coordinate that never changes has covariances of 0", "[moments][edge]") {
  for (const double value : {0.0, 1.1, 1e12 + 0.3, 1.7e308, 0x1p-1074}) {
    for (const std::size_t n : {1u, 2u, 33u, 1000u}) {
      rows z = oracle::shapes(n, 5, 3, 7);
      z.col(1).setConstant(value);
      z.col(4).setConstant(-value);
      const auto w = families::wild_weights<double>(n, 12, 61);
      auto merged = of_rows(z, 3) + one_by_one(z, 3, w);
      for (const auto& m :
           {of_rows(z, 3), of_rows(z, 3, w), one_by_one(z, 3), one_by_one(z, 3, w), merged}) {
        CAPTURE(value, n);
        CHECK(m.mean()(1) == value);
        CHECK(m.second_mean()(1) == -value);
        CHECK(m.covariance().col(1).isZero(0));
        CHECK(m.cross_covariance().col(1).isZero(0));
        CHECK(m.cross_covariance().row(1).isZero(0));
        CHECK(m.deviation(1, value) == 0);
      }
    }
  }
}

TEST_CASE("comoments: a weight of 0 changes nothing, whatever it comes with", "[moments][edge]") {
  const rows z = oracle::shapes(300, 5, 3, 8);
  const auto m = of_rows(z, 5);
  rows more(303, 5);
  more << z.topRows(100), rows::Constant(1, 5, not_a_number), z.middleRows(100, 100),
      rows::Constant(2, 5, inf), z.bottomRows(100);
  auto w = families::ties<double>(303, 1);
  w[100] = 0;
  w[201] = w[202] = -0.0;
  CHECK(observably_equal(of_rows(more, 5, w), m));
  auto one = m;
  one.add(more.row(100), 0);
  one.add(more.row(201), -0.0);
  CHECK(one == m);
}

TEST_CASE("comoments: the empty sample is the identity", "[moments][edge]") {
  const auto m = of_rows(oracle::shapes(100, 5, 3, 9), 4);
  const comoments<double> nothing(4, 1);
  CHECK(m + nothing == m);
  CHECK(observably_equal(nothing + m, m));
  CHECK(m - nothing == m);
  CHECK(nothing + nothing == nothing);
  CHECK(of_rows(rows(0, 5), 4) == nothing);
  CHECK(nothing.empty());
  CHECK(nothing.weight() == 0);
  CHECK(all_nan(nothing.mean()));
  CHECK(all_nan(nothing.second_mean()));
  CHECK(all_nan(nothing.covariance()));
  CHECK(all_nan(nothing.cross_covariance()));
  CHECK(nothing.loss() == 1);
  CHECK((m - m).empty());
  CHECK(all_nan((m - (m + m)).covariance()));
  CHECK(std::isnan((nothing - m).weight()));
  CHECK(comoments<double>(0).covariance().size() == 0);
}

TEST_CASE("comoments: what is not finite leaves IEEE means and covariances of NaN",
          "[moments][edge]") {
  const rows z = oracle::shapes(300, 4, 3, 10);
  for (const double bad : {inf, -inf, not_a_number}) {
    for (const index_t place : {index_t(0), index_t(150), index_t(299)}) {
      rows spoilt = z;
      spoilt(place, 2) = bad;
      for (const auto& m : {of_rows(spoilt, 3), one_by_one(spoilt, 3),
                            of_rows(spoilt.topRows(151), 3) + of_rows(spoilt.bottomRows(149), 3)}) {
        CAPTURE(bad, place);
        CHECK(m.weight() == 300);
        CHECK(same(m.mean()(2), bad));
        CHECK(m.mean()(0) == Approx(z.col(0).mean()));
        CHECK(all_nan(m.covariance()));
        CHECK(all_nan(m.cross_covariance()));
      }
    }
  }
  rows both = z;
  both(3, 1) = inf;
  both(200, 1) = -inf;
  CHECK(std::isnan(of_rows(both, 4).mean()(1)));
  for (const double bad : {-1.0, inf, not_a_number}) {
    auto w = families::ties<double>(300, 1);
    w[77] = bad;
    const auto m = of_rows(z, 4, w);
    CHECK(std::isnan(m.weight()));
    CHECK(all_nan(m.mean()));
    CHECK(all_nan(m.covariance()));
  }
}

// ---- the monoid

TEST_CASE("comoments: any split, merged in any tree", "[moments][property]") {
  families::random r(71);
  worst error;
  for (int trial = 0; trial < 250; ++trial) {
    const double offset = std::array{0.0, 1e3, -1e8, 1e12}[r.below(4)];
    const std::size_t n = 1 + r.below(trial % 10 == 0 ? 700 : 60);
    const rows z = oracle::shapes(n, 4, offset, r.bits());
    const auto kind = r.below(4);
    auto w = kind == 0   ? families::ties<double>(n, 1)
             : kind == 1 ? families::ties<double>(n, 2)
             : kind == 2 ? families::wild_weights<double>(n, 6, r.bits())
                         : families::ties<double>(n, 0x1p40);  // n^3 beyond 64 bits
    const auto m = merge_tree(  // more parts than rows, so that some are empty
        comoments<double>(3, 1), n, 1 + r.below(2 * n), r.bits(),
        [&](comoments<double>& part, std::size_t i) {
          const auto row = z.row(index_t(i));
          if (i % 2 == 0) {
            part.add(row.head(3), row.tail(1), w[i]);
          } else {
            part.add_rows(row.head(3), z.block(index_t(i), 3, 1, 1), std::vector<double>{w[i]});
          }
        });
    see(error, m, z, streaming, scale_of::deviations, w);
  }
  CHECK_WORST(error, 1);
}

TEST_CASE("comoments: merging is commutative, and parts may differ in everything",
          "[moments][property]") {
  worst error;
  for (const double gap : {1e-3, 1.0, 1e6, 1e12}) {
    const rows a = oracle::shapes(500, 4, 0, 1), b = oracle::shapes(3, 4, gap, 2);
    rows both(503, 4);
    both << a, b;
    see(error, of_rows(a, 3) + of_rows(b, 3), both, streaming, scale_of::deviations);
    see(error, of_rows(b, 3) + of_rows(a, 3), both, streaming, scale_of::deviations);
  }
  CHECK_WORST(error, 1);
  const rows z = oracle::shapes(300, 4, 1e6, 3);
  auto twice = of_rows(z, 3);
  twice += twice;
  CHECK(twice.weight() == 600);
  see(error, twice, z, streaming, scale_of::deviations);
  CHECK_WORST(error, 1);
}

TEST_CASE("comoments: removal undoes addition, and says what it cost", "[moments][property]") {
  worst error;
  for (const double offset : {0.0, 1e8}) {
    const rows z = oracle::shapes(400, 4, offset, 12);
    const auto left = of_rows(z, 3) - of_rows(z.topRows(150), 3);
    CHECK(left.weight() == 250);
    CHECK(!left.lossy());
    see(error, left, z.bottomRows(250), streaming * left.loss(), scale_of::deviations);
  }
  CHECK_WORST(error, 1);

  rows z(100, 2);
  z.col(0) = Eigen::Map<Eigen::VectorXd>(families::normal<double>(100, 0, 1, 1).data(), 100);
  z.col(1) = Eigen::Map<Eigen::VectorXd>(families::normal<double>(100, 0, 1, 2).data(), 100);
  comoments<double> outlier(2);
  outlier.add(Eigen::Vector2d(1e6, 0));
  const auto window = (of_rows(z, 2) + outlier) - outlier;
  CHECK(window.lossy());
  CHECK((comoments<double>(2) + window).lossy());
  see(error, window, z, 1e-15 * window.loss(), scale_of::deviations);
  CHECK_WORST(error, 1);
}

TEST_CASE("comoments: an affine map of the sample is one of its state", "[moments][property]") {
  rows a(5, 3);
  a << 1, 2, -1, 0.5, 0, 3, -2, 1, 1, 1e-3, 4, 0, 2, 4, -2;
  Eigen::VectorXd b(5);
  b << 1, -2, 3e7, 0, 0.25;
  for (const double offset : {0.0, 1e6}) {
    rows z = oracle::shapes(500, 4, offset, 13);
    auto m = of_rows(z, 3);
    m.affine(a, b);
    CHECK(m.width() == 5);
    CHECK(m.weight() == 500);
    const auto c = oracle::centre(z);
    for (index_t i = 0; i < 5; ++i) {
      long double mean = b(i);
      for (index_t k = 0; k < 3; ++k)
        mean += static_cast<long double>(a(i, k)) * (z(0, k) + c.mean_from_first[std::size_t(k)]);
      CHECK(double(std::abs(m.mean()(i) - mean)) <= 4 * u * (1 + std::abs(double(mean))) + 1e-13);
      for (index_t j = 0; j < 5; ++j) {
        long double exact = 0, scale = 0;
        for (index_t k = 0; k < 3; ++k) {
          for (index_t l = 0; l < 3; ++l) {
            const auto pair = oracle::covariance(c, std::size_t(k), std::size_t(l));
            exact += static_cast<long double>(a(i, k)) * a(j, l) * pair.signed_value;
            scale += std::abs(static_cast<long double>(a(i, k)) * a(j, l)) * pair.absolute_value;
          }
        }
        CHECK(double(std::abs(m.covariance(i, j) - exact) / scale) <=
              cumulus::comoments_max_roundings * u);
      }
    }
    const rows cross = of_rows(z, 3).cross_covariance() * a.transpose();
    CHECK((m.cross_covariance() - cross).norm() <= 1e-14 * cross.norm());
  }
  comoments<double> nothing(3);
  nothing.affine(a, b);
  CHECK(nothing == comoments<double>(5));
  auto m = of_rows(oracle::shapes(50, 3, 0, 14), 3);
  m.affine(rows::Zero(2, 3), Eigen::Vector2d(1, 2));
  CHECK(m.mean() == Eigen::Vector2d(1, 2));
  CHECK(m.covariance().isZero(0));
  m.affine(rows::Constant(1, 2, inf), Eigen::Matrix<double, 1, 1>(0.0));
  CHECK(all_nan(m.covariance()));
}

// ---- forms of the argument

TEST_CASE("comoments: rows as they lie, strided, by columns, in pages", "[moments][property]") {
  const rows z = oracle::shapes(333, 6, 2, 15);
  const auto m = of_rows(z, 4);
  const Eigen::MatrixXd by_columns = z;
  comoments<double> columns(4, 2), pages(4, 2), pieces(4, 2);
  columns.add_rows(by_columns.leftCols(4), by_columns.rightCols(2));
  CHECK(columns == m);

  // pages of 9 rows, in another order; rows of both in one pool
  const auto order = permutation(37, 4);
  std::vector<index_t> table(37);
  rows pool(37 * 9, 6);
  for (std::size_t p = 0; p < 37; ++p) {
    table[p] = index_t(order[p]);
    pool.middleRows(table[p] * 9, 9) = z.middleRows(index_t(p) * 9, 9);
  }
  pages.add_rows(cumulus::token_rows<double>(pool.data(), 9, table, 333, 4, 6),
                 cumulus::token_rows<double>(pool.data() + 4, 9, table, 333, 2, 6));
  worst error;
  see(error, pages, z, streaming, scale_of::deviations);
  CHECK_WORST(error, 1);

  comoments<double> integers(2), doubles(2);
  Eigen::MatrixXi counts(4, 2);
  counts << 1, 5, 2, 2, 3, 1, 9, 9;
  integers.add_rows(counts);
  doubles.add_rows(counts.cast<double>());
  CHECK(integers == doubles);
  integers.add(std::vector<int>{4, 5});
  doubles.add(std::array{4.0, 5.0});
  CHECK(integers == doubles);

  comoments<long double> wide(2);
  wide.add_rows(z.leftCols(2).cast<long double>());
  CHECK(double(wide.covariance(1, 0)) == Approx(m.covariance(1, 0)).epsilon(1e-14));
}

TEST_CASE("comoments: packed, full and diagonal agree", "[moments][property]") {
  const auto m = of_rows(oracle::shapes(50, 5, 0, 16), 5);
  CHECK(m.covariance() == m.covariance().transpose());
  CHECK(m.variance() == m.covariance().diagonal());
  const auto packed = m.packed();
  REQUIRE(packed.size() == 15);
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j <= i; ++j) CHECK(packed(i * (i + 1) / 2 + j) == m.covariance(i, j));
  }
}

TEST_CASE("comoments: its numbers are its state", "[moments][property]") {
  auto m = of_rows(oracle::shapes(50, 5, 1e12, 17), 3);
  m -= of_rows(oracle::shapes(3, 5, 1e12, 17), 3);
  for (int spoilt = 0; spoilt < 2; ++spoilt) {
    std::vector<double> numbers;
    const auto& constant = m;
    constant.for_each_number([&](const auto& x) { numbers.push_back(double(x)); });
    comoments<double> copy(3, 2);
    std::size_t i = 0;
    copy.for_each_number([&](auto& x) { x = std::remove_cvref_t<decltype(x)>(numbers[i++]); });
    CHECK(i == numbers.size());
    CHECK(copy == m);
    m.add(Eigen::Vector3d(1, inf, 2), Eigen::Vector2d(0, 0));
  }
}

TEST_CASE("comoments: what does not fit is refused by name", "[moments][edge]") {
  comoments<double> m(3), both(3, 2);
  const rows x = rows::Zero(4, 3), v = rows::Zero(4, 2);
  CHECK(refusal([&] { m.add(v.row(0)); }) ==
        "cumulus: comoments::add: x has 2 elements, the mean has 3");
  CHECK(refusal([&] { both.add(x.row(0)); }) ==
        "cumulus: comoments::add: v has 0 elements, the second mean has 2");
  CHECK(refusal([&] { m.add_rows(v); }) ==
        "cumulus: comoments::add_rows: a row of x has 2 elements, the mean has 3");
  CHECK(refusal([&] { m.add_rows(x, std::vector<double>{1, 2}); }) ==
        "cumulus: comoments::add_rows: a column of x has 4 elements, weights has 2");
  CHECK(refusal([&] { m.add_rows(x, std::vector<double>()); }) ==
        "cumulus: comoments::add_rows: a column of x has 4 elements, weights has 0");
  CHECK(refusal([&] { both.add_rows(x, v.topRows(3)); }) ==
        "cumulus: comoments::add_rows: a column of x has 4 elements, a column of v has 3");
  CHECK(refusal([&] { m += both; }) == "cumulus: comoments: this is 3 x 0, other is 3 x 2");
  CHECK(refusal([&] { m -= both; }) == "cumulus: comoments: this is 3 x 0, other is 3 x 2");
  CHECK(refusal([&] { m.affine(v, std::vector<double>{1, 2, 3, 4}); }) ==
        "cumulus: comoments::affine: A has 2 columns, x has 3 elements");
  CHECK(refusal([&] { m.affine(x, std::vector<double>{1}); }) ==
        "cumulus: comoments::affine: a column of A has 4 elements, b has 1");
  CHECK(refusal([] { comoments<double>(-1, 2); }) ==
        "cumulus: comoments: vectors of -1 and 2 numbers; give widths of 0 or more");
  CHECK(m.empty());
}

TEST_CASE("comoments: the vectors that have a weight count", "[moments][property]") {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(700, 3);
  Eigen::VectorXd w = Eigen::VectorXd::Ones(700);
  for (int i = 0; i < 700; i += 7) w[i] = 0;
  comoments<double> plain(3), weighted(3), streamed(3);
  plain.add_rows(x);
  weighted.add_rows(x, w);
  for (int i = 0; i < 700; ++i) streamed.add(x.row(i), w[i]);
  CHECK(plain.count() == 700);
  CHECK(weighted.count() == 600);
  CHECK(streamed.count() == 600);
  CHECK((plain + weighted).count() == 1300);
  CHECK((plain + weighted - plain).count() == 600);
  CHECK((plain - plain).count() == 0);
  plain.add(Eigen::Vector3d(1, inf, 2));
  CHECK(plain.count() == 701);
  plain.add_rows(x);  // no block is finite any more
  CHECK(plain.count() == 1401);
  weighted.affine(Eigen::MatrixXd::Ones(2, 3), Eigen::Vector2d(1, 2));
  CHECK(weighted.count() == 600);
}

TEST_CASE("comoments: coordinates that there are not are refused", "[moments][edge]") {
  cumulus::comoments<double> m(3, 2);
  for (int i = 0; i < 5; ++i)
    m.add(Eigen::VectorXd(Eigen::VectorXd::Random(3)), Eigen::VectorXd(Eigen::VectorXd::Random(2)));
  CHECK(m.covariance(2, 2) > 0);
  CHECK_THROWS_AS(m.covariance(3, 0), std::invalid_argument);
  CHECK_THROWS_AS(m.covariance(0, 3), std::invalid_argument);
  CHECK_THROWS_AS(m.covariance(-1, 0), std::invalid_argument);
  CHECK(std::isfinite(m.deviation(4, 1.0)));
  CHECK_THROWS_WITH(m.deviation(5, 1.0),
                    "cumulus: comoments::deviation: coordinate 5 of 5; give 0..4");
  CHECK_THROWS_AS(m.deviation(-1, 1.0), std::invalid_argument);
  CHECK_THROWS_WITH(cumulus::comoments<double>(0).covariance(0, 0),
                    Catch::Matchers::Contains("width 0"));
  const auto huge = cumulus::index_t(1) << 62;
  CHECK_THROWS_AS(cumulus::comoments<double>(huge), std::invalid_argument);
  CHECK_THROWS_AS(cumulus::comoments<double>(1, huge), std::invalid_argument);
}

TEST_CASE("comoments: a removal that leaves no sample has lost all digits", "[moments][edge]") {
  const auto of = [](std::initializer_list<double> x) {
    cumulus::comoments<double> m(1);
    for (const double v : x) m.add(Eigen::VectorXd::Constant(1, v));
    return m;
  };
  CHECK((of({1, 2, 3}) - of({7, 8, 9})).loss() == inf);
  CHECK((of({1, 2, 3}) - of({1, 2, 3, 3})).loss() == inf);
  CHECK((of({1, 2, 3}) - of({1, 2, 3})).loss() < inf);
  CHECK((of({1, 2, 3}) - of({2, 2, 2})).loss() == inf);
  CHECK((of({1, 2, 3}) - of({1, 2, 2})).loss() == inf);
  CHECK((of({1, 2, 3, 4}) - of({3, 4})).loss() < 1000);
}
