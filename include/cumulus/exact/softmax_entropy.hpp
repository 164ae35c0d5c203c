// SPDX-License-Identifier: MIT
//
// The entropy of a softmax.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/arguments.hpp>
#include <cumulus/kernels/entropy.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of the result.
inline constexpr int softmax_entropy_max_ulp = 4;

namespace detail {

inline constexpr auto entropy_kernel = [](const auto& t) { return kernels::entropy(t); };

}  // namespace detail

/// -sum_i p_i log p_i of p = softmax(x, o); the sink is one of the outcomes.
///
/// Shape   x: [n]; the options as for softmax.
/// Units   nats; 0 for a one-hot row, log n for equal x.
/// Edges   nothing kept, nothing but -inf, several +inf and NaN give NaN.
/// Error   softmax_entropy_max_ulp for weights that do not differ by more than e^10, where all
///         terms are of one sign.
/// Cost    three reads of x, 2n exp.
template <real_vector X>
[[nodiscard]] result_of<X> softmax_entropy(const X& x, const options<result_of<X>>& o = {}) {
  return reduced("softmax_entropy", x, o, detail::entropy_kernel);
}

/// The same of every row or column.
template <real_matrix X, direction D>
[[nodiscard]] per_line<X, D> softmax_entropy(const X& x, D d,
                                             const matrix_options<result_of<X>>& o = {}) {
  return reduced("softmax_entropy", x, d, o, detail::entropy_kernel);
}

}  // namespace cumulus
