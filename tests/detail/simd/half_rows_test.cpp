// SPDX-License-Identifier: MIT
#include <Eigen/Core>
//
#include <cumulus/detail/simd/row_kernels.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"

namespace best = cumulus::detail::kernels::best;
using cumulus::index_t;

namespace {

template <class S>
constexpr bool is_half = std::same_as<S, Eigen::half>;

template <class S>
bool same(S a, S b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(float(a)) && std::isnan(float(b)));
}

}  // namespace

TEMPLATE_TEST_CASE("half rows: every number of 16 bits is widened as Eigen does",
                   "[kernels][value]", Eigen::half, Eigen::bfloat16) {
  std::vector<TestType> x(65536);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto bits = std::uint16_t(i);
    std::memcpy(static_cast<void*>(&x[i]), &bits, 2);
  }
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    std::vector<float> wide(x.size());
    best::widen_row<is_half<TestType>>(x.data(), index_t(x.size()), wide.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += same(wide[i], float(x[i])) ? 0 : 1;
    CHECK(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("half rows: floats are rounded to the nearest, ties to even", "[kernels][value]",
                   Eigen::half, Eigen::bfloat16) {
  // each upper half of a float's bits, with lower halves at and beside ties
  std::vector<float> x;
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu,
                                    0x8000u, 0x8001u, 0xf000u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  }
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    std::vector<TestType> narrow(x.size());
    best::narrow_row<is_half<TestType>>(x.data(), index_t(x.size()), narrow.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += same(narrow[i], TestType(x[i])) ? 0 : 1;
    CHECK(wrong == 0);
  });
}

TEST_CASE("half rows: nothing behind the end is read or written", "[kernels][edge]") {
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    for (index_t n = 0; n <= 40; ++n) {
      const std::vector<Eigen::half> x(std::size_t(n), Eigen::half(1.5f));
      std::vector<float> wide(std::size_t(n) + 1, 7.0f);
      best::widen_row<true>(x.data(), n, wide.data());
      std::vector<Eigen::half> back(std::size_t(n) + 1, Eigen::half(7.0f));
      best::narrow_row<true>(wide.data(), n, back.data());
      CHECK(wide.back() == 7.0f);
      CHECK(back.back() == Eigen::half(7.0f));
      for (index_t i = 0; i < n; ++i) {
        CHECK(wide[std::size_t(i)] == 1.5f);
        CHECK(back[std::size_t(i)] == Eigen::half(1.5f));
      }
    }
  });
}
