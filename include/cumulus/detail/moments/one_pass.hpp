// SPDX-License-Identifier: MIT
//
// The power sums of a contiguous range about a pivot near its mean, by the vector kernels, in one pass.
// Layer 2 (moments): uses core and kernels.
#pragma once

#include <cumulus/core/tags.hpp>
#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/moments/weighted_block.hpp>
#include <cumulus/detail/simd/moment_kernels.hpp>
#include <cstdint>

namespace cumulus::detail {

/// The highest order that the vector kernels take.
inline constexpr int one_pass_max_order = 12;

/// sums[p] = sum of w ((x - pivot) 2^-exponent)^p, p = 0..order, and the range and the number of what has a weight.
struct one_pass_sums {
  double pivot = 0, low = 0, high = 0;
  std::uint64_t count = 0;
  int exponent = 0;
  compensated<double> sums[one_pass_max_order + 1];

  /// Whether no sum has left the numbers, or come so near 0 that it has lost digits.
  [[nodiscard]] bool in_range(int order) const noexcept {
    constexpr double least = 0x1p-900;
    bool fits = least < sums[0].high;
    for (int p = 0; p <= order; ++p) {
      fits = fits && is_finite(sums[p].high);
      if (p % 2 == 0) fits = fits && (least < sums[p].high || !(low < high));
    }
    return fits;
  }
  [[nodiscard]] double mean(int p) const noexcept { return sums[p].value() / sums[0].value(); }
};

/// The elements of a strided range as contiguous ones of type T: where they lie, or a copy.
template <class T, class X>
class contiguous_copy {
 public:
  explicit contiguous_copy(const strided<const X>& x) noexcept {
    if constexpr (std::same_as<T, X>) data_ = x.data;
    if (std::same_as<T, X> && x.stride == 1) return;
    copy_.allocate(x.size);
    data_ = copy_.get();
    for (index_t i = 0; data_ != nullptr && i < x.size; ++i) copy_[i] = static_cast<T>(x[i]);
  }
  /// Null where there was no memory.
  [[nodiscard]] const T* data() const noexcept { return data_; }

 private:
  scratch_array<T> copy_;
  const T* data_ = nullptr;
};

#if CUMULUS_VECTORS
template <class T>
concept one_pass_scalar = std::same_as<T, float> || std::same_as<T, double>;

/// A range and its weights, T or unit_weight, and a pass over it.
template <int P, one_pass_scalar T, class W>
struct one_pass_range {
  static constexpr bool weighted = !is_unit_weight<W>;
  const T* x;
  const W* w;
  index_t n;

  /// False where a weight is none.
  template <int Highest, class U, class V>
  static bool sum(const U* values, [[maybe_unused]] const V* weights, index_t count, U pivot,
                  double* sums, kernels::weighted_range& range) noexcept {
    if constexpr (weighted) {
      kernels::best::power_sums<U, Highest, true>(values, weights, count, pivot, sums, range);
    } else {
      kernels::best::power_sums<U, Highest, false>(values, values, count, pivot, sums, range);
      range.weight = {double(count), 0.0};
    }
    return !(range.least_weight < 0);
  }

  /// The same of x and pivot times 2^-exponent. Requires count <= block.
  static constexpr index_t block = index_t(1) << 12;
  bool sum_scaled(index_t first, index_t count, T pivot, int exponent, double* sums,
                  kernels::weighted_range& range) const noexcept {
    double values[block];
    [[maybe_unused]] double weights[weighted ? block : 1];
    double low = infinity<double>, high = -low;  // as given: scaled, the lesser end may vanish
    for (index_t i = 0; i < count; ++i) {
      const double given = double(x[first + i]);
      values[i] = times_power_of_two(given, -exponent);
      if constexpr (weighted) {
        weights[i] = double(w[first + i]);
        if (!(0 < weights[i])) continue;
      }
      low = min_of(low, given);
      high = max_of(high, given);
    }
    const double centre = times_power_of_two(double(pivot), -exponent);
    const bool good = sum<P>(values, weights, count, centre, sums, range);
    range.low = low;
    range.high = high;
    return good;
  }

  [[nodiscard]] const W* weights_from(index_t i) const noexcept { return weighted ? w + i : w; }

  /// How many of `count` elements have a weight other than 0.
  [[nodiscard]] std::uint64_t count_of([[maybe_unused]] index_t first,
                                       index_t count) const noexcept {
    if constexpr (weighted) {
      index_t without = 0;
      for (index_t i = first; i < first + count; ++i) without += w[i] == W(0) ? 1 : 0;
      count -= without;
    }
    return std::uint64_t(count);
  }

  /// A number near the mean: that of all elements of a short range, of evenly spaced stretches of a long one, so that data in
  /// clusters one after the other have a pivot among them. The range as the sample has it.
  [[nodiscard]] one_pass_sums sample() const noexcept {
    constexpr index_t stretch = 64, stretches = 8;
    const index_t count = n <= 4 * stretch * stretches ? 1 : stretches;
    const index_t length = count == 1 ? n : stretch;
    one_pass_sums result;
    result.low = result.high = double(x[0]);
    double moment = 0, weight = 0;
    for (index_t k = 0; k < count; ++k) {
      const index_t first = count == 1 ? 0 : (n - length) / (count - 1) * k;
      double sums[P + 1];
      kernels::weighted_range range;
      sum<P>(x + first, weights_from(first), length, x[0], sums, range);
      weight += range.weight.high;
      moment += sums[1];
      result.low = range.low < result.low ? range.low : result.low;
      result.high = result.high < range.high ? range.high : result.high;
    }
    const double mean = double(x[0]) + moment / weight;
    result.pivot = mean < result.low ? result.low : result.high < mean ? result.high : mean;
    return result;
  }

  [[nodiscard]] bool sum_all(T pivot, int exponent, int order,
                             one_pass_sums& result) const noexcept {
    result = {};
    result.pivot = double(pivot);
    result.exponent = exponent;
    result.low = infinity<double>;
    result.high = -infinity<double>;
    for (index_t first = 0; first < n; first += block) {
      const index_t count = n - first < block ? n - first : block;
      double sums[P + 1];
      kernels::weighted_range range;
      const bool good = exponent == 0
                            ? sum<P>(x + first, weights_from(first), count, pivot, sums, range)
                            : sum_scaled(first, count, pivot, exponent, sums, range);
      if (!good) return false;
      result.low = range.low < result.low ? range.low : result.low;
      result.high = result.high < range.high ? range.high : result.high;
      result.sums[0] += range.weight;
      result.count += count_of(first, count);
      for (int p = 1; p <= order; ++p) result.sums[p] += sums[p];
    }
    return true;
  }
};

/// True, and the sums, where one pass has them, or two: about the mean that the first has found, if the sample's mean was off
/// by more than an eighth of the standard deviation (which costs moments at most (1 + 1/8)^p of their error). False for what
/// is not finite or no weight, and for a range that no power of two brings near 1.
/// The choices do not depend on the order: a lower order is the head of a higher one.
template <int P, one_pass_scalar T, class W>
[[nodiscard]] bool one_pass(const T* x, const W* w, index_t n, int order,
                            one_pass_sums& result) noexcept {
  constexpr int far = 75;  // 2^(12 far) and its inverse are numbers
  const kernels::quiet_flags flags;
  const one_pass_range<P, T, W> range{x, w, n};
  const one_pass_sums sample = range.sample();
  T pivot = T(sample.pivot);
  int exponent = binary_exponent(sample.high - sample.low);
  if (-far < exponent && exponent < far) exponent = 0;
  for (int attempt = 0; attempt < 2 && is_finite(pivot); ++attempt) {
    if (!range.sum_all(pivot, exponent, order < 2 ? 2 : order, result)) break;
    const double reach = max_of(result.high - result.pivot, result.pivot - result.low);
    if (!is_finite(reach) || !result.in_range(order)) break;
    const int unit = binary_exponent(reach);
    const bool near = -far < unit - exponent && unit - exponent < far;
    const double h = result.mean(1);
    if (near && h * h <= result.mean(2) / 64) {
      flags.restore();  // of an attempt before
      return true;
    }
    if (attempt == 1) break;
    if (!near) exponent = unit;
    pivot = T(result.pivot + times_power_of_two(h, result.exponent));
  }
  flags.restore();
  return false;
}

/// one_pass of the even order that takes in `order`: P where that is fixed, else one of two, which compile once each.
template <int P, one_pass_scalar T, class W>
[[nodiscard]] bool one_pass_of_order(const T* x, const W* w, index_t n, int order,
                                     one_pass_sums& result) noexcept {
  if constexpr (P != dynamic) {
    constexpr int even = P < 2 ? 2 : P > one_pass_max_order ? one_pass_max_order : P + P % 2;
    return one_pass<even>(x, w, n, order, result);
  } else {
    return order <= 4 ? one_pass<4>(x, w, n, order, result)
                      : one_pass<one_pass_max_order>(x, w, n, order, result);
  }
}

#else
template <class T>
concept one_pass_scalar = false;
template <int P, class T, class W>
bool one_pass_of_order(const T*, const W*, index_t, int, one_pass_sums&) noexcept;
#endif

}  // namespace cumulus::detail
