// SPDX-License-Identifier: MIT
//
// The weight and the means of vectors, each coordinate from its own anchor on.
// Layer 2 (moments): uses core; comoment_state and moment_tensor_state are this and their sums about it.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cstdint>
#include <vector>

namespace cumulus::detail {

/// A mean is an anchor (the first value, or a pivot of the first block) plus an offset with its rounding error, so that a common
/// offset of 1e12 costs nothing.
template <class S>
struct anchored_means {
  compensated<S> weight{};
  std::uint64_t count =
      0;  ///< of vectors with a weight other than 0: those added less those removed, modulo 2^64
  std::vector<S> anchor;
  std::vector<compensated<S>> offset;
  bool finite = true;  ///< else the anchors are the means

  explicit anchored_means(index_t n)
      : anchor(static_cast<std::size_t>(n)), offset(static_cast<std::size_t>(n)) {}

  [[nodiscard]] bool empty() const noexcept { return finite && !(S(0) < weight.high); }

  [[nodiscard]] compensated<S> mean_pair(index_t i) const {
    if (empty()) return {quiet_nan<S>, S(0)};
    compensated<S> mean{anchor[static_cast<std::size_t>(i)], S(0)};
    return finite ? mean += offset[static_cast<std::size_t>(i)] : mean;
  }
  [[nodiscard]] S mean(index_t i) const { return mean_pair(i).high; }

  /// x less mean i.
  [[nodiscard]] S deviation(index_t i, const S& x) const {
    if (empty() || !finite || !is_finite(x)) return x - mean(i);
    return distance_to(i, x, {}).value();
  }

  /// The mean x + y less mean i, of finite ones.
  [[nodiscard]] compensated<S> distance_to(index_t i, const S& x, const compensated<S>& y) const {
    const auto at = static_cast<std::size_t>(i);
    return two_sum(x, S(-anchor[at])) + y - offset[at];
  }
  [[nodiscard]] compensated<S> distance_to(const anchored_means& other, index_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return distance_to(i, other.anchor[at], other.offset[at]);
  }

  /// Absorbs a non-finite number, one too far for a distance, or an invalid weight (negative, infinite, NaN): from then on the
  /// means are those that IEEE gives, without offsets.
  template <class Mean>
  void spoil(Mean mean_in, const S& w) {
    const bool good = !(w < S(0)) && is_finite(w);
    const bool first = empty();
    const S part = first ? S(1) : S(w / (weight.value() + w));
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      const S before = mean(index_t(i)), in = mean_in(index_t(i));
      const bool both = is_finite(before) && is_finite(in), near = is_finite(S(in - before));
      anchor[i] = !good          ? quiet_nan<S>
                  : first        ? in
                  : both && near ? S(before + (in - before) * part)
                  : both         ? S((before - before * part) + in * part)
                                 : S(before + in);
    }
    finite = false;
    for (compensated<S>& o : offset) o = {};
    if (good) {
      weight += w;
    } else {
      weight = {quiet_nan<S>, S(0)};
    }
  }

  [[nodiscard]] friend bool operator==(const anchored_means&, const anchored_means&) = default;
};

}  // namespace cumulus::detail
