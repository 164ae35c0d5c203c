// SPDX-License-Identifier: MIT
#include <cumulus/detail/simd/attention_kernels.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"

namespace best = cumulus::detail::kernels::best;
using cumulus::index_t;

namespace {

/// The largest error of capped scores, in u of the right value. The scores are cap 2^e, e from -30 to 6, of both signs.
template <class T>
double worst_of_caps(T cap) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> power(-30, 6);
  std::vector<T> scores(20001);
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = T(double(cap) * std::exp2(power(engine)) * (i % 2 == 0 ? 1 : -1));
  std::vector<T> out = scores;
  best::adjust_scores<T>(out.data(), index_t(out.size()), cap, nullptr, nullptr);
  double worst = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto c = static_cast<long double>(cap), x = static_cast<long double>(scores[i]);
    const long double right = c * std::tanh(x / c);
    worst = std::max(worst, std::abs(double((static_cast<long double>(out[i]) - right) / right)));
  }
  return worst / (double(std::numeric_limits<T>::epsilon()) / 2);
}

}  // namespace

TEMPLATE_TEST_CASE("adjust_scores: caps within their error", "[kernels][value]", float, double) {
  const double cap = GENERATE(1.0, 7.3, 30.0, 50.0, 1e-20, 1e20);
  on_every_isa([&](const char* set) {
    CAPTURE(set, cap);
    CHECK(worst_of_caps(TestType(cap)) <= cumulus::detail::kernels::softcap_max_roundings);
  });
}

TEMPLATE_TEST_CASE("adjust_scores: infinities, NaN and zeros", "[kernels][edge]", float, double) {
  using limits = std::numeric_limits<TestType>;
  const TestType inf = limits::infinity(), nan = limits::quiet_NaN(), least = limits::denorm_min();
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    std::vector<TestType> s{inf,   -inf,   nan, limits::max(), limits::lowest(),
                            least, -least, 0,   -0.0};
    best::adjust_scores<TestType>(s.data(), index_t(s.size()), TestType(30), nullptr, nullptr);
    CHECK(s[0] == 30);
    CHECK(s[1] == -30);
    CHECK(s[2] != s[2]);
    CHECK(s[3] == 30);
    CHECK(s[4] == -30);
    CHECK(s[5] == least);
    CHECK(s[6] == -least);
    CHECK(!std::signbit(s[7]));
    CHECK(std::signbit(s[8]));
  });
}

TEMPLATE_TEST_CASE("adjust_scores: bias and mask at every length", "[kernels][value]", float,
                   double) {
  on_every_isa([&](const char* set) {
    CAPTURE(set);
    for (index_t n = 0; n <= 70; ++n) {
      CAPTURE(n);
      const auto size = std::size_t(n);
      std::vector<TestType> s(size + 1, TestType(7)), bias(size);
      const auto keep = std::make_unique<bool[]>(size);
      for (std::size_t i = 0; i < size; ++i) {
        s[i] = TestType(i) / 4;
        bias[i] = TestType(3) - TestType(i);
        keep[i] = i % 3 != 1;
      }
      best::adjust_scores<TestType>(s.data(), n, TestType(0), bias.data(), keep.get());
      for (std::size_t i = 0; i < size; ++i)
        CHECK(s[i] == (i % 3 == 1 ? -std::numeric_limits<TestType>::infinity()
                                  : TestType(i) / 4 + (TestType(3) - TestType(i))));
      CHECK(s[size] == 7);
    }
  });
}
