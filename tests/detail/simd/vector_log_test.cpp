// SPDX-License-Identifier: MIT
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"

namespace best = cumulus::detail::kernels::best;
using cumulus::index_t;

namespace {

/// The largest error over the numbers, in ulp of the larger of the result and 1/4.
double worst_error(const std::vector<double>& x, double raise) {
  std::vector<double> out(x.size());
  best::log_row<double>(x.data(), index_t(x.size()), raise, out.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double right =
        std::log(static_cast<long double>(x[i])) + raise * 0.693147180559945309417232121458L;
    const double size = std::max(0.25, std::abs(double(right)));
    worst =
        std::max(worst, std::abs(double(out[i] - right)) / std::ldexp(1.0, std::ilogb(size) - 52));
  }
  return worst;
}

}  // namespace

TEST_CASE("log kernel: within 1 ulp at every size", "[kernels][value]") {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> near_one(0.5, 2.0), power(-1000, 1000);
  std::vector<double> close, far;
  for (int i = 0; i < 20000; ++i) {
    close.push_back(near_one(engine));
    far.push_back(std::exp2(power(engine)));
  }
  for (const double special : {0.70710678118654746, 0.70710678118654757, 1.4142135623730949,
                               1.4142135623730951, 1.0, 2.0, 0x1p-1022, 0x1.fffffffffffffp1023})
    close.push_back(special);
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    CHECK(worst_error(close, 0) <= 1);
    CHECK(worst_error(far, 0) <= 1);
    CHECK(worst_error(far, -777) <= 1);
  });
}

TEST_CASE("log kernel: 0 gives -inf, and nothing behind the end is written", "[kernels][edge]") {
  const double inf = std::numeric_limits<double>::infinity();
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    for (index_t n = 0; n <= 40; ++n) {
      std::vector<double> x(std::size_t(n), 0.0), out(std::size_t(n) + 1, 7.0);
      for (index_t i = 1; i < n; i += 2) x[std::size_t(i)] = 1.0;
      best::log_row<double>(x.data(), n, 0, out.data());
      CHECK(out.back() == 7.0);
      for (index_t i = 0; i < n; ++i) CHECK(out[std::size_t(i)] == (i % 2 == 0 ? -inf : 0.0));
    }
  });
}
