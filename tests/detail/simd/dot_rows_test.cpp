// SPDX-License-Identifier: MIT
#include <cumulus/detail/simd/dot_rows.hpp>

#include "catch.hpp"
#include "support/families.hpp"

using cumulus::index_t;

TEMPLATE_TEST_CASE("dot_rows: each row within its roundings, reading nothing past its end",
                   "[kernels][value]", float, double) {
  const index_t stride = GENERATE(0, 1, 7);  // beyond the width
  for (index_t width = 0; width <= 70; ++width) {
    for (const index_t count : {0, 1, 7, 8, 9, 21}) {
      const std::size_t row = std::size_t(width + stride);
      std::vector<TestType> rows(row * std::size_t(count) + 64, std::nanf(""));
      const auto values = families::normal<TestType>(row * std::size_t(count), 0.5, 2.0, 3u);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (index_t(i % row) < width) rows[i] = values[i];
      }
      auto x = families::normal<TestType>(std::size_t(width), -0.5, 1.0, 4u);
      x.resize(x.size() + 64, std::nanf(""));
      std::vector<double> out(std::size_t(count) + 1, -7.0);
      cumulus::detail::kernels::dot_rows<TestType>(rows.data(), index_t(row), width, count,
                                                   x.data(), out.data());
      CHECK(out.back() == -7.0);
      for (std::size_t i = 0; i < std::size_t(count); ++i) {
        long double sum = 0, size = 0;
        for (std::size_t j = 0; j < std::size_t(width); ++j) {
          const long double term = (long double)(rows[i * row + j]) * (long double)(x[j]);
          sum += term;
          size += std::abs(term);
        }
        CAPTURE(width, count, i);
        const auto roundings =
            (long double)(cumulus::detail::kernels::dot_rows_max_roundings(width));
        CHECK(std::abs(out[i] - sum) <=
              roundings * (long double)(cumulus::detail::unit_roundoff<TestType>)*size);
      }
    }
  }
}
