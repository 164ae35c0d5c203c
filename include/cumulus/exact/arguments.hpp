// SPDX-License-Identifier: MIT
//
// From the arguments of an exact function to the terms that its kernel takes, and the loop over the
// lines of a matrix.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/core/options.hpp>
#include <cumulus/exact/refusals.hpp>
#include <cumulus/kernels/terms.hpp>

namespace cumulus {

namespace detail {

/// Gives terms their scale: its sign to x, and 0 and infinity their limits (kernels/terms.hpp).
template <class T>
void set_scale(kernels::terms<T>& t, double scale) noexcept {
  using C = compute_scalar<T>;
  t.negative = scale < 0;
  const double size = t.negative ? -scale : scale;
  t.scaled = !(size == 1);
  t.zero_scale = size == 0;
  if (t.zero_scale) t.scaled = false;
  if (t.scaled) t.scale = C(size);
  if (size < infinity<double> || is_nan(size)) return;

  t.scaled = false;
  t.scale = C(1);
  C top = -infinity<C>;
  for (index_t i = 0; i < t.size(); ++i) {
    if (t.takes_part(i) && top < t.exponent(i)) top = t.exponent(i);
  }
  if (!is_finite(top)) return;  // infinities tell the limit themselves
  t.infinite_scale = true;
  t.top = top;
  t.limit = top < C(0) ? -infinity<C> : C(0) < top ? infinity<C> : C(0);
  if (!t.has_sink || is_nan(t.sink) || is_finite(t.limit)) return;
  if (C(0) < t.limit) {
    t.has_sink = false;  // vanishes beside e^inf
  } else {
    t.top = infinity<C>;  // vanishes beside the sink
    t.limit = C(0);
  }
}

template <class T>
[[nodiscard, gnu::always_inline]] inline kernels::terms<T> make_terms(strided<const T> x,
                                                                      strided<const T> weights,
                                                                      strided<const bool> mask,
                                                                      double scale, bool has_sink,
                                                                      double sink) noexcept {
  using C = compute_scalar<T>;
  kernels::terms<T> t{x, weights, mask};
  t.has_sink = has_sink && !(sink == -infinity<double>);
  if (t.has_sink) t.sink = C(sink);
  t.given_scale = scale;
  if (!(scale == 1)) set_scale(t, scale);
  return t;
}

}  // namespace detail

/// A vector's terms, all kept with weight 1.
template <class T>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x) noexcept {
  return {x};
}

/// A vector's terms with the options of its call. Requires that the options outlive them.
template <class T>
[[nodiscard, gnu::always_inline]] inline kernels::terms<T> terms_of(strided<const T> x,
                                                                    const options<T>& o) noexcept {
  return detail::make_terms(x, o.weights.view(), o.mask.view(), o.scale, o.sink.has_value(),
                            o.sink.value_or(0));
}

/// The terms of line i of a matrix.
template <class T>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x, const matrix_options<T>& o, index_t i,
                                         bool by_columns) noexcept {
  return detail::make_terms(x, o.weights.line(i, by_columns), o.mask.line(i, by_columns),
                            o.scale[i], o.sink.given(), o.sink[i]);
}

/// Runs `use(terms, i)` for each row of x, or for each column.
template <class T, class Use>
void for_each_line(const strided_matrix<const T>& x, const matrix_options<T>& o, bool by_columns,
                   Use use) {
  const auto lines = by_columns ? x.transposed() : x;
  for (index_t i = 0; i < lines.rows; ++i) use(terms_of(lines.row(i), o, i, by_columns), i);
}

/// Checks a vector call and returns `kernel(terms)`.
template <real_vector X, class Kernel>
[[nodiscard]] result_of<X> reduced(const char* function, const X& x, const options<result_of<X>>& o,
                                   Kernel kernel) {
  const operand<result_of<X>> values(x);
  require_options(function, values.size(), o);
  return result_of<X>(kernel(terms_of(values.view(), o)));
}

/// Checks a matrix call and returns `kernel(terms)` of each row or column.
template <real_matrix X, direction D, class Kernel>
[[nodiscard]] per_line<X, D> reduced(const char* function, const X& x, D,
                                     const matrix_options<result_of<X>>& o, Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  require_options(function, index_t(x.rows()), index_t(x.cols()), o, by_columns);
  const matrix_operand<X> values(x);
  per_line<X, D> result(by_columns ? x.cols() : x.rows());
  for_each_line(values.view(), o, by_columns,
                [&](const auto& t, index_t i) { result[i] = result_of<X>(kernel(t)); });
  return result;
}

}  // namespace cumulus
