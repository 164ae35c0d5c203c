// SPDX-License-Identifier: MIT
#include <cumulus/detail/series/power_series.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cmath>

#include "catch.hpp"
#include "oracle.hpp"
#include "series_samples.hpp"
#include "tables.hpp"

namespace {

using oracle::wide;
using oracle::wider;

constexpr double inf = std::numeric_limits<double>::infinity();

/// m_k = E y^k / k! to 24, K and the range of a sample, from the definitions.
template <class T>
struct expansion {
  std::vector<T> m, c;  // c_k = kappa_k / k!
  T k_exact, low, high, range;

  expansion(const std::vector<double>& x, const std::vector<double>& w, std::size_t size)
      : m(size, T(0)) {
    const auto weight = [&](std::size_t i) { return w.empty() ? T(1) : T(w[i]); };
    T total(0), mean(0), sum(0);
    for (std::size_t i = 0; i < x.size(); ++i) total += weight(i), mean += weight(i) * T(x[i]);
    mean /= total;
    low = high = T(x[0]) - mean;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T y = T(x[i]) - mean;
      T term = weight(i) / total;
      sum += term * exp(y);
      if (y < low) low = y;
      if (high < y) high = y;
      for (std::size_t k = 0; k < size; ++k) m[k] += term, term *= y / T(int(k) + 1);
    }
    m[0] = T(1);
    m[1] = T(0);
    k_exact = log(sum);
    range = high - low;
    c = cumulus::detail::series_logarithm(m);
  }

  [[nodiscard]] T partial_sum(int order) const {
    T sum(0);
    for (int k = 2; k <= order; ++k) sum += c[std::size_t(k)];
    return sum;
  }
  [[nodiscard]] T variance() const { return 2 * m[2]; }
};

}  // namespace

TEST_CASE("remainder: the tabulated bound", "[series][value]") {
  int finite = 0;
  for (const auto& c : tables::series_cases()) {
    CAPTURE(c.id);
    const double range =
        *std::max_element(c.x.begin(), c.x.end()) - *std::min_element(c.x.begin(), c.x.end());
    const double bound = cumulus::detail::logsumexp_remainder(c.order, range);
    if (range == 0) {
      CHECK(bound == 0);
    } else if (std::isinf(c.bound_b1)) {
      CHECK(bound == inf);
    } else {  // from above; the sums of odd powers by an integral are least sharp for squares
      ++finite;
      CHECK(bound >= c.bound_b1 * (1 - 1e-8));  // which has 9 digits
      CHECK(bound <=
            c.bound_b1 * (range < 3.1 ? 1 + 1e-4 : 1.1));  // 200 terms, then the geometric series
      CHECK(abs(c.truncation_error) <= wide(bound));
      const auto moments = oracle::central_moments(c.x, 2, c.w);
      const double variance = static_cast<double>(moments[2].signed_value);
      CHECK(cumulus::detail::logsumexp_remainder(c.order, range, variance) <= bound);
      CHECK(abs(c.truncation_error) <=
            wide(cumulus::detail::logsumexp_remainder(c.order, range, variance)));
    }
  }
  CHECK(finite > 25);
}

TEST_CASE("remainder: at least the error of every sample, from the range and from the variance",
          "[series][property]") {
  families::random r(501);
  double closest = 0, closest_variance = 0;
  for (const double range : {0.05, 1.0, 2.0, 3.1}) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
        const auto s = families::ranged<double>(shape, weighting, 2 + r.below(12), range, 0, r);
        const expansion<wide> e(s.x, s.w, 25);
        for (int order = 0; order <= 24; order += order < 8 ? 1 : 3) {
          const wide error = abs(e.k_exact - e.partial_sum(order));
          const wide noise = wide(1e-47) * range * range;
          const wide bound = cumulus::detail::logsumexp_remainder(order, e.range),
                     sharper = cumulus::detail::logsumexp_remainder(order, e.range, e.variance());
          if (!(error <= bound + noise) || !(error <= sharper + noise) || !(sharper <= bound)) {
            CAPTURE(order, s.hex(), error, bound, sharper);
            FAIL_CHECK("the error exceeds the bound");
          }
          if (error > noise * 1000) {
            closest = std::max(closest, static_cast<double>(error / bound));
            closest_variance = std::max(closest_variance, static_cast<double>(error / sharper));
          }
        }
      }
    }
  }
  CHECK(closest > 0.95);
  CHECK(closest_variance > 0.95);
}

TEST_CASE("remainder: sharp for two equal points as the range vanishes", "[series][value]") {
  for (int i = 0; i < 24; ++i) {
    const int order = 1 + i % 12 * 2;
    const double range = i < 12 ? 0x1p-10 : 0.01;
    CAPTURE(order, range);
    const expansion<wider> e({0, range}, {}, 25);
    const wider error = abs(e.k_exact - e.partial_sum(order));
    const wider ratio = error / cumulus::detail::logsumexp_remainder(order, e.range);
    const wider by_variance =
        error / cumulus::detail::logsumexp_remainder(order, e.range, wider(e.variance()));
    CHECK(ratio > 0.995);
    CHECK(ratio <= 1);
    CHECK(by_variance > 0.995);
    CHECK(by_variance <= 1);
  }
}

TEST_CASE(
    "remainder: the two-point laws' coefficients obey its bound, with no gap between the x seen",
    "[series][value]") {
  // k_{n-1}(cos a) has degree n - 2 in cos a, so its second derivative in a is at most (n-2)^2 of its
  // largest value (Bernstein), and that exceeds the largest on a grid of step h by (n-2)^2 h^2 / 8 of it
  using real = long double;
  const real pi = std::acos(real(-1));
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 13, 24, 50, 99}) {
    const int count = 60 * n;
    real largest = 0;
    for (int i = 0; i <= count; ++i) {
      const real x = std::cos(pi * i / count);
      std::vector<real> k(static_cast<std::size_t>(n), 0);  // times (pi/2)^m
      k[1] = pi / 2;
      for (std::size_t m = 1; m + 1 < k.size(); ++m) {
        real sum = 0;
        for (std::size_t j = 1; j < m; ++j) sum += k[j] * k[m - j];
        k[m + 1] =
            (2 * x * k[m] * (pi / 2) - (1 - x * x) * sum * (pi / 2)) / static_cast<real>(m + 1);
      }
      largest = std::max(largest, std::abs(k.back()));
    }
    const real step = (n - 2) * pi / count;
    largest /= 1 - step * step / 8;
    // |k_{n-1}| <= 2^(n-2) max(1/(n-1)!, 8 lambda(n) / pi^n)
    real lambda = 0, factorial = 1;
    for (int j = 999; j >= 0; --j) lambda += std::pow(real(2 * j + 1), real(-n));
    for (int j = 2; j < n; ++j) factorial *= j;
    const real claim = std::max(std::pow(pi, real(n - 1)) / (2 * factorial), 4 * lambda / pi);
    CAPTURE(n, largest, claim);
    CHECK(largest <= claim * 1.001L);
    if (n % 2 == 0) CHECK(largest >= claim * 0.999L);
  }
}

TEST_CASE("remainder: falls with the order, rises with range and variance", "[series][property]") {
  for (const double range : {1e-4, 1e-3, 0.3, 1.0, 2.0, 3.0, 3.14}) {
    for (int order = 1; order < 64; ++order) {
      CAPTURE(range, order);
      const double bound = cumulus::detail::logsumexp_remainder(order, range);
      CHECK(bound > 0);
      CHECK(cumulus::detail::logsumexp_remainder(order + 1, range) < bound);
      CHECK(cumulus::detail::logsumexp_remainder(order, range * 1.0005) > bound);
      CHECK(cumulus::detail::logsumexp_remainder(order, range, range * range / 4) <= bound);
      CHECK(cumulus::detail::logsumexp_remainder(order, range, range * range / 400) <=
            cumulus::detail::logsumexp_remainder(order, range, range * range / 40));
    }
    CHECK(cumulus::detail::logsumexp_remainder(0, range) ==
          cumulus::detail::logsumexp_remainder(1, range));
  }
}

TEST_CASE("remainder: no statement from pi on, none needed at 0", "[series][edge]") {
  for (const int order : {0, 1, 2, 7, 64}) {
    CHECK(cumulus::detail::logsumexp_remainder(order, 0.0) == 0);
    CHECK(cumulus::detail::logsumexp_remainder(order, 0.0, 0.0) == 0);
    CHECK(cumulus::detail::logsumexp_remainder(order, 3.1415926535897936) == inf);
    CHECK(cumulus::detail::logsumexp_remainder(order, 4.0) == inf);
    CHECK(cumulus::detail::logsumexp_remainder(order, inf) == inf);
    CHECK(cumulus::detail::logsumexp_remainder(order, std::numeric_limits<double>::quiet_NaN()) ==
          inf);
    CHECK(std::isfinite(cumulus::detail::logsumexp_remainder(order, 3.14159)));
    CHECK(cumulus::detail::logsumexp_remainder(order, 3.2f) ==
          std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("enclosure: contains log E e^y of every sample, at every order", "[series][property]") {
  families::random r(511);
  for (const double range : {1e-6, 0.1, 1.0, 3.0, 30.0, 700.0}) {
    for (int shape = 0; shape < families::shape_count; ++shape) {
      for (const int weighting : {0, 2}) {
        const auto s = families::ranged<double>(shape, weighting, 2 + r.below(12), range, 0, r);
        const expansion<wide> e(s.x, s.w, 25);
        std::vector<cumulus::detail::ball<wide>> m(e.m.begin(), e.m.end());
        cumulus::detail::interval<wide> before{wide(0), wide(1e6)};
        for (const int order : {0, 1, 2, 3, 4, 5, 6, 9, 10, 17, 24}) {
          const auto k =
              cumulus::detail::logsumexp_enclosure<wide>(m, order, e.low, e.high, e.range);
          const wide noise = wide(1e-47) * (1 + e.k_exact);
          if (!(k.lower <= e.k_exact + noise) || !(e.k_exact <= k.upper + noise) ||
              !(before.lower <= k.lower) || !(k.upper <= before.upper)) {
            CAPTURE(order, s.hex(), e.k_exact, k.lower, k.upper);
            FAIL_CHECK("K is outside, or a higher order says less");
          }
          before = k;
        }
        // 24 moments leave little: (e^y - sum) / y^24 is between 1 / 24! and 2.5 / 24! for |y| <= 1
        if (range <= 1) CHECK(before.upper - before.lower <= wide(1e-22));
      }
    }
  }
}

TEST_CASE("enclosure: its constants are the best ones", "[series][value]") {
  // as the range vanishes two points attain Hoeffding's R^2/8, the third cumulant R^3/(6 sqrt 3) and the fourth -R^4/8
  const double range = 0x1p-12;
  const auto check = [&](double share, int order, bool above, double allowed) {
    const expansion<wide> e({0, range}, {1 - share, share}, 6);
    const std::vector<cumulus::detail::ball<wide>> m(e.m.begin(), e.m.end());
    const auto k = cumulus::detail::logsumexp_enclosure<wide>(m, order, e.low, e.high, e.range);
    const wide distance = above ? wide(k.upper - e.k_exact) : wide(e.k_exact - k.lower);
    CAPTURE(order);
    CHECK(distance >= 0);
    CHECK(distance <= allowed);
  };
  check(0.5, 0, true, 1e-3 * std::pow(range, 2) / 8);
  check(0.5 - std::sqrt(1.0 / 12), 2, true, 1e-3 * std::pow(range, 3) / (36 * std::sqrt(3.0)));
  check(0.5, 3, false, 1e-3 * std::pow(range, 4) / 192);
}

TEST_CASE("enclosure: a radius on a moment widens it", "[series][property]") {
  const expansion<double> e({0, 1, 1.5, 2}, {}, 9);
  std::vector<cumulus::detail::ball<double>> sharp, blurred;
  for (const double m : e.m) {
    sharp.emplace_back(m);
    blurred.emplace_back(m, 1e-6);
  }
  for (int order = 2; order <= 8; ++order) {
    const auto a =
        cumulus::detail::logsumexp_enclosure<double>(sharp, order, e.low, e.high, e.range);
    const auto b =
        cumulus::detail::logsumexp_enclosure<double>(blurred, order, e.low, e.high, e.range);
    CHECK(b.lower < a.lower);
    CHECK(b.upper > a.upper);
    CHECK(a.lower <= e.k_exact);
    CHECK(e.k_exact <= a.upper);
  }
}

TEST_CASE("interval: keeps what both have", "[series][edge]") {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  cumulus::detail::interval<double> k{1, 4};
  k.meet({2, 5});
  CHECK(k.lower == 2);
  CHECK(k.upper == 4);
  k.meet({0, 3});
  CHECK(k.lower == 2);
  CHECK(k.upper == 3);
  k.meet({nothing, nothing});
  CHECK(k.lower == 2);
  CHECK(k.upper == 3);
}
