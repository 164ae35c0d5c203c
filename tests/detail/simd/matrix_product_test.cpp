// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <cumulus/detail/simd/matrix_product.hpp>
#include <cmath>
#include <vector>

namespace {

double value(int i) { return std::sin(1.0 + 7.3 * i) * std::exp2((i * 5) % 9 - 4); }

/// Every element against a sum in double: the error, in units of depth u sum |a b|.
template <class T>
double worst(int rows, int depth, int columns, bool transposed) {
  const int a_row = transposed ? 1 : depth + 2, a_step = transposed ? rows + 1 : 1;
  const int b_stride = columns + 3, c_stride = columns + 5;
  std::vector<T> a(std::size_t((rows + 1) * (depth + 2) + 8)), b(std::size_t(depth * b_stride + 1));
  std::vector<T> c(std::size_t(rows * c_stride + 1));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(value(int(i)));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(value(int(i) + 1000));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = T(value(int(i) + 2000));
  const std::vector<T> before = c;
  cumulus::detail::kernels::add_product(a.data(), a_row, a_step, b.data(), b_stride, c.data(),
                                        c_stride, rows, depth, columns);
  double most = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < c_stride; ++j) {
      const std::size_t at = std::size_t(i * c_stride + j);
      if (j >= columns) {  // what lies between the rows is not touched
        if (c[at] != before[at]) return 1e9;
        continue;
      }
      long double sum = before[at], size = std::abs((long double)(before[at]));
      for (int t = 0; t < depth; ++t) {
        const long double term = (long double)(a[std::size_t(i * a_row + t * a_step)]) *
                                 (long double)(b[std::size_t(t * b_stride + j)]);
        sum += term;
        size += std::abs(term);
      }
      const double u = std::numeric_limits<T>::epsilon() / 2;
      most = std::max(most, double(std::abs(c[at] - sum) / size) / (u * (depth + 2)));
    }
  }
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("add_product: within depth roundings of the sum, every tail of rows and columns",
                   "[kernels][value]", float, double) {
  const bool transposed = GENERATE(false, true);
  for (int rows = 1; rows <= 13; ++rows) {
    for (int columns = 1; columns <= 70; columns += rows < 4 ? 1 : 3) {
      CAPTURE(rows, columns, transposed);
      CHECK(worst<TestType>(rows, 5, columns, transposed) <= 1);
    }
  }
  CHECK(worst<TestType>(7, 300, 67, transposed) <= 1);
  CHECK(worst<TestType>(64, 513, 64, transposed) <= 1);
}

TEST_CASE("add_product: nothing to add changes nothing", "[kernels][edge]") {
  double c[4] = {1, 2, 3, 4};
  const double a[4] = {NAN, NAN, NAN, NAN};
  cumulus::detail::kernels::add_product(a, 2, 1, a, 2, c, 2, 2, 0, 2);
  cumulus::detail::kernels::add_product(a, 2, 1, a, 2, c, 2, 0, 2, 2);
  cumulus::detail::kernels::add_product(a, 2, 1, a, 2, c, 2, 2, 2, 0);
  for (int i = 0; i < 4; ++i) CHECK(c[i] == i + 1);
}

TEST_CASE("add_product: other scalars run the loops", "[kernels][value]") {
  CHECK(worst<long double>(5, 9, 11, false) <= 1);
}
