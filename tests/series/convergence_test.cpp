// SPDX-License-Identifier: MIT
#include <cumulus/series/convergence.hpp>
#include <cmath>
#include <complex>

#include "catch.hpp"
#include "names.hpp"
#include "series_samples.hpp"

namespace {

using cumulus::convergence_radius;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double pi = 3.141592653589793;

/// |E e^{t (x - mean)}| relative to the same at the real part of t.
long double modulus(const std::vector<double>& x, const std::vector<double>& w,
                    const std::complex<long double>& t) {
  long double total = 0, mean = 0, size = 0;
  const auto weight = [&](std::size_t i) {
    return w.empty() ? 1.0L : static_cast<long double>(w[i]);
  };
  for (std::size_t i = 0; i < x.size(); ++i) total += weight(i), mean += weight(i) * x[i];
  mean /= total;
  std::complex<long double> sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += weight(i) * std::exp(t * (x[i] - mean));
    size += weight(i) * std::exp(t.real() * (x[i] - mean));
  }
  return std::abs(sum) / size;
}

}  // namespace

TEST_CASE("convergence_radius: the nearest zero of laws that have one in closed form",
          "[series][value]") {
  struct law {
    std::vector<double> x, w;
    double real, imaginary;
  };
  for (const double scale : {1.0, 1e-6, 40.0}) {
    for (const law& c : {law{{0, 1}, {1, 1}, 0, pi},              // cosh(t/2)
                         law{{0, 1}, {3, 1}, std::log(3.0), pi},  // 3 + e^t
                         law{{-1, 1}, {1, 20}, -std::log(20.0) / 2, pi / 2},
                         law{{0, 1, 2}, {1, 1, 1}, 0, 2 * pi / 3},  // 1 + q + q^2
                         law{{0, 1, 2, 3, 4}, {1, 1, 1, 1, 1}, 0, 2 * pi / 5}}) {
      auto x = c.x;
      for (double& v : x) v = v * scale + 1;
      const auto z = convergence_radius(x, {.weights = c.w});
      CAPTURE(scale, c.x, c.w, z.radius, z.real, z.imaginary, z.error, z.certified);
      const double radius = std::hypot(c.real, c.imaginary) / scale;
      CHECK(std::abs(z.radius - radius) <= 1e-9 * radius);
      CHECK(std::abs(z.real - c.real / scale) <= 1e-9 * radius);
      CHECK(std::abs(z.imaginary - c.imaginary / scale) <= 1e-9 * radius);
      CHECK(z.residual <= 1e-11);
      CHECK(z.error <= 1e-9 * radius);
      CHECK(z.certified <= z.radius);
      CHECK(z.certified >= z.radius * (1 - 1.1e-6));
    }
  }
}

TEST_CASE("convergence_radius: a true zero, none nearer, at least pi / range",
          "[series][property]") {
  families::random r(971);
  for (int shape = 0; shape < families::shape_count; ++shape) {
    for (int weighting = 0; weighting < families::weighting_count; ++weighting) {
      const double range = r.uniform(0.5, 6);
      const auto s = families::ranged<double>(shape, weighting, 3 + r.below(40), range, 2, r);
      const auto z =
          s.w.empty() ? convergence_radius(s.x) : convergence_radius(s.x, {.weights = s.w});
      CAPTURE(s.hex(), z.radius, z.real, z.imaginary, z.residual, z.certified);
      CHECK(z.radius >= convergence_radius(range) * (1 - 1e-9));
      CHECK(z.certified <= z.radius);
      if (std::isnan(z.real)) {
        CHECK(z.radius == z.certified);
        continue;
      }
      CHECK(z.radius == Approx(std::hypot(z.real, z.imaginary)).epsilon(1e-12));
      CHECK(modulus(s.x, s.w, {z.real, z.imaginary}) <= 1e-9);
      // M does not vanish at points within
      for (int i = 0; i < 200; ++i) {
        const double rho = z.certified * std::sqrt(r.uniform()), angle = r.uniform(0, pi);
        CHECK(modulus(s.x, s.w, {rho * std::cos(angle), rho * std::sin(angle)}) > 0);
      }
    }
  }
}

TEST_CASE("convergence_radius: tells whether the series converges beyond pi",
          "[series][property]") {
  // range 4: coefficients fall as radius^-n
  for (const std::vector<double>& x :
       {std::vector<double>{0, 4}, {0, 1, 2, 3, 4}, {0, 1.8, 2, 2.2, 4}}) {
    const auto z = convergence_radius(x);
    cumulus::central_moments<double> m(64);
    m.add(x);
    const double first = cumulus::logsumexp_series(m, 32).value,
                 last = cumulus::logsumexp_series(m, 64).value;
    const double exact = cumulus::logsumexp(x);
    CAPTURE(x, z.radius);
    CHECK((z.radius > 1) == (std::abs(last - exact) < std::abs(first - exact)));
  }
}

TEST_CASE("convergence_radius: constant data, none, and what is not finite", "[series][edge]") {
  using values = std::vector<double>;
  CHECK(convergence_radius(values{2, 2, 2}).radius == inf);
  CHECK(convergence_radius(values{2, 2, 2}).certified == inf);
  CHECK(convergence_radius(values{2}).radius == inf);
  CHECK(std::isnan(convergence_radius(values{}).radius));
  CHECK(std::isnan(convergence_radius(values{1, inf}).radius));
  CHECK(std::isnan(convergence_radius(values{1, std::nan("")}).radius));
  CHECK(convergence_radius(std::vector<float>{0, 1}).radius == Approx(pi));
  CHECK(convergence_radius(std::vector<int>{0, 1}).radius == Approx(pi));
  // few moments see less far, and never beyond what they certify
  cumulus::central_moments<double> m(6);
  m.add(values{0, 1, 2, 3, 3.5});
  const auto z = convergence_radius(m);
  CHECK(z.certified >= pi / 3.5 * (1 - 1e-12));
  CHECK(z.certified <= convergence_radius(values{0, 1, 2, 3, 3.5}).radius);
  CHECK(names(refusal([&] {
                static_cast<void>(convergence_radius(values{1, 2, 3}, {.weights = values{1, 2}}));
              }),
              {"x has 3", "weights has 2"}));
}
