// SPDX-License-Identifier: MIT
//
// Elements of a weighted range, block by block, as the portable power sums take them.
// Layer 2 (moments): uses core and kernels.
#pragma once

#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/loops/power_sums.hpp>
#include <cumulus/detail/moments/zero_weight.hpp>

namespace cumulus::detail {

/// The element of a strided range that stands for weights of 1: the range has none in memory, and a program that weighs
/// nothing compiles no code for weights.
struct unit_weight {};

template <class W>
inline constexpr bool is_unit_weight = std::same_as<W, unit_weight>;

/// Weight i; 1 where there are no weights.
template <class S, class W>
[[nodiscard]] S weight_at([[maybe_unused]] const strided<const W>& weights,
                          [[maybe_unused]] index_t i) {
  if constexpr (is_unit_weight<W>) {
    return S(1);
  } else {
    return weights.data == nullptr ? S(1) : static_cast<S>(weights[i]);
  }
}

/// Some elements of weight other than 0, padded with weight 0 to whole lanes.
template <class S>
struct weighted_block {
  static constexpr index_t capacity = kernels::power_sums_block;
  S values[capacity]{}, weights[capacity]{};
  index_t size = 0, padded = 0;
  bool plain = true;  // finite values of positive finite weights

  template <class X, class W>
  void fill(const strided<const X>& x, const strided<const W>& w, index_t first) {
    const index_t end = x.size < first + capacity ? x.size : first + capacity;
    size = 0;
    if (w.data == nullptr) {
      for (index_t i = first; i < end; ++i, ++size) {
        values[size] = static_cast<S>(x[i]);
        weights[size] = S(1);
        plain &= is_finite(values[size]);
      }
      return pad();
    }
    if constexpr (!is_unit_weight<W>) {
      for (index_t i = first; i < end; ++i) {
        values[size] = static_cast<S>(x[i]);
        weights[size] = static_cast<S>(w[i]);
        if (is_zero(weights[size])) continue;
        plain =
            plain && is_finite(values[size]) && S(0) < weights[size] && is_finite(weights[size]);
        ++size;
      }
      pad();
    }
  }

  void pad() {
    padded = size;
    for (; padded % kernels::power_sums_lanes != 0; ++padded) {
      values[padded] = values[0];
      weights[padded] = S(0);
    }
  }
};

}  // namespace cumulus::detail
