// SPDX-License-Identifier: MIT
#include <cumulus/moments/unbiased.hpp>

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "oracle.hpp"
#include "refusal.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::central_moments;
using cumulus::k_statistic;
using cumulus::k_statistic_variance;
using cumulus::unbiased_kurtosis;
using cumulus::unbiased_max_roundings;
using cumulus::unbiased_moment;
using cumulus::unbiased_skewness;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

template <class T>
central_moments<T, 6> moments_of(const std::vector<T>& x, const std::vector<T>& w = {}) {
  central_moments<T, 6> m;
  if (w.empty()) {
    m.add(x);
  } else {
    m.add(x, w);
  }
  return m;
}

/// Calls use(parts) with every partition of `left` more things, among the parts so far.
template <class Use>
void each_partition(int left, std::vector<int>& parts, const Use& use) {
  if (left == 0) return use(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ++parts[i];
    each_partition(left - 1, parts, use);
    --parts[i];
  }
  parts.push_back(1);
  each_partition(left - 1, parts, use);
  parts.pop_back();
}

wide factorial(int n) { return n < 2 ? wide(1) : wide(n) * factorial(n - 1); }

/// The mean of x_i^a x_j^b ... over all choices of distinct i, j, ..., which is E x^a E x^b ...
/// without bias: by the definition, from sums over partitions of the exponents.
wide product_of_moments(const std::vector<wide>& power_sums, const std::vector<int>& exponents) {
  const auto count = int(exponents.size());
  wide sum = 0;
  std::vector<int> block(exponents.size());
  const auto go = [&](const auto& self, int i, int blocks) -> void {
    if (i == count) {
      wide term = 1;
      for (int b = 0; b < blocks; ++b) {
        int total = 0, size = 0;
        for (int j = 0; j < count; ++j)
          if (block[std::size_t(j)] == b) total += exponents[std::size_t(j)], ++size;
        term *= (size % 2 == 0 ? -1 : 1) * factorial(size - 1) * power_sums[std::size_t(total)];
      }
      sum += term;
      return;
    }
    for (int b = 0; b <= blocks; ++b) {
      block[std::size_t(i)] = b;
      self(self, i + 1, b == blocks ? blocks + 1 : blocks);
    }
  };
  go(go, 0, 0);
  for (int j = 0; j < count; ++j) sum /= power_sums[0] - j;
  return sum;
}

/// By definition, kappa_r and mu_r as polynomials in raw moments, of data whose mean was taken off.
struct estimates {
  wide cumulant, moment;
};
estimates expected_of(const std::vector<wide>& power_sums, int r) {
  estimates e{0, 0};
  std::vector<int> parts;
  each_partition(r, parts, [&](const std::vector<int>& p) {
    const auto k = int(p.size());
    e.cumulant += (k % 2 == 0 ? -1 : 1) * factorial(k - 1) * product_of_moments(power_sums, p);
  });
  for (int k = 0; k <= r; ++k) {
    std::vector<int> p(std::size_t(k), 1);
    if (k < r) p.push_back(r - k);
    const wide choices = factorial(r) / (factorial(k) * factorial(r - k));
    e.moment += (k % 2 == 0 ? 1 : -1) * choices * product_of_moments(power_sums, p);
  }
  return e;
}

/// The sums of the sizes of the terms, from E |y|^p.
estimates sizes_of(const std::array<wide, 7>& a, const wide& n, int r) {
  wide under = 1;
  for (int j = 1; j < r; ++j) under *= n - j;
  const wide squares = a[2] * a[2];
  switch (r) {
    case 2:
      return {n * a[2] / under, n * a[2] / under};
    case 3:
      return {n * n * a[3] / under, n * n * a[3] / under};
    case 4:
      return {n * n * ((n + 1) * a[4] + 3 * (n - 1) * squares) / under,
              n * ((n * n - 2 * n + 3) * a[4] + 3 * (2 * n - 3) * squares) / under};
    case 5:
      return {n * n * n * ((n + 5) * a[5] + 10 * (n - 1) * a[2] * a[3]) / under,
              n * n * ((n * n - 5 * n + 10) * a[5] + 10 * (n - 2) * a[2] * a[3]) / under};
    default:
      return {
          n * n *
              ((n + 1) * (n * n + 15 * n - 4) * a[6] +
               15 * (n - 1) * (n - 1) * (n + 4) * a[2] * a[4] +
               10 * (n - 1) * (n * n - n + 4) * a[3] * a[3] +
               30 * n * (n - 1) * (n - 2) * a[2] * squares) /
              under,
          n *
              ((n * n * n * n - 9 * n * n * n + 31 * n * n - 39 * n + 40) * a[6] +
               15 * (n * n * n - 8 * n * n + 29 * n - 40) * a[2] * a[4] +
               40 * (n * n - 6 * n + 10) * a[3] * a[3] + 15 * n * (3 * n - 10) * a[2] * squares) /
              under};
  }
}

/// Calls use(sample) with every sample of n of the values, with replacement.
template <class Use>
void each_sample(const std::vector<double>& values, std::size_t n, const Use& use) {
  std::vector<std::size_t> at(n, 0);
  std::vector<double> sample(n, values[0]);
  while (true) {
    use(sample);
    std::size_t i = 0;
    while (i < n && ++at[i] == values.size()) sample[i] = values[at[i] = 0], ++i;
    if (i == n) return;
    sample[i] = values[at[i]];
  }
}

}  // namespace

TEST_CASE("unbiased: the mean over all samples is the cumulant or moment drawn from",
          "[moments][property]") {
  for (const std::vector<double>& values :
       {std::vector<double>{0, 1, 3}, std::vector<double>{-2, 5, 5, 1},
        std::vector<double>{0, 1}}) {
    // of the values themselves, each of probability 1 / values.size()
    const auto exact = oracle::central_moments(values, 6);
    std::array<wide, 7> mu, kappa;
    for (std::size_t p = 0; p < 7; ++p) mu[p] = exact[p].signed_value;
    kappa[2] = mu[2], kappa[3] = mu[3], kappa[4] = mu[4] - 3 * mu[2] * mu[2];
    kappa[5] = mu[5] - 10 * mu[2] * mu[3];
    kappa[6] = mu[6] - 15 * mu[2] * mu[4] - 10 * mu[3] * mu[3] + 30 * mu[2] * mu[2] * mu[2];
    for (std::size_t n = 2; n <= 7; ++n) {
      std::array<wide, 7> k{}, h{};
      wide count = 0, means = 0, mean_squares = 0, k2_squares = 0, k1_error = 0, k2_error = 0;
      each_sample(values, n, [&](const std::vector<double>& x) {
        const auto m = moments_of(x);
        ++count;
        for (int r = 2; r <= 6 && std::size_t(r) <= n; ++r) {
          k[std::size_t(r)] += wide(k_statistic(m, r));
          h[std::size_t(r)] += wide(unbiased_moment(m, r));
        }
        const wide k1 = k_statistic(m, 1), k2 = k_statistic(m, 2);
        means += k1, mean_squares += k1 * k1, k2_squares += k2 * k2;
        k1_error += wide(k_statistic_variance(m, 1));
        if (n >= 4) k2_error += wide(k_statistic_variance(m, 2));
      });
      CAPTURE(values, n);
      const auto close = [&](const wide& sum, const wide& expected, double size) {
        return static_cast<double>(abs(sum / count - expected)) <= 1e-13 * size;
      };
      for (std::size_t r = 2; r <= 6 && r <= n; ++r) {
        CAPTURE(r);
        const double size = std::pow(4.0, double(r));
        CHECK(close(k[r], kappa[r], size));
        CHECK(close(h[r], mu[r], size));
      }
      CHECK(close(k1_error, mean_squares / count - (means / count) * (means / count), 16));
      if (n >= 4) CHECK(close(k2_error, k2_squares / count - mu[2] * mu[2], 256));
    }
  }
}

TEMPLATE_TEST_CASE("unbiased: within its roundings of the definition in 50 digits",
                   "[moments][value]", float, double, long double) {
  worst error;
  const wide u = wide(std::numeric_limits<TestType>::epsilon()) / 2;
  const auto see = [&](const std::vector<TestType>& x, const char* family) {
    const auto m = moments_of(x);
    const wide n = x.size(), centre = oracle::mean(x);
    std::vector<wide> sums(7);
    std::array<wide, 7> sizes{};
    for (const TestType& v : x) {
      const wide y = wide(v) - centre;
      wide power = 1;
      for (std::size_t p = 0; p < 7; ++p, power *= y) sums[p] += power, sizes[p] += abs(power) / n;
    }
    sums[1] = 0;
    for (int r = 2; r <= 6 && std::size_t(r) <= x.size(); ++r) {
      const estimates expected = expected_of(sums, r), size = sizes_of(sizes, n, r);
      const wide unit = u * r;
      error.see(double(abs(wide(k_statistic(m, r)) - expected.cumulant) / (unit * size.cumulant)),
                family, "k", r, "n =", x.size());
      error.see(double(abs(wide(unbiased_moment(m, r)) - expected.moment) / (unit * size.moment)),
                family, "h", r, "n =", x.size());
    }
  };
  for (std::size_t n = 2; n <= 70; ++n) {
    see(families::normal<TestType>(n, 0.0, 1.0, n), "normal");
    see(families::normal<TestType>(n, 1000.0, 1e-2, n), "offset");
    see(families::exponential<TestType>(n, -3.0, 100.0, n), "exponential");
    see(families::one_outlier<TestType>(n, 1.0, 1e4), "outlier");
    see(families::two_points<TestType>(n, 0.0, 1.0, (n + 1) / 2), "two points");
  }
  see(families::normal<TestType>(5000, 0.0, 1.0, 9u), "normal");
  CHECK_WORST(error, unbiased_max_roundings);
}

TEST_CASE("unbiased: the values that SciPy's tests print", "[moments][value]") {
  // scipy/stats/tests/test_stats.py, from MATLAB
  const auto m = moments_of(std::vector<double>{1.165, 0.6268, 0.0751, 0.3516, -0.6965});
  CHECK(m.skewness() == Approx(-0.29322304336607).epsilon(1e-13));
  CHECK(unbiased_skewness(m) == Approx(-0.437111105023940).epsilon(1e-13));
  CHECK(m.kurtosis() == Approx(2.1658856802973).epsilon(1e-13));
  CHECK(unbiased_kurtosis(m) == Approx(3.663542721189047).epsilon(1e-13));
}

TEST_CASE("unbiased: skewness and kurtosis are ratios of k-statistics", "[moments][property]") {
  for (std::size_t n = 4; n <= 70; ++n) {
    const auto m = moments_of(families::exponential<double>(n, 1.0, 2.0, n));
    const double k2 = k_statistic(m, 2);
    CHECK(unbiased_skewness(m) ==
          Approx(k_statistic(m, 3) / (k2 * std::sqrt(k2))).epsilon(1e-13).margin(1e-13));
    CHECK(unbiased_kurtosis(m) ==
          Approx(k_statistic(m, 4) / (k2 * k2) + 3).epsilon(1e-13).margin(1e-12));
  }
}

TEST_CASE("unbiased: weights count repetitions, and other totals give NaN", "[moments][property]") {
  const std::vector<double> x{1, 4, 2, 8}, w{3, 1, 2, 4};
  std::vector<double> repeated;
  for (std::size_t i = 0; i < x.size(); ++i)
    repeated.insert(repeated.end(), std::size_t(w[i]), x[i]);
  const auto m = moments_of(x, w), plain = moments_of(repeated);
  for (int r = 1; r <= 6; ++r) {
    CHECK(k_statistic(m, r) == Approx(k_statistic(plain, r)).epsilon(1e-13));
    CHECK(unbiased_moment(m, r) == Approx(unbiased_moment(plain, r)).epsilon(1e-13).margin(0));
  }
  CHECK(k_statistic_variance(m, 2) == Approx(k_statistic_variance(plain, 2)).epsilon(1e-13));
  const auto shares = moments_of(x, std::vector<double>{0.5, 1.25, 3, 7});
  CHECK(std::isnan(k_statistic(shares, 1)));
  CHECK(std::isnan(unbiased_moment(shares, 2)));
  CHECK(std::isnan(unbiased_kurtosis(shares)));
  CHECK(std::isnan(k_statistic(moments_of(x, std::vector<double>{1, 1, 1, -1}), 2)));
}

TEST_CASE("unbiased: edges", "[moments][edge]") {
  for (std::size_t n = 0; n <= 7; ++n) {
    const auto m = moments_of(families::normal<double>(n, 5.0, 1.0, 3u));
    CAPTURE(n);
    for (int r = 1; r <= 6; ++r) {
      CHECK(std::isnan(k_statistic(m, r)) == (n < std::size_t(r)));
      CHECK(std::isnan(unbiased_moment(m, r)) == (n < std::size_t(r)));
    }
    CHECK(std::isnan(unbiased_moment(m, 0)) == (n == 0));
    CHECK(std::isnan(k_statistic_variance(m, 1)) == (n < 2));
    CHECK(std::isnan(k_statistic_variance(m, 2)) == (n < 4));
    CHECK(std::isnan(unbiased_skewness(m)) == (n < 3));
    CHECK(std::isnan(unbiased_kurtosis(m)) == (n < 4));
  }
  const auto constant = moments_of(families::ties<double>(9, 1e16));
  CHECK(k_statistic(constant, 1) == 1e16);
  CHECK(unbiased_moment(constant, 0) == 1);
  CHECK(unbiased_moment(constant, 1) == 0);
  for (int r = 2; r <= 6; ++r) {
    CHECK(k_statistic(constant, r) == 0);
    CHECK(unbiased_moment(constant, r) == 0);
  }
  CHECK(k_statistic_variance(constant, 2) == 0);
  CHECK(std::isnan(unbiased_skewness(constant)));
  CHECK(std::isnan(unbiased_kurtosis(constant)));
  for (const double bad : {inf, -inf, qnan}) {
    const auto m = moments_of(std::vector<double>{1, 2, bad, 3, 4, 5, 6});
    for (int r = 2; r <= 6; ++r) {
      CHECK(std::isnan(k_statistic(m, r)));
      CHECK(std::isnan(unbiased_moment(m, r)));
    }
    CHECK(std::isnan(unbiased_skewness(m)));
  }
  CHECK(k_statistic(moments_of(std::vector<double>{1, inf}), 1) == inf);
  // far from 1: signs survive, and ratios do not notice
  const std::vector<double> x{0, 1, 1, 0, 0, 1, 0, 1},
      large{0, 1e100, 1e100, 0, 0, 1e100, 0, 1e100};
  CHECK(k_statistic(moments_of(large), 4) == -inf);
  CHECK(k_statistic(moments_of(x), 4) < 0);
  CHECK(unbiased_kurtosis(moments_of(large)) ==
        Approx(unbiased_kurtosis(moments_of(x))).epsilon(1e-13));
}

TEMPLATE_TEST_CASE("unbiased: of every scalar", "[moments][value]", float, double, long double,
                   Eigen::half, Eigen::bfloat16) {
  central_moments<TestType> m(6);
  m.add(std::vector<int>{0, 1, 3, 3, 7, 2, 2});
  const auto expected = moments_of(std::vector<double>{0, 1, 3, 3, 7, 2, 2});
  for (int r = 1; r <= 6; ++r) {
    CHECK(double(k_statistic(m, r)) == Approx(k_statistic(expected, r)).epsilon(0.004));
    CHECK(double(unbiased_moment(m, r)) == Approx(unbiased_moment(expected, r)).epsilon(0.004));
  }
  CHECK(double(unbiased_skewness(m)) == Approx(unbiased_skewness(expected)).epsilon(0.004));
  CHECK(double(unbiased_kurtosis(m)) == Approx(unbiased_kurtosis(expected)).epsilon(0.004));
}

TEST_CASE("unbiased: orders without a formula are refused", "[moments][edge]") {
  const auto m = moments_of(std::vector<double>{1, 2, 4});
  central_moments<double> three(3), ten(10);
  const auto message = [](auto call) { return refusal([&] { static_cast<void>(call()); }); };
  CHECK(message([&] { return k_statistic(m, 0); }) ==
        "cumulus: k_statistic: order 0 is outside 1..6 (no formula is here for more)");
  CHECK(message([&] { return k_statistic(ten, 7); }) ==
        "cumulus: k_statistic: order 7 is outside 1..6 (no formula is here for more)");
  CHECK(message([&] { return unbiased_moment(three, 4); }) ==
        "cumulus: unbiased_moment: order 4 is outside 0..3 (the order held)");
  CHECK(message([&] { return k_statistic_variance(three, 2); }) ==
        "cumulus: k_statistic_variance: order 2 is outside 1..1 (half the order held)");
  CHECK(message([&] { return k_statistic_variance(m, 3); }) ==
        "cumulus: k_statistic_variance: order 3 is outside 1..2 (no formula is here for more)");
  CHECK(message([&] { return unbiased_kurtosis(three); }) ==
        "cumulus: unbiased_kurtosis: order 4 is outside 0..3 (the order held)");
}
