// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/sum_of_products.hpp>

#include "catch.hpp"
#include "families.hpp"

using cumulus::detail::sum_of_products;

TEST_CASE("sum_of_products: every length, within its roundings", "[core][value]") {
  for (std::size_t n = 0; n <= 70; ++n) {
    const auto a = families::normal<double>(n, 3.0, 1.0, 1u);
    const auto b = families::normal<float>(n, -1.0, 2.0, 2u);
    long double exact = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const long double product = (long double)(a[i]) * (long double)(b[i]);
      exact += product;
      size += product < 0 ? -product : product;
    }
    const double sum = sum_of_products(a.data(), b.data(), cumulus::index_t(n));
    CAPTURE(n);
    CHECK(std::abs((long double)(sum)-exact) <= (double(n) / 4 + 6) * 0x1p-53L * size);
  }
}

TEST_CASE("sum_of_products: in double, whatever it is of", "[core][edge]") {
  const float large[] = {0x1p100f, 1, 0x1p100f, 0};
  CHECK(sum_of_products(large, large, 3) == 0x1p201);
  const int whole[] = {3, 4};
  CHECK(sum_of_products(whole, whole, 2) == 25);
  const double bad[] = {1, std::nan(""), 1};
  CHECK(std::isnan(sum_of_products(bad, bad, 3)));
  CHECK(sum_of_products(bad, bad, 1) == 1);
  CHECK(sum_of_products(bad, bad, 0) == 0);
}
