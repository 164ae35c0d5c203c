// SPDX-License-Identifier: MIT
//
// Moments of vectors that nobody sends on purpose: of each, what the headers of moments/ and core/serialise.hpp promise all the
// same.
#include <cumulus/core/serialise.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/low_rank_covariance.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <cumulus/moments/sliding_window.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "merge_tree.hpp"
#include "refusal.hpp"

namespace {

using namespace cumulus;
using namespace cumulus::detail;
using vector = Eigen::VectorXd;
using matrix = Eigen::MatrixXd;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

matrix normal_rows(families::random& r, index_t n, index_t d, double offset = 0) {
  matrix x(n, d);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = offset + r.normal();
  return x;
}

vector one(double x) { return vector::Constant(1, x); }

template <class State>
State rows_of(State state, const matrix& x, const vector& w) {
  state.add_rows(x, w);
  return state;
}
template <class State>
State one_by_one(State state, const matrix& x, const vector& w) {
  for (index_t i = 0; i < x.rows(); ++i) state.add(vector(x.row(i)), w(i));
  return state;
}

/// Whether two numbers are the same, NaN as NaN.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// How many of the changed, cut and lengthened messages of a state are taken for a state.
template <class State>
int taken_for_a_state(const State& state) {
  const std::vector<std::byte> message = to_bytes(state);
  int taken = 0;
  const auto offer = [&](std::span<const std::byte> bytes) {
    taken += refusal([&] { (void)from_bytes<State>(bytes); }).empty() ? 1 : 0;
  };
  for (std::size_t i = 0; i < message.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> changed = message;
      changed[i] ^= std::byte(1 << bit);
      offer(changed);
    }
    offer(std::span(message).first(i));
  }
  std::vector<std::byte> longer = message;
  longer.push_back(std::byte(0));
  offer(longer);
  return taken;
}

}  // namespace

TEST_CASE("moments: weights that are none do the same by rows and one by one",
          "[moments][hostile]") {
  matrix x(3, 2);
  x << 1, 2, 3, 4, 5, 7;
  for (const double weight : {0.0, -0.0, -1.0, inf, not_a_number}) {
    vector w = vector::Ones(3);
    w(1) = weight;
    INFO("a weight of " << weight);
    const auto a = rows_of(comoments<double>(2), x, w), b = one_by_one(comoments<double>(2), x, w);
    const auto s = rows_of(moment_tensor<double>(2, 3), x, w),
               t = one_by_one(moment_tensor<double>(2, 3), x, w);
    const bool counts = weight == 0;
    CHECK(std::isnan(a.weight()) == !counts);
    CHECK((same(a.weight(), b.weight()) && same(s.weight(), t.weight())));
    CHECK((same(a.mean()(0), b.mean()(0)) && same(s.mean()(0), t.mean()(0))));
    CHECK(
        (same(a.covariance(0, 1), b.covariance(0, 1)) && same(s.moment({0, 1}), t.moment({0, 1}))));
    CHECK(same(a.covariance(0, 1), counts ? 5 : not_a_number));
  }
}

TEST_CASE("moments: a number that is not finite stays in its coordinate's mean",
          "[moments][hostile]") {
  for (const double hostile : {inf, -inf, not_a_number}) {
    matrix x(3, 2);
    x << 1, 2, hostile, 4, 5, 7;
    const vector w = vector::Ones(3);
    for (const auto& m :
         {rows_of(comoments<double>(2), x, w), one_by_one(comoments<double>(2), x, w)}) {
      CHECK(same(m.mean()(0), hostile));
      CHECK(m.mean()(1) == Approx(13.0 / 3));
      CHECK((std::isnan(m.covariance(0, 0)) && std::isnan(m.covariance(1, 1))));
    }
    for (const auto& m : {rows_of(moment_tensor<double>(2, 3), x, w),
                          one_by_one(moment_tensor<double>(2, 3), x, w)}) {
      CHECK(same(m.mean()(0), hostile));
      CHECK(m.mean()(1) == Approx(13.0 / 3));
      CHECK((std::isnan(m.moment({0, 0})) && std::isnan(m.moment({1, 1, 1}))));
    }
  }
}

TEST_CASE("comoments: affine leaves v as it was, whatever becomes of x", "[moments][hostile]") {
  for (const double factor : {2.0, 1e308, inf, not_a_number}) {
    comoments<double> m(1, 1);
    m.add(one(1), one(0));
    m.add(one(2), one(10));
    m.affine(matrix::Constant(1, 1, factor), one(factor));
    INFO("A and b of " << factor);
    CHECK(m.weight() == 2);
    CHECK(m.second_mean()(0) == 5);
  }
}

TEST_CASE("moments: weights of any size are weights", "[moments][hostile]") {
  matrix x(3, 1);
  x << 0, 1, 3;
  for (const auto& [weight, spread] :
       {std::pair(1e-100, 1e150), std::pair(1e300, 1e3), std::pair(1e-270, 1.0),
        std::pair(1e-100, 1e-80), std::pair(1e200, 1e-130), std::pair(0x1p1000, 1.0),
        std::pair(0x1p60, 1.0), std::pair(2.0, 1e-100)}) {
    INFO("weights of " << weight << ", a spread of " << spread);
    const matrix z = spread * x;
    const vector w = vector::Constant(3, weight);
    const double variance = 14.0 / 9 * spread * spread;
    for (const auto& m :
         {rows_of(comoments<double>(1), z, w), one_by_one(comoments<double>(1), z, w)})
      CHECK(std::abs(m.covariance(0, 0) / variance - 1) < 1e-14);
    for (const auto& m : {rows_of(moment_tensor<double>(1, 2), z, w),
                          one_by_one(moment_tensor<double>(1, 2), z, w)})
      CHECK(std::abs(m.moment({0, 0}) / variance - 1) < 1e-14);
  }
}

TEST_CASE("moments: where weights times squares do not fit, nothing is made up",
          "[moments][hostile]") {
  matrix x(3, 1);
  x << 0, 1, 3;
  for (const double spread : {1e5, 1e10, 1e200}) {  // too large: the covariance does not fit in any
    const matrix z = spread * x;
    const vector w = vector::Constant(3, 1e300);
    INFO("a spread of " << spread);
    for (const auto& m :
         {rows_of(comoments<double>(1), z, w), one_by_one(comoments<double>(1), z, w)}) {
      CHECK(!std::isfinite(m.covariance(0, 0)));
      CHECK((m.weight() == Approx(3e300) && m.mean()(0) == Approx(spread * 4 / 3)));
    }
    for (const auto& m : {rows_of(moment_tensor<double>(1, 3), z, w),
                          one_by_one(moment_tensor<double>(1, 3), z, w)}) {
      CHECK((!std::isfinite(m.moment({0, 0})) && !std::isfinite(m.moment({0, 0, 0}))));
      CHECK((m.weight() == Approx(3e300) && m.mean()(0) == Approx(spread * 4 / 3)));
    }
  }
  const matrix z = 1e-8 * x;  // too small: to a few of the smallest numbers
  const vector w = vector::Constant(3, 1e-300);
  for (const double sum : {rows_of(comoments<double>(1), z, w).covariance(0, 0) * 3e-300,
                           one_by_one(comoments<double>(1), z, w).covariance(0, 0) * 3e-300,
                           rows_of(moment_tensor<double>(1, 2), z, w).moment({0, 0}) * 3e-300,
                           one_by_one(moment_tensor<double>(1, 2), z, w).moment({0, 0}) * 3e-300})
    CHECK(std::abs(sum - 14.0 / 3 * 1e-316) <= 8 * std::numeric_limits<double>::denorm_min());
}

TEST_CASE("moments: from one end of the numbers to the other", "[moments][hostile]") {
  // -1.7e308 and 1.7e308 in turn: the means of blocks, batches and parts are far apart or near
  for (const index_t run : {1, 2, 300, 5000}) {
    const index_t n = run * 4;
    matrix x(n, 2);
    for (index_t i = 0; i < n; ++i) x(i, 0) = i / run % 2 == 0 ? -1.7e308 : 1.7e308, x(i, 1) = 3;
    INFO("runs of " << run);
    const auto check = [&](const auto& m, double variance) {
      CHECK((m.weight() == double(n) && m.mean()(1) == 3));
      CHECK(std::abs(m.mean()(0)) <= 1e-12 * 1.7e308);
      CHECK(!std::isfinite(variance));
    };
    const vector w = vector::Ones(n);
    for (const auto& m :
         {rows_of(comoments<double>(2), x, w), one_by_one(comoments<double>(2), x, w),
          rows_of(comoments<double>(2), x.topRows(run), w.head(run)) +
              rows_of(comoments<double>(2), x.bottomRows(n - run), w.tail(n - run))})
      check(m, m.covariance(0, 0));
    for (const auto& m :
         {rows_of(moment_tensor<double>(2, 2), x, w), one_by_one(moment_tensor<double>(2, 2), x, w),
          rows_of(moment_tensor<double>(2, 2), x.topRows(run), w.head(run)) +
              rows_of(moment_tensor<double>(2, 2), x.bottomRows(n - run), w.tail(n - run))})
      check(m, m.moment({0, 0}));
  }
}

TEST_CASE("moments: the mean of two finite numbers is one", "[moments][hostile]") {
  // their squares overflow, their mean does not
  matrix x(2, 1);
  x << 1e308, -1e308;
  const vector w = vector::Ones(2);
  CHECK(rows_of(comoments<double>(1), x, w).mean()(0) == 0);
  CHECK(one_by_one(comoments<double>(1), x, w).mean()(0) == 0);
  CHECK(rows_of(moment_tensor<double>(1, 2), x, w).mean()(0) == 0);
  CHECK(one_by_one(moment_tensor<double>(1, 2), x, w).mean()(0) == 0);
  // of one block, whose mean is found, and further from one of them than numbers go
  matrix y(3, 1);
  y << 0, 1.7e308, -1.7e308;
  vector v(3);
  v << 0.25, 0.75, 0.0625;
  const double mean = 1.7e308 * (0.6875 / 1.0625);
  for (const double found : {rows_of(comoments<double>(1), y, v).mean()(0),
                             one_by_one(comoments<double>(1), y, v).mean()(0),
                             rows_of(moment_tensor<double>(1, 2), y, v).mean()(0),
                             one_by_one(moment_tensor<double>(1, 2), y, v).mean()(0)})
    CHECK(std::abs(found / mean - 1) <= 1e-15);
}

TEST_CASE("moments: rows that never change vary by exactly 0", "[moments][hostile][law]") {
  families::random r(5);
  for (const double value : {0.1, 1e12, -1e300, 1e-310}) {
    const matrix x = matrix::Constant(700, 3, value);
    vector w(700);
    for (index_t i = 0; i < w.size(); ++i) w(i) = r.exponential();
    INFO("rows of " << value);
    const auto a = rows_of(comoments<double>(3), x, w), b = one_by_one(comoments<double>(3), x, w);
    for (const auto& m : {a, b, a + b, a + b - a}) {
      CHECK(m.covariance() == matrix::Zero(3, 3));
      CHECK(m.mean() == vector::Constant(3, value));
    }
    const auto s = rows_of(moment_tensor<double>(3, 4), x, w);
    for (const auto& m : {s, s + s}) {
      CHECK((m.packed(2).isZero(0) && m.packed(3).isZero(0) && m.packed(4).isZero(0)));
      CHECK(m.mean() == vector::Constant(3, value));
    }
  }
}

TEST_CASE("moments: any tree of merges, of counts whose products overflow",
          "[moments][hostile][law]") {
  families::random r(7);
  const matrix x = normal_rows(r, 40, 2, 1e12);
  vector w(40);
  for (index_t i = 0; i < 40; ++i) w(i) = std::ldexp(1.0, static_cast<int>(r.below(61)));
  const auto all = rows_of(comoments<double>(2), x, w);
  const auto cubes = rows_of(moment_tensor<double>(2, 3), x, w);
  const double cubed = std::pow(all.covariance(0, 0) * all.covariance(1, 1), 0.75);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto add = [&](auto& state, std::size_t i) {
      state.add(vector(x.row(index_t(i))), w(index_t(i)));
    };
    const auto m = merge_tree(comoments<double>(2), 40, 9, seed, add);
    const auto t = merge_tree(moment_tensor<double>(2, 3), 40, 9, seed, add);
    const double scale = std::sqrt(all.covariance(0, 0) * all.covariance(1, 1));
    CHECK(m.weight() == all.weight());
    CHECK(std::abs(m.covariance(0, 1) - all.covariance(0, 1)) <= comoments_streaming_error * scale);
    CHECK(std::abs(t.moment({1, 0, 1}) - cubes.moment({0, 1, 1})) <=
          moment_tensor_streaming_error * 10 * cubed);
  }
}

TEST_CASE("moments: what is removed", "[moments][hostile]") {
  comoments<double> m(1), part(1);
  part.add(one(1));
  part.add(one(2));
  m = part;
  m -= part;
  CHECK((m.empty() && m.weight() == 0 && std::isnan(m.mean()(0))));
  m.add(one(7));
  CHECK(m.mean()(0) == 7);
  m -= part;  // more than there is
  CHECK((std::isnan(m.weight()) && std::isnan(m.mean()(0)) && std::isnan(m.covariance(0, 0))));
  m = part;
  m -= std::as_const(m);
  CHECK(m.empty());
  m = part;
  m += std::as_const(m);
  CHECK((m.weight() == 4 && m.covariance(0, 0) == 0.25));
  moment_tensor<double> t(1, 4);
  t.add(one(1));
  t -= std::as_const(t);
  CHECK(t.empty());
  // what is left of two different values is one: its variance is 0, all digits are lost, and no flag is raised
  comoments<double> first(1);
  first.add(one(1));
  CHECK(spurious_flags([&] { m = part - first; }) == 0);
  CHECK((m.mean()(0) == 2 && m.covariance(0, 0) == 0 && m.lossy()));
}

TEST_CASE("moment_tensor: along any direction it is the moments of q x, in any width and order",
          "[moments][hostile][law]") {
  families::random r(9);
  for (const index_t d : {1, 2, 4}) {
    for (int order = 0; order <= 6; ++order) {
      const matrix x = normal_rows(r, 30, d, 5);
      moment_tensor<double> t(d, order);
      t.add_rows(x);
      for (const double factor : {1.0, -2.0, 0.0, 1e-30, 1e30}) {
        const vector q = factor * vector::LinSpaced(d, 1, 2);
        central_moments<double> direct(order);
        for (index_t i = 0; i < x.rows(); ++i) direct.add(x.row(i).dot(q));
        const central_moments<double> m = t.directional(q);
        INFO("d " << d << ", order " << order << ", factor " << factor);
        CHECK(m.weight() == 30);
        CHECK(m.mean() == Approx(direct.mean()).margin(0));
        for (int p = 2; p <= order; ++p) {
          const double size = std::pow(std::abs(factor) * 6 * double(d), p);
          CHECK(std::abs(m.moment(p) - direct.moment(p)) <= 1e-13 * size);
        }
        if (order >= 2) CHECK((m.min() <= direct.min() && direct.max() <= m.max()));
      }
    }
  }
  moment_tensor<double> nothing(0, 3);
  nothing.add(vector(0));
  CHECK((nothing.weight() == 1 && nothing.packed(2).size() == 0));
  CHECK(nothing.directional(vector(0)).mean() == 0);
}

TEST_CASE("low_rank: factors and diagonal, of any rank and of eigenvalues that repeat",
          "[moments][hostile]") {
  matrix cross = matrix::Zero(8, 4);  // 4 equal eigenvalues
  for (index_t i = 0; i < 4; ++i) cross(2 * i, i) = 1, cross(2 * i + 1, i) = -1;
  families::random r(3);
  matrix flat = normal_rows(r, 20, 4);
  flat.col(2) = flat.col(1);  // and one of 0
  for (const matrix& x : {cross, flat}) {
    comoments<double> m(4);
    m.add_rows(x);
    const matrix covariance = m.covariance();
    for (int rank = 0; rank <= 4; ++rank) {
      const auto low = low_rank(m, rank);
      INFO("rank " << rank);
      CHECK(low.diagonal.minCoeff() >= 0);
      const matrix rest = covariance - low.factors * low.factors.transpose();
      CHECK((low.diagonal + (low.factors * low.factors.transpose()).diagonal() -
             covariance.diagonal())
                .cwiseAbs()
                .maxCoeff() <= 1e-14);
      CHECK(eigen_of_symmetric(rest).values.minCoeff() >= -1e-14);
      CHECK(low.quadratic(vector::LinSpaced(4, -1, 1)) >= 0);
    }
    const auto all = low_rank(m, 4);
    CHECK((all.factors * all.factors.transpose() - covariance).cwiseAbs().maxCoeff() <= 1e-14);
    CHECK(!refusal([&] { (void)low_rank(m, 5); }).empty());
    CHECK(!refusal([&] { (void)low_rank(m, -1); }).empty());
  }
  CHECK(low_rank(comoments<double>(0), 0).diagonal.size() == 0);
  CHECK(std::isnan(low_rank(comoments<double>(2), 1).diagonal(0)));
}

TEST_CASE("eigen_of_symmetric: what is not square is refused", "[moments][hostile]") {
  CHECK(!refusal([] { (void)eigen_of_symmetric(matrix(matrix::Zero(2, 3))); }).empty());
}

TEST_CASE("sliding_window: one state, too many, and none", "[moments][hostile]") {
  using state = central_moments<double>;
  sliding_window<state> window(1, state(2));
  CHECK(!refusal([&] { window.pop(); }).empty());
  CHECK(!refusal([] { sliding_window<state>(0, state(2)); }).empty());
  window.add(1e300);
  window.add(3.0);
  CHECK((window.size() == 1 && window.value().mean() == 3 && window.value().moment(2) == 0));
  sliding_window<state> copy = window;
  const sliding_window<state> moved = std::move(window);
  copy.add(5.0);
  CHECK((copy.value().mean() == 5 && moved.value().mean() == 3));
  sliding_window<comoments<double>> vectors(3, comoments<double>(1));
  for (int i = 0; i < 10; ++i) vectors.add(one(i));
  CHECK(!refusal([&] { vectors.push(comoments<double>(2)); }).empty());
  CHECK(!refusal([&] { vectors.add(vector::Zero(2)); }).empty());
  CHECK((vectors.size() == 3 && vectors.value().weight() == 3 && vectors.value().mean()(0) == 8));
}

TEST_CASE("from_bytes: no changed bit, no cut and no tail is taken for a state",
          "[core][hostile]") {
  comoments<double> m(2, 1);
  moment_tensor<double> t(2, 3);
  central_moments<double> c(4);
  for (int i = 0; i < 5; ++i) {
    const vector x = vector::LinSpaced(2, i, i * i);
    m.add(x, one(1.0 / (1 + i)));
    t.add(x);
    c.add(i);
  }
  CHECK(taken_for_a_state(m) == 0);
  CHECK(taken_for_a_state(t) == 0);
  CHECK(taken_for_a_state(c) == 0);
  CHECK(taken_for_a_state(comoments<double>(0)) == 0);
  CHECK(from_bytes<comoments<double>>(to_bytes(m)) == m);
  CHECK(from_bytes<moment_tensor<double>>(to_bytes(t)) == t);
  CHECK(!refusal([&] { (void)from_bytes<comoments<double>>(to_bytes(t)); }).empty());
  CHECK(!refusal([&] { (void)from_bytes<central_moments<double, 5>>(to_bytes(c)); }).empty());
}
