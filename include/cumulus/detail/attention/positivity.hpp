// SPDX-License-Identifier: MIT
//
// What to do about the negative weights of a truncated softmax.
// Layer 5 (attention): uses core.
//
//     form                    weights                                  sum
//     taylor (graded)         may be negative at every order >= 1      1 at every order
//     moment, even order      positive: 1/2, 0.270, 0.149 and more     1 by division
//     moment, odd order       negative for y below -1, -1.596, -2.181  1 by division, if their sum is positive
//     power, limit, even      0 or more                                1 by division, if one is above 0
//     random features         positive                                 1 by division
#pragma once

#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/view.hpp>
#include <Eigen/Core>

namespace cumulus::detail {

/// Weights without a negative one, and what that took.
template <class T>
struct clipped_weights {
  Eigen::Matrix<T, Eigen::Dynamic, 1> weights;  ///< max(p_i, 0) over their sum
  T negative_mass;  ///< sum of max(-p_i, 0): half of what is moved, in the 1-norm, where sum p_i is 1
};

/// The nearest non-negative multiple: max(p, 0) over its sum.
///
/// Edges   no positive weight: all 0. A NaN stays one, in all. Of weights of +inf each has an equal share, and the others 0.
template <real_vector X>
[[nodiscard]] clipped_weights<result_of<X>> clip_and_renormalise(const X& p) {
  using T = result_of<X>;
  const operand<T> given(p);
  const auto v = given.view();
  clipped_weights<T> out{Eigen::Matrix<T, Eigen::Dynamic, 1>::Zero(v.size), T(0)};
  T largest(0), total(0);
  for (index_t i = 0; i < v.size; ++i) largest = max_of(largest, T(v[i]));
  const bool infinite = largest == infinity<T>;
  const int e = T(0) < largest && !infinite ? binary_exponent(largest) : 0;
  for (index_t i = 0; i < v.size; ++i) {
    if (v[i] < T(0)) {
      out.negative_mass -= v[i];
    } else {
      out.weights[i] = infinite ? T(v[i] == largest ? 1 : 0) : times_power_of_two(T(v[i]), -e);
      total += out.weights[i];
    }
  }
  if (T(0) < total || is_nan(total)) out.weights /= total;
  return out;
}

/// - sum p_i log p_i in nats of the weights as clip_and_renormalise makes them: no logarithm of a number that is not positive.
///
/// Edges   no positive weight: 0. A NaN gives NaN.
/// Error   2 n u max(1, the result).
template <real_vector X>
[[nodiscard]] result_of<X> clipped_entropy(const X& p) {
  using T = result_of<X>;
  const auto clipped = clip_and_renormalise(p);
  T sum(0);
  for (const T& w : clipped.weights) {
    if (T(0) < w) {
      sum -= w * logarithm(w);
    } else if (is_nan(w)) {
      return w;
    }
  }
  return sum;
}

}  // namespace cumulus::detail
