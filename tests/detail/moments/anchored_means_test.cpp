// SPDX-License-Identifier: MIT
#include <cumulus/detail/moments/anchored_means.hpp>

#include "catch.hpp"

using cumulus::index_t;
using means = cumulus::detail::anchored_means<double>;

namespace {

/// Of weight 2: 1e12 + 1/8 + 2^-60 and -3.
means sample() {
  means m(2);
  m.weight = {2, 0};
  m.anchor = {1e12, -4};
  m.offset = {{0.125, 0x1p-60}, {1, 0}};
  return m;
}

}  // namespace

TEST_CASE("anchored means: anchor and offset, which keep what a common offset would take",
          "[moments][value]") {
  const means m = sample();
  CHECK(m.mean(0) == 1e12 + 0.125);
  CHECK(m.mean_pair(0).low == 0x1p-60);
  CHECK(m.mean(1) == -3);
  CHECK(m.deviation(0, 1e12 + 0.25) == 0.125);
  CHECK(m.deviation(0, 1e12 + 0.125) == -0x1p-60);
  means other = sample();
  other.anchor[0] = 1e12 + 1;
  other.offset[0] = {0.125, 0};
  CHECK(m.distance_to(other, 0).high == 1);
  CHECK(m.distance_to(other, 0).low == -0x1p-60);
  CHECK(m.distance_to(1, -3, {0.5, 0}).value() == 0.5);
}

TEST_CASE("anchored means: none of nothing, and those of IEEE once a number is not finite",
          "[moments][edge]") {
  const means none(3);
  CHECK(none.empty());
  CHECK(std::isnan(none.mean(0)));
  CHECK(std::isnan(none.deviation(2, 1)));
  CHECK(none == means(3));
  CHECK(!(none == sample()));

  constexpr double inf = std::numeric_limits<double>::infinity();
  means m = sample();
  m.spoil([](index_t i) { return i == 0 ? inf : 3.0; }, 4.0);
  CHECK(m.weight.value() == 6);
  CHECK(!m.empty());
  CHECK(m.mean(0) == inf);
  CHECK(m.mean(1) == 1);  // of -3 twice and 3 four times
  CHECK(m.deviation(1, 2.5) == 1.5);
  m.spoil([](index_t) { return -inf; }, 1.0);
  CHECK(std::isnan(m.mean(0)));
  CHECK(m.mean(1) == -inf);

  means far(1);  // 1e308 and, three times, -1e308: a difference that overflows
  far.weight = {1, 0};
  far.anchor = {1e308};
  far.spoil([](index_t) { return -1e308; }, 3.0);
  CHECK(far.mean(0) == Approx(-5e307));

  for (const double weight : {-1.0, inf, std::nan("")}) {
    means bad = sample();
    bad.spoil([](index_t) { return 1.0; }, weight);
    CHECK(std::isnan(bad.weight.value()));
    CHECK(std::isnan(bad.mean(1)));
  }
  means first(1);
  first.spoil([](index_t) { return inf; }, 2.0);
  CHECK(first.mean(0) == inf);
  CHECK(first.weight.value() == 2);
}
