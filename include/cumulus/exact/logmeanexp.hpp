// SPDX-License-Identifier: MIT
//
// log-mean-exp, and the logarithm of the variance of e^x.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/exact/arguments.hpp>
#include <cumulus/detail/rows/exp_mean.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert: roundings of max(|result|, mean |x|), and
/// ulp of max(1, 2 max |x|, |result|).
inline constexpr int logmeanexp_max_roundings = 3;
/// In ulp of max(1, 2 max |x|, |result|): the bound of logvarexp.
inline constexpr int logvarexp_max_ulp = 8;

namespace detail {

inline constexpr auto logmeanexp_kernel = [](const auto& t) { return kernels::log_mean_of(t); };

[[nodiscard]] inline auto logvarexp_kernel(double correction) {
  return [correction](const auto& t) {
    using T = typename std::remove_cvref_t<decltype(t)>::scalar;
    return kernels::log_variance(t, T(correction));
  };
}

}  // namespace detail

/// log(sum_i w_i e^{scale x_i} / sum_i w_i).
///
/// Shape    x: [n]; weights, mask: [n].
/// Units    nats.
/// Edges    no kept term gives NaN; all other edges are those of logsumexp. Equal x give that x.
/// Error    logmeanexp_max_roundings where weights are >= 0 and e^(max x - mean x) is finite; near
///          0 too.
/// Cost     six reads of x, 3n exp.
/// Source   derived here: e^y - 1 - y has mean E e^y - 1 about the mean, without its first-order
///          term.
template <real_vector X>
[[nodiscard]] result_of<X> logmeanexp(const X& x, const mean_options<result_of<X>>& o = {}) {
  return detail::reduced("logmeanexp", x, o, detail::logmeanexp_kernel);
}

/// One value for every row, as a column of values, or for every column, as a row of values.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> logmeanexp(const X& x, D d,
                                               const mean_matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("logmeanexp", x, d, o, detail::logmeanexp_kernel);
}

/// The call with a list of numbers: `logmeanexp({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_of<std::initializer_list<T>> logmeanexp(
    std::initializer_list<T> x, const mean_options<result_of<std::initializer_list<T>>>& o = {}) {
  return logmeanexp<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logmeanexp(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logmeanexp(x, rowwise) or logmeanexp(x, colwise)
template <detail::untagged_matrix X>
void logmeanexp(const X&, const mean_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logmeanexp(x, rowwise) or logmeanexp(x, colwise)
template <detail::foreign_array X, class... Rest>
void logmeanexp(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logmeanexp(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logmeanexp(const X&, const Y&, const mean_options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logmeanexp(x, {.weights = w}) or logmeanexp(x, {.mask = keep})
// clang-format on

/// log of the variance of e^{scale x_i}: the mean square deviation, divided by sum w - .correction
/// (0, or 1 for the unbiased estimate from unit weights).
///
/// Shape    x: [n]; weights, mask: [n].
/// Edges    a total weight that is not above the correction gives NaN; equal x, and only -inf, give
///          -inf; a +inf gives +inf.
/// Error    logvarexp_max_ulp, and the conditioning of the deviations.
/// Cost     six reads of x, 4n exp.
template <real_vector X>
[[nodiscard]] result_of<X> logvarexp(const X& x, const variance_options<result_of<X>>& o = {}) {
  return detail::reduced("logvarexp", x, o, detail::logvarexp_kernel(o.correction));
}

/// One value for every row, as a column of values, or for every column, as a row of values.
template <real_matrix X, direction D>
[[nodiscard]] result_per_line<X, D> logvarexp(const X& x, D d,
                                              const variance_matrix_options<result_of<X>>& o = {}) {
  return detail::reduced("logvarexp", x, d, o, detail::logvarexp_kernel(o.correction));
}

/// The call with a list of numbers: `logvarexp({1, 2, 3})`.
template <class T>
  requires real_vector<std::initializer_list<T>>
[[nodiscard]] result_of<std::initializer_list<T>> logvarexp(
    std::initializer_list<T> x,
    const variance_options<result_of<std::initializer_list<T>>>& o = {}) {
  return logvarexp<std::initializer_list<T>>(x, o);
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, class... Rest>
  requires(!detail::tagged<Rest...>)
void logvarexp(const X&, const Rest&...) = delete;  // cumulus: a matrix needs a direction: logvarexp(x, rowwise) or logvarexp(x, colwise)
template <detail::untagged_matrix X>
void logvarexp(const X&, const variance_options<result_of<X>>&) = delete;  // cumulus: a matrix needs a direction: logvarexp(x, rowwise) or logvarexp(x, colwise)
template <detail::foreign_array X, class... Rest>
void logvarexp(const X&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <detail::without_numbers X, class... Rest>
void logvarexp(const X&, const Rest&...) = delete;  // cumulus: the first argument holds bool or characters, which are no numbers
template <class X, detail::number Correction, class... Rest>
void logvarexp(const X&, const Correction&, const Rest&...) = delete;  // cumulus: say what the number is: logvarexp(x, {.correction = 1})
template <real_vector X, class Y>
  requires(real_vector<Y> || mask_vector<Y>)
void logvarexp(const X&, const Y&, const variance_options<result_of<X>>& = {}) = delete;  // cumulus: say what the second vector is: logvarexp(x, {.weights = w}) or logvarexp(x, {.mask = keep})
// clang-format on

}  // namespace cumulus
