// SPDX-License-Identifier: MIT
#include <cumulus/exact/segment_softmax.hpp>

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

using cumulus::into;
using cumulus::log_softmax;
using cumulus::segment_entropy;
using cumulus::segment_log_softmax;
using cumulus::segment_softmax;
using cumulus::softmax;
using cumulus::softmax_entropy;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
bool same(const T& a, const T& b) {
  return a == b || (a != a && b != b);
}

template <class V, class U>
bool all_same(const V& a, const U& b) {
  const auto n = Eigen::Index(std::size(a));
  bool all = n == Eigen::Index(std::size(b));
  const auto ours = std::begin(a);
  const auto first = std::begin(b);
  for (Eigen::Index i = 0; all && i < n; ++i)
    all = same(ours[std::ptrdiff_t(i)], first[std::ptrdiff_t(i)]);
  return all;
}

/// How ids are laid: by chance, in rising runs, in falling runs, in runs that come twice.
enum class order { chance, rising, falling, twice };

std::vector<int> ids_of(std::size_t n, int count, order o, std::uint64_t seed) {
  families::random r(seed);
  auto ids = families::draws<int>(n, [&] { return r.below(std::size_t(count)); });
  if (o == order::rising) std::sort(ids.begin(), ids.end());
  if (o == order::falling) std::sort(ids.rbegin(), ids.rend());
  if (o == order::twice) {
    const auto half = ids.begin() + std::ptrdiff_t(n / 2);
    std::sort(ids.begin(), half);
    std::sort(half, ids.end());
  }
  return ids;
}
constexpr std::array orders{order::chance, order::rising, order::falling, order::twice};

/// The elements of v with an id.
template <class T>
std::vector<T> part_of(const std::vector<T>& v, const std::vector<int>& ids, int k) {
  std::vector<T> part;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (ids[i] == k) part.push_back(v[i]);
  return part;
}

/// Calls use(i, the expected share over the largest, its log) for each element.
template <class T, class Use>
void each_expected(const std::vector<T>& x, const std::vector<int>& ids, int count, Use use) {
  for (int k = 0; k < count; ++k) {
    const std::vector<T> part = part_of(x, ids, k);
    if (part.empty()) continue;
    std::vector<oracle::wide> terms = oracle::exp_terms(part, oracle::centre(part));
    const auto peak = std::size_t(std::max_element(terms.begin(), terms.end()) - terms.begin());
    const oracle::wide largest = terms[peak], total = oracle::total(terms);
    terms[peak] = 0;
    const oracle::wide log_total = log1p(oracle::total(terms) / largest);
    terms[peak] = largest;
    std::size_t j = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (ids[i] != k) continue;
      use(i, terms[j++] / total, oracle::wide(x[i]) - oracle::wide(part[peak]) - log_total);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("segment_softmax: every entry is within its ulp bound at any spread and order",
                   "[exact][value]", float, double, long double) {
  worst share_error, log_error;
  for (const std::size_t n : {0u, 1u, 2u, 7u, 64u, 300u}) {
    for (const int count : {1, 3, 40}) {
      for (const double spread : {1e-3, 1.0, 100.0, 1e30}) {
        for (const order o : orders) {
          const auto x = families::normal<TestType>(n, spread < 10 ? -80.0 : 0.0, spread, n + 1);
          const auto ids = ids_of(n, count, o, n);
          const std::vector<TestType> shares = segment_softmax(x, ids, count);
          const std::vector<TestType> logs = segment_log_softmax(x, ids, count);
          each_expected(x, ids, count, [&](std::size_t i, const auto& share, const auto& log) {
            share_error.see(ulps(shares[i], share), "n =", n, "count", count, "spread", spread,
                            "order", int(o), "entry", i);
            log_error.see(ulps(logs[i], log), "n =", n, "count", count, "spread", spread, "order",
                          int(o), "entry", i);
          });
        }
      }
    }
  }
  CHECK_WORST(share_error, cumulus::softmax_max_ulp);
  CHECK_WORST(log_error, cumulus::log_softmax_max_ulp);
}

TEMPLATE_TEST_CASE("segment_softmax: few segments are as their elements alone, to the bit",
                   "[exact][property]", float, double, long double, Eigen::half, Eigen::bfloat16) {
  for (std::size_t n = 0; n <= 70; ++n) {
    const auto x = families::draws<TestType>(
        n, [r = families::random(n)]() mutable { return float(6 * r.normal()); });
    for (const order o : orders) {
      const int count = int(n % 9) + 2;
      const auto ids = ids_of(n, count, o, n + 7);
      const auto shares = segment_softmax(x, ids, count), logs = segment_log_softmax(x, ids, count);
      const auto entropies = segment_entropy(x, ids, count);
      bool all = true;
      for (int k = 0; k < count; ++k) {
        const auto part = part_of(x, ids, k);
        all = all && all_same(part_of(shares, ids, k), softmax(part)) &&
              all_same(part_of(logs, ids, k), log_softmax(part)) &&
              same(entropies[std::size_t(k)], softmax_entropy(part));
      }
      CAPTURE(n, int(o));
      CHECK(all);
      if (n == 0) continue;
      const std::size_t found = std::size_t(*std::max_element(ids.begin(), ids.end())) + 1;
      CHECK(all_same(segment_softmax(x, ids), shares));
      CHECK(all_same(segment_log_softmax(x, ids), logs));
      CHECK(all_same(segment_entropy(x, ids), std::span(entropies).first(found)));
    }
  }
}

TEMPLATE_TEST_CASE("segment_softmax: many short segments are within the ulp bound, edges included",
                   "[exact][value]", float, double) {
  worst error;
  for (const order o : {order::chance, order::rising}) {
    for (const double spread : {1e-3, 1.0, 100.0, 1e30}) {
      for (const double scale : {1.0, 0.5, 4.0}) {
        const std::size_t n = 6000;
        const int count = scale < 1 ? 250 : 1000;
        auto x = families::normal<TestType>(n, spread < 10 ? 80.0 : 0.0, spread, 5u);
        for (std::size_t i = 0; i < n; i += 97) x[i] = TestType(-inf);
        for (std::size_t i = 5; i < n; i += 509) x[i] = TestType(inf);
        for (std::size_t i = 7; i < n; i += 1003) x[i] = TestType(qnan);
        const auto ids = ids_of(n, count, o, 11u);
        std::vector<std::vector<std::size_t>> members(1000);
        for (std::size_t i = 0; i < n; ++i) members[std::size_t(ids[i])].push_back(i);
        const auto shares = segment_softmax(x, ids, count, {.scale = scale});
        for (const auto& places : members) {
          std::vector<TestType> part;
          for (const std::size_t i : places) part.push_back(x[i]);
          const std::vector<TestType> alone = softmax(part, {.scale = scale});
          bool finite = true;
          for (const TestType v : part) finite = finite && v > TestType(-inf) && v < TestType(inf);
          std::vector<oracle::wide> expected(part.size());
          if (finite && !part.empty()) {
            std::vector<oracle::wide> scaled(part.begin(), part.end());
            const auto top = *std::max_element(scaled.begin(), scaled.end());
            oracle::wide total = 0;
            for (std::size_t j = 0; j < part.size(); ++j)
              total += expected[j] = exp((scaled[j] - top) * oracle::wide(scale));
            for (auto& e : expected) e /= total;
          }
          for (std::size_t j = 0; j < part.size(); ++j) {
            const TestType share = shares[places[j]];
            if (finite) {
              error.see(ulps(share, expected[j]), int(o), "spread", spread, "scale", scale);
            } else {  // both within the bound
              error.see(ulps(share, oracle::wide(alone[j])) / 2, "alone", int(o), spread);
            }
          }
        }
      }
    }
  }
  CHECK_WORST(error, cumulus::softmax_max_ulp);
}

TEST_CASE("segment_softmax: equal elements share, whatever their size", "[exact][edge]") {
  const std::vector<double> x{1e16, -3, 1e16, 2, 1e300, 0};
  const std::vector<int> ids{0, 1, 0, 1, 2, 2};
  const auto shares = segment_softmax(x, ids, 5);
  CHECK(shares[0] == 0.5);
  CHECK(shares[2] == 0.5);
  CHECK(shares[4] == 1);
  CHECK(shares[5] == 0);
  CHECK(ulps(segment_entropy(x, ids, 3)[0], log(oracle::wide(2))) <=
        cumulus::softmax_entropy_max_ulp);
  CHECK(segment_softmax(std::array{1e16, 1e16}, std::array{0, 0}) == std::array{0.5, 0.5});
}

TEST_CASE("segment_softmax: infinities and NaN stay in their segment", "[exact][edge]") {
  const std::vector<double> x{inf, 1, qnan, -inf, inf, -inf, -inf, inf, 0, 2, inf};
  const std::vector<int> ids{0, 1, 2, 3, 0, 1, 4, 2, 4, 5, 5};
  const std::vector<double> shares{qnan, 1, qnan, qnan, qnan, 0, 0, qnan, 1, 0, 1};
  const std::vector<double> logs{qnan, 0, qnan, qnan, qnan, -inf, -inf, qnan, 0, -inf, 0};
  CHECK(all_same(segment_softmax(x, ids, 6), shares));
  CHECK(all_same(segment_log_softmax(x, ids, 6), logs));
  CHECK(all_same(segment_entropy(x, ids, 7), std::vector{qnan, 0., qnan, qnan, 0., 0., qnan}));
  const auto zeros = segment_softmax(x, ids, {.degenerate = cumulus::degenerate::zero});
  CHECK(zeros[3] == 0);
  const std::vector<double> none;
  const std::vector<int> no_ids;
  CHECK(segment_softmax(none, no_ids).empty());
  CHECK(segment_softmax(none, no_ids, 3).empty());
  CHECK(segment_entropy(none, no_ids).empty());
  CHECK(all_same(segment_entropy(none, no_ids, 2), std::vector{qnan, qnan}));
  std::vector<double> y = x, out;
  y[2] = -inf;
  CHECK(spurious_flags([&] { out = segment_softmax(y, ids, 6); }) == 0);
}

TEST_CASE("segment_softmax: weights, masks, scales and sinks act in each segment",
          "[exact][value]") {
  const std::size_t n = 60;
  const auto x = families::normal<double>(n, 1.0, 4.0, 7u);
  auto w = families::wild_weights<double>(n, 10.0, 8u);
  w[3] = 0, w[17] = 0;
  const auto keep = families::draws<int>(n, [i = 0]() mutable { return i++ % 3 != 0; });
  const std::vector<bool> mask(keep.begin(), keep.end());
  for (const order o : orders) {
    const auto ids = ids_of(n, 7, o, 3u);
    for (const double scale : {0.7, 0.0, -2.0, inf, -inf, qnan}) {
      for (const bool has_sink : {false, true}) {
        std::optional<double> sink;
        if (has_sink) sink = -2;
        const auto shares =
            segment_softmax(x, ids, 7, {.weights = w, .mask = mask, .scale = scale, .sink = sink});
        const auto logs =
            segment_log_softmax(x, ids, {.weights = w, .mask = mask, .scale = scale, .sink = sink});
        const auto entropies =
            segment_entropy(x, ids, 7, {.weights = w, .mask = mask, .scale = scale, .sink = sink});
        CAPTURE(int(o), scale, has_sink);
        for (int k = 0; k < 7; ++k) {
          const auto part = part_of(x, ids, k), part_w = part_of(w, ids, k);
          const auto part_keep = part_of(keep, ids, k);
          const std::vector<bool> part_mask(part_keep.begin(), part_keep.end());
          CHECK(all_same(
              part_of(shares, ids, k),
              softmax(part, {.weights = part_w, .mask = part_mask, .scale = scale, .sink = sink})));
          CHECK(all_same(
              part_of(logs, ids, k),
              log_softmax(part,
                          {.weights = part_w, .mask = part_mask, .scale = scale, .sink = sink})));
          CHECK(same(
              entropies[std::size_t(k)],
              softmax_entropy(
                  part, {.weights = part_w, .mask = part_mask, .scale = scale, .sink = sink})));
        }
        const auto unweighted = segment_softmax(x, ids, {.scale = scale, .sink = sink});
        for (int k = 0; k < 7; ++k)
          CHECK(all_same(part_of(unweighted, ids, k),
                         softmax(part_of(x, ids, k), {.scale = scale, .sink = sink})));
      }
    }
  }
  CHECK(all_same(segment_softmax(std::array{qnan, 2.0}, std::array{0, 0}, 1,
                                 {.mask = std::array{false, true}}),
                 std::array{0.0, 1.0}));
}

TEST_CASE("segment_softmax: in place, overlapping, and with options in out", "[exact][edge]") {
  constexpr std::size_t n = 40;
  const auto x = families::normal<double>(n, 0.0, 3.0, 1u);
  const auto w = families::uniform<double>(n, 0.5, 2.0, 2u);
  for (const order o : orders) {
    const auto ids = ids_of(n, 6, o, 4u);
    const auto check = [&](auto call, const auto& expected, const auto& weighted) {
      for (const std::size_t at : {0u, 1u, 5u}) {
        std::vector<double> memory(n + 5);
        std::copy(x.begin(), x.end(), memory.begin());
        const std::span<double> from(memory.data(), n), to(memory.data() + at, n);
        call(from, to, cumulus::softmax_options<double>{});
        CHECK(all_same(to, expected));
        std::copy(w.begin(), w.end(), memory.begin());
        call(x, to, cumulus::softmax_options<double>{.weights = from});
        CHECK(all_same(to, weighted));
      }
      std::vector<double> spaced(2 * n);
      Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>> view(spaced.data(), Eigen::Index(n));
      call(x, view, cumulus::softmax_options<double>{});
      CHECK(all_same(view, expected));
      for (std::size_t i = 0; i < n; ++i) CHECK(spaced[2 * i + 1] == 0);
    };
    check([&](const auto& from, auto&& to,
              const auto& opt) { segment_softmax(from, ids, 6, into(to), opt); },
          segment_softmax(x, ids), segment_softmax(x, ids, {.weights = w}));
    check([&](const auto& from, auto&& to,
              const auto& opt) { segment_log_softmax(from, ids, into(to), opt); },
          segment_log_softmax(x, ids), segment_log_softmax(x, ids, {.weights = w}));
  }
}

TEST_CASE("segment_softmax: results do not depend on the threads", "[exact][property]") {
  const std::size_t n = 20000;
  const auto x = families::normal<float>(n, 0.0, 3.0, 1u);
  const auto run = [](cumulus::index_t parts, cumulus::part_task task) {
    for (cumulus::index_t part = parts; part-- > 0;) task(part);
  };
  for (const order o : orders) {
    for (const int count : {1, 5, 100, 5000}) {
      const auto ids = ids_of(n, count, o, 4u);
      CHECK(all_same(segment_softmax(x, ids, {.threads = 3, .executor = run}),
                     segment_softmax(x, ids)));
      CHECK(all_same(segment_log_softmax(x, ids, {.threads = 3, .executor = run}),
                     segment_log_softmax(x, ids)));
      CHECK(all_same(segment_entropy(x, ids, {.threads = 3, .executor = run}),
                     segment_entropy(x, ids)));
    }
  }
}

TEMPLATE_TEST_CASE("segment_softmax: ids of every integer type", "[exact][value]", signed char,
                   unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long) {
  const std::vector<double> x{1, 2, 1, 4};
  const std::vector<TestType> ids{2, 0, 2, 1};
  const std::vector<double> expected{0.5, 1, 0.5, 1};
  CHECK(segment_softmax(x, ids, 3) == expected);
  CHECK(segment_softmax(x, ids, TestType(3)) == expected);
  CHECK(segment_softmax(x, ids) == expected);
  CHECK(segment_entropy(x, ids) == std::vector{0.0, 0.0, softmax_entropy(std::array{1.0, 1.0})});
}

TEST_CASE("segment_softmax: every kind of vector", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 0.0, 2.0, 5u);
  std::vector<int> ids(kinds::size);
  for (std::size_t i = 0; i < kinds::size; ++i) ids[i] = int(i * 5 % 4);
  const std::vector<double> shares = segment_softmax(x, ids), logs = segment_log_softmax(x, ids),
                            entropies = segment_entropy(x, ids);
  kinds::each_vector<double>(x, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    CHECK(all_same(segment_softmax(v, ids, 4), shares));
    CHECK(all_same(segment_log_softmax(v, ids), logs));
    CHECK(all_same(segment_entropy(v, ids), entropies));
  });
  kinds::each_vector<int>(ids, [&](const char* kind, const auto& v) {
    CAPTURE(kind);
    CHECK(segment_softmax(x, v, 4) == shares);
    CHECK(segment_log_softmax(x, v) == logs);
    CHECK(segment_entropy(x, v) == entropies);
  });
  static_assert(
      std::is_same_v<decltype(segment_softmax(std::array<int, 2>(), ids)), std::array<double, 2>>);
  static_assert(
      std::is_same_v<decltype(segment_softmax(Eigen::RowVectorXf(), ids)), Eigen::RowVectorXf>);
  static_assert(
      std::is_same_v<decltype(segment_entropy(Eigen::RowVectorXf(), ids)), Eigen::VectorXf>);
}

TEST_CASE("segment_softmax: bad ids and sizes are refused by name and number", "[exact][edge]") {
  const std::vector<double> x{1, 2, 3};
  std::vector<double> out(3), two(2);
  const auto message = [&](const auto& ids, auto count) {
    const std::string shares = refusal([&] { static_cast<void>(segment_softmax(x, ids, count)); });
    const std::string logs = refusal([&] { segment_log_softmax(x, ids, count, into(out)); });
    const std::string sums = refusal([&] { static_cast<void>(segment_entropy(x, ids, count)); });
    const std::string prefix = "cumulus: segment_";
    CHECK(prefix + "log_softmax" + shares.substr(prefix.size() + 7) == logs);
    CHECK(prefix + "entropy" + shares.substr(prefix.size() + 7) == sums);
    return shares;
  };
  const std::string prefix = "cumulus: segment_softmax: ";
  CHECK(message(std::vector{0, 6, 1}, 6) ==
        prefix + "segment_ids[1] is 6, segment_count is 6; an id lies in 0..segment_count - 1");
  CHECK(message(std::vector{0, 1, -1}, 6u) ==
        prefix + "segment_ids[2] is -1, segment_count is 6; an id lies in 0..segment_count - 1");
  CHECK(message(std::vector{0, 1, 2}, -1) == prefix + "segment_count is -1; give 0 or more");
  CHECK(message(std::vector{0, 1}, 2) == prefix + "x has 3 elements, segment_ids has 2");
  CHECK(refusal([&] { segment_softmax(x, std::vector{0, 1, 1}, 2, into(two)); }) ==
        prefix + "x has 3 elements, out has 2");
  CHECK(refusal([&] {
          static_cast<void>(
              segment_softmax(x, std::vector<std::uint64_t>{0, 1, ~std::uint64_t(0)}));
        }) == prefix +
                  "segment_ids[2] is 18446744073709551615, at most 1152921504606846975 segments "
                  "have addresses; number the segments from 0 on");
  CHECK(refusal([&] {
          static_cast<void>(
              segment_softmax(x, std::vector{0, 1, 1}, 2, {.weights = std::array{1.0}}));
        }) == prefix + "x has 3 elements, weights has 1");
  CHECK(refusal([&] {
          static_cast<void>(segment_entropy(x, std::vector{0, 1, 1}, {.threads = 0}));
        }) == "cumulus: segment_entropy: .threads is 0; give 1 or more");
}
