// SPDX-License-Identifier: MIT
#include <cumulus/moments/moment_tensor.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <array>
#include <limits>

#include "catch.hpp"
#include "merge_tree.hpp"
#include "refusal.hpp"
#include "vector_oracle.hpp"
#include "worst.hpp"

namespace {

using cumulus::index_t;
using cumulus::moment_tensor;
using oracle::rows;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double u = 0x1p-53;
constexpr double streaming = cumulus::moment_tensor_streaming_error;

/// f(indices) for all i1 <= ... <= ip below d, in the packed order.
template <class F>
void for_each_component(index_t d, int p, F f, std::vector<index_t> above = {}) {
  if (p == 0) return f(above);
  const index_t limit = above.empty() ? d : above.front() + 1;
  for (index_t k = 0; k < limit; ++k) {
    auto indices = above;
    indices.insert(indices.begin(), k);
    for_each_component(d, p - 1, f, indices);
  }
}

/// (E |y_j|^p)^(1/p) of each coordinate: an error of E y_i ... y_k is measured by the product of theirs.
std::vector<double> roots(const oracle::centred& c, int p, const std::vector<double>& w) {
  std::vector<double> out;
  for (const auto& column : c.y) {
    long double sum = 0;
    for (std::size_t k = 0; k < column.size(); ++k)
      sum += (w.empty() ? 1 : w[k]) * std::pow(std::abs(column[k]), p);
    out.push_back(double(std::pow(sum / c.weight, 1.0L / p)));
  }
  return out;
}

/// The largest error in `unit`, times p where it is one of roundings.
template <class T>
void see(worst& error, const moment_tensor<T>& m, const rows& z, double unit,
         const std::vector<double>& w = {}) {
  const auto c = oracle::centre(z, w);
  for (int p = 2; p <= m.order(); ++p) {
    const auto root = roots(c, p, w);
    const auto packed = m.packed(p);
    index_t place = 0;
    for_each_component(z.cols(), p, [&](const std::vector<index_t>& indices) {
      oracle::long_sum sum;
      for (std::size_t k = 0; k < c.y[0].size(); ++k) {
        long double term = w.empty() ? 1 : w[k];
        for (const index_t i : indices) term *= c.y[std::size_t(i)][k];
        sum.add(term);
      }
      double scale = unit < 1e-15 ? p : 1;
      for (const index_t i : indices) scale *= root[std::size_t(i)];
      const double off = double(std::abs(packed(place) - sum.value() / c.weight));
      error.see(off == 0 ? 0 : off / (scale * unit), "order", p, "component", place, "n", z.rows());
      ++place;
    });
    CHECK(place == packed.size());
  }
}

moment_tensor<double> of_rows(const rows& z, int order, const std::vector<double>& w = {}) {
  moment_tensor<double> m(z.cols(), order);
  if (w.empty()) {
    m.add_rows(z);
  } else {
    m.add_rows(z, w);
  }
  return m;
}
moment_tensor<double> one_by_one(const rows& z, int order, const std::vector<double>& w = {}) {
  moment_tensor<double> m(z.cols(), order);
  for (index_t i = 0; i < z.rows(); ++i) m.add(z.row(i), w.empty() ? 1 : w[std::size_t(i)]);
  return m;
}

bool all_nan(const moment_tensor<double>& m) {
  bool all = true;
  for (int p = 2; p <= m.order(); ++p) all = all && m.packed(p).array().isNaN().all();
  return all;
}

}  // namespace

TEST_CASE("moment_tensor: rows within their roundings at every length and offset",
          "[moments][value]") {
  const double offset = GENERATE(0.0, -1e3, 1e8, 1e12);
  worst rounding, step;
  for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 13u, 24u, 31u, 48u, 70u, 255u, 1000u, 2500u}) {
    const rows z = oracle::shapes(n, 5, offset, n);
    see(rounding, of_rows(z, 4), z, u);
    if (n < 300) see(step, one_by_one(z, 4), z, streaming);
  }
  CHECK_WORST(rounding, cumulus::moment_tensor_max_roundings);
  CHECK_WORST(step, 1);
}

TEST_CASE("moment_tensor: weighted rows within their roundings", "[moments][value]") {
  worst rounding, step;
  for (const std::size_t n : {2u, 17u, 128u, 700u}) {
    const rows z = oracle::shapes(n, 4, 1e6, n);
    for (const auto& w : {families::wild_weights<double>(n, 16, 42), families::ties<double>(n, 2),
                          families::uniform<double>(n, 0x1p53, 0x1p60, 43)}) {
      see(rounding, of_rows(z, 4, w), z, u, w);
      see(step, one_by_one(z, 4, w), z, streaming, w);
    }
  }
  CHECK_WORST(rounding, cumulus::moment_tensor_weighted_max_roundings);
  CHECK_WORST(step, 1);
}

TEST_CASE("moment_tensor: wide vectors and high orders", "[moments][value]") {
  worst rounding;
  const auto check = [&](index_t d, int order) {
    const rows z = oracle::shapes(40, d, 1e3, std::uint64_t(d));
    see(rounding, of_rows(z, order), z, u);
  };
  check(1, 8);
  check(2, 7);
  check(9, 3);
  check(20, 3);
  check(7, 5);
  check(3, 1);
  CHECK_WORST(rounding, cumulus::moment_tensor_max_roundings);
}

TEST_CASE("moment_tensor: the packed order, and indices in any order", "[moments][value]") {
  const auto m = of_rows(oracle::shapes(50, 5, 0, 3), 3);
  const auto t = m.packed(3);
  REQUIRE(t.size() == 35);
  for (index_t k = 0; k < 5; ++k) {
    for (index_t j = 0; j <= k; ++j) {
      for (index_t i = 0; i <= j; ++i) {
        const double value = t(i + j * (j + 1) / 2 + k * (k + 1) * (k + 2) / 6);
        CHECK(m.moment({i, j, k}) == value);
        CHECK(m.moment({k, i, j}) == value);
      }
    }
  }
  CHECK(m.packed(0).size() == 1);
  CHECK(m.moment({}) == 1);
  CHECK(m.moment({2}) == 0);
}

TEST_CASE("moment_tensor: any split, merged in any tree", "[moments][property]") {
  families::random r(71);
  worst error;
  for (int trial = 0; trial < 100; ++trial) {
    const double offset = std::array{0.0, 1e3, -1e8, 1e12}[r.below(4)];
    const std::size_t n = 1 + r.below(trial % 10 == 0 ? 300 : 40);
    const rows z = oracle::shapes(n, 3, offset, r.bits());
    const auto kind = r.below(4);
    const auto w = kind == 0   ? families::ties<double>(n, 1)
                   : kind == 1 ? families::ties<double>(n, 2)
                   : kind == 2 ? families::wild_weights<double>(n, 6, r.bits())
                               : families::ties<double>(n, 0x1p40);  // n^3 beyond 64 bits
    const auto m =
        merge_tree(moment_tensor<double>(3, 4), n, 1 + r.below(2 * n), r.bits(),  // some are empty
                   [&](moment_tensor<double>& part, std::size_t i) {
                     if (i % 2 == 0) {
                       part.add(z.row(index_t(i)), w[i]);
                     } else {
                       part.add_rows(z.row(index_t(i)), std::vector<double>{w[i]});
                     }
                   });
    see(error, m, z, streaming, w);
  }
  const rows a = oracle::shapes(300, 4, 0, 1), b = oracle::shapes(3, 4, 1e6, 2);
  rows both(303, 4);
  both << a, b;
  see(error, of_rows(a, 4) + of_rows(b, 4), both, streaming);
  see(error, of_rows(b, 4) + of_rows(a, 4), both, streaming);
  auto twice = of_rows(a, 4);
  twice += twice;
  see(error, twice, a, streaming);
  CHECK_WORST(error, 1);
}

TEST_CASE("moment_tensor: removal undoes addition, and says what it cost", "[moments][property]") {
  worst error;
  const rows z = oracle::shapes(200, 3, 1e6, 12);
  const auto left = of_rows(z, 4) - of_rows(z.topRows(80), 4);
  CHECK(left.weight() == 120);
  CHECK(!left.lossy());
  see(error, left, z.bottomRows(120), streaming * left.loss());
  CHECK_WORST(error, 1);
  moment_tensor<double> outlier(3, 4);
  outlier.add(Eigen::Vector3d(1e12, 0, 0));
  const auto window = (of_rows(z, 4) + outlier) - outlier;
  CHECK(window.lossy());
  CHECK((moment_tensor<double>(3, 4) + window).lossy());
  CHECK((left - left).empty());
  CHECK(all_nan(left - of_rows(z, 4)));
}

TEST_CASE("moment_tensor: a direction's moments are those of the projection", "[moments][value]") {
  const double offset = GENERATE(0.0, 1e6);
  const rows z = oracle::shapes(500, 4, offset, 13);
  const auto w = families::wild_weights<double>(500, 3, 14);
  const auto m = of_rows(z, 6, w);
  for (const Eigen::Vector4d& q : {Eigen::Vector4d(1, 0, 0, 0), Eigen::Vector4d(0.3, -2, 0.5, 1e-3),
                                   Eigen::Vector4d(0, 1, 1, 0)}) {
    const auto d = m.directional(q);
    const rows product = z * q;
    const auto exact = oracle::centre(z, w);
    CHECK(d.order() == 6);
    CHECK(d.weight() == m.weight());
    CHECK(d.mean() == Approx(q.dot(m.mean())).epsilon(1e-14));
    for (int p = 2; p <= 6; ++p) {
      oracle::long_sum sum;
      for (std::size_t k = 0; k < 500; ++k) {
        long double y = 0;
        for (index_t j = 0; j < 4; ++j) y += q(j) * exact.y[std::size_t(j)][k];
        sum.add(w[k] * std::pow(y, p));
      }
      double reach = 0;
      for (index_t j = 0; j < 4; ++j) reach += std::abs(q(j)) * roots(exact, p, w)[std::size_t(j)];
      const auto error = double(std::abs(d.moment(p) - sum.value() / exact.weight));
      CHECK(error <= cumulus::moment_tensor_weighted_max_roundings * p * u * std::pow(reach, p));
    }
    CHECK(d.min() <= product.minCoeff());
    CHECK(d.max() >= product.maxCoeff());
    CHECK(d.max() - d.min() <= 1.001 * (z.colwise().maxCoeff() - z.colwise().minCoeff())
                                           .cwiseAbs()
                                           .dot(q.transpose().cwiseAbs()) +
                                   1e-9);
  }
}

TEST_CASE("moment_tensor: a direction feeds the series", "[moments][value]") {
  rows z = oracle::shapes(300, 4, 0, 15);
  z.col(3) *= 1e-3;
  const auto m = of_rows(z, 6);
  const Eigen::Vector4d q(0.2, 0.1, -0.3, 0.1);
  const auto e = cumulus::logsumexp_series(m.directional(q), 6);
  long double exact = 0;
  for (index_t i = 0; i < 300; ++i) exact += std::exp(static_cast<long double>(z.row(i).dot(q)));
  CHECK(std::abs(e.value - double(std::log(exact))) <= e.bound);
  CHECK(e.bound < 1);
}

TEST_CASE("moment_tensor: edges", "[moments][edge]") {
  const rows z = oracle::shapes(100, 3, 3, 16);
  const auto m = of_rows(z, 3);
  const moment_tensor<double> nothing(3, 3);
  CHECK(m + nothing == m);
  CHECK(nothing + m == m);
  CHECK(m - nothing == m);
  CHECK(nothing.empty());
  CHECK(nothing.mean().array().isNaN().all());
  CHECK(all_nan(nothing));
  CHECK(nothing.directional(Eigen::Vector3d(1, 2, 3)).empty());

  auto zero = m;
  zero.add(Eigen::Vector3d(inf, not_a_number, 0), 0);
  CHECK(zero == m);

  for (const std::size_t n : {1u, 2u, 33u, 500u}) {  // a coordinate that never changes
    rows constant = oracle::shapes(n, 3, 3, 17);
    constant.col(1).setConstant(1e12 + 0.3);
    for (const auto& c : {of_rows(constant, 4), one_by_one(constant, 4),
                          of_rows(constant, 4) + one_by_one(constant, 4)}) {
      CHECK(c.mean()(1) == 1e12 + 0.3);
      for (const index_t i : {0, 1, 2}) {
        CHECK(c.moment({1, i}) == 0);
        CHECK(c.moment({i, 1, 2, 2}) == 0);
      }
      const auto d = c.directional(Eigen::Vector3d(0, 2, 0));
      CHECK(d.moment(2) == 0);
      CHECK(d.min() == d.max());
    }
  }

  for (const double bad : {inf, not_a_number}) {
    rows spoilt = z;
    spoilt(50, 1) = bad;
    for (const auto& s : {of_rows(spoilt, 3), one_by_one(spoilt, 3)}) {
      CHECK(s.weight() == 100);
      CHECK(!std::isfinite(s.mean()(1)));
      CHECK(s.mean()(0) == Approx(z.col(0).mean()));
      CHECK(all_nan(s));
      CHECK(std::isnan(s.directional(Eigen::Vector3d(1, 1, 1)).moment(2)));
    }
  }
  auto w = families::ties<double>(100, 1);
  w[7] = -1;
  CHECK(std::isnan(of_rows(z, 3, w).weight()));
}

TEST_CASE("moment_tensor: float rows, and its numbers are its state", "[moments][property]") {
  const Eigen::MatrixXf x = oracle::shapes(300, 4, 10, 18).cast<float>();
  moment_tensor<float> m(4, 3);
  m.add_rows(x);
  worst rounding;
  see(rounding, m, x.cast<double>(), 0x1p-24);
  CHECK_WORST(rounding, 1.01);
  std::vector<double> numbers;
  const auto& constant = m;
  constant.for_each_number([&](const auto& number) { numbers.push_back(double(number)); });
  moment_tensor<float> copy(4, 3);
  std::size_t i = 0;
  copy.for_each_number(
      [&](auto& number) { number = std::remove_cvref_t<decltype(number)>(numbers[i++]); });
  CHECK(i == numbers.size());
  CHECK(copy == m);
}

TEST_CASE("moment_tensor: what does not fit is refused by name", "[moments][edge]") {
  moment_tensor<double> m(3, 3);
  CHECK(refusal([&] { m.add(Eigen::Vector2d(1, 2)); }) ==
        "cumulus: moment_tensor::add: x has 2 elements, the mean has 3");
  CHECK(refusal([&] { m.add_rows(rows(4, 2)); }) ==
        "cumulus: moment_tensor::add_rows: a row of x has 2 elements, the mean has 3");
  CHECK(refusal([&] { m.add_rows(rows(4, 3), std::vector<double>(5)); }) ==
        "cumulus: moment_tensor::add_rows: a column of x has 4 elements, weights has 5");
  CHECK(refusal([&] { m += moment_tensor<double>(3, 2); }) ==
        "cumulus: moment_tensor: this has width 3 and order 3, other has 3 and 2; give both the "
        "same");
  CHECK(refusal([&] { static_cast<void>(m.packed(4)); }) ==
        "cumulus: moment_tensor::packed: order 4 is outside 0..3 (the order held)");
  CHECK(refusal([&] { static_cast<void>(m.moment({1, 3})); }) ==
        "cumulus: moment_tensor::moment: index 3 is outside 0..2 of 3 coordinates");
  CHECK(refusal([&] { static_cast<void>(m.directional(Eigen::Vector2d(1, 2))); }) ==
        "cumulus: moment_tensor::directional: q has 2 elements, the mean has 3");
  CHECK(refusal([] { moment_tensor<double>(-1, 2); }) ==
        "cumulus: moment_tensor: vectors of -1 numbers; give a width of 0 or more");
  CHECK(refusal([] { moment_tensor<double>(2, -1); }) ==
        "cumulus: moment_tensor: order -1 is outside 0..1000 (what it takes)");
  CHECK(refusal([] { moment_tensor<double>(1000, 9); }) ==
        "cumulus: moment_tensor: order 9 of 1000 dimensions has more than 2^40 components");
  CHECK(m.empty());
}

TEST_CASE("moment_tensor: the vectors that have a weight count, in each direction too",
          "[moments][property]") {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(700, 3);
  Eigen::VectorXd w = Eigen::VectorXd::Ones(700);
  for (int i = 0; i < 700; i += 7) w[i] = 0;
  moment_tensor<double> plain(3, 4), weighted(3, 4), streamed(3, 4);
  plain.add_rows(x);
  weighted.add_rows(x, w);
  for (int i = 0; i < 700; ++i) streamed.add(x.row(i), w[i]);
  CHECK(plain.count() == 700);
  CHECK(weighted.count() == 600);
  CHECK(streamed.count() == 600);
  CHECK((plain + weighted).count() == 1300);
  CHECK((plain + weighted - plain).count() == 600);
  CHECK((plain - plain).count() == 0);
  const Eigen::Vector3d q(1, -2, 0.5);
  CHECK(weighted.directional(q).count() == 600);
  CHECK((moment_tensor<double>(3, 4) + weighted).directional(q).count() == 600);
  plain.add(Eigen::Vector3d(1, std::nan(""), 2));
  plain.add_rows(x);  // no block is finite any more
  CHECK(plain.count() == 1401);
  CHECK(plain.directional(q).count() == 1401);
}

TEST_CASE("moment_tensor: a removal that leaves no sample has lost all digits", "[moments][edge]") {
  const auto of = [](std::initializer_list<double> x) {
    cumulus::moment_tensor<double> m(1, 3);
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
