// SPDX-License-Identifier: MIT
//
// What the state keeps its digits by, seen from outside: the anchor, the scale and the compensation of central_moments.
#include <cumulus/moments/central_moments.hpp>
#include <cmath>

#include "catch.hpp"
#include "families.hpp"
#include "oracle.hpp"

namespace {

using cumulus::central_moments;

}  // namespace

TEST_CASE("moment_state: a shift that is exact changes the mean alone", "[moments][property]") {
  // multiples of 2^-20 below 8, so that every offset below adds without rounding
  auto x = families::uniform<double>(1000, 0, 8, 301);
  for (double& v : x) v = std::ldexp(std::floor(std::ldexp(v, 20)), -20);
  for (const double offset : {0x1p20, -0x1p30}) {
    auto y = x;
    for (double& v : y) v += offset;
    central_moments<double, 8> plain, shifted, plain_values, shifted_values;
    plain.add(x), shifted.add(y);
    for (const double v : x) plain_values.add(v);
    for (const double v : y) shifted_values.add(v);
    for (int p = 2; p <= 8; ++p) {
      CAPTURE(offset, p);
      // the pivot is rounded to the grid of the shifted values, so the last bits may differ
      CHECK(shifted.moment(p) == Approx(plain.moment(p)).epsilon(1e-14));
      CHECK(shifted_values.moment(p) == plain_values.moment(p));
    }
  }
}

TEST_CASE("moment_state: a power of two as unit scales without rounding", "[moments][property]") {
  const auto x = families::normal<double>(700, 3, 1, 311);
  for (const int e : {-300, -1, 1, 60, 200}) {
    auto y = x;
    for (double& v : y) v = std::ldexp(v, e);
    central_moments<double, 4> plain, scaled;
    plain.add(x), scaled.add(y);
    CAPTURE(e);
    CHECK(scaled.mean() == std::ldexp(plain.mean(), e));
    for (int p = 2; p <= 4; ++p) {
      CHECK(scaled.moment(p) == std::ldexp(plain.moment(p), p * e));
      CHECK(scaled.standardized_moment(p) == plain.standardized_moment(p));
    }
  }
}

TEST_CASE("moment_state: a range that grows by orders of magnitude keeps what came before",
          "[moments][property]") {
  std::vector<double> x;
  for (int e = -100; e <= 0; ++e) x.push_back(std::ldexp(1.0 + 0.01 * e, 3 * e));
  central_moments<double, 6> up, down;
  for (std::size_t i = 0; i < x.size(); ++i) up.add(x[i]), down.add(x[x.size() - 1 - i]);
  const auto exact = oracle::central_moments(x, 6);
  for (int p = 2; p <= 6; ++p) {
    for (const double value : {up.moment(p), down.moment(p)}) {
      CHECK(abs(oracle::wide(value) - exact[std::size_t(p)].signed_value) <=
            exact[std::size_t(p)].absolute_value *
                oracle::wide(cumulus::central_moments_streaming_error));
    }
  }
}

TEST_CASE("moment_state: sums that a plain total would lose", "[moments][value]") {
  // 2^53 of weight and then many of 1, each below half an ulp of it
  central_moments<double, 2> m;
  m.add(0, 0x1p54);
  for (int i = 0; i < 4096; ++i) m.add(1, 1);
  CHECK(m.weight() == 0x1p54 + 4096);
  const double share = 4096 / (0x1p54 + 4096);
  CHECK(m.mean() == Approx(share).epsilon(1e-14));
  CHECK(m.moment(2) == Approx(share * (1 - share)).epsilon(1e-13));
}
