// SPDX-License-Identifier: MIT
#include <cumulus/detail/loops/words.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "wide.hpp"
#include "worst.hpp"

namespace {

using namespace cumulus::detail::kernels;
using integer = boost::multiprecision::cpp_int;
using huge = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<700>,
                                           boost::multiprecision::et_off>;
using storage = std::vector<word>;

integer value(const storage& a) {
  integer sum = 0;
  for (std::size_t i = a.size(); i-- > 0;) sum = (sum << 32) + a[i];
  return sum;
}

/// Random words with runs of zeros and ones among them, the first `zeros` from the top clear.
storage draw(families::random& r, std::size_t n, std::size_t zeros = 0) {
  storage a(n);
  for (std::size_t i = 0; i + zeros < n; ++i) {
    const auto kind = r.below(4);
    a[i] = kind == 0 ? 0u : kind == 1 ? ~0u : word(r.bits());
  }
  return a;
}

/// 2^count, of a count of either sign.
huge power(cumulus::index_t count) { return ldexp(huge(1), int(count)); }

}  // namespace

TEST_CASE("words: sums, differences, products and quotients are those of integers",
          "[kernels][value]") {
  families::random r(1u);
  for (int i = 0; i < 400; ++i) {
    const std::size_t n = 1 + r.below(12), m = 1 + r.below(n);
    const storage a = draw(r, n, 1), b = draw(r, m, m == n ? 1 : 0);
    const integer x = value(a), y = value(b);
    const word factor = word(r.bits());
    CAPTURE(i, n, m);

    storage sum = a;
    sum.push_back(0);
    add(sum, b);
    CHECK(value(sum) == x + y);
    sum = a;
    sum.resize(n + 4);
    add(sum, b, 2);
    CHECK(value(sum) == x + (y << 64));
    sum = a;
    sum.resize(n + 2);
    add_multiple(sum, b, factor);
    CHECK(value(sum) == x + y * factor);

    storage same_size = b;
    same_size.resize(n);
    CHECK(less(a, same_size) == (x < y));
    storage difference = x < y ? same_size : a;
    subtract(difference, x < y ? a : same_size);
    CHECK(value(difference) == abs(integer(x - y)));

    storage quotient = a;
    divide(quotient, factor | 1);
    CHECK(value(quotient) == x / (factor | 1));
    CHECK(bit_length(a) == (x == 0 ? 0 : cumulus::index_t(msb(x)) + 1));

    storage product(n), scratch(2 * n);
    multiply(a, same_size, scratch, product);
    const integer whole = (x * y) >> unsigned(fraction_bits(a));
    CHECK(value(product) == (whole & ((integer(1) << unsigned(32 * n)) - 1)));
    storage in_place = a;
    multiply(in_place, in_place, scratch, in_place);
    CHECK(value(in_place) ==
          (((x * x) >> unsigned(fraction_bits(a))) & ((integer(1) << unsigned(32 * n)) - 1)));
  }
}

TEST_CASE("words: a shift goes either way, into any size", "[kernels][value]") {
  families::random r(2u);
  for (int i = 0; i < 400; ++i) {
    const std::size_t n = 1 + r.below(8), m = 1 + r.below(8);
    const storage a = draw(r, n);
    const auto count = cumulus::index_t(r.below(400)) - 200;
    CAPTURE(i, n, m, count);
    storage out(m, 7u);
    shift_right(a, count, out);
    const integer moved =
        count < 0 ? integer(value(a) << unsigned(-count)) : integer(value(a) >> unsigned(count));
    CHECK(value(out) == (moved & ((integer(1) << unsigned(32 * m)) - 1)));
    if (count < 0) continue;
    storage in_place = a;
    shift_right(in_place, count, in_place);
    CHECK(value(in_place) == value(a) >> unsigned(count));
  }
}

TEMPLATE_TEST_CASE("words: a number goes in bit by bit and its leading bits come out",
                   "[kernels][value]", float, double, long double, oracle::wide) {
  families::random r(3u);
  worst error;
  for (int i = 0; i < 300; ++i) {
    auto x = static_cast<TestType>(r.uniform());
    x = x + static_cast<TestType>(r.uniform()) * std::numeric_limits<TestType>::epsilon();
    x = cumulus::detail::times_power_of_two(x, int(r.below(100)) - 50);
    const auto unit = cumulus::index_t(r.below(300)) - 40;
    storage a(14);
    add_number(a, x, unit);
    CAPTURE(i, unit);
    CHECK(value(a) == integer(floor(huge(x) * power(unit))));
    const integer once = value(a);
    add_number(a, x, unit);
    CHECK(value(a) == 2 * once);
    if (once == 0) continue;
    const huge leading = huge(leading_fraction<TestType>(a)) * power(bit_length(a));
    error.see(
        double(abs(leading / huge(value(a)) - 1) / huge(std::numeric_limits<TestType>::epsilon())),
        i);
  }
  CHECK_WORST(error, 1);
  storage a(2);
  add_number(a, TestType(0), 10);
  CHECK(value(a) == 0);
}

TEST_CASE("words: log 2 to the last unit", "[kernels][value]") {
  for (const std::size_t n : {2u, 3u, 5u, 9u, 33u, 65u}) {
    storage a(n), scratch(3 * n + 3);
    log_of_two(a, scratch);
    const huge exact = log(huge(2)) * power(fraction_bits(a));
    CHECK(abs(huge(value(a)) - exact) <= 1);
  }
}

TEST_CASE("words: the exponential is within its units", "[kernels][value]") {
  families::random r(4u);
  worst error;
  for (const std::size_t n : {2u, 3u, 5u, 9u, 17u, 65u}) {
    for (int i = 0; i < (n < 17 ? 20 : 3); ++i) {
      storage x = draw(r, n), scratch(2 * n), out(n);
      x[n - 1] = i == 0 ? 0 : word(r.below(2));
      if (i == 1) std::fill(x.begin(), x.end() - 1, ~0u);
      if (i == 2) std::fill(x.begin(), x.end() - 1, 0u);
      const huge exact = exp(huge(value(x)) / power(fraction_bits(x))) * power(fraction_bits(x));
      const auto halvings = exponential_halvings(fraction_bits(x));
      exponential(x, scratch, out);
      error.see(double(abs(huge(value(out)) - exact) / power(halvings)), n, i);
    }
  }
  CHECK_WORST(error, 48);
}
