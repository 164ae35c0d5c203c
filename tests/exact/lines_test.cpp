// SPDX-License-Identifier: MIT
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "any_options.hpp"
#include "catch.hpp"
#include "families.hpp"

// Lines of large matrices, whichever way they lie, on one thread or several. A contiguous line is what the other tests check.

using cumulus::colwise;
using cumulus::index_t;
using cumulus::rowwise;

namespace {

template <class T>
using by_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using by_columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Rows of different offsets and spreads, some of them not finite.
template <class T>
by_rows<T> lines(index_t rows, index_t cols) {
  const T inf = std::numeric_limits<T>::infinity();
  by_rows<T> x(rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    const auto values =
        families::normal<T>(std::size_t(cols), i % 5 == 0 ? 50.0 * double(i % 7) : 0.0,
                            i % 3 == 0 ? 25.0 : 2.0, std::uint64_t(i));
    for (index_t j = 0; j < cols; ++j) x(i, j) = values[std::size_t(j)];
  }
  x.row(1).setConstant(-inf);
  x(2, cols / 2) = inf;
  x(3, cols - 1) = std::numeric_limits<T>::quiet_NaN();
  x.row(4).array() *= T(1e6);
  x.row(5).setConstant(T(-3));
  x(5, 7) = T(90);
  x(6, 0) = -inf;
  x.row(7).array() += T(1e7);
  return x;
}

/// The largest difference in ulp of T; NaN equals NaN.
template <class A, class B>
double ulps_apart(const A& a, const B& b, double least = 0) {
  using T = typename A::Scalar;
  double worst = 0;
  for (index_t i = 0; i < a.rows(); ++i) {
    for (index_t j = 0; j < a.cols(); ++j) {
      const double x = double(a(i, j)), y = double(b(i, j));
      if (std::isnan(x) && std::isnan(y)) continue;
      if (x == y) continue;
      int e = 0;
      std::frexp(std::max({std::abs(x), std::abs(y), least}), &e);
      e = std::max(e - std::numeric_limits<T>::digits,
                   std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
      const double apart = std::ldexp(std::abs(x - y), -e);
      worst = apart <= worst ? worst : apart;  // a NaN stays
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("lines: across the memory as along it", "[exact][value]", float, double) {
  using T = TestType;
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{70, 9001}, {1025, 640}, {37, 11}}) {
    CAPTURE(rows, cols);
    const by_rows<T> along = lines<T>(rows, cols);
    const by_columns<T> across = along;
    for (const double scale : {1.0, 0.125}) {
      CAPTURE(scale);
      const auto apart = [&](const auto& a, const auto& b, double least) {
        return ulps_apart(a, b, least);
      };
      CHECK(apart(cumulus::logsumexp(across, rowwise, {.scale = scale}),
                  cumulus::logsumexp(along, rowwise, {.scale = scale}), 1) <= 3);
      const by_rows<T> p = cumulus::softmax(along, rowwise, {.scale = scale});
      const by_rows<T> log_p = cumulus::log_softmax(along, rowwise, {.scale = scale});
      CHECK(apart(cumulus::softmax(across, rowwise, {.scale = scale}), p, 0) <= 4);
      CHECK(apart(cumulus::log_softmax(across, rowwise, {.scale = scale}), log_p, 0) <= 3);
      const by_rows<T> turned = across.transpose();
      CHECK(apart(by_rows<T>(cumulus::softmax(turned, colwise, {.scale = scale}).transpose()), p,
                  0) <= 4);
      by_columns<T> in_place = across;
      cumulus::softmax(in_place, cumulus::into(in_place), rowwise, {.scale = scale});
      CHECK(apart(in_place, p, 0) <= 4);
      by_columns<T> other_way(rows, cols);
      cumulus::softmax(along, cumulus::into(other_way), rowwise, {.scale = scale});
      CHECK(apart(other_way, p, 0) == 0);  // only the results lie across
    }
  }
}

TEST_CASE("lines: a scale for each", "[exact][value]") {
  const by_rows<float> along = lines<float>(70, 9001);
  const by_columns<float> across = along;
  Eigen::VectorXd scale = Eigen::VectorXd::LinSpaced(70, 0.1, 2.0);
  const by_rows<float> a = cumulus::softmax(along, rowwise, {.scale = scale});
  const by_rows<float> b = cumulus::softmax(across, rowwise, {.scale = scale});
  CHECK(ulps_apart(a, b) <= 1);  // a subnormal share may be rounded twice
}

TEST_CASE("lines: the same bits on any number of threads", "[exact][property]") {
  const by_rows<float> along = lines<float>(193, 1500);
  const by_columns<float> across = along;
  int most = 0;
  auto run = [&](index_t parts, cumulus::part_task task) {
    most = std::max(most, int(parts));
    std::vector<std::thread> threads;
    for (index_t i = 0; i < parts; ++i) threads.emplace_back([=] { task(i); });
    for (std::thread& t : threads) t.join();
  };
  const by_rows<float> p = cumulus::softmax(along, rowwise), q = cumulus::softmax(across, rowwise);
  const Eigen::VectorXf sum = cumulus::logsumexp(along, rowwise);
  const Eigen::VectorXf sum_across = cumulus::logsumexp(across, rowwise);
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    CHECK(ulps_apart(by_rows<float>(
                         cumulus::softmax(along, rowwise, {.threads = threads, .executor = run})),
                     p) == 0);
    CHECK(ulps_apart(by_rows<float>(
                         cumulus::softmax(across, rowwise, {.threads = threads, .executor = run})),
                     q) == 0);
    CHECK(ulps_apart(cumulus::logsumexp(along, rowwise, {.threads = threads, .executor = run}),
                     sum) == 0);
    CHECK(ulps_apart(cumulus::logsumexp(across, rowwise, {.threads = threads, .executor = run}),
                     sum_across) == 0);
    CHECK(ulps_apart(cumulus::logsumexp(along, rowwise, {.threads = threads}), sum) == 0);
  }
  CHECK(most == 7);
  CHECK_THROWS_AS(cumulus::softmax(along, rowwise, {.threads = 0}), std::invalid_argument);
}

TEMPLATE_TEST_CASE("lines: one long vector, the same bits on any number of threads",
                   "[exact][property]", float, double) {
  using T = TestType;
  const std::size_t n = 700001;  // three parts, the last one short
  auto run = [](index_t parts, cumulus::part_task task) {
    std::vector<std::thread> threads;
    for (index_t i = 0; i < parts; ++i) threads.emplace_back([=] { task(i); });
    for (std::thread& t : threads) t.join();
  };
  const T inf = std::numeric_limits<T>::infinity();
  const auto plain = families::normal<T>(n, 0.0, 5.0, 3u);
  for (const int kind : {0, 1, 2, 3, 4, 5, 6}) {
    CAPTURE(kind);
    auto x = plain;
    if (kind == 1) std::fill_n(x.begin(), 300000, -inf);  // a part of nothing
    if (kind == 2)
      for (std::size_t i = 0; i < n; ++i) x[i] += T(0.001 * double(i));  // parts below the last
    if (kind == 3)
      for (T& v : x) v += T(1e7);
    if (kind == 4) x[600000] = std::numeric_limits<T>::quiet_NaN();
    if (kind == 5) x[600000] = inf;
    if (kind == 6) x[600000] = T(1e30);
    long double largest = -inf, sum = 0;
    for (const T v : x) largest = std::max<long double>(largest, v);
    for (const T v : x) sum += std::exp((long double)(v)-largest);
    std::vector<T> p(n), q(n), log_p(n), log_q(n);
    cumulus::softmax(x, cumulus::into(p));
    cumulus::log_softmax(x, cumulus::into(log_p));
    const T lse = cumulus::logsumexp(x);
    const auto same = [](const std::vector<T>& a, const std::vector<T>& b, T small = T(0)) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(a[i] == b[i]) && !(std::isnan(a[i]) && std::isnan(b[i])) && !(a[i] < small))
          return false;
      }
      return true;
    };
    for (const int threads : {2, 5}) {
      const any_options<T> o{.threads = threads, .executor = run};
      cumulus::softmax(x, cumulus::into(q), o);
      CHECK(same(p, q));
      q = x;
      cumulus::softmax(q, cumulus::into(q), o);
      CHECK(same(p, q, std::ldexp(std::numeric_limits<T>::min(), 60)));  // see above
      cumulus::log_softmax(x, cumulus::into(log_q), o);
      CHECK(same(log_p, log_q));
      const T again = cumulus::logsumexp(x, o);
      CHECK((again == lse || (std::isnan(again) && std::isnan(lse))));
    }
    if (kind >= 4) continue;
    Eigen::Matrix<T, 1, 1> a, b;
    double worst = 0;
    for (std::size_t i = 0; i < n; i += 97) {
      a(0) = p[i];
      b(0) = T(std::exp((long double)(x[i]) - largest) / sum);
      worst = std::max(worst, ulps_apart(a, b));
    }
    CHECK(worst <= 4.5);  // the oracle's own rounding to T among them
    a(0) = lse;
    b(0) = T(largest + std::log(sum));
    CHECK(ulps_apart(a, b, double(largest)) <= 2);
  }
  CHECK_THROWS_AS(cumulus::logsumexp(plain, {.threads = 0}), std::invalid_argument);
}
