// SPDX-License-Identifier: MIT
//
// Rows with weights, masks and sinks of every size and spread, against the same call in long double, whose loops share no kernel
// with it.
#include <cumulus/exact.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "worst.hpp"

using namespace cumulus;

namespace {

struct row {
  std::size_t n;
  double spread, offset, weight_spread;  // weights are e^(weight_spread normal)
  bool zeros, masked, sunk;
};

template <class T>
struct sample {
  explicit sample(const row& r) {
    std::mt19937_64 engine(r.n * 31 + std::uint64_t(r.spread));
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < r.n; ++i) {
      x.push_back(T(float(r.offset + r.spread * normal(engine))));
      const double w = std::exp(r.weight_spread * normal(engine));
      w_.push_back(T(float(r.zeros && engine() % 5 == 0 ? 0.0 : w)));
      mask.push_back(!r.masked || i == 0 || engine() % 4 != 0);
    }
    w_[0] = T(1);
    if (r.sunk) sink = r.offset + r.spread;
  }
  std::vector<T> x, w_;
  std::vector<bool> mask;
  std::optional<double> sink{};
};

template <class T>
double ulps_of(T value, long double right, long double least) {
  if (std::isnan(value) || std::isnan(right))
    return std::isnan(value) == std::isnan(right) ? 0 : 1e300;
  if (!std::isfinite(double(right))) return double(value) == double(right) ? 0 : 1e300;
  const T size = std::max({T(std::abs(right)), T(least), std::numeric_limits<T>::min()});
  const T unit = std::max(std::ldexp(T(1), std::ilogb(size) - std::numeric_limits<T>::digits + 1),
                          std::numeric_limits<T>::denorm_min());
  return double(std::abs(static_cast<long double>(value) - right) / static_cast<long double>(unit));
}

template <class T>
void check(const row& r) {
  const sample<T> a(r);
  const sample<long double> b(r);
  CAPTURE(r.n, r.spread, r.offset, r.weight_spread, r.zeros, r.masked, r.sunk);
  const softmax_options<T> o{.weights = a.w_, .mask = a.mask, .sink = a.sink};
  const softmax_options<long double> p{.weights = b.w_, .mask = b.mask, .sink = b.sink};
  const options<T> so{.weights = a.w_, .mask = a.mask, .sink = a.sink};
  const options<long double> sp{.weights = b.w_, .mask = b.mask, .sink = b.sink};
  worst share, log_share, sum;
  const auto shares = softmax(a.x, o);
  const auto logs = log_softmax(a.x, o);
  const auto right = softmax(b.x, p);
  const auto right_logs = log_softmax(b.x, p);
  for (std::size_t i = 0; i < r.n; ++i) {
    share.see(ulps_of(shares[i], right[i], 0), "share", i);
    log_share.see(ulps_of(logs[i], right_logs[i], 0), "log share", i);
  }
  const long double size = std::is_same_v<T, double> ? std::abs(r.offset) + 10 * r.spread : 1;
  sum.see(ulps_of(logsumexp(a.x, so), logsumexp(b.x, sp), std::max(1.0L, size)), "sum", r.n);
  CHECK_WORST(share, softmax_max_ulp);
  CHECK_WORST(log_share, log_softmax_max_ulp);
  CHECK_WORST(sum, logsumexp_max_ulp);
}

}  // namespace

TEMPLATE_TEST_CASE("rows with options: within the bounds at every size, spread and weight",
                   "[exact][value]", float, double) {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 33u, 64u, 1000u, 5000u}) {
    for (const double spread : {1e-3, 2.0, 30.0, 200.0}) {
      for (const double weights : {0.0, 1.0, 6.0, 20.0}) {
        for (int flags = 0; flags < 8; ++flags)
          check<TestType>({n, spread, flags % 3 == 0 ? 50.0 : 0.0, weights, (flags & 1) != 0,
                           (flags & 2) != 0, (flags & 4) != 0});
      }
    }
  }
}

TEMPLATE_TEST_CASE("rows with options: within the bounds in parts", "[exact][value]", float,
                   double) {
  for (const double weights : {0.0, 2.0})
    check<TestType>({300000, 3.0, 1.0, weights, true, true, true});
}

TEMPLATE_TEST_CASE("rows with options: in place as apart", "[exact][property]", float, double) {
  for (const std::size_t n : {5u, 64u, 1000u, 9000u}) {
    const row r{n, 2.0, 0.0, 1.0, true, true, true};
    const sample<TestType> a(r);
    const softmax_options<TestType> o{.weights = a.w_, .mask = a.mask, .sink = a.sink};
    auto x = a.x, y = a.x;
    const auto shares = softmax(a.x, o), logs = log_softmax(a.x, o);
    softmax(x, into(x), o);
    log_softmax(y, into(y), o);
    worst share, log_share;
    for (std::size_t i = 0; i < n; ++i) {
      share.see(ulps_of(x[i], shares[i], 0), "share", i);
      log_share.see(ulps_of(y[i], logs[i], 0), "log share", i);
    }
    CHECK_WORST(share, softmax_max_ulp);
    CHECK_WORST(log_share, log_softmax_max_ulp);
  }
}

TEMPLATE_TEST_CASE("rows with options: entropy, sizes, means and running sums as in long double",
                   "[exact][value]", float, double) {
  constexpr double running = logsumexp_max_ulp;
  for (const std::size_t n : {1u, 2u, 5u, 17u, 64u, 1000u, 5000u}) {
    for (const double spread : {1e-4, 0.3, 2.0, 25.0, 300.0}) {
      for (const double offset : {0.0, -3.0, 40.0}) {
        const row r{n, spread, offset, 0.0, false, false, false};
        const sample<TestType> a(r);
        const sample<long double> b(r);
        CAPTURE(n, spread, offset);
        CHECK(ulps_of(softmax_entropy(a.x), softmax_entropy(b.x), 0) <= softmax_entropy_max_ulp);
        CHECK(ulps_of(effective_sample_size(a.x), effective_sample_size(b.x), 0) <=
              effective_sample_size_max_ulp);
        long double size = 0;
        for (const long double v : b.x) size += std::abs(v) / static_cast<long double>(n);
        const long double mean = logmeanexp(b.x);
        CHECK(std::abs(static_cast<long double>(logmeanexp(a.x)) - mean) <=
              logmeanexp_max_roundings * std::ldexp(1.0L, -std::numeric_limits<TestType>::digits) *
                  std::max(std::abs(mean), size));
        const auto sums = logcumsumexp(a.x);
        const auto right = logcumsumexp(b.x);
        worst error;
        for (std::size_t i = 0; i < n; ++i)
          error.see(
              ulps_of(sums[i], right[i],
                      std::max(1.0L, std::is_same_v<TestType, double>
                                         ? static_cast<long double>(std::abs(offset) + 10 * spread)
                                         : 1.0L)),
              "running sum", i);
        CHECK_WORST(error, running);
      }
    }
  }
}
