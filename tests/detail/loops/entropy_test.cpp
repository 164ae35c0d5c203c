// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/entropy.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "ulp.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::detail::strided;
using kernels::terms;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
strided<const T> view(const std::vector<T>& x) {
  return {x.data(), cumulus::index_t(x.size()), 1};
}

}  // namespace

TEST_CASE("entropy: float terms are worked on in double", "[kernels][value]") {
  const std::vector<float> x{0.0f, 1.0f, -2.5f};
  wide sum = 0, entropy = 0;
  for (const float v : x) sum += exp(wide(v));
  for (const float v : x) entropy += exp(wide(v)) / sum * (log(sum) - wide(v));
  const double actual = kernels::entropy(terms<float>{view(x)});
  CHECK(ulps(actual, entropy) <= 4);
}

TEST_CASE("entropy: of weights, of a mask, and of a sink as one more outcome", "[kernels][value]") {
  const std::vector<double> x{0, 0, 7}, w{1, 3, 0};
  const wide quarter = log(wide(4)) / 4 - wide(3) / 4 * log(wide(0.75));
  CHECK(ulps(kernels::entropy(terms<double>{view(x), view(w)}), quarter) <= 4);
  const bool mask[]{true, true, false};
  CHECK(ulps(kernels::entropy(terms<double>{view(x), {}, {mask, 3, 1}}), wide(log(wide(2)))) <= 1);
  terms<double> t{view(x), {}, {mask, 3, 1}};
  t.has_sink = true;
  CHECK(ulps(kernels::entropy(t), wide(log(wide(3)))) <= 1);
}

TEST_CASE("entropy: how many equal shares concentrate as much", "[kernels][value]") {
  const std::vector<double> x{5, 5, 5, -inf}, none, two{0, std::log(3.0)};
  CHECK(kernels::effective_count(terms<double>{view(x)}) == 3);
  CHECK(kernels::effective_count(terms<double>{view(none)}) == 0);
  CHECK(kernels::effective_count(terms<double>{view(two)}) == Approx(1.6).epsilon(1e-15));
  CHECK(kernels::effective_count(terms<double>{{x.data(), 2, 0}}) == 2);  // a stride of 0
}

TEST_CASE("entropy: the shares of terms below the scalar add nothing", "[kernels][edge]") {
  const std::vector<double> x{0, -1e300, -inf, -800};
  CHECK(kernels::entropy(terms<double>{view(x)}) == 0);
  CHECK(kernels::effective_count(terms<double>{view(x)}) == 1);
}
