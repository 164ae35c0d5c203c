// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/exact_exp_sum.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "wide.hpp"
#include "worst.hpp"

namespace {

using namespace cumulus::detail::kernels;
using deep = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400>,
                                           boost::multiprecision::et_off>;

/// Terms and their order, which the sum views.
struct problem {
  std::vector<double> x, w;
  std::vector<cumulus::index_t> order;

  problem(std::vector<double> values, std::vector<double> weights)
      : x(std::move(values)), w(std::move(weights)), order(x.size()) {
    std::iota(order.begin(), order.end(), cumulus::index_t(0));
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return x[std::size_t(b)] < x[std::size_t(a)]; });
  }
  [[nodiscard]] terms<double> view() const {
    const auto n = cumulus::index_t(x.size());
    return {{x.data(), n}, {w.data(), n}};
  }
  [[nodiscard]] deep value(double shift, int subtracted) const {
    deep sum = -subtracted;
    for (std::size_t i = 0; i < x.size(); ++i) sum += deep(w[i]) * exp(deep(x[i]) - deep(shift));
    return sum;
  }
};

wide_value<double> evaluate(const problem& p, double shift, int subtracted, std::size_t fraction) {
  const terms<double> t = p.view();
  const exact_exp_sum<double> sum(t, p.order);
  std::vector<word> scratch(sum.scratch_words(fraction));
  return sum.evaluate(shift, subtracted, fraction, scratch);
}

}  // namespace

TEST_CASE("exact_exp_sum: its error bound holds at every number of words", "[kernels][property]") {
  families::random r(1u);
  worst excess;  // log2 of error / bound
  double least = 0;
  for (int i = 0; i < 150; ++i) {
    const std::size_t n = 1 + r.below(8);
    const double spread = std::pow(10, r.uniform(-9, 2.5)), offset = r.uniform(-300, 300);
    auto x = families::normal<double>(n, offset, spread, r.bits());
    std::vector<double> w(n);
    for (double& v : w) v = r.normal() * std::pow(10, r.uniform(-20, 20));
    const double shift = offset + r.uniform(-30, 30);
    const int subtracted = int(r.below(3)) - 1;
    const problem p(x, w);
    const deep expected = p.value(shift, subtracted);
    for (const std::size_t fraction : {1u, 2u, 4u, 8u, 16u}) {
      const auto actual = evaluate(p, shift, subtracted, fraction);
      // The fraction itself is rounded to a double.
      const deep distance =
          abs(ldexp(deep(actual.sign * actual.fraction), int(actual.exponent)) - expected);
      const deep bound = exp2(deep(actual.error_bits)) + ldexp(abs(expected), -52);
      excess.see(double(distance / bound), i, n, fraction);
      if (actual.relative_bits() < -2) CHECK(actual.sign == (expected < 0 ? -1 : 1));
      least = std::min(least, actual.relative_bits());
    }
  }
  CHECK_WORST(excess, 1);
  CHECK(least < -450);  // 16 words behind the point do give more than 4
}

TEST_CASE("exact_exp_sum: what is subtracted meets its equal and takes it away",
          "[kernels][edge]") {
  const problem one({0}, {1});
  CHECK(evaluate(one, 0, 1, 4).sign == 0);
  CHECK(evaluate(one, 0, 0, 4).value() == 1);
  CHECK(evaluate(one, 0, -1, 4).value() == 2);
  const problem tail({0, -1000}, {1, -3});
  const auto left = evaluate(tail, 0, 1, 4);
  CHECK(left.sign == -1);
  CHECK(left.relative_bits() < -80);
  CHECK(double(left.exponent) == Approx(std::log2(3) - 1000 / std::log(2.0)).margin(1));
}

TEST_CASE("exact_exp_sum: the leading term is the first whose weights do not cancel",
          "[kernels][edge]") {
  const problem p({3, 3, 3, 2, 2, 1}, {1e300, 1, -1e300, 5, -5, -7});
  const problem q({3, 3, 2, 1}, {1, -1, -5, 7});
  const problem none({3, 3}, {1, -1});
  const auto leading = [](const problem& in) {
    const terms<double> t = in.view();
    const exact_exp_sum<double> sum(t, in.order);
    std::vector<word> scratch(sum.scratch_words(0));
    const auto found = sum.leading(scratch);
    return found.sign == 0 ? 0.0 : found.sign * in.x[std::size_t(found.position)];
  };
  CHECK(leading(p) == 3);
  CHECK(leading(q) == -2);
  CHECK(leading(none) == 0);
}

TEST_CASE("exact_exp_sum: terms out of reach are refused, or vanish", "[kernels][edge]") {
  const problem far({0, -1e300}, {1, 1});
  CHECK(evaluate(far, 0, 0, 4).value() == 1);
  CHECK(evaluate(far, -1e300, 0, 4).error_bits == std::numeric_limits<double>::infinity());
}
