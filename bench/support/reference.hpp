// SPDX-License-Identifier: MIT
//
// What the results should have been: by the definitions, in long double, each sum compensated;
// nothing the library does. Computed once for each input of inputs.hpp (or part of it), which is
// known by its address and length, and only over one period of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "support/inputs.hpp"

namespace bench {

/// A sum of long doubles as if in twice their precision.
/// Source  A. Neumaier, Z. Angew. Math. Mech. 54 (1974) 39-51, algorithm IV.
class wide_sum {
 public:
  void add(long double x) {
    const long double sum = high_ + x;
    low_ += std::abs(high_) < std::abs(x) ? (x - sum) + high_ : (high_ - sum) + x;
    high_ = sum;
  }
  [[nodiscard]] long double value() const { return high_ + low_; }

 private:
  long double high_ = 0, low_ = 0;
};

/// One period of x, or all of it.
template <class T>
[[nodiscard]] std::span<const T> one_period(std::span<const T> x) {
  return x.first(std::min(x.size(), period));
}

namespace reference {

/// The largest element and log1p of the sum of the other e^{x_i - max}: together they are logsumexp, and
/// (x_i - max) - excess is log softmax_i without cancellation.
struct log_sum {
  long double max, excess;
};

template <class T>
[[nodiscard]] log_sum shifted(std::span<const T> x) {
  static std::map<std::pair<const T*, std::size_t>, log_sum> known;
  const auto [place, is_new] = known.try_emplace({x.data(), x.size()});
  if (is_new) {
    const auto part = one_period(x);
    const auto at = std::max_element(part.begin(), part.end());
    const long double max = *at;
    wide_sum others;
    for (auto v = part.begin(); v != part.end(); ++v) {
      if (v != at) others.add(std::exp(static_cast<long double>(*v) - max));
    }
    const long double times =
        static_cast<long double>(x.size()) / static_cast<long double>(part.size());
    place->second = {max, std::log1p((times - 1) + times * others.value())};
  }
  return place->second;
}

template <class T>
[[nodiscard]] long double logsumexp(std::span<const T> x) {
  const log_sum s = shifted(x);
  return s.max + s.excess;
}

/// [1]: the mean and the mean of |x|;  [k]: mu_k and the mean of |y|^k.
struct moment {
  long double value, absolute;
};

/// Orders 1..order. Differences are taken to the first element, so that an offset costs no digits.
template <class T>
[[nodiscard]] const std::vector<moment>& moments(std::span<const T> x, int order) {
  static std::map<std::tuple<const T*, std::size_t, int>, std::vector<moment>> known;
  std::vector<moment>& result = known[{x.data(), x.size(), order}];
  if (!result.empty()) return result;
  const auto part = one_period(x);
  const auto n = static_cast<long double>(part.size());
  const long double first = part[0];
  wide_sum differences, absolute;
  for (const T& v : part) {
    differences.add(static_cast<long double>(v) - first);
    absolute.add(std::abs(static_cast<long double>(v)));
  }
  const long double centre = differences.value() / n;
  std::vector<std::pair<wide_sum, wide_sum>> sums(static_cast<std::size_t>(order) + 1);
  for (const T& v : part) {
    const long double y = (static_cast<long double>(v) - first) - centre;
    long double power = 1;
    for (auto& [plain, size] : sums) {
      plain.add(power);
      size.add(std::abs(power));
      power *= y;
    }
  }
  for (const auto& [plain, size] : sums) result.push_back({plain.value() / n, size.value() / n});
  result[1] = {first + centre, absolute.value() / n};
  return result;
}

}  // namespace reference

/// |result - exact| / |exact|; below the least normal number of T, over that one.
template <class T>
[[nodiscard]] double relative_error(const T& result, long double exact) {
  const long double size = std::max<long double>(std::abs(exact), std::numeric_limits<T>::min());
  return static_cast<double>(std::abs(static_cast<long double>(result) - exact) / size);
}

/// The largest relative error of a result over x, where `exact(x_i)` is what entry i should be; of
/// about 4096 entries, evenly spaced.
template <class T, class Exact>
[[nodiscard]] double largest_relative_error(std::span<const T> x, std::span<const T> result,
                                            Exact exact) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); i += std::max<std::size_t>(1, x.size() / 4096)) {
    const double error = relative_error(result[i], exact(static_cast<long double>(x[i])));
    if (!(error <= largest)) largest = error;  // a NaN stays
  }
  return largest;
}

}  // namespace bench
