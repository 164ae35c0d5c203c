// SPDX-License-Identifier: MIT
#include <cumulus/core/serialise.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include "catch.hpp"
#include "families.hpp"
#include "names.hpp"
#include "oracle.hpp"
#include "tables.hpp"
#include "ulp.hpp"

namespace {

using cumulus::central_moments;
using oracle::wide;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const wide u = wide(1) / wide(9007199254740992.0);  // 2^-53

/// The largest |error| of the moments from order 2 on, in units of E |y|^p times `unit(p)`; where E |y|^p is 0, any
/// error is infinitely large.
template <class M, class Unit>
double worst(const M& m, const std::vector<oracle::moment_pair>& exact, Unit unit) {
  double out = 0;
  for (int p = 2; p <= m.order(); ++p) {
    const auto& e = exact[std::size_t(p)];
    const wide error = abs(wide(m.moment(p)) - e.signed_value);
    if (error == 0) continue;
    const double ratio = static_cast<double>(error / (e.absolute_value * unit(p)));
    out = std::max(out, ratio >= 0 ? ratio : inf);
  }
  return out;
}
template <class M>
double roundings(const M& m, const std::vector<oracle::moment_pair>& exact) {
  return worst(m, exact, [](int p) { return u * p; });
}
template <class M>
double relative(const M& m, const std::vector<oracle::moment_pair>& exact) {
  return worst(m, exact, [](int) { return wide(1); });
}

constexpr int ranges = cumulus::central_moments_max_roundings;
constexpr int weighted_ranges = cumulus::central_moments_weighted_max_roundings;
constexpr double streaming = cumulus::central_moments_streaming_error;

template <class T>
central_moments<T> accumulated(const std::vector<T>& x, int order, const std::vector<T>& w = {}) {
  central_moments<T> m(order);
  if (w.empty())
    m.add(x);
  else
    m.add(x, w);
  return m;
}

template <class T>
central_moments<T> one_by_one(const std::vector<T>& x, int order, const std::vector<T>& w = {}) {
  central_moments<T> m(order);
  for (std::size_t i = 0; i < x.size(); ++i) m.add(x[i], w.empty() ? T(1) : w[i]);
  return m;
}

struct named_sample {
  std::string name;
  std::vector<double> x;
};

/// A third of the values one higher, all over the sample.
std::vector<double> two_points(std::size_t n, double offset) {
  std::vector<double> x(n, offset);
  for (std::size_t i = 0; i < n; i += 3) x[i] = offset + 1;
  return x;
}

/// Every shape about a common offset, of unit size.
std::vector<named_sample> samples(std::size_t n, double offset) {
  return {{"normal", families::normal<double>(n, offset, 1, 11)},
          {"uniform", families::uniform<double>(n, offset - 1, offset + 1, 12)},
          {"exponential", families::exponential<double>(n, offset, 1, 13)},
          {"ascending", families::ascending<double>(n, offset, offset + 3)},
          {"outlier", families::one_outlier<double>(n, offset, offset + 1e3)},
          {"two points", two_points(n, offset)}};
}

/// The mean of n values, where the pair keeps what the double loses: 1e-15 of the range beyond an ulp of it.
void check_mean(const central_moments<double>& m, const wide& exact) {
  const auto pair = cumulus::detail::mean_pair(m);
  const wide range = wide(m.max()) - wide(m.min());
  CHECK(static_cast<double>(abs(wide(pair.high) + wide(pair.low) - exact)) <=
        1e-15 * static_cast<double>(range));
  CHECK(static_cast<double>(abs(wide(m.mean()) - exact)) <=
        0.5 * ulp_of(m.mean()) + 1e-15 * static_cast<double>(range));
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Everything that can be observed, bit for bit.
template <class A, class B>
bool observably_equal(const A& a, const B& b) {
  bool equal = a.order() == b.order() && a.empty() == b.empty() && a.count() == b.count() &&
               same(a.weight(), b.weight()) && same(a.mean(), b.mean()) && same(a.min(), b.min()) &&
               same(a.max(), b.max());
  for (int p = 0; p <= a.order(); ++p) equal = equal && same(a.moment(p), b.moment(p));
  return equal;
}

/// The same to the last bit; where the compiler may fuse a product and a sum, it need not fuse both alike, and a removal
/// magnifies that.
template <class A, class B>
bool agree(const A& a, const B& b) {
#if defined(__FMA__)
  bool close = a.weight() == b.weight() && a.min() == b.min() && a.max() == b.max();
  for (int p = 2; p <= a.order(); p += 2)
    close = close && std::abs(a.moment(p) - b.moment(p)) <= 1e-13 * a.loss() * a.moment(p);
  return close;
#else
  return observably_equal(a, b);
#endif
}

/// What NIST's digits leave: so many digits of the certified value by the reading as doubles, and four roundings here.
bool agrees(const wide& actual, const char* certified, double digits) {
  const wide expected(certified);
  return abs(actual - expected) <= abs(expected) * (pow(wide(10), wide(0.05 - digits)) + 4 * u);
}

}  // namespace

// ---- values

TEST_CASE("central_moments: NIST NumAcc1-4 to the best possible digits", "[moments][value]") {
  struct set {
    const char *name, *mean, *sd;     // certified
    const char *mean_read, *sd_read;  // exact, of the doubles read
    double mean_digits, sd_digits;    // of the certified that reading leaves
    std::vector<double> x;
  };
  const auto alternating = [](double first, double low, double high) {
    std::vector<double> x{first};
    for (int i = 0; i < 500; ++i) x.push_back(low), x.push_back(high);
    return x;
  };
  const std::vector<set> sets = {
      {"NumAcc1", "10000002", "1", "10000002", "1", 99, 99, {10000001, 10000003, 10000002}},
      {"NumAcc2", "1.2", "0.1", "1.200000000000000066502470086437948215585",
       "0.09999999999999997779553950749686925309556", 16.3, 15.7, alternating(1.2, 1.1, 1.3)},
      {"NumAcc3", "1000000.2", "0.1", "1000000.200000000011583382671291416103428",
       "0.1000000000349245965480973680711414655844", 16.9, 9.5,
       alternating(1000000.2, 1000000.1, 1000000.3)},
      {"NumAcc4", "10000000.2", "0.1", "10000000.20000000018533412274066265765485",
       "0.1000000005587935447736195855645186921708", 16.7, 8.3,
       alternating(10000000.2, 10000000.1, 10000000.3)}};
  for (const set& s : sets) {
    CAPTURE(s.name);
    central_moments<double, 4> by_range, by_value;
    by_range.add(s.x);
    for (const double x : s.x) by_value.add(x);
    const double n = double(s.x.size());
    for (const auto& m : {by_range, by_value}) {
      const wide sd = sqrt(wide(m.moment(2)) * n / (n - 1));
      CHECK(m.weight() == n);
      CHECK(agrees(wide(m.mean()), s.mean, s.mean_digits));
      CHECK(agrees(sd, s.sd, s.sd_digits));
      CHECK(agrees(wide(m.mean()), s.mean_read, 99));
      CHECK(agrees(sd, s.sd_read, 99));
      CHECK(worst(m, oracle::central_moments(s.x, 4), [](int p) { return u * p; }) <= ranges);
    }
  }
}

TEST_CASE("central_moments: the 43 tabulated samples", "[moments][value]") {
  const auto cases = tables::series_cases();
  REQUIRE(cases.size() == 43);
  for (const auto& c : cases) {
    CAPTURE(c.id);
    const auto m = accumulated(c.x, c.order, c.w);
    const auto absolute = oracle::central_moments(c.x, c.order, c.w);
    check_mean(m, c.mean);
    for (int p = 0; p <= c.order; ++p) {
      CAPTURE(p);
      const wide error = abs(wide(m.moment(p)) - c.central_moments[std::size_t(p)]);
      // the table has 40 digits
      CHECK(error <= absolute[std::size_t(p)].absolute_value *
                         (u * (c.w.empty() ? ranges : weighted_ranges) * p + wide(1e-38)));
    }
  }
}

TEST_CASE("central_moments: ranges within their roundings at every length", "[moments][value]") {
  const double offset = GENERATE(0.0, -1e3, 1e8, 1e12);
  for (std::size_t n = 1; n <= 70; ++n) {
    for (const auto& [name, x] : samples(n, offset)) {
      CAPTURE(name, n, offset);
      const auto m = accumulated(x, 8);
      const auto exact = oracle::central_moments(x, 8);
      CHECK(roundings(m, exact) <= ranges);
      check_mean(m, oracle::mean(x));
      CHECK(m.weight() == double(n));
      CHECK(m.min() == *std::min_element(x.begin(), x.end()));
      CHECK(m.max() == *std::max_element(x.begin(), x.end()));
    }
  }
}

TEST_CASE("central_moments: ranges within their roundings at any offset, to order 12",
          "[moments][value]") {
  const double offset = GENERATE(0.0, 1e3, -1e6, 1e8, 1e12);
  for (const std::size_t n : {127u, 128u, 129u, 1000u, 8192u}) {
    for (const auto& [name, x] : samples(n, offset)) {
      CAPTURE(name, n, offset);
      const auto m = accumulated(x, 12);
      const auto exact = oracle::central_moments(x, 12);
      CHECK(roundings(m, exact) <= ranges);
      check_mean(m, oracle::mean(x));
    }
  }
}

TEST_CASE("central_moments: clusters one after the other", "[moments][value]") {
  // the values that come first are far from the mean so far, then near it, or the other way
  const double gap = GENERATE(0.5, 10.0, 100.0, 1e6);
  const double share = GENERATE(0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9);
  for (const std::size_t n : {200u, 256u, 300u, 1000u, 2500u}) {
    for (const double sigma : {0.0, 1.0}) {
      auto x = families::normal<double>(n, 0, sigma, 24);
      for (std::size_t i = static_cast<std::size_t>(share * double(n)); i < n; ++i) x[i] += gap;
      CAPTURE(gap, share, n, sigma);
      const auto exact = oracle::central_moments(x, 12);
      CHECK(roundings(accumulated(x, 12), exact) <= ranges);
      CHECK(relative(one_by_one(x, 8), exact) <= streaming);
    }
  }
}

TEST_CASE("central_moments: long samples, as a range and one by one", "[moments][value]") {
  SECTION("n = 1e5, order 8") {
    const auto x = families::exponential<double>(100000, 1e6, 1, 21);
    const auto exact = oracle::central_moments(x, 8);
    CHECK(roundings(accumulated(x, 8), exact) <= ranges);
    CHECK(relative(one_by_one(x, 8), exact) <= streaming);
  }
  SECTION("n = 1e6 draws of 500 values, order 12") {  // so that the exact moments are cheap
    const double offset = GENERATE(0.0, 1e12);
    const auto values = families::exponential<double>(500, offset, 1, 22);
    families::random r(23);
    std::vector<double> x(1000000), counts(values.size());
    for (double& v : x) {
      const std::size_t i = r.below(values.size());
      v = values[i];
      ++counts[i];
    }
    const auto exact = oracle::central_moments(values, 12, counts);
    const auto m = accumulated(x, 12);
    CHECK(m.weight() == 1e6);
    CHECK(roundings(m, exact) <= ranges);
    CHECK(relative(one_by_one(x, 8), exact) <= streaming);
  }
}

TEST_CASE("central_moments: values added one by one at any offset", "[moments][value]") {
  const double offset = GENERATE(0.0, 1e3, -1e6, 1e8, 1e12);
  for (const std::size_t n : {2u, 3u, 7u, 100u, 4096u}) {
    for (const auto& [name, x] : samples(n, offset)) {
      CAPTURE(name, n, offset);
      const auto exact = oracle::central_moments(x, 8);
      CHECK(relative(one_by_one(x, 8), exact) <= streaming);
      const auto w = families::wild_weights<double>(n, 8, 31);
      CHECK(relative(one_by_one(x, 8, w), oracle::central_moments(x, 8, w)) <= streaming);
    }
  }
}

TEST_CASE("central_moments: weighted ranges within their roundings", "[moments][value]") {
  const double offset = GENERATE(0.0, -1e6, 1e12);
  for (const std::size_t n : {1u, 2u, 17u, 128u, 1000u, 4096u}) {
    const std::vector<named_sample> weights = {
        {"uniform", families::uniform<double>(n, 0.1, 2, 41)},
        {"wild", families::wild_weights<double>(n, 16, 42)},
        {"beyond 2^53", families::uniform<double>(n, 0x1p53, 0x1p60, 43)},
        {"huge", families::uniform<double>(n, 1e298, 1e300, 44)},
        {"tiny", families::uniform<double>(n, 1e-280, 1e-278, 45)},
        {"all 2", families::ties<double>(n, 2)}};
    for (const auto& [name, x] : samples(n, offset)) {
      for (const auto& [weights_name, w] : weights) {
        CAPTURE(name, weights_name, n, offset);
        const auto m = accumulated(x, 8, w);
        CHECK(roundings(m, oracle::central_moments(x, 8, w)) <= weighted_ranges);
        check_mean(m, oracle::mean(x, w));
        CHECK(ulps(m.weight(), oracle::weight(x, w)) <= 2);
      }
    }
  }
}

TEST_CASE("central_moments: a common weight of 2 counts every value twice", "[moments][value]") {
  // a power of two: the same roundings, so the same moments
  for (const auto& [name, x] : samples(1000, 5)) {
    CAPTURE(name);
    const auto once = accumulated(x, 8),
               twice = accumulated(x, 8, families::ties<double>(x.size(), 2));
    CHECK(twice.weight() == 2 * once.weight());
    for (int p = 2; p <= 8; ++p) CHECK(twice.moment(p) == once.moment(p));
    auto doubled = x;
    doubled.insert(doubled.end(), x.begin(), x.end());
    CHECK(roundings(twice, oracle::central_moments(doubled, 8)) <= weighted_ranges);
  }
}

TEST_CASE("central_moments: any scale of the values", "[moments][value]") {
  const auto shape = families::exponential<double>(500, -1, 1, 51);
  const auto standard = oracle::central_moments(shape, 8);
  for (const double scale : {1e40, 1e-45, 1e150, 1e-160, 0x1p-1040, 1e300}) {
    CAPTURE(scale);
    std::vector<double> x = shape;
    for (double& v : x) v *= scale;
    const auto exact = oracle::central_moments(x, 8);
    const wide sigma = sqrt(exact[2].signed_value);
    for (const auto& m : {accumulated(x, 8), one_by_one(x, 8)}) {
      for (int p = 2; p <= 8; ++p) {
        CAPTURE(p);
        const auto& e = exact[std::size_t(p)];
        const wide tolerance = e.absolute_value * wide(streaming);
        const double nearest = static_cast<double>(e.signed_value);
        if (std::isinf(nearest)) {
          CHECK(m.moment(p) == nearest);
        } else {  // what underflows is rounded to a subnormal
          CHECK(abs(wide(m.moment(p)) - e.signed_value) <= tolerance + wide(0x1p-1074));
        }
        CHECK(abs(wide(m.standardized_moment(p)) - e.signed_value / pow(sigma, p)) <=
              wide(2 * streaming) * e.absolute_value / pow(sigma, p));
      }
    }
  }
  CHECK(roundings(accumulated(shape, 8), standard) <= ranges);
}

TEST_CASE("central_moments: the end of a range that is small beside the other", "[moments][edge]") {
  const std::vector<double> x{1e-310, 0, -1e300, 1e-300};
  std::vector<double> w(4, 1.0);  // as a list g++ 12 at -O3 for AVX-512 makes four ones of it
  w[3] = 0;
  for (const int order : {0, 2, 6}) {
    cumulus::central_moments<double> m(order), weighted(order);
    m.add(x);
    weighted.add(x, w);
    CHECK((m.min() == -1e300 && m.max() == 1e-300));
    CHECK((weighted.min() == -1e300 && weighted.max() == 1e-310));
  }
}

TEST_CASE("central_moments: the whole range of double, and a subnormal spread", "[moments][edge]") {
  const double most = std::numeric_limits<double>::max(), least = 0x1p-1074;
  for (const std::vector<double>& x : {std::vector<double>{-1.7e308, 1.7e308},
                                       {most, -most},
                                       {1.7e308, 1.7e308, -1.7e308},
                                       {-most, -most, 0, most},
                                       {0, least},
                                       {least, 2 * least, 4 * least},
                                       {-least, least},
                                       {0x1p-1022, 0x1p-1022 + least}}) {
    CAPTURE(x);
    const auto exact = oracle::central_moments(x, 4);
    const wide sigma = sqrt(exact[2].signed_value);
    const wide range =
        wide(*std::max_element(x.begin(), x.end())) - wide(*std::min_element(x.begin(), x.end()));
    for (const auto& m : {accumulated(x, 4), one_by_one(x, 4)}) {
      CHECK(std::isfinite(m.mean()));
      CHECK(abs(wide(m.mean()) - oracle::mean(x)) <= range * 2 * u + wide(least));
      for (int p = 2; p <= 4; ++p) {
        CAPTURE(p);
        CHECK(abs(wide(m.standardized_moment(p)) -
                  exact[std::size_t(p)].signed_value / pow(sigma, p)) <=
              wide(1e-14) * exact[std::size_t(p)].absolute_value / pow(sigma, p));
      }
      CHECK(m.moment(2) == static_cast<double>(exact[2].signed_value));  // infinity, or 0
    }
  }
}

TEST_CASE("central_moments: constant data are exactly so", "[moments][edge]") {
  for (const double value : {0.0, 1.1, -2.1, 1e12 + 0.3, 1e-300, 1.7e308, 0x1p-1074}) {
    for (const std::size_t n : {1u, 2u, 15u, 1000u}) {
      const auto x = families::ties<double>(n, value);
      const auto w = families::wild_weights<double>(n, 12, 61);
      auto merged = accumulated(x, 6) + one_by_one(x, 6, w);
      for (const auto& m : {accumulated(x, 6), accumulated(x, 6, w), one_by_one(x, 6),
                            one_by_one(x, 6, w), merged}) {
        CAPTURE(value, n);
        CHECK(m.mean() == value);
        CHECK(m.min() == value);
        CHECK(m.max() == value);
        for (int p = 1; p <= 6; ++p) CHECK(m.moment(p) == 0);
        CHECK(m.moment(0) == 1);
        CHECK(std::isnan(m.standardized_moment(2)));
        CHECK(m.standardized_moment(0) == 1);
        CHECK(m.deviation(value) == 0);
      }
    }
  }
}

TEST_CASE("central_moments: values one ulp apart at a large offset", "[moments][value]") {
  // rolling kurtosis of four such values has been seen at 213; it lies in [1, 4]
  const double base = 1e8, step = ulp_of(base);
  const std::vector<double> x{base, base + step, base, base + 3 * step};
  const auto m = accumulated(x, 4);
  CHECK(roundings(m, oracle::central_moments(x, 4)) <= ranges);
  CHECK(m.standardized_moment(4) >= 1);
  CHECK(m.standardized_moment(4) <= 4);
}

TEST_CASE("central_moments: deviations from the mean keep their digits", "[moments][value]") {
  const double offset = GENERATE(0.0, 1e8, -1e12);
  for (const auto& [name, x] : samples(777, offset)) {
    CAPTURE(name, offset);
    const auto m = accumulated(x, 2);
    const wide mean = oracle::mean(x), range = wide(m.max()) - wide(m.min());
    for (const double v : x) {
      const wide exact = wide(v) - mean;
      const wide tolerance = wide(ulp_of(static_cast<double>(exact))) + range * wide(1e-15);
      CHECK(abs(wide(m.deviation(v)) - exact) <= tolerance);
    }
  }
}

// ---- the monoid

TEST_CASE("central_moments: any split, merged in any tree", "[moments][property]") {
  families::random r(71);
  for (int trial = 0; trial < 60; ++trial) {
    const double offset = std::array{0.0, 1e3, -1e8, 1e12}[r.below(4)];
    const std::size_t n = 1 + r.below(trial % 10 == 0 ? 3000 : 300);
    const auto all = samples(n, offset);
    const auto& [name, x] = all[r.below(all.size())];
    const bool weighted = r.below(2) == 0;
    const auto w =
        weighted ? families::wild_weights<double>(n, 6, r.bits()) : std::vector<double>{};
    std::vector<central_moments<double>> parts;
    for (std::size_t first = 0; first < n;) {
      const std::size_t end = std::min(n, first + 1 + r.below(r.below(2) == 0 ? 3 : n));
      const std::vector<double> values(x.begin() + std::ptrdiff_t(first),
                                       x.begin() + std::ptrdiff_t(end));
      const std::vector<double> some = weighted
                                           ? std::vector<double>(w.begin() + std::ptrdiff_t(first),
                                                                 w.begin() + std::ptrdiff_t(end))
                                           : std::vector<double>{};
      parts.push_back(r.below(2) == 0 ? accumulated(values, 8, some) : one_by_one(values, 8, some));
      if (r.below(4) == 0) parts.emplace_back(8);  // and nothing at all
      first = end;
    }
    while (parts.size() > 1) {
      std::swap(parts[r.below(parts.size())], parts.back());
      const central_moments<double> part = parts.back();
      parts.pop_back();
      central_moments<double>& other = parts[r.below(parts.size())];
      other = r.below(2) == 0 ? other + part : part + other;
    }
    CAPTURE(name, n, offset, weighted, trial);
    const auto exact = oracle::central_moments(x, 8, w);
    CHECK(relative(parts[0], exact) <= streaming);
    CHECK(ulps(parts[0].weight(), oracle::weight(x, w)) <= 1);
    check_mean(parts[0], oracle::mean(x, w));
    CHECK(parts[0].min() == *std::min_element(x.begin(), x.end()));
    CHECK(parts[0].max() == *std::max_element(x.begin(), x.end()));
  }
}

TEST_CASE("central_moments: any order of the values", "[moments][property]") {
  auto x = families::exponential<double>(500, 1e8, 1, 81);
  const auto exact = oracle::central_moments(x, 8);
  families::random r(82);
  for (int trial = 0; trial < 20; ++trial) {
    for (std::size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[r.below(i)]);
    CHECK(roundings(accumulated(x, 8), exact) <= ranges);
    CHECK(relative(one_by_one(x, 8), exact) <= streaming);
  }
}

TEST_CASE("central_moments: parts of very different size, place and scale", "[moments][value]") {
  struct part {
    double offset, scale;
    std::size_t n;
  };
  for (const auto& [a, b] : {std::pair<part, part>{{0, 1, 1000}, {1e6, 1e-3, 10}},
                             {{1e12, 1, 500}, {-1e12, 1, 3}},
                             {{0, 1e-30, 50}, {1, 1e-30, 50}},
                             {{0, 1e30, 50}, {0, 1e-30, 50}},
                             {{3, 0, 100}, {4, 0, 1}},
                             {{1e15, 1, 2000}, {1e15, 1, 1}}}) {
    auto x = families::normal<double>(a.n, a.offset, a.scale, 91);
    const auto y = families::normal<double>(b.n, b.offset, b.scale, 92);
    const auto first = accumulated(x, 8), second = accumulated(y, 8);
    x.insert(x.end(), y.begin(), y.end());
    const auto exact = oracle::central_moments(x, 8);
    CAPTURE(a.offset, b.offset);
    CHECK(relative(first + second, exact) <= streaming);
    CHECK(relative(second + first, exact) <= streaming);
  }
}

TEST_CASE("central_moments: counts multiplied as numbers, not as integers", "[moments][value]") {
  // 2^21 values a block and more: n^3 overflows 64 bits
  const auto x = families::exponential<double>(64, 3, 1, 95);
  const double copies = 0x1p40;
  auto m = accumulated(x, 4, families::ties<double>(64, copies));
  m += accumulated(std::vector<double>{9}, 4, std::vector<double>{0x1p45});
  auto all = x;
  all.push_back(9);
  auto w = families::ties<double>(64, copies);
  w.push_back(0x1p45);
  CHECK(relative(m, oracle::central_moments(all, 4, w)) <= streaming);
  CHECK(m.weight() == 0x1p46 + 0x1p45);
}

TEST_CASE("central_moments: the empty sample is the identity", "[moments][edge]") {
  const auto x = families::normal<double>(100, 3, 1, 101);
  const auto m = accumulated(x, 5);
  const central_moments<double> nothing(5);
  CHECK(observably_equal(m + nothing, m));
  CHECK(observably_equal(nothing + m, m));
  CHECK(observably_equal(m - nothing, m));
  CHECK(observably_equal(nothing + nothing, nothing));
  auto copy = m;
  copy.add(std::vector<double>{});
  copy.add(std::vector<double>{}, std::vector<double>{});
  CHECK(observably_equal(copy, m));
  CHECK(m + nothing == m);

  CHECK(nothing.empty());
  CHECK(nothing.weight() == 0);
  CHECK(nothing.min() == inf);
  CHECK(nothing.max() == -inf);
  CHECK(std::isnan(nothing.mean()));
  for (int p = 0; p <= 5; ++p) {
    CHECK(std::isnan(nothing.moment(p)));
    CHECK(std::isnan(nothing.standardized_moment(p)));
  }
  CHECK(std::isnan(nothing.deviation(1)));
  CHECK(nothing.loss() == 1);
  CHECK(!nothing.lossy());
  auto mapped = nothing;
  mapped.affine(2, 3);
  CHECK(mapped == nothing);
  CHECK(central_moments<double, 3>().empty());
  CHECK(!m.empty());
}

TEST_CASE("central_moments: a sample merged with itself counts twice", "[moments][property]") {
  const auto x = families::exponential<double>(300, 1e6, 2, 111);
  auto m = accumulated(x, 8);
  m += m;
  CHECK(m.weight() == 600);
  CHECK(relative(m, oracle::central_moments(x, 8)) <= streaming);
  const auto& itself = m;
  m -= itself;
  CHECK(m.empty());
}

TEST_CASE("central_moments: removal undoes addition", "[moments][property]") {
  const double offset = GENERATE(0.0, 1e8);
  families::random r(121);
  for (int trial = 0; trial < 30; ++trial) {
    const std::size_t n = 20 + r.below(200), k = 1 + r.below(n / 2);
    const auto x = families::normal<double>(n, offset, 1, r.bits());
    const std::vector<double> gone(x.begin(), x.begin() + std::ptrdiff_t(k)),
        left(x.begin() + std::ptrdiff_t(k), x.end());
    const auto m = accumulated(x, 6) - accumulated(gone, 6);
    CAPTURE(n, k, offset);
    CHECK(m.weight() == double(n - k));
    CHECK(!m.lossy());
    CHECK(m.loss() >= 1);
    CHECK(relative(m, oracle::central_moments(left, 6)) <= streaming * m.loss());
    CHECK(m.min() <= *std::min_element(left.begin(), left.end()));
    CHECK(m.max() >= *std::max_element(left.begin(), left.end()));
  }
}

TEST_CASE("central_moments: a window that loses its digits says so", "[moments][value]") {
  // a window of 50 over unit noise, one value 1e6 passing through it
  const auto x = [] {
    auto noise = families::normal<double>(400, 0, 1, 131);
    noise[200] = 1e6;
    return noise;
  }();
  central_moments<double> window(4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    window.add(x[i]);
    if (i < 50) continue;
    central_moments<double> old(4);
    old.add(x[i - 50]);
    window -= old;
    const std::vector<double> held(x.begin() + std::ptrdiff_t(i) - 49,
                                   x.begin() + std::ptrdiff_t(i) + 1);
    const auto exact = oracle::central_moments(held, 4);
    CAPTURE(i, window.loss());
    CHECK(window.lossy() == (i >= 250));
    for (int p = 2; p <= 4; ++p) {  // of what it says, where that is more than what there is
      const double held_now =
          p == 3 ? std::sqrt(window.moment(2) * window.moment(4)) : window.moment(p);
      const double scale =
          std::max(held_now, static_cast<double>(exact[std::size_t(p)].absolute_value));
      CHECK(std::abs(window.moment(p) - static_cast<double>(exact[std::size_t(p)].signed_value)) <=
            1e-15 * window.loss() * scale);
    }
    CHECK(window.weight() == 50);
  }
  CHECK((window + accumulated(x, 4)).lossy());  // loss is inherited
  CHECK((accumulated(x, 4) + window).lossy());
  CHECK((central_moments<double>(4) + window).lossy());
}

TEST_CASE("central_moments: removing all leaves nothing, removing more leaves NaN",
          "[moments][edge]") {
  const auto x = families::normal<double>(30, 3, 1, 141);
  const auto m = accumulated(x, 4);
  const auto none = m - m;
  CHECK(none.empty());
  CHECK(none.weight() == 0);
  CHECK(none.min() == inf);
  auto again = none;
  again.add(x);
  CHECK(observably_equal(again, m));
  const auto negative = m - (m + m);
  CHECK(std::isnan(negative.weight()));
  CHECK(std::isnan(negative.mean()));
  CHECK(std::isnan(negative.moment(2)));
  CHECK(std::isnan((central_moments<double>(4) - m).weight()));
}

TEST_CASE("central_moments: an affine map of the values", "[moments][property]") {
  const double offset = GENERATE(0.0, 1e8);
  const auto x = families::exponential<double>(200, offset, 1, 151);
  for (const auto& [a, b] : {std::pair{2.0, 0.0},
                             {-1.0, 3.0},
                             {0.3, -1e6},
                             {-1e20, 1.0},
                             {1e-30, 0.0},
                             {1.0, 1e12},
                             {1.0, -1e8},
                             {0x1p-40, 0.0},
                             {1e100, -1e90}}) {
    // exact images of the values, so that only the map is on trial
    std::vector<wide> y;
    for (const double v : x) y.push_back(wide(a) * wide(v) + wide(b));
    const auto exact = oracle::central_moments(y, 6);
    auto m = accumulated(x, 6);
    m.affine(a, b);
    CAPTURE(a, b, offset);
    for (int p = 2; p <= 6; ++p) {
      const auto& e = exact[std::size_t(p)];
      if (e.absolute_value < wide(1e-290) || e.absolute_value > wide(1e300)) continue;
      CHECK(abs(wide(m.moment(p)) - e.signed_value) <= e.absolute_value * wide(streaming));
    }
    const wide mean = oracle::mean(y);
    CHECK(abs(wide(m.mean()) - mean) <=
          4 * u * (abs(wide(a) * oracle::mean(x)) + abs(wide(b)) + sqrt(exact[2].signed_value)));
    CHECK(m.weight() == 200);
    const double ends[] = {a * accumulated(x, 0).min() + b, a * accumulated(x, 0).max() + b};
    CHECK(m.min() == std::min(ends[0], ends[1]));
    CHECK(m.max() == std::max(ends[0], ends[1]));
  }
}

TEST_CASE("central_moments: affine maps that leave no spread, or no number", "[moments][edge]") {
  const auto x = families::normal<double>(50, 1, 1, 161);
  auto m = accumulated(x, 4);
  m.affine(0, 7);
  CHECK(m.mean() == 7);
  CHECK(m.min() == 7);
  CHECK(m.max() == 7);
  CHECK(m.weight() == 50);
  for (int p = 1; p <= 4; ++p) CHECK(m.moment(p) == 0);
  m = accumulated(x, 4);
  m.affine(1, not_a_number);
  CHECK(std::isnan(m.mean()));
  CHECK(std::isnan(m.moment(2)));
  m = accumulated(x, 4);
  m.affine(inf, 0);
  CHECK(!std::isfinite(m.mean()));
  CHECK(std::isnan(m.moment(2)));
  m = accumulated(x, 4);
  m.affine(1, 1);
  auto shifted = x;
  m.add(x);  // a mapped sample goes on
  for (const double v : x) shifted.push_back(v + 1);
  CHECK(relative(m, oracle::central_moments(shifted, 4)) <= 1e-13);
}

// ---- edges

TEST_CASE("central_moments: a weight of 0 changes nothing, whatever it comes with",
          "[moments][edge]") {
  const auto x = families::normal<double>(200, 3, 1, 171);
  const auto m = accumulated(x, 4);
  for (const double odd : {not_a_number, inf, -inf, 1e300, 3.0}) {
    for (const double zero : {0.0, -0.0}) {
      CAPTURE(odd, zero);
      auto copy = m;
      copy.add(odd, zero);
      CHECK(observably_equal(copy, m));
      std::vector<double> padded{odd}, w{zero};
      for (const double v : x) {
        padded.push_back(v), w.push_back(1);
        padded.push_back(odd), w.push_back(zero);
      }
      const auto range = accumulated(padded, 4, w);
      CHECK(range.weight() == 200);
      CHECK(range.min() == m.min());
      CHECK(range.max() == m.max());
      CHECK(roundings(range, oracle::central_moments(x, 4)) <= weighted_ranges);
      central_moments<double> nothing(4);
      nothing.add(odd, zero);
      nothing.add(std::vector<double>{odd, odd}, std::vector<double>{zero, zero});
      CHECK(nothing.empty());
    }
  }
}

TEST_CASE("central_moments: values that are not finite leave the mean that IEEE gives",
          "[moments][edge]") {
  struct edge {
    std::vector<double> x;
    double mean, min, max;
  };
  for (const edge& e : {edge{{1, inf, 2}, inf, 1, inf},
                        {{1, -inf, 2}, -inf, -inf, 2},
                        {{inf}, inf, inf, inf},
                        {{-inf, -inf}, -inf, -inf, -inf},
                        {{inf, -inf, 5}, not_a_number, -inf, inf},
                        {{1, not_a_number, 2}, not_a_number, not_a_number, not_a_number},
                        {{not_a_number, inf}, not_a_number, not_a_number, not_a_number}}) {
    CAPTURE(e.x);
    for (const auto& m : {accumulated(e.x, 3), one_by_one(e.x, 3)}) {
      CHECK(same(m.mean(), e.mean));
      CHECK(m.weight() == double(e.x.size()));
      CHECK(!m.empty());
      CHECK(m.moment(0) == 1);
      for (int p = 1; p <= 3; ++p) CHECK(std::isnan(m.moment(p)));
      CHECK(std::isnan(m.standardized_moment(2)));
      if (!std::isnan(e.min)) {
        CHECK(m.min() == e.min);
        CHECK(m.max() == e.max);
      }
      const auto more = m + accumulated(std::vector<double>{1, 2, 3}, 3);
      CHECK(same(more.mean(), e.mean));
      CHECK(more.weight() == double(e.x.size()) + 3);
      CHECK(same((accumulated(std::vector<double>{1, 2, 3}, 3) + m).mean(), e.mean));
      CHECK(std::isnan(more.moment(2)));
    }
  }
}

TEST_CASE("central_moments: weights that are none leave NaN", "[moments][edge]") {
  for (const double w : {-1.0, -1e-300, not_a_number, inf, -inf}) {
    CAPTURE(w);
    central_moments<double> one(3);
    one.add(5, w);
    CHECK(!one.empty());
    const auto range = accumulated(std::vector<double>{1, 2, 3}, 3, std::vector<double>{1, w, 1});
    const auto by_value = one_by_one(std::vector<double>{1, 2, 3}, 3, std::vector<double>{1, w, 1});
    for (const auto& m : {one, range, by_value, one + accumulated(std::vector<double>{1, 2}, 3),
                          accumulated(std::vector<double>{1, 2}, 3) + one}) {
      CHECK(std::isnan(m.weight()));
      CHECK(std::isnan(m.mean()));
      CHECK(std::isnan(m.moment(2)));
      CHECK(std::isnan(m.moment(3)));
    }
  }
}

// ---- types and orders

TEMPLATE_TEST_CASE_SIG("central_moments: a fixed order is the dynamic one", "[moments][property]",
                       ((int P), P), 0, 1, 2, 3, 4, 8, 12, 64) {
  static_assert(std::is_trivially_copyable_v<central_moments<double, P>>);
  static_assert(std::is_nothrow_move_constructible_v<central_moments<double, P>>);
  const auto x = families::exponential<double>(300, 1e3, 0.5, 181);
  const auto w = families::wild_weights<double>(300, 3, 182);
  central_moments<double, P> fixed, other;
  central_moments<double> chosen(P), another(P);
  fixed.add(x), chosen.add(x);
  CHECK(agree(fixed, chosen));
  other.add(x, w), another.add(x, w);
  for (const double v : {3.0, 900.0}) other.add(v, 2), another.add(v, 2);
  fixed += other, chosen += another;
  CHECK(agree(fixed, chosen));
  fixed.affine(0.25, -7), chosen.affine(0.25, -7);
  CHECK(agree(fixed, chosen));
  other.affine(0.25, -7), another.affine(0.25, -7);
  fixed -= other, chosen -= another;
  CHECK(agree(fixed, chosen));
  CHECK(fixed.order() == P);
}

TEST_CASE("central_moments: a lower order is the head of a higher one", "[moments][property]") {
  const auto x = families::exponential<double>(300, 1e3, 0.5, 191);
  for (int order = 0; order < 20; ++order) {
    const auto low = accumulated(x, order), high = accumulated(x, order <= 12 ? 12 : 20);
    for (int p = 0; p <= order; ++p) CHECK(low.moment(p) == high.moment(p));
  }
}

TEST_CASE("central_moments: float input is summed in double", "[moments][value]") {
  const double offset = GENERATE(0.0, 1e4, 1e7);
  const auto x = families::normal<float>(5000, offset, 3, 201);
  const auto w = families::uniform<float>(5000, 0.1, 2, 202);
  const auto exact = oracle::central_moments(x, 6), weighted = oracle::central_moments(x, 6, w);
  CAPTURE(offset);
  CHECK(roundings(cumulus::detail::wide(accumulated(x, 6)), exact) <= ranges);
  CHECK(roundings(cumulus::detail::wide(accumulated(x, 6, w)), weighted) <= weighted_ranges);
  CHECK(relative(cumulus::detail::wide(one_by_one(x, 6, w)), weighted) <= streaming);
  central_moments<double> as_double(6);
  as_double.add(x);
  CHECK(observably_equal(as_double, cumulus::detail::wide(accumulated(x, 6))));
  const auto m = accumulated(x, 6);
  CHECK(m.mean() == static_cast<float>(cumulus::detail::wide(m).mean()));
  for (int p = 2; p <= 6; ++p) {
    CHECK(m.moment(p) == static_cast<float>(cumulus::detail::wide(m).moment(p)));
    CHECK(ulps(m.moment(p), exact[std::size_t(p)].signed_value,
               static_cast<float>(exact[std::size_t(p)].absolute_value)) <= 0.51);
  }
  // moments that a float cannot hold are held all the same
  const auto large = families::normal<float>(100, 0, 1e15, 203);
  CHECK(std::isinf(accumulated(large, 4).moment(4)));
  CHECK(relative(cumulus::detail::wide(accumulated(large, 4)), oracle::central_moments(large, 4)) <=
        streaming);
}

TEST_CASE("central_moments: other scalars, containers and strides", "[moments][property]") {
  const std::vector<int> integers{100000, -3, 7, 7, 12, 65536};
  const std::vector<double> x(integers.begin(), integers.end());
  const auto m = accumulated(x, 4);
  const auto check = [&](const auto& range) {
    central_moments<double> other(4);
    other.add(range);
    CHECK(observably_equal(other, m));
  };
  check(integers);
  check(std::vector<std::int64_t>(integers.begin(), integers.end()));
  check(std::vector<long double>(x.begin(), x.end()));
  check(std::array{100000.0, -3.0, 7.0, 7.0, 12.0, 65536.0});
  const Eigen::Map<const Eigen::VectorXd> dense(x.data(), 6);
  check(dense);
  check(dense.transpose());
  check(dense.array() + 0);
  check(dense.reverse().reverse());
  Eigen::MatrixXd strided = Eigen::MatrixXd::Constant(3, 6, -99);
  strided.row(1) = dense.transpose();
  check(strided.row(1));
  central_moments<double> weighted(4), counted(4);
  weighted.add(x, std::vector<double>{1, 2, 3, 1, 1, 4});
  counted.add(integers, std::array{1, 2, 3, 1, 1, 4});
  CHECK(observably_equal(weighted, counted));

  central_moments<long double> precise(4);
  precise.add(std::vector<long double>{1e8L, 1e8L + 1e-9L, 1e8L + 3e-9L});
  CHECK(precise.moment(2) > 0);
  central_moments<wide> exact(6);
  const auto y = families::normal<double>(200, 3, 1, 211);
  exact.add(std::vector<wide>(y.begin(), y.end()));
  const auto expected = oracle::central_moments(y, 6);
  for (int p = 2; p <= 6; ++p)
    CHECK(abs(exact.moment(p) - expected[std::size_t(p)].signed_value) <=
          expected[std::size_t(p)].absolute_value * wide(1e-46));
}

TEST_CASE("central_moments: equality is of what was accumulated", "[moments][property]") {
  const auto x = families::normal<double>(100, 0, 1, 221);
  CHECK(accumulated(x, 4) == accumulated(x, 4));
  CHECK(!(accumulated(x, 4) == accumulated(x, 5)));
  auto other = accumulated(x, 4);
  other.add(0.5);
  CHECK(!(accumulated(x, 4) == other));
}

TEST_CASE("central_moments: orders and sizes are refused by both values", "[moments][edge]") {
  const central_moments<double> four(4);
  const central_moments<double, 1> one;
  CHECK(names(refusal([] { central_moments<double> m(-1); }), {"order -1", "0.."}));
  CHECK(names(refusal([] { central_moments<double> m(std::int64_t(1) << 40); }),
              {"order 1099511627776"}));
  CHECK(names(refusal([&] { static_cast<void>(four.moment(5)); }), {"moment", "order 5", "0..4"}));
  CHECK(names(refusal([&] { static_cast<void>(four.moment(-1)); }), {"order -1", "0..4"}));
  CHECK(names(refusal([&] { static_cast<void>(four.moment(~0ull)); }),
              {"order 18446744073709551615", "0..4"}));
  CHECK(
      names(refusal([&] { static_cast<void>(four.standardized_moment(7)); }), {"order 7", "0..4"}));
  CHECK(
      names(refusal([&] { static_cast<void>(one.standardized_moment(1)); }), {"order 2", "0..1"}));
  auto m = four;
  const central_moments<double> six(6);
  CHECK(names(refusal([&] { m += six; }), {"order 4", "order 6"}));
  CHECK(names(refusal([&] { m -= six; }), {"order 4", "order 6"}));
  CHECK(names(refusal([&] { m.add(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2}); }),
              {"x has 3", "weights has 2"}));
  CHECK(m == four);  // nothing was done
}

TEST_CASE("central_moments: what has a weight counts, and nothing else", "[moments][value]") {
  const auto x = families::normal<double>(9000, 1e3, 1, 231);
  std::vector<double> w = families::uniform<double>(9000, 0.1, 2, 232);
  for (std::size_t i = 0; i < w.size(); i += 4) w[i] = i % 8 == 0 ? 0.0 : -0.0;
  central_moments<double> streamed(4), range(4), weighted(4), high(20), narrow(4);
  CHECK(range.count() == 0);
  for (std::size_t i = 0; i < x.size(); ++i) streamed.add(x[i], w[i]);
  range.add(x);
  weighted.add(x, w);
  high.add(x, w);  // beyond the vector kernels
  narrow.add(std::vector<float>(x.begin(), x.end()), w);
  CHECK(range.count() == 9000);
  for (const auto* m : {&streamed, &weighted, &high, &narrow}) CHECK(m->count() == 6750);
  // of far numbers, which take a scale and a second pass
  central_moments<double, 4> far;
  far.add(std::vector<double>{1e300, -1e300, 0, 5}, std::vector<double>{1, 2, 0, 1});
  CHECK(far.count() == 3);
  // a value that is not finite and a weight that is invalid count as well
  weighted.add(std::nan(""), 1);
  weighted.add(1, -2);
  weighted.add(std::vector<double>{1, 2}, std::vector<double>{std::nan(""), 0});
  CHECK(weighted.count() == 6753);
}

TEST_CASE("central_moments: the count merges, is removed, survives affine and bytes",
          "[moments][property]") {
  const auto x = families::exponential<double>(500, 0, 1, 233);
  const auto all = std::span<const double>(x);
  central_moments<double> whole(4), left(4), right(4);
  whole.add(x);
  left.add(all.first(120), families::uniform<double>(120, 1, 2, 234));
  right.add(all.subspan(120));
  CHECK((left + right).count() == 500);
  CHECK((central_moments<double>(4) + left).count() == 120);
  CHECK((left + central_moments<double>(4)).count() == 120);
  CHECK((left + right - left).count() == 380);
  CHECK((left - left).count() == 0);
  left += left;
  CHECK(left.count() == 240);
  whole.affine(-2, 3);
  CHECK(whole.count() == 500);
  const auto back = cumulus::from_bytes<central_moments<double>>(cumulus::to_bytes(whole));
  CHECK(back.count() == 500);
  CHECK(back == whole);
}

TEST_CASE("central_moments: variance, skewness and kurtosis are those of the sample",
          "[moments][value]") {
  central_moments<double, 4> m;
  m.add(std::vector<double>{0, 1, 1, 4});  // about 3/2: mu_2 = 9/4, mu_3 = 3, mu_4 = 177/16
  CHECK(m.variance() == 2.25);
  CHECK(m.skewness() == Approx(3 / 3.375).epsilon(1e-15));
  CHECK(m.kurtosis() == Approx(177.0 / 81).epsilon(1e-15));
  CHECK(m.skewness() == m.standardized_moment(3));
  CHECK(m.kurtosis() == m.standardized_moment(4));
  m.affine(1e-200, 7);  // at any scale
  CHECK(m.kurtosis() == Approx(177.0 / 81).epsilon(1e-14));
  central_moments<double, 4> constant;
  constant.add(3.0);
  CHECK(constant.variance() == 0);
  CHECK(std::isnan(constant.skewness()));
  CHECK(std::isnan(constant.kurtosis()));
  CHECK(std::isnan(central_moments<double, 4>().variance()));
  const central_moments<double> low(1), middle(3);
  CHECK(refusal([&] { static_cast<void>(low.variance()); }) ==
        "cumulus: central_moments::variance: order 2 is outside 0..1 (the order held)");
  CHECK(refusal([&] { static_cast<void>(low.skewness()); }) ==
        "cumulus: central_moments::skewness: order 3 is outside 0..1 (the order held)");
  CHECK(refusal([&] { static_cast<void>(middle.kurtosis()); }) ==
        "cumulus: central_moments::kurtosis: order 4 is outside 0..3 (the order held)");
}

TEST_CASE("central_moments: integers of 64 bits keep their differences", "[moments][value]") {
  const auto base = std::int64_t(1700000000000000000);  // nanoseconds
  const std::vector<std::int64_t> times{base, base + 1, base + 2};
  cumulus::central_moments<double> m(4);
  m.add(times);
  CHECK(m.variance() == 2.0 / 3);
  CHECK(m.mean() == 1.7e18);
  CHECK(m.count() == 3);
  cumulus::central_moments<double, 4> one_by_one, halves, rest;
  for (const auto t : times) one_by_one.add(t);
  CHECK(one_by_one.variance() == Approx(2.0 / 3).epsilon(1e-14));
  halves.add(std::span(times).first(2));
  rest.add(std::span(times).last(1));
  CHECK((halves += rest).variance() == Approx(2.0 / 3).epsilon(1e-14));
  cumulus::central_moments<double> weighted(2);
  weighted.add(times, std::vector<double>{1, 0, 1});
  CHECK(weighted.variance() == 1);
  const auto variance = [](const auto& x) {
    cumulus::central_moments<double> v(2);
    v.add(x);
    return v.variance();
  };
  constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
  CHECK(variance(std::vector<std::int64_t>{least, least + 1, least + 2}) == 2.0 / 3);
  CHECK(variance(std::vector<std::int64_t>{most, most - 1, most - 2}) == 2.0 / 3);
  CHECK(variance(std::vector<std::uint64_t>{~0ull, ~0ull - 1, ~0ull - 2}) == 2.0 / 3);
  CHECK(variance(std::vector<std::int64_t>{least, most}) == 0x1p126);
  // the base is that of what has a weight
  for (const std::int64_t first : {std::int64_t(0), -base, most}) {
    cumulus::central_moments<double> later(2);
    later.add(std::vector<std::int64_t>{first, base, base + 1, base + 2},
              std::vector<double>{0, 1, 1, 1});
    CHECK(later.variance() == 2.0 / 3);
  }
}

TEST_CASE("central_moments: a wider number is not rounded to the scalar first",
          "[moments][property]") {
  const std::vector<double> x{1e8 + 0.25, 1e8 + 0.5, 1e8 + 1};
  cumulus::central_moments<float> range(4), single(4);
  range.add(x);
  for (const double v : x) single.add(v);
  CHECK(range.variance() == Approx(0.09722222f));
  CHECK(single.variance() == range.variance());
  single.add(1);  // an integer, and weights of other scalars
  single.add(1.5, 2);
  single.add(1.5f, 2.0);
  CHECK(single.count() == 6);
}

TEST_CASE("central_moments: a removal that leaves no sample has lost all digits",
          "[moments][edge]") {
  const auto of = [](std::vector<double> x) {
    cumulus::central_moments<double> m(4);
    m.add(x);
    return m;
  };
  const auto loss = [&](const auto& whole, const auto& part) { return (whole - part).loss(); };
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(loss(of({1, 2, 3}), of({7, 8, 9})) == inf);                 // beyond the range
  CHECK(loss(of({1, 2, 3}), of({1, 2, 3, 3})) == inf);              // more weight than there is
  CHECK(loss(of({1, 2, 3, 4}), of({1, 1, 1})) == inf);              // a mean beyond the range
  CHECK(loss(of({1, 2.5, 2.5, 2.5, 4}), of({1, 1, 4, 4})) == inf);  // a variance below 0
  CHECK(loss(of({1, 2, 3, 4}), of({1, 2, 3, 4})) < inf);            // all of it
  CHECK(loss(of({1, 2, 3, 4}), of({3, 4})) < 1000);
  CHECK(loss(of({1, 2, 3}), of({2, 2, 2})) == inf);  // all of the weight, another variance
  CHECK(loss(of({1, 2, 3}), of({1, 2, 2})) == inf);  // another mean
  CHECK((of({1, 2, 3}) - of({7, 8, 9})).lossy());
}

TEST_CASE("central_moments: removing from constant data that was moved reports no infinite loss",
          "[moments][property]") {
  int infinite = 0;
  for (int i = 1; i < 2000; ++i) {
    const double c = 0.1 * i, a = 1.1 + 0.001 * i, b = 0.7 * i;
    cumulus::central_moments<double> whole(4), part(4);
    for (int k = 0; k < 4; ++k) whole.add(c);
    part.add(c);
    whole.affine(a, b);
    part.affine(a, b);
    whole -= part;
    infinite += std::isinf(whole.loss()) ? 1 : 0;
  }
  CHECK(infinite == 0);
}
