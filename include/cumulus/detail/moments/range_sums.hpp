// SPDX-License-Identifier: MIT
//
// The sums of a range of weighted numbers, before they are moved to its mean.
// Layer 2 (moments): uses core and kernels; moment_state.hpp builds on it.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/order_storage.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/loops/power_sums.hpp>
#include <cumulus/detail/moments/one_pass.hpp>
#include <cumulus/detail/moments/weighted_block.hpp>

namespace cumulus::detail {

/// The e of the least 2^e above high - low. Requires low < high, both finite.
template <class S>
[[nodiscard]] int exponent_of_range(const S& low, const S& high) {
  const S range = high - low;
  return is_finite(range) ? binary_exponent(range) : binary_exponent(S(high / 2 - low / 2)) + 1;
}

/// sum w y^p, y about an anchor near the mean in units of 2^exponent, each sum with its error.
///
/// Edges   constant numbers (max = min) have sums of 0 about their value, and an exponent of 0; without weight, nothing is set.
template <class S, int P>
struct range_sums {
  range_sums() = default;
  explicit range_sums([[maybe_unused]] int order) {
    if constexpr (P == dynamic) sums.resize(static_cast<std::size_t>(order) + 1);
  }

  /// Becomes the sums of these elements, by the vector kernels about a pivot near the mean (one_pass.hpp), else in two passes,
  /// the first for the pivot. False, and nothing of use, if one is not finite or of a weight that is none.
  template <class X, class W>
  [[nodiscard]] bool assign(const strided<const X>& x, const strided<const W>& weights) {
    if (in_one_pass(x, weights)) return true;
    weighted_block<S> b;
    S low = min, high = max;
    compensated<S> quarter;  // of the first moment about the anchor: a difference may overflow
    for (index_t first = 0; first < x.size; first += weighted_block<S>::capacity) {
      b.fill(x, weights, first);
      if (!b.plain) return false;
      if (b.size == 0) continue;
      count += static_cast<std::uint64_t>(b.size);
      if (!(S(0) < sums[0].high)) anchor = b.values[0];
      sums[0] += kernels::lane_sum<S>(b.padded, [&](index_t i) { return b.weights[i]; });
      const S origin = anchor / 4;
      quarter += kernels::lane_sum<S>(b.padded, [&](index_t i) {
        const S value = b.values[i];
        low = value < low ? value : low;
        high = high < value ? value : high;
        return S(b.weights[i] * (value / 4 - origin));
      });
    }
    min = low;
    max = high;
    if (!(min < max)) return true;
    const S pivot = 4 * (anchor / 4 + quarter.value() / sums[0].value());
    anchor = !is_finite(pivot) ? S(min / 2 + max / 2)  // of a range that half the numbers fill
             : pivot < min     ? min
             : max < pivot     ? max
                               : pivot;
    exponent = exponent_of_range(min, max);

    const kernels::scaling<S> unit(exponent);
    const int highest = order() < 1 ? 1 : order();
    S y[weighted_block<S>::capacity]{};
    order_buffer<S, P == 0 ? 1 : P> raw(highest);
    compensated<S> first_moment;
    for (index_t first = 0; first < x.size; first += weighted_block<S>::capacity) {
      b.fill(x, weights, first);
      kernels::deviations(b.values, b.padded, anchor, unit, y);
      kernels::power_sums(y, b.weights, b.padded, highest, raw.data());
      first_moment += raw.data()[1];
      for (int p = 2; p <= order(); ++p) at(p) += raw.data()[p];
    }
    mean = first_moment.value() / sums[0].value();
    return true;
  }

  order_array<compensated<S>, P> sums{};  // of order 0 and from 2 on; that of order 1 is `mean`
  S anchor = S(0), mean = S(0);           // the mean of y, in its units
  int exponent = 0;
  std::uint64_t count = 0;  // of elements with a weight other than 0
  S min = infinity<S>, max = -infinity<S>;

 private:
  [[nodiscard]] int order() const noexcept { return static_cast<int>(sums.size()) - 1; }
  [[nodiscard]] compensated<S>& at(int p) noexcept { return sums[static_cast<std::size_t>(p)]; }

  /// The same by the vector kernels; false where they do not have it. What does not lie in memory as they take it is copied.
  template <class X, class W>
  [[nodiscard]] bool in_one_pass([[maybe_unused]] const strided<const X>& x,
                                 [[maybe_unused]] const strided<const W>& weights) {
    if constexpr (std::same_as<S, double> && one_pass_scalar<double>) {
      if (x.size < 2 || order() > one_pass_max_order) return false;
      using F = std::conditional_t<std::same_as<X, float>, float, double>;
      if (weights.data == nullptr) {
        const contiguous_copy<F, X> values(x);
        constexpr const unit_weight* ones = nullptr;
        return values.data() != nullptr && in_one_pass(values.data(), ones, x.size);
      }
      if constexpr (!is_unit_weight<W>) {
        using G = std::conditional_t<std::same_as<W, float>, F, double>;
        const contiguous_copy<G, X> values(x);
        const contiguous_copy<G, W> ours(weights);
        return values.data() != nullptr && ours.data() != nullptr &&
               in_one_pass(values.data(), ours.data(), x.size);
      }
    }
    return false;
  }

  template <class F, class G>
  [[nodiscard]] bool in_one_pass(const F* x, const G* w, index_t n) {
    one_pass_sums raw;
    if (!one_pass_of_order<P>(x, w, n, order(), raw)) return false;
    sums[0] = raw.sums[0];
    count = raw.count;
    min = raw.low;
    max = raw.high;
    anchor = raw.pivot;
    if (!(min < max)) return true;
    exponent = exponent_of_range(min, max);
    const int shift = raw.exponent - exponent;
    for (int p = 2; p <= order(); ++p) at(p) = times_power_of_two(raw.sums[p], p * shift);
    mean = times_power_of_two(raw.mean(1), shift);
    return true;
  }
};

}  // namespace cumulus::detail
