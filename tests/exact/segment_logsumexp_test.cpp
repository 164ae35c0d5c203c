// SPDX-License-Identifier: MIT
#include <cumulus/exact/segment_logsumexp.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::logsumexp;
using cumulus::logsumexp_max_ulp;
using cumulus::segment_logsumexp;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class V>
bool same(const V& actual, const std::vector<double>& expected) {
  using T = std::remove_cvref_t<decltype(*std::begin(actual))>;
  bool all = std::size_t(actual.size()) == expected.size();
  for (std::size_t i = 0; all && i < expected.size(); ++i)
    all = same(double(actual[Eigen::Index(i)]), double(static_cast<T>(expected[i])));
  return all;
}

/// The largest error of a segment, in ulp of max(1, |result|), and of max |x| too in double and wider.
template <class T>
double error(const std::vector<T>& x, const std::vector<int>& ids, int count) {
  const auto actual = segment_logsumexp(x, ids, count);
  double largest = std::size_t(actual.size()) == std::size_t(count) ? 0 : inf;
  for (int k = 0; k < count; ++k) {
    std::vector<T> part;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (ids[i] == k) part.push_back(x[i]);
    const oracle::wide expected = oracle::shifted_logsumexp(part);
    T scale = std::max(T(1), std::abs(static_cast<T>(expected)));
    if (sizeof(T) > sizeof(float))
      for (const T& v : part) scale = std::max(scale, std::abs(v));
    largest = std::max(largest, ulps(actual[k], expected, scale));
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("segment_logsumexp: every segment is within the ulp bound, sorted or not",
                   "[exact][value]", float, double, long double) {
  worst error_here;
  for (const std::size_t n : {0u, 1u, 7u, 64u, 500u}) {
    for (const int count : {1, 2, 10, 100}) {
      for (const double spread : {1e-3, 1.0, 100.0}) {
        families::random r(n);
        auto ids = families::draws<int>(n, [&] { return r.below(std::size_t(count)); });
        const auto x = families::normal<TestType>(n, 10.0, spread, n + 1);
        error_here.see(error(x, ids, count), "n =", n, "count", count, "spread", spread);
        std::sort(ids.begin(), ids.end());
        error_here.see(error(x, ids, count), "sorted", "n =", n, "count", count, "spread", spread);
      }
    }
  }
  CHECK_WORST(error_here, logsumexp_max_ulp);
}

TEST_CASE("segment_logsumexp: public cases, and empty segments", "[exact][edge]") {
  CHECK(
      same(segment_logsumexp(std::array<float, 3>{-INFINITY, -INFINITY, 0}, std::array{0, 1, 1}, 2),
           {-inf, 0}));
  const auto sums = segment_logsumexp(std::array{0.0, 1.0, 4.0}, std::array{1, 1, 4}, 6);
  CHECK(same(sums, {-inf, logsumexp(std::array{0.0, 1.0}), -inf, -inf, 4, -inf}));
  CHECK(same(segment_logsumexp(std::array{0.0, -3.0}, std::array{0, 1}, 2), {0, -3}));
  CHECK(ulps(segment_logsumexp(std::array{0.0, 5.0, -40.0}, std::array{1, 0, 1}, 2)[1],
             oracle::wide("4.248354255291588986304977843631582181878e-18")) <=
        cumulus::logsumexp_tail_max_ulp);
  const std::vector<double> none;
  const std::vector<int> no_ids;
  CHECK(same(segment_logsumexp(none, no_ids, 0), {}));
  CHECK(same(segment_logsumexp(none, no_ids, 3), {-inf, -inf, -inf}));
  CHECK(same(segment_logsumexp(none, no_ids), {}));
}

TEST_CASE("segment_logsumexp: infinities and NaN stay in their segment", "[exact][edge]") {
  const std::vector<double> x{inf, 1, qnan, -inf, inf, -inf, -inf, inf, 3};
  const std::vector<int> ids{0, 1, 2, 3, 0, 1, 4, 2, 4};
  const std::vector<double> expected{inf, 1, qnan, -inf, 3};
  CHECK(same(segment_logsumexp(x, ids, 5), expected));
  CHECK(same(segment_logsumexp(x, ids), expected));
  std::vector<double> y = x;
  y[2] = -inf;
  std::vector<double> sums;
  CHECK(spurious_flags([&] { sums = segment_logsumexp(y, ids, 6); }) == 0);
}

TEST_CASE("segment_logsumexp: weights, masks, scales and sinks act in each segment",
          "[exact][value]") {
  const auto x = families::normal<double>(60, 1.0, 4.0, 7u);
  const auto w = families::wild_weights<double>(60, 10.0, 8u);
  std::vector<int> ids(60);
  Eigen::Array<bool, 60, 1> mask;
  for (int i = 0; i < 60; ++i) ids[std::size_t(i)] = (i * i) % 7, mask[i] = i % 3 != 0;
  const auto sums =
      segment_logsumexp(x, ids, 7, {.weights = w, .mask = mask, .scale = 0.7, .sink = -2});
  CHECK(segment_logsumexp(x, ids, {.weights = w, .mask = mask, .scale = 0.7, .sink = -2}) ==
        std::vector<double>(sums.begin(), sums.begin() + 5));
  for (int k = 0; k < 7; ++k) {
    std::vector<double> part, part_w;
    for (std::size_t i = 0; i < 60; ++i)
      if (ids[i] == k && mask[int(i)]) part.push_back(x[i]), part_w.push_back(w[i]);
    const double expected = logsumexp(part, {.weights = part_w, .scale = 0.7, .sink = -2.0});
    CHECK(ulps(sums[k], oracle::wide(expected), 16.0) <= 2 * logsumexp_max_ulp);
  }
  CHECK(same(segment_logsumexp(std::array{qnan, 2.0}, std::array{0, 0}, 1,
                               {.mask = std::array{false, true}}),
             {2}));
}

TEMPLATE_TEST_CASE("segment_logsumexp: ids of every integer type", "[exact][value]", signed char,
                   unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long) {
  const std::vector<double> x{1, 2, 3, 4};
  const std::vector<TestType> ids{2, 0, 2, 1};
  const std::vector<double> expected{2, 4, logsumexp(std::array{1.0, 3.0})};
  CHECK(same(segment_logsumexp(x, ids, 3), expected));
  CHECK(same(segment_logsumexp(x, ids, TestType(3)), expected));
  CHECK(same(segment_logsumexp(x, ids), expected));
  CHECK(refusal([&] { static_cast<void>(segment_logsumexp(x, ids, 2)); }) ==
        "cumulus: segment_logsumexp: segment_ids[0] is 2, segment_count is 2; an id lies in "
        "0..segment_count - 1");
}

TEST_CASE("segment_logsumexp: every kind of vector", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 0.0, 2.0, 5u);
  std::vector<int> ids(kinds::size);
  for (std::size_t i = 0; i < kinds::size; ++i) ids[i] = int(i * 5 % 4);
  const std::vector<double> expected = segment_logsumexp(x, ids, 4);
  kinds::each_vector<double>(x, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    CHECK(same(segment_logsumexp(v, ids, 4), expected));
  });
  kinds::each_vector<int>(ids, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    CHECK(segment_logsumexp(x, v, 4) == expected);
    CHECK(segment_logsumexp(x, v) == expected);
  });
  const std::vector<double> whole = segment_logsumexp(std::array{3, 1, 4}, std::array{0, 0, 1}, 2);
  CHECK(whole == segment_logsumexp(std::array{3.0, 1.0, 4.0}, std::array{0, 0, 1}, 2));
}

TEST_CASE("segment_logsumexp: bad ids and sizes are refused by name and number", "[exact][edge]") {
  const std::vector<double> x{1, 2, 3};
  const auto message = [&](const auto& ids, auto count) {
    return refusal([&] { static_cast<void>(segment_logsumexp(x, ids, count)); });
  };
  const std::string prefix = "cumulus: segment_logsumexp: ";
  CHECK(message(std::vector{0, 6, 1}, 6) ==
        prefix + "segment_ids[1] is 6, segment_count is 6; an id lies in 0..segment_count - 1");
  CHECK(message(std::vector{0, 1, -1}, 6u) ==
        prefix + "segment_ids[2] is -1, segment_count is 6; an id lies in 0..segment_count - 1");
  CHECK(message(std::vector<std::uint64_t>{0, 1, ~std::uint64_t(0)}, 6) ==
        prefix +
            "segment_ids[2] is 18446744073709551615, segment_count is 6; an id lies in "
            "0..segment_count - 1");
  CHECK(message(std::vector{0, 1, 2}, -1) == prefix + "segment_count is -1; give 0 or more");
  CHECK(message(std::vector{0, 1, 2}, 0) ==
        prefix + "segment_ids[0] is 0, segment_count is 0; an id lies in 0..segment_count - 1");
  CHECK(message(std::vector{0, 1}, 2) == prefix + "x has 3 elements, segment_ids has 2");
  CHECK(refusal([&] { static_cast<void>(segment_logsumexp(x, std::vector{0, -4, 1})); }) ==
        prefix + "segment_ids[1] is -4, segment_count is 2; an id lies in 0..segment_count - 1");
  CHECK(refusal([&] {
          static_cast<void>(
              segment_logsumexp(x, std::vector<std::uint64_t>{0, 1, ~std::uint64_t(0)}));
        }) == prefix +
                  "segment_ids[2] is 18446744073709551615, at most 144115188075855871 segments "
                  "have addresses; number the segments from 0 on");
  CHECK(refusal([&] {
          static_cast<void>(
              segment_logsumexp(x, std::vector{0, 1, 1}, 2, {.mask = std::array{true}}));
        }) == prefix + "x has 3 elements, mask has 1");
}

TEST_CASE("segment_logsumexp: counts and ids beyond any memory are refused", "[exact][edge]") {
  const std::vector<double> x{1, 2};
  const std::int64_t huge = std::int64_t(1) << 62;
  const std::vector<std::int64_t> ids{0, huge};
  const std::vector<std::uint64_t> wide{0, ~std::uint64_t(0)};
  CHECK_THROWS_AS(cumulus::segment_logsumexp(x, std::vector<int>{0, 1}, huge),
                  std::invalid_argument);
  CHECK_THROWS_WITH(cumulus::segment_logsumexp(x, ids),
                    Catch::Matchers::Contains("segment_ids[1] is 4611686018427387904"));
  CHECK_THROWS_AS(cumulus::segment_logsumexp(x, wide), std::invalid_argument);
  CHECK_THROWS_AS(cumulus::segment_logsumexp(x, ids, huge + 1), std::invalid_argument);
}
