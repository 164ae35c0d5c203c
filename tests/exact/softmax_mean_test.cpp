// SPDX-License-Identifier: MIT
#include <cumulus/exact/softmax_mean.hpp>

#include <cumulus/exact/logsumexp.hpp>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "merge_tree.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::softmax_mean;
using cumulus::softmax_mean_max_ulp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// sum p v and sum p |v|, p the softmax of the scores.
struct exact_mean {
  oracle::wide value = 0, size = 0;
};
template <class T>
exact_mean exact(const std::vector<T>& scores, const std::vector<T>& values) {
  const std::vector<oracle::wide> p = oracle::shifted_softmax(scores);
  exact_mean m;
  for (std::size_t i = 0; i < p.size(); ++i) {
    m.value += p[i] * oracle::wide(values[i]);
    m.size += p[i] * abs(oracle::wide(values[i]));
  }
  return m;
}

template <class T>
softmax_mean<T> state_of(const std::vector<T>& scores, const std::vector<T>& values) {
  softmax_mean<T> m;
  m.add(scores, values);
  return m;
}

/// In order, in shuffled orders, and dealt to 2, 7 and n + 1 states merged in random trees.
template <class T>
std::vector<softmax_mean<T>> every_way(const std::vector<T>& scores, const std::vector<T>& values) {
  const auto add = [&](softmax_mean<T>& m, std::size_t i) { m.add(scores[i], values[i]); };
  std::vector<softmax_mean<T>> states{state_of(scores, values)};
  for (const std::uint64_t seed : {1u, 2u}) {
    states.emplace_back();
    for (const std::size_t i : permutation(scores.size(), seed)) add(states.back(), i);
  }
  for (const std::size_t parts : {std::size_t(2), std::size_t(7), scores.size() + 1})
    states.push_back(merge_tree(softmax_mean<T>(), scores.size(), parts, parts, add));
  return states;
}

template <class T>
double error(const std::vector<T>& scores, const std::vector<T>& values) {
  const exact_mean m = exact(scores, values);
  double largest = 0;
  for (const auto& s : every_way(scores, values))
    largest = std::max(largest, ulps(s.value(), m.value, static_cast<T>(m.size)));
  return largest;
}

static_assert(std::is_trivially_copyable_v<softmax_mean<float>>);
static_assert(std::is_trivially_copyable_v<softmax_mean<double, Eigen::Vector3d>>);
static_assert(std::is_default_constructible_v<softmax_mean<double, Eigen::Vector3d>>);
static_assert(!std::is_default_constructible_v<softmax_mean<double, Eigen::VectorXd>>);

}  // namespace

TEMPLATE_TEST_CASE("softmax_mean: within its ulp bound at every length, spread and split",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (std::size_t n = 1; n <= 70; ++n) {
    for (const double offset : {0.0, 88.0, -1e4, 1e13, 1e20}) {
      for (const double spread : {1e-3, 1.0, 30.0, 1e3}) {
        const auto scores = families::normal<TestType>(n, offset, spread, n);
        const auto values = families::normal<TestType>(n, double(n % 3), 1.0, n + 100);
        error_here.see(error(scores, values), "n =", n, "offset", offset, "spread", spread);
      }
    }
  }
  CHECK_WORST(error_here, softmax_mean_max_ulp);
}

TEMPLATE_TEST_CASE("softmax_mean: values of any size the type holds keep the bound",
                   "[exact][value]", float, double) {
  using limits = std::numeric_limits<TestType>;
  worst error_here;
  for (const TestType size : {limits::max() / 8, TestType(1), TestType(1e-30),
                              TestType(sizeof(TestType) > 4 ? 0x1p-800 : 1e-37)}) {
    for (const double spread : {0.1, 10.0, 200.0}) {
      const auto scores = families::normal<TestType>(60, 3.0, spread, 5u);
      auto values = families::normal<TestType>(60, 0.0, 1.0, 6u);
      for (TestType& v : values) v *= size;
      error_here.see(error(scores, values), "size", size, "spread", spread);
    }
  }
  CHECK_WORST(error_here, softmax_mean_max_ulp);
  const std::vector<TestType> scores{1, 30, 70, -5}, values(4, limits::max());
  for (const auto& m : every_way(scores, values)) CHECK(m.value() == limits::max());
}

TEST_CASE(
    "softmax_mean: the error does not grow along a rising maximum or with the number of parts",
    "[exact][value]") {
  const std::size_t n = 131072;
  std::vector<double> scores(n), values(n);
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = double(i) * 0x1p-12;
    values[i] = double(i % 7) - 2.0;
  }
  long double sum = 0, weighted = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const long double p = std::exp((long double)(scores[i]) - scores.back());
    sum += p, weighted += p * values[i], size += p * std::abs(values[i]);
  }
  const auto error_of = [&](const softmax_mean<double>& m) {
    return ulps(m.value(), oracle::wide(weighted / sum), double(size / sum));
  };
  const auto add = [&](softmax_mean<double>& m, std::size_t i) { m.add(scores[i], values[i]); };
  CHECK(error_of(state_of(scores, values)) <= softmax_mean_max_ulp);
  for (const std::size_t parts : {std::size_t(100), n})
    CHECK(error_of(merge_tree(softmax_mean<double>(), n, parts, 4u, add)) <= softmax_mean_max_ulp);
}

TEST_CASE("softmax_mean: order and split do not change a bit", "[exact][property]") {
  // Promised but for rare roundings: the compensated sums agree to 2^-100, and these inputs meet none.
  for (const double spread : {1e-3, 1.0, 300.0}) {
    const auto scores = families::normal<double>(400, -7.0, spread, 11u);
    const auto values = families::normal<double>(400, 0.5, 2.0, 12u);
    const auto expected = state_of(scores, values);
    for (const auto& m : every_way(scores, values)) {
      CHECK(m.value() == expected.value());
      CHECK(m.logsumexp() == expected.logsumexp());
    }
  }
}

TEMPLATE_TEST_CASE("softmax_mean: equal values give that value", "[exact][property]", float,
                   double) {
  for (const double value : {0.1, -3.7, 1e30, -1e-30, 0.0}) {
    for (const double spread : {0.0, 1e-3, 1.0, 100.0}) {
      CAPTURE(value, spread);
      const auto scores = families::normal<TestType>(37, 5.0, spread, 2u);
      const auto values = families::ties<TestType>(37, value);
      for (const auto& m : every_way(scores, values)) CHECK(m.value() == TestType(value));
    }
  }
}

TEMPLATE_TEST_CASE("softmax_mean: logsumexp is that of the scores, its tail too", "[exact][value]",
                   float, double, long double) {
  for (const std::vector<TestType>& scores :
       {std::vector<TestType>{0, -40}, {-40, 0, -41}, {1, 2, 3}, {-3000, 3000}, {1e30f, 1e30f}}) {
    const oracle::wide expected = oracle::shifted_logsumexp(scores);
    const TestType largest = *std::max_element(scores.begin(), scores.end());
    for (const auto& m : every_way(scores, scores)) {
      if (largest == 0) {
        CHECK(ulps(m.logsumexp(), expected) <= cumulus::logsumexp_tail_max_ulp);
      } else {
        CHECK(ulps(m.logsumexp(), expected, std::max(TestType(1), std::abs(largest))) <=
              cumulus::logsumexp_max_ulp);
      }
      CHECK(m.max_score() == largest);
    }
  }
}

TEST_CASE("softmax_mean: huge scores, of which only ties share", "[exact][edge]") {
  for (const auto& m : every_way<double>({1e300, 2, 1e300}, {3, 100, 5})) CHECK(m.value() == 4);
  for (const auto& m : every_way<double>({DBL_MAX, -DBL_MAX}, {3, 100})) CHECK(m.value() == 3);
  for (const auto& m : every_way<double>({-DBL_MAX, -DBL_MAX}, {3, 7})) CHECK(m.value() == 5);
}

TEST_CASE("softmax_mean: empty, infinite and NaN scores, in any split", "[exact][edge]") {
  struct row {
    std::vector<double> scores, values;
    double mean, log_sum;
  };
  const std::vector<row> table{
      {{}, {}, 0, -inf},
      {{-inf}, {5}, 0, -inf},
      {{-inf, -inf}, {qnan, inf}, 0, -inf},
      {{-inf, 2, -inf}, {qnan, 7, inf}, 7, 2},
      {{inf}, {7}, 7, inf},
      {{1, inf, 3}, {5, 7, 9}, 7, inf},
      {{1, inf, 3}, {qnan, 7, inf}, 7, inf},
      {{inf, -inf}, {7, qnan}, 7, inf},
      {{inf, inf}, {7, 7}, qnan, inf},
      {{inf, 1, inf, inf}, {7, 1, 7, 7}, qnan, inf},
      {{qnan}, {1}, qnan, qnan},
      {{qnan, 1}, {1, 1}, qnan, qnan},
      {{qnan, inf}, {1, 1}, qnan, qnan},
      {{inf, qnan}, {1, 1}, qnan, qnan},
      {{-inf, qnan, 1}, {1, 1, 1}, qnan, qnan},
      {{1, 1}, {inf, 3}, inf, 1.6931471805599453},
      {{1, 1}, {-inf, 3}, -inf, 1.6931471805599453},
      {{1, -2000}, {3, inf}, inf, 1},
      {{2000, 2000, 1}, {1, inf, 2}, inf, 2000.6931471805599},
      {{1, 1}, {inf, -inf}, qnan, 1.6931471805599453},
      {{1, 1}, {qnan, 3}, qnan, 1.6931471805599453},
      {{inf, 1}, {inf, 3}, inf, inf},
      {{inf, 1}, {qnan, 3}, qnan, inf},
  };
  for (const row& r : table) {
    CAPTURE(r.scores, r.values);
    for (const auto& m : every_way(r.scores, r.values)) {
      CHECK(same(m.value(), r.mean));
      CHECK(ulps(m.logsumexp(), oracle::wide(r.log_sum)) <= cumulus::logsumexp_max_ulp);
    }
    const std::vector<float> s(r.scores.begin(), r.scores.end()),
        v(r.values.begin(), r.values.end());
    for (const auto& m : every_way(s, v)) CHECK(same(m.value(), float(r.mean)));
  }
}

TEST_CASE("softmax_mean: the empty state is neutral on both sides", "[exact][property]") {
  const softmax_mean<double> empty;
  softmax_mean<double> nothing;
  nothing.add(-inf, qnan);
  CHECK(nothing.empty());
  CHECK(nothing == empty);
  CHECK(empty + nothing == empty);
  CHECK((empty + empty).empty());
  CHECK((empty + empty).value() == 0);
  CHECK((empty + empty).logsumexp() == -inf);
  for (const std::vector<double>& x :
       {std::vector<double>{}, {1}, {1, 2, 3}, {-800, 800}, {inf}, {inf, inf}, {1e300, 5}}) {
    CAPTURE(x);
    const auto m = state_of(x, std::vector<double>(x.size(), 3.0));
    CHECK(m + empty == m);
    CHECK(empty + m == m);
    auto twice = m;
    twice += twice;
    CHECK(same(twice.value(), x.size() == 1 && x[0] == inf ? qnan : m.value()));
    CHECK(twice.empty() == x.empty());
  }
}

TEST_CASE("softmax_mean: infinities raise neither invalid nor divide-by-zero", "[exact][edge]") {
  const std::vector<std::vector<double>> rows{
      {},         {-inf},       {inf},          {-inf, -inf},        {inf, inf},
      {-inf, 1},  {1, -inf, 2}, {inf, 1, -inf}, {-DBL_MAX, DBL_MAX}, {DBL_MAX, -DBL_MAX},
      {0, -1000}, {-1000, 0},   {1e20, -5},     {-5, 1e20}};
  for (const auto& x : rows) {
    for (const double value : {1.0, inf, DBL_MAX}) {
      CAPTURE(x, value);
      volatile double result = 0;
      const auto run = [&] {
        softmax_mean<double> all, odd;
        for (std::size_t i = 0; i < x.size(); ++i) (i % 2 == 0 ? all : odd).add(x[i], value);
        result = odd.value();
        odd += all;
        result = odd.value();
        result = odd.logsumexp();
      };
      CHECK(spurious_flags(run) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("softmax_mean: vectors are means entry by entry, of any kind", "[exact][value]",
                   float, double) {
  using T = TestType;
  const std::size_t n = kinds::size;
  const auto scores = families::normal<T>(n, 0.0, 2.0, 3u);
  const auto numbers = families::normal<T>(n * 4, 1.0, 3.0, 4u);
  const kinds::col_major<T> values =
      Eigen::Map<const kinds::col_major<T>>(numbers.data(), int(n), 4);
  softmax_mean<T, kinds::column<T>> expected(4);
  for (int i = 0; i < int(n); ++i)
    expected.add(scores[std::size_t(i)], kinds::column<T>(values.row(i).transpose()));
  REQUIRE(expected.width() == 4);
  const kinds::column<T> mean = expected.value();
  for (int j = 0; j < 4; ++j) {
    const std::vector<T> entries(values.col(j).data(), values.col(j).data() + n);
    const softmax_mean<T> m = state_of(scores, entries);
    CHECK(mean[j] == m.value());
    CHECK(expected.logsumexp() == m.logsumexp());
  }
  kinds::each_matrix<T>(values, [&](const char* kind, const auto& matrix) {
    CAPTURE(kind);
    softmax_mean<T, kinds::column<T>> by_rows(4), by_range(4);
    softmax_mean<T, Eigen::Matrix<T, 1, 4>> fixed;
    for (int i = 0; i < int(n); ++i) {
      by_rows.add(scores[std::size_t(i)], matrix.row(i));
      fixed.add(scores[std::size_t(i)], matrix.row(i));
    }
    by_range.add(scores, matrix);
    CHECK(by_rows == expected);
    CHECK(by_range == expected);
    const Eigen::Matrix<T, 1, 4> row = fixed.value();
    CHECK(row.transpose() == mean);
  });
  kinds::each_vector<T>(scores, [&](const char* kind, const auto& vector) {
    CAPTURE(kind);
    softmax_mean<T, kinds::column<T>> m(4);
    m.add(vector, values);
    CHECK(m == expected);
  });
  const auto add = [&](softmax_mean<T, kinds::column<T>>& m, std::size_t i) {
    m.add(scores[i], values.row(int(i)));
  };
  const kinds::column<T> merged =
      merge_tree(softmax_mean<T, kinds::column<T>>(4), n, 5, 6u, add).value();
  CHECK(merged == mean);
}

TEST_CASE("softmax_mean: vectors of no entries, and of nothing but masked keys", "[exact][edge]") {
  softmax_mean<double, Eigen::VectorXd> none(0), m(3);
  none.add(2.0, Eigen::VectorXd(0));
  CHECK(none.value().size() == 0);
  CHECK(none.logsumexp() == 2);
  m.add(-inf, Eigen::Vector3d::Constant(qnan));
  CHECK(m.value() == Eigen::VectorXd(Eigen::Vector3d::Zero()));
  m.add(std::array{-inf, 1.0}, Eigen::MatrixXd::Ones(2, 3));
  CHECK(m.value() == Eigen::VectorXd(Eigen::Vector3d::Ones()));
  m.add(inf, std::array{1.0, inf, qnan});
  CHECK(m.value()[0] == 1);
  CHECK(m.value()[1] == inf);
  CHECK(std::isnan(m.value()[2]));
}

TEST_CASE("softmax_mean: half rounds once, and autodiff scalars carry the gradient",
          "[exact][value]") {
  const auto x = families::normal<float>(50, 3.0, 2.0, 31u);
  softmax_mean<Eigen::half> m;
  softmax_mean<float> exact;
  for (const float v : x) {
    m.add(Eigen::half(v), Eigen::half(-v));
    exact.add(float(Eigen::half(v)), float(Eigen::half(-v)));
  }
  CHECK(m.value() == Eigen::half(exact.value()));
  CHECK(m.logsumexp() == Eigen::half(exact.logsumexp()));

  using dual = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  softmax_mean<dual> s;
  s.add(dual(1.0, 2, 0), dual(5.0, 2, 1));
  s.add(dual(1.0, Eigen::Vector2d::Zero()), dual(3.0, Eigen::Vector2d::Zero()));
  const dual mean = s.value();  // p v + (1 - p) 3, dp/ds = p (1 - p)
  CHECK(mean.value() == 4);
  CHECK(mean.derivatives()[0] == Approx(0.5).epsilon(1e-15));
  CHECK(mean.derivatives()[1] == Approx(0.5).epsilon(1e-15));
}

TEST_CASE("softmax_mean: a scalar of 50 digits keeps them", "[exact][value]") {
  using scalar = oracle::wide;
  std::vector<scalar> scores, values;
  for (int i = 0; i < 40; ++i) {
    scores.push_back(scalar(i * i % 97) / 3 - 900);
    values.push_back(scalar(i % 5) / 7 - 1);
  }
  oracle::wider sum = 0, weighted = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const oracle::wider p = exp(oracle::wider(scores[i]));
    sum += p, weighted += p * oracle::wider(values[i]);
  }
  for (const auto& m : every_way(scores, values)) {
    CHECK(abs(oracle::wider(m.value()) - weighted / sum) <=
          oracle::wider(std::numeric_limits<scalar>::epsilon()) * 16 * softmax_mean_max_ulp);
  }
}

TEST_CASE("softmax_mean: widths and sizes that differ are refused by name and number",
          "[exact][edge]") {
  softmax_mean<double, Eigen::VectorXd> m(3), other(2);
  softmax_mean<double> scalar;
  const Eigen::MatrixXd values = Eigen::MatrixXd::Ones(2, 4);
  CHECK(refusal([&] { m.add(1.0, Eigen::VectorXd(Eigen::VectorXd::Ones(4))); }) ==
        "cumulus: softmax_mean::add: the mean has 3 elements, value has 4");
  CHECK(refusal([&] { m.add(-inf, Eigen::VectorXd(Eigen::VectorXd::Ones(4))); }) ==
        "cumulus: softmax_mean::add: the mean has 3 elements, value has 4");
  CHECK(refusal([&] { m.add(std::vector<double>(2), values); }) ==
        "cumulus: softmax_mean::add: scores x mean is 2 x 3, values is 2 x 4");
  CHECK(refusal([&] { scalar.add(std::vector<double>(2), std::vector<double>(3)); }) ==
        "cumulus: softmax_mean::add: scores has 2 elements, values has 3");
  CHECK(refusal([&] { m += other; }) == "cumulus: softmax_mean: this has 3 elements, other has 2");
  CHECK(refusal([&] { softmax_mean<double, Eigen::VectorXd>(-1); }) ==
        "cumulus: softmax_mean: a width of -1; give 0 or more");
  CHECK(m.empty());
}
