// SPDX-License-Identifier: MIT
//
// Two translation units built with different -m flags, linked into one program: public types have the same layout in both, what
// one makes the other reads, and their results are the same to the rounding that a fused multiply-add may move.
#include "unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace {

int failures = 0;

void check(bool right, const std::string& what) {
  if (right) return;
  std::printf("not so: %s\n", what.c_str());
  ++failures;
}

/// To 4 roundings of T.
template <class T>
bool agree(T a, T b) {
  return std::abs(a - b) <= 2 * std::numeric_limits<T>::epsilon() * std::abs(a);
}

/// Numbers between -10 and 10, the largest in the middle.
template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = T(10 * std::sin(1.7 * double(i)));
  x[n / 2] = T(10);
  return x;
}

/// The moments of the first part by one unit, of the second by the other, merged by the first and read by both.
void check_moments(const unit& one, const unit& other) {
  const auto x = numbers<double>(1000);
  alignas(64) std::byte whole[4096], first[4096], second[4096];
  check(one.layout()[0] <= sizeof whole && one.layout()[1] <= 64, "there is room for the moments");
  one.start(whole);
  one.add(whole, x.data(), 1000);
  one.start(first);
  one.add(first, x.data(), 300);
  other.start(second);
  other.add(second, x.data() + 300, 700);
  one.merge(first, second);
  for (int p = 2; p <= 4; ++p) {
    const double direct = one.moment(whole, p);
    const double scale = std::pow(10.0, p) * std::numeric_limits<double>::epsilon();
    check(std::abs(one.moment(first, p) - direct) <= 4 * scale, "moments of two units merge");
    check(agree(one.moment(first, p), other.moment(first, p)), "both units read the same moment");
  }
}

}  // namespace

int main() {
  const unit &a = plain_unit, &b = native_unit;
  check(a.layout() == b.layout(), "public types have the same layout");
  for (const std::size_t n : {1u, 7u, 64u, 1000u}) {
    const auto n_signed = std::ptrdiff_t(n);
    const auto x = numbers<double>(n);
    check(agree(a.logsumexp(x.data(), n_signed), b.logsumexp(x.data(), n_signed)),
          "the same logsumexp of " + std::to_string(n));
    const auto y = numbers<float>(n);
    std::vector<float> p(n), q(n);
    a.softmax(y.data(), p.data(), n_signed);
    b.softmax(y.data(), q.data(), n_signed);
    check(std::equal(p.begin(), p.end(), q.begin(), agree<float>),
          "the same softmax of " + std::to_string(n));
  }
  const auto y = numbers<float>(60 * 40);
  std::vector<float> p(y.size()), q(y.size());
  a.softmax_of_rows(y.data(), p.data(), 60, 40);
  b.softmax_of_rows(y.data(), q.data(), 60, 40);
  check(std::equal(p.begin(), p.end(), q.begin(), agree<float>), "the same softmax of rows");
  check_moments(a, b);
  check_moments(b, a);
  const double x[] = {1, 2, 3}, w[] = {1, -1, 1};
  alignas(64) std::byte total[256];
  a.logsumexp_signed(total, x, w, 3);
  check(agree(b.value(total), std::exp(1.0) - std::exp(2.0) + std::exp(3.0)),
        "one unit reads the signed logarithm of the other");
  return failures == 0 ? 0 : 1;
}
