// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/enclosure.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "series_samples.hpp"

namespace {

using real = long double;
using cumulus::detail::ball;
using cumulus::detail::interval;

/// The balls of a sample's moments in T, computed in long double, and its K.
template <class T>
struct sample {
  std::vector<ball<T>> m;
  T low, high, range;
  real k;

  sample(const std::vector<double>& x, const std::vector<double>& w, int order) {
    real total = 0, mean = 0, sum = 0;
    const auto weight = [&](std::size_t i) { return w.empty() ? real(1) : real(w[i]); };
    for (std::size_t i = 0; i < x.size(); ++i) total += weight(i), mean += weight(i) * x[i];
    mean /= total;
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    low = static_cast<T>(*least - mean), high = static_cast<T>(*most - mean);
    range = static_cast<T>(*most - *least);
    for (std::size_t i = 0; i < x.size(); ++i) sum += weight(i) / total * std::exp(x[i] - mean);
    k = std::log(sum);
    for (int n = 0; n <= order; ++n) {
      real moment = 0, size = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        real term = weight(i) / total;
        for (int j = 1; j <= n; ++j) term *= (x[i] - mean) / j;
        moment += term, size += std::abs(term);
      }
      m.emplace_back(static_cast<T>(n == 1 ? 0 : moment),
                     static_cast<T>(n < 2 ? 0 : size) * std::numeric_limits<T>::epsilon() * 40);
    }
  }
  [[nodiscard]] interval<T> enclosed(int order) const {
    return cumulus::detail::quadrature_enclosure<T>(m, order, low, high, range);
  }
};

}  // namespace

TEST_CASE("quadrature: contains log E e^y of every sample, and narrows with the order",
          "[series][property]") {
  families::random r(551);
  int sharp = 0, all = 0;
  for (const double range : {1e-6, 0.01, 0.5, 3.0, 6.0, 12.0, 60.0}) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
        const auto s = families::ranged<double>(shape, weighting, 2 + r.below(30), range, 0, r);
        const sample<double> e(s.x, s.w, 64);
        double before = 1e300;
        for (const int order : {1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 33, 64}) {
          const auto k = e.enclosed(order);
          const real noise = 1e-18L * (1 + std::abs(e.k));
          if (!(k.lower <= e.k + noise) || !(e.k - noise <= k.upper)) {
            CAPTURE(order, s.hex(), e.k, k.lower, k.upper);
            FAIL_CHECK("K is outside");
          }
          const double width = k.upper - k.lower;
          if (order <= 8 && range < 20) {
            ++all;
            sharp += width <= before * 1.01 + 1e-13 * std::exp(range);
          }
          before = std::min(before, width);
        }
        if (range <= 6) CHECK(before <= 1e-9);
      }
    }
  }
  CHECK(sharp == all);
}

TEST_CASE("quadrature: two points are exact from order 2 on, three from order 4",
          "[series][value]") {
  for (const double range : {1e-3, 1.0, 5.0}) {
    for (const double share : {0.5, 0.01, 0.9}) {
      const sample<double> e({0, range}, {1 - share, share}, 8);
      for (const int order : {2, 3, 4, 5, 8}) {
        const auto k = e.enclosed(order);
        CAPTURE(range, share, order, e.k, k.lower, k.upper);
        CHECK(k.upper - k.lower <= 1e-13 * std::exp(range));
      }
      const sample<double> f({0, 0.3 * range, range}, {1 - share, 0.5, share}, 8);
      for (const int order : {4, 5, 8})
        CHECK(f.enclosed(order).upper - f.enclosed(order).lower <= 1e-12 * std::exp(range));
      CHECK(f.enclosed(3).upper - f.enclosed(3).lower > 1e-7 * std::pow(range, 4));
    }
  }
}

TEST_CASE("quadrature: other samples of the same moments attain its ends", "[series][value]") {
  // the laws of the Gauss (below) and Lobatto (above) rules of order 3 on [-1, 1] with mean 0, variance v
  for (const double v : {0.2, 0.5, 0.8}) {
    const double a = std::sqrt(v);
    // +-a, each 1/2: moments 0, v, 0; and the ends with v/2 each, 0 with the rest: the same
    const sample<real> gauss({-a, a}, {0.5, 0.5}, 3), lobatto({-1, 0, 1}, {v / 2, 1 - v, v / 2}, 3);
    const auto k = cumulus::detail::quadrature_enclosure<real>(lobatto.m, 3, lobatto.low,
                                                               lobatto.high, lobatto.range);
    CHECK(std::abs(k.lower - gauss.k) <= 1e-16L);
    CHECK(std::abs(k.upper - lobatto.k) <= 1e-16L);
  }
}

TEST_CASE("quadrature: a radius on a moment widens it, what overflows says nothing",
          "[series][edge]") {
  const sample<double> e({0, 1, 1.5, 2}, {}, 8);
  for (int order = 2; order <= 8; ++order) {
    auto blurred = e.m;
    for (std::size_t n = 2; n < blurred.size(); ++n) blurred[n].radius = 1e-6;
    const auto sharp = e.enclosed(order);
    const auto wide =
        cumulus::detail::quadrature_enclosure<double>(blurred, order, e.low, e.high, e.range);
    CHECK(wide.lower < sharp.lower);
    CHECK(sharp.upper < wide.upper);
  }
  const auto nothing = cumulus::detail::quadrature_enclosure<double>(e.m, 4, -1e4, 1e4, 2e4);
  CHECK(std::isnan(nothing.lower));
  CHECK(std::isnan(nothing.upper));
  CHECK(std::isnan(cumulus::detail::quadrature_enclosure<double>(e.m, 4, 0.0, 0.0, 0.0).lower));
  CHECK(std::isnan(
      cumulus::detail::quadrature_enclosure<double>(e.m, 0, e.low, e.high, e.range).lower));
}
