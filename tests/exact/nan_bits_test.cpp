// SPDX-License-Identifier: MIT
//
// A NaN shows whatever its sign and the bits of its significand are: the exponential's kernels work on bits.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"

namespace {

using namespace cumulus;

/// A NaN of random sign and significand.
template <class T>
T any_nan(std::mt19937_64& engine) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const T plain = std::numeric_limits<T>::quiet_NaN();
  bits b;
  std::memcpy(&b, &plain, sizeof b);
  const bits drawn = bits(engine());
  b |= drawn & ((bits(1) << (std::numeric_limits<T>::digits - 2)) - 1);
  if ((engine() & 1) != 0) b |= bits(1) << (8 * sizeof b - 1);
  T x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("exact functions: a NaN of any bits shows", "[exact][edge]", float, double) {
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int round = 0; round < 2000; ++round) {
      const std::size_t n = 1 + engine() % 40, at = engine() % n;
      const double size = round % 3 == 0 ? 1e18 : round % 3 == 1 ? 1 : 1e30;
      std::vector<TestType> x(n);
      for (TestType& value : x) value = TestType(size * uniform(engine));
      x[at] = any_nan<TestType>(engine);
      CAPTURE(round, n, at);
      const std::vector<TestType> w(n, TestType(2));
      std::vector<TestType> in_place = x;
      softmax(in_place, into(in_place));
      REQUIRE(std::isnan(in_place[0]));
      REQUIRE(std::isnan(softmax(x)[n - 1]));
      REQUIRE(std::isnan(softmax(x, {.weights = w})[0]));
      REQUIRE(std::isnan(log_softmax(x)[0]));
      REQUIRE(std::isnan(logsumexp(x)));
      REQUIRE(std::isnan(logsumexp(x, {.scale = -0.5})));
      REQUIRE(std::isnan(logmeanexp(x)));
      REQUIRE(std::isnan(softmax_entropy(x)));
      REQUIRE(std::isnan(effective_sample_size(x)));
      REQUIRE(std::isnan(logcumsumexp(x)[n - 1]));
      REQUIRE(std::isnan(softmax_vjp(x, w)[0]));
    }
  });
}
