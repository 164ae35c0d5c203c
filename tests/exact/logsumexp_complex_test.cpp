// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp_complex.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::logsumexp;
using oracle::wide;
using complex = std::complex<double>;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.141592653589793;
constexpr int max_ulp = 4;  // the header's Error line

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct wide_complex {
  wide real, imag, cancellation;  ///< cancellation: sum |e^z| / |sum e^z|
};

template <class R>
wide_complex definition(const std::vector<std::complex<R>>& z) {
  wide real = 0, imag = 0, size = 0;
  for (const auto& v : z) {
    const wide r = exp(wide(v.real()));
    real += r * cos(wide(v.imag()));
    imag += r * sin(wide(v.imag()));
    size += r;
  }
  const wide norm = sqrt(wide(real * real + imag * imag));
  return {log(norm), atan2(imag, real), size / norm};
}

/// Of the worse of both parts, in ulp of max(1, max |z|); -1 where the terms cancel. Arguments are
/// compared on the circle.
template <class R>
double error(const std::vector<std::complex<R>>& z) {
  const wide_complex expected = definition(z);
  if (expected.cancellation > 2) return -1;
  const std::complex<R> actual = logsumexp(z);
  R scale = 1;
  for (const auto& v : z) scale = std::max(scale, std::abs(v));
  const wide turn = 2 * acos(wide(-1));
  const double real = ulps(actual.real(), expected.real, scale);
  double imag = ulps(actual.imag(), expected.imag, scale);
  for (const wide& other : {wide(expected.imag + turn), wide(expected.imag - turn)})
    imag = std::min(imag, ulps(actual.imag(), other, scale));
  return std::max(real, imag);
}

}  // namespace

TEMPLATE_TEST_CASE("logsumexp_complex: within its ulp bound where nothing cancels",
                   "[exact][value]", float, double, long double) {
  using R = TestType;
  worst error_here;
  int seen = 0;
  families::random r(5u);
  for (const std::size_t n : {1u, 2u, 3u, 8u, 17u, 70u}) {
    for (const double offset : {0.0, 80.0, -700.0, 1e4}) {
      for (const double spread : {1e-6, 1.0, 10.0}) {
        for (const double angle : {1e-6, 0.5, 3.0, 100.0}) {
          std::vector<std::complex<R>> z(n);
          for (auto& v : z) v = {R(offset + spread * r.normal()), R(angle * r.uniform(-1, 1))};
          const double e = error(z);
          seen += e >= 0;
          error_here.see(e, n, offset, spread, angle);
        }
      }
    }
  }
  CHECK(seen > 200);
  CHECK_WORST(error_here, max_ulp);
}

TEST_CASE("logsumexp_complex: on the real axis it is the real one", "[exact][value]") {
  worst error_here;
  for (const double spread : {1e-8, 1.0, 30.0}) {
    const auto x = families::normal<double>(33, 0.0, spread, 4u);
    std::vector<complex> z(x.begin(), x.end());
    CHECK(logsumexp(z).imag() == 0.0);
    error_here.see(error(z), spread);
  }
  CHECK_WORST(error_here, max_ulp);
  // The tail where the largest term is 1.
  const complex tail = logsumexp(std::vector<complex>{0, -40});
  CHECK(ulps(tail.real(), wide(log1p(wide(exp(wide(-40)))))) <= max_ulp);
}

TEST_CASE("logsumexp_complex: the argument lies above -pi, up to pi", "[exact][property]") {
  families::random r(8u);
  for (int i = 0; i < 500; ++i) {
    std::vector<complex> z(1 + r.below(4));
    for (auto& v : z) v = {r.normal(), r.uniform(-40, 40)};
    const double argument = logsumexp(z).imag();
    CHECK(argument > -pi);
    CHECK(argument <= pi);
  }
  CHECK(logsumexp(std::vector<complex>{{1, pi}}).imag() == pi);
  CHECK(std::abs(logsumexp(std::vector<complex>{{1, 7}}).imag() - 0.7168146928204138) < 1e-15);
  CHECK(logsumexp(std::vector<complex>{{2, 0}, {2, pi}}).real() < 2 - 36);  // cancels
}

TEST_CASE("logsumexp_complex: two opposite terms, and a sum of 0", "[exact][edge]") {
  // e^a + e^(a + i pi), pi rounded: what is left is the rounding of pi, by definition.
  const std::vector<complex> z{{0, 0}, {0, pi}};
  const wide_complex expected = definition(z);
  CHECK(std::abs(logsumexp(z).real() - double(expected.real)) < 1e-12);
  CHECK(std::abs(logsumexp(z).imag() - double(expected.imag)) < 1e-12);
}

TEST_CASE("logsumexp_complex: infinities and NaN", "[exact][edge]") {
  struct row {
    std::vector<complex> z;
    complex expected;
  };
  const std::vector<row> table{
      {{}, {-inf, 0}},
      {{{-inf, 0}}, {-inf, 0}},
      {{{-inf, 3}, {-inf, qnan}, {-inf, inf}}, {-inf, 0}},
      {{{-inf, qnan}, {2, 1}}, {2, 1}},
      {{{-inf, inf}, {2, 1}}, {2, 1}},
      {{{inf, 1}}, {inf, 1}},
      {{{inf, 1}, {5, 2}}, {inf, 1}},
      {{{inf, 1}, {-inf, qnan}}, {inf, 1}},
      {{{inf, 1}, {inf, 1}}, {inf, 1}},
      {{{inf, 1}, {inf, 2}}, {inf, qnan}},
      {{{inf, 1}, {inf, 2}, {inf, 2}}, {inf, qnan}},
      {{{inf, inf}}, {inf, qnan}},
      {{{inf, qnan}, {inf, 1}}, {inf, qnan}},
      {{{qnan, 0}}, {qnan, qnan}},
      {{{1, qnan}}, {qnan, qnan}},
      {{{1, inf}}, {qnan, qnan}},
      {{{1, 0}, {qnan, 0}}, {qnan, qnan}},
      {{{inf, 0}, {qnan, 0}}, {qnan, qnan}},
      {{{inf, 0}, {1, qnan}}, {qnan, qnan}},
      {{{DBL_MAX, 1}, {-DBL_MAX, 2}}, {DBL_MAX, 1}},
  };
  for (const row& r : table) {
    CAPTURE(r.z.size(), r.expected);
    const complex actual = logsumexp(r.z);
    CAPTURE(actual);
    CHECK(same(actual.real(), r.expected.real()));
    CHECK(same(actual.imag(), r.expected.imag()));
  }
}

TEST_CASE("logsumexp_complex: NaN is seen at every position", "[exact][edge]") {
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<complex> z(n, complex{1, 0.5});
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      z[i] = {qnan, 0.5};
      all = all && std::isnan(logsumexp(z).real());
      z[i] = {1, qnan};
      all = all && std::isnan(logsumexp(z).real());
      z[i] = {inf, 0.5};
      all = all && logsumexp(z) == complex{inf, 0.5};
      z[i] = {1, 0.5};
    }
    CHECK(all);
  }
}

TEST_CASE("logsumexp_complex: infinities raise neither invalid nor divide-by-zero",
          "[exact][edge]") {
  const std::vector<std::vector<complex>> rows{{},
                                               {{-inf, 1}},
                                               {{-inf, inf}, {1, 2}},
                                               {{inf, 1}},
                                               {{inf, 1}, {inf, 1}, {-inf, 0}},
                                               {{inf, 1}, {3, 2}}};
  for (const auto& z : rows) {
    volatile double out = 0;
    CAPTURE(z.size());
    CHECK(spurious_flags([&] { out = logsumexp(z).real(); }) == 0);
  }
}

TEST_CASE("logsumexp_complex: every kind of vector", "[exact][value]") {
  const std::array<complex, 3> z{complex{1, 2}, {0.5, -1}, {2, 0.25}};
  const complex expected = logsumexp(z);
  const Eigen::VectorXcd v = Eigen::Map<const Eigen::VectorXcd>(z.data(), 3);
  CHECK(logsumexp(std::vector<complex>(z.begin(), z.end())) == expected);
  CHECK(logsumexp(std::span<const complex>(z)) == expected);
  CHECK(logsumexp(v) == expected);
  CHECK(logsumexp(v.transpose()) == expected);
  CHECK(logsumexp(v + Eigen::VectorXcd::Zero(3)) == expected);
  CHECK(logsumexp(v.reverse().reverse()) == expected);
  CHECK(logsumexp(v.array()) == expected);
  const Eigen::Map<const Eigen::VectorXcd, 0, Eigen::InnerStride<>> every_second(
      z.data(), 2, Eigen::InnerStride<>(2));
  CHECK(logsumexp(every_second) == logsumexp(std::array{z[0], z[2]}));
  Eigen::MatrixXcd a(2, 3);
  a.row(1) = v.transpose();
  a.row(0).setZero();
  CHECK(logsumexp(a.row(1)) == expected);
  static_assert(
      std::is_same_v<decltype(logsumexp(std::vector<std::complex<float>>{})), std::complex<float>>);
}

TEST_CASE("logsumexp_complex: conjugates, and a shift", "[exact][property]") {
  families::random r(9u);
  for (int i = 0; i < 50; ++i) {
    std::vector<complex> z(5), conjugate(5), shifted(5);
    for (std::size_t k = 0; k < 5; ++k) {
      z[k] = {std::round(1024 * r.normal()) / 1024, r.uniform(-1, 1)};
      conjugate[k] = std::conj(z[k]);
      shifted[k] = z[k] + 512.0;
    }
    const complex a = logsumexp(z);
    CHECK(logsumexp(conjugate) == std::conj(a));
    CHECK(std::abs(logsumexp(shifted) - (a + 512.0)) <= 1e-12);
  }
}
