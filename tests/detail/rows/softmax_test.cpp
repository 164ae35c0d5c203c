// SPDX-License-Identifier: MIT
#include <cumulus/detail/rows/softmax.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

namespace kernels = cumulus::detail::kernels;
using cumulus::detail::strided;
using kernels::terms;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("softmax kernel: reads and writes at any stride, in place too", "[kernels][value]") {
  const cumulus::index_t n = 11;
  auto memory = families::normal<double>(3 * std::size_t(n), 0.0, 4.0, 2u);
  const std::vector<double> before = memory;
  std::vector<double> x;
  for (std::size_t i = 0; i < std::size_t(n); ++i) x.push_back(before[3 * i]);
  const std::vector<oracle::wide> expected = oracle::shifted_softmax(x);
  const strided<const double> in{memory.data(), n, 3};

  std::vector<double> out(2 * std::size_t(n), 7.0);
  kernels::softmax(terms<double>{in}, strided<double>{out.data() + 2 * n - 1, n, -2});
  worst error;
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    error.see(ulps(out[2 * (std::size_t(n) - 1 - i) + 1], expected[i]), "backwards", i);
    CHECK(out[2 * i] == 7.0);
  }
  kernels::softmax(terms<double>{in}, strided<double>{memory.data(), n, 3});
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (i % 3 == 0) {
      error.see(ulps(memory[i], expected[i / 3]), "in place", i);
    } else {
      CHECK(memory[i] == before[i]);
    }
  }
  CHECK_WORST(error, 4);  // 1.5 and exp's own twice, and the division
}

TEST_CASE("softmax kernel: the logarithm at the maximum is that of the other terms",
          "[kernels][value]") {
  const std::vector<double> x{-50, 0, -45, -inf};
  std::vector<double> out(4);
  kernels::log_softmax(terms<double>{{x.data(), 4, 1}}, strided<double>{out.data(), 4, 1});
  const oracle::wide rest = exp(oracle::wide(-50)) + exp(oracle::wide(-45));
  CHECK(ulps(out[1], oracle::wide(-log1p(rest))) <= 3);
  CHECK(ulps(out[0], oracle::wide(-50 - log1p(rest))) <= 1);
  CHECK(out[3] == -inf);
}

TEST_CASE("softmax kernel: rows without a finite sum", "[kernels][edge]") {
  const auto run = [](std::vector<double> x, auto kernel) {
    const auto n = cumulus::index_t(x.size());
    kernel(terms<double>{{x.data(), n, 1}}, strided<double>{x.data(), n, 1});
    return x;
  };
  const auto softmax = [](const auto& t, auto out) { kernels::softmax(t, out); };
  const auto log_softmax = [](const auto& t, auto out) { kernels::log_softmax(t, out); };
  CHECK(run({1, inf, -inf}, softmax) == std::vector<double>{0, 1, 0});
  CHECK(run({1, inf, -inf}, log_softmax) == std::vector<double>{-inf, 0, -inf});
  CHECK(std::isnan(run({-inf}, softmax)[0]));
  CHECK(std::isnan(run({inf, inf, 0}, softmax)[1]));
  CHECK(run({inf, inf, 0}, softmax)[2] == 0.0);
  CHECK(run({inf, inf, 0}, log_softmax)[2] == -inf);
}
