// SPDX-License-Identifier: MIT
//
// The entropy of a softmax.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/arguments.hpp>
#include <cumulus/detail/rows/entropy.hpp>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of the result.
inline constexpr int softmax_entropy_max_ulp = 4;

namespace detail {

inline constexpr auto entropy_kernel = [](const auto& t) { return kernels::entropy_of(t); };

}  // namespace detail

/// -sum_i p_i log p_i of p = softmax(x, o); the sink is one of the outcomes.
///
/// Shape   x: [n]; weights, mask: [n].
/// Units   nats; 0 for a one-hot row, log n for equal x.
/// Edges   no kept entry, only -inf, several +inf, and a NaN give NaN.
/// Error   softmax_entropy_max_ulp for weights that do not differ by more than e^10, where all
///         terms are of one sign.
/// Cost    three reads of x, 2n exp.
template <real_vector X>
[[nodiscard]] result_of<X> softmax_entropy(const X& x, const options<result_of<X>>& o = {}) {
  return detail::reduced("softmax_entropy", x, o, detail::entropy_kernel);
}

/// One value for every row, as a column of values, or for every column, as a row of values.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> softmax_entropy(const X& x, D d,
                                                    const matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("softmax_entropy", x, d, o, detail::entropy_kernel);
}

/// The call with a list of numbers: `softmax_entropy({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_of<std::initializer_list<T>> softmax_entropy(
    std::initializer_list<T> x, const options<result_of<std::initializer_list<T>>>& o = {}) {
  return softmax_entropy<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void softmax_entropy(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: softmax_entropy(x, rowwise) or softmax_entropy(x, colwise)
template <detail::untagged_matrix X>
void softmax_entropy(const X&, const options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: softmax_entropy(x, rowwise) or softmax_entropy(x, colwise)
template <detail::foreign_array X, class... Rest>
void softmax_entropy(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void softmax_entropy(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void softmax_entropy(const X&, const Y&, const options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: softmax_entropy(x, {.weights = w}) or softmax_entropy(x, {.mask = keep})
// clang-format on

}  // namespace cumulus
