// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/signed_exp_sum.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "wide.hpp"
#include "worst.hpp"

namespace {

using cumulus::detail::kernels::signed_exp_sum;

template <class T>
cumulus::detail::kernels::terms<T> terms_of(const std::vector<T>& x, const std::vector<T>& w) {
  const auto n = cumulus::index_t(x.size());
  return {{x.data(), n}, {w.data(), n}};
}

}  // namespace

TEMPLATE_TEST_CASE("signed_exp_sum: its bound holds, and where it is finite the sign is right",
                   "[kernels][property]", double, long double) {
  families::random r(1u);
  worst share;
  int certain = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t n = 1 + r.below(12);
    const double spread = std::pow(10, r.uniform(-9, 2));
    auto x = families::normal<TestType>(n, r.uniform(-20, 20), spread, r.bits());
    std::vector<TestType> w(n);
    oracle::wider sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      w[j] = static_cast<TestType>(r.normal() * std::pow(10, r.uniform(-3, 3)));
      // Every other time the last weight leaves little of the others.
      if (j + 1 == n && i % 2 == 0 && n > 1)
        w[j] = static_cast<TestType>(
            oracle::wider(-sum * exp(-oracle::wider(x[j])) * (1 + r.normal() * 1e-4)));
      sum += oracle::wider(w[j]) * exp(oracle::wider(x[j]));
    }
    const auto actual = signed_exp_sum(terms_of(x, w));
    if (!(actual.error < std::numeric_limits<TestType>::infinity())) continue;
    ++certain;
    CHECK(actual.value.sign == (sum < 0 ? -1 : 1));
    const oracle::wider distance = abs(oracle::wider(actual.value.log_abs) - log(abs(sum)));
    share.see(double(distance / oracle::wider(actual.error)), i, n, spread);
  }
  CHECK(certain > 2000);
  CHECK_WORST(share, 1);
}

TEST_CASE("signed_exp_sum: a total that rounds to 0 has no certain sign", "[kernels][edge]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> x{1, 1}, w{1, -1}, close{0, -1e-17};
  CHECK(signed_exp_sum(terms_of(x, w)).error == infinity);
  CHECK(signed_exp_sum(terms_of(close, w)).error == infinity);
  const std::vector<double> one{2}, weight{-1};
  CHECK(signed_exp_sum(terms_of(one, weight)).value == cumulus::signed_log<double>{2, -1});
}
