// SPDX-License-Identifier: MIT
#include <cumulus/exact/log_product.hpp>

#include <Eigen/Core>
#include <cfenv>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"
#include "ulp.hpp"

using cumulus::into;
using cumulus::log_product;
using cumulus::log_product_max_ulp;
using cumulus::log_product_max_ulp_of;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
using matrix = Eigen::Matrix<T, -1, -1>;
template <class T>
using by_rows = Eigen::Matrix<T, -1, -1, Eigen::RowMajor>;

/// spread (u - 1/2) + offset
template <class T>
matrix<T> uniform(int rows, int cols, double spread, double offset, unsigned seed) {
  families::random r(seed);
  matrix<T> m(rows, cols);
  for (int i = 0; i < m.size(); ++i) m.data()[i] = T(spread * (r.uniform() - 0.5) + offset);
  return m;
}

/// The largest error of an entry: `one` in ulp of max(1, |A_ik| + |B_kj| at the largest term, |C_ij|), `blocked` in those of
/// max(1, |C_ij|).
struct errors {
  double one = 0, blocked = 0;
};
template <class T>
errors error(const matrix<T>& a, const matrix<T>& b, const matrix<T>& c) {
  errors worst;
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < b.cols(); ++j) {
      oracle::wide most = -inf, sum = 0;
      T size = 1;
      for (int k = 0; k < a.cols(); ++k) {
        const oracle::wide term = oracle::wide(a(i, k)) + oracle::wide(b(k, j));
        if (most < term) {
          most = term;
          size = std::max(T(1), std::abs(a(i, k)) + std::abs(b(k, j)));
        }
      }
      for (int k = 0; k < a.cols(); ++k)
        sum += exp(oracle::wide(a(i, k)) + oracle::wide(b(k, j)) - most);
      const oracle::wide expected = a.cols() == 0 ? oracle::wide(-inf) : most + log(sum);
      if (!isfinite(expected)) {
        if (!(c(i, j) == -std::numeric_limits<T>::infinity())) worst.one = worst.blocked = inf;
        continue;
      }
      const T value = std::max(T(1), std::abs(static_cast<T>(expected)));
      const double e = ulps(c(i, j), expected, std::max(size, value)),
                   f = ulps(c(i, j), expected, value);
      if (!(e <= worst.one)) worst.one = e;
      if (!(f <= worst.blocked)) worst.blocked = f;
    }
  }
  return worst;
}
template <class T>
errors error(const matrix<T>& a, const matrix<T>& b) {
  return error<T>(a, b, log_product(a, b));
}

template <class A, class B>
bool same(const A& a, const B& b) {
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.cols(); ++j) {
      const double x = double(a(i, j)), y = double(b(i, j));
      if (!(x == y || (std::isnan(x) && std::isnan(y)))) return false;
    }
  }
  return a.rows() == b.rows() && a.cols() == b.cols();
}

}  // namespace

TEST_CASE("log_product: blocked sums within their bound at every spread and inner size",
          "[exact][accuracy]") {
  for (const int inner : {4, 5, 17, 64, 255, 300, 700}) {
    for (const double spread : {1e-9, 1.0, 30.0, 200.0, 600.0}) {
      const auto a = uniform<double>(5, inner, spread, 3, 11u),
                 b = uniform<double>(inner, 6, spread, -7, 12u);
      INFO(inner << ' ' << spread);
      CHECK(error(a, b).blocked <= log_product_max_ulp_of(inner));
      const matrix<float> fa = a.cast<float>(), fb = b.cast<float>();
      CHECK(error(fa, fb).blocked <= 1);
    }
  }
}

TEST_CASE("log_product: every size from 0 to 70", "[exact][accuracy]") {
  for (int n = 0; n <= 70; ++n) {
    const auto a = uniform<double>(n % 9, n, 5, 0, 21u),
               b = uniform<double>(n, n % 7 + 1, 5, 0, 22u);
    INFO(n);
    CHECK(error(a, b).blocked <= log_product_max_ulp_of(n));
    const auto c = uniform<double>(n, 5, 5, 0, 23u), d = uniform<double>(5, n, 5, 0, 24u);
    CHECK(error(c, d).blocked <= log_product_max_ulp_of(5));
  }
}

TEST_CASE("log_product: entries that a blocked sum would lose are summed one by one",
          "[exact][accuracy]") {
  for (const double spread : {3e3, 1e6, 1e16, 1e300}) {
    const auto a = uniform<double>(6, 9, spread, 0, 31u), b = uniform<double>(9, 7, spread, 0, 32u);
    INFO(spread);
    CHECK(error(a, b).one <= log_product_max_ulp);
  }
  // the maxima of row and column meet at different k: all shifted exponentials underflow
  matrix<double> a = matrix<double>::Constant(5, 4, -2000),
                 b = matrix<double>::Constant(4, 5, -2000);
  a.col(0).setZero();
  b.row(1).setZero();
  const auto c = log_product(a, b);
  CHECK(error(a, b).one <= log_product_max_ulp);
  CHECK(std::abs(c(2, 3) - (-2000 + std::log(2.0))) < 1e-11);
}

TEST_CASE("log_product: sums of two large numbers that cancel, and ties there",
          "[exact][accuracy]") {
  for (const double offset : {1e8, 1e16}) {
    auto a = uniform<double>(6, 12, 8, 0, 41u), b = uniform<double>(12, 6, 8, 0, 42u);
    a.array() += offset;
    b.array() -= offset;
    CHECK(error(a, b).one <= log_product_max_ulp);
    for (int k = 0; k < 12; k += 2) {  // alternating, so that lines are wide and terms are not
      a.col(k).array() -= 2 * offset;
      b.row(k).array() += 2 * offset;
    }
    CHECK(error(a, b).one <= log_product_max_ulp);
    const matrix<double> tie = matrix<double>::Constant(4, 8, offset);
    CHECK(error<double>(tie, -tie.transpose()).one <= log_product_max_ulp);
  }
}

TEST_CASE("log_product: the roundings of many small terms beside a large one are gathered",
          "[exact][accuracy]") {
  // each sum is a tie that rounds away from 0, by 4 ulp of 1
  constexpr int n = 18000;
  matrix<double> a = matrix<double>::Constant(1, n, -8 - 0x1p-49),
                 b = matrix<double>::Constant(n, 1, -0x1p-50);
  a(0, 0) = b(0, 0) = 0;
  CHECK(error(a, b).one <= log_product_max_ulp / 2);
}

TEST_CASE("log_product: -inf removes a term, NaN and +inf are those of logsumexp",
          "[exact][edge]") {
  for (const int n : {2, 6}) {  // one by one, and in blocks
    matrix<double> a = matrix<double>::Zero(n, 6), b = matrix<double>::Zero(6, n);
    a(0, 1) = -inf;
    b(1, 0) = inf;
    b(2, 0) = qnan;
    a(0, 2) = -inf;
    a.row(1).setConstant(-inf);
    std::feclearexcept(FE_ALL_EXCEPT);
    const auto c = log_product(a, b);
    CHECK_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO));
    CHECK(c(0, 0) == Approx(std::log(4.0)));
    CHECK(c(0, 1) == Approx(std::log(4.0)));
    CHECK(c(1, 0) == -inf);
    CHECK(c(1, 1) == -inf);
    if (n > 2) {
      CHECK(std::isnan(c(2, 0)));
      b(2, 0) = 0;
      CHECK(log_product(a, b)(2, 0) == inf);
      CHECK(c(2, 1) == Approx(std::log(6.0)));
    }
  }
  CHECK(log_product(matrix<double>(2, 0), matrix<double>(0, 3)) ==
        matrix<double>::Constant(2, 3, -inf));
  CHECK(log_product(matrix<double>(0, 4), matrix<double>(4, 3)).rows() == 0);
}

TEST_CASE(
    "log_product: orders of storage, blocks, vectors, memory that overlaps and threads give the "
    "same bits",
    "[exact][value]") {
  const auto a = uniform<double>(100, 70, 20, 0, 51u), b = uniform<double>(70, 67, 20, 0, 52u);
  const matrix<double> c = log_product(a, b);
  const by_rows<double> ar = a, br = b;
  CHECK(same(log_product(ar, br), c));
  STATIC_REQUIRE(decltype(log_product(ar, b))::IsRowMajor);
  CHECK(same(log_product(a * 1.0, b.block(0, 0, 70, 67)), c));
  by_rows<double> out(100, 134);
  log_product(a, b, into(out.block(0, 20, 100, 67)), {.threads = 3});
  CHECK(same(out.block(0, 20, 100, 67), c));
  auto run = [](cumulus::index_t count, cumulus::part_task task) {
    std::vector<std::thread> all;
    for (cumulus::index_t p = 0; p < count; ++p) all.emplace_back([=] { task(p); });
    for (auto& t : all) t.join();
  };
  for (const int threads : {2, 3, 7})
    CHECK(same(log_product(a, b, {.threads = threads, .executor = run}), c));
  matrix<double> square = uniform<double>(30, 30, 4, 0, 53u);
  const matrix<double> squared = log_product(square, square);
  log_product(square, square, into(square));
  CHECK(same(square, squared));
  const Eigen::VectorXd v = b.col(3);
  const Eigen::VectorXd av = log_product(a, v);
  CHECK((av - c.col(3)).cwiseAbs().maxCoeff() < 1e-12);
  const Eigen::RowVectorXd ra = log_product(a.row(5), b);
  CHECK((ra - c.row(5)).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("log_product: long double, half and integers", "[exact][value]") {
  const auto a = uniform<double>(7, 20, 6, 0, 61u), b = uniform<double>(20, 5, 6, 0, 62u);
  const matrix<long double> la = a.cast<long double>(), lb = b.cast<long double>();
  CHECK(error(la, lb).one <= log_product_max_ulp);
  const matrix<Eigen::half> ha = a.cast<Eigen::half>(), hb = b.cast<Eigen::half>();
  const matrix<double> wide =
      log_product(matrix<double>(ha.cast<double>()), matrix<double>(hb.cast<double>()));
  const matrix<Eigen::half> h = log_product(ha, hb);
  for (int i = 0; i < h.size(); ++i)
    CHECK(float(h.data()[i]) == float(Eigen::half(wide.data()[i])));
  const Eigen::MatrixXi i = Eigen::MatrixXi::Constant(4, 5, 2),
                        j = Eigen::MatrixXi::Constant(5, 4, 3);
  CHECK(log_product(i, j)(1, 2) == Approx(5 + std::log(5.0)));
}

TEST_CASE("log_product: shapes and threads that do not fit are refused", "[exact][refusal]") {
  const matrix<double> a(2, 3), b(4, 5);
  CHECK(
      refusal([&] { (void)log_product(a, b); }) ==
      "cumulus: log_product: a has 3 columns, b has 4 rows; give matrices whose inner sizes agree");
  matrix<double> out(2, 2);
  CHECK_FALSE(refusal([&] { log_product(a, matrix<double>(3, 5), into(out)); }).empty());
  CHECK_FALSE(refusal([&] { (void)log_product(a, matrix<double>(3, 5), {.threads = 0}); }).empty());
}
