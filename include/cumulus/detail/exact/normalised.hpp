// SPDX-License-Identifier: MIT
//
// What functions from a vector to one of its size share: checks, memory that overlaps, the lines of a matrix one by one.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/core/apart.hpp>
#include <cumulus/detail/exact/arguments.hpp>

namespace cumulus::detail {

/// Checks a vector call and runs `kernel(terms, out)`.
template <real_vector X, class Out, class Options, class Kernel>
  requires(!direction<Out>)
void normalised(const char* function, const X& x, Out& out, const Options& o, Kernel kernel) {
  using T = result_of<X>;
  operand<T> values(x);
  const auto result = strided_view(out);
  require_same_size(function, "x", values.size(), "out", result.size);
  require_options(function, values.size(), o);
  if (overlaps(values.view(), result)) values.own();
  write_apart(o, [&](const auto& to) { kernel(terms_of(values.view(), o), to); }, result);
}

/// The same, returning a vector of x's kind.
template <real_vector X, class Options, class Kernel>
[[nodiscard]] result_like<X> normalised(const char* function, const X& x, const Options& o,
                                        Kernel kernel) {
  result_like<X> out = sized_like(x);
  normalised(function, x, out, o, kernel);
  return out;
}

/// Checks a call without options and runs `kernel(x, out)`.
template <real_vector X, class Out, class Kernel>
void normalised(const char* function, const X& x, Out& out, Kernel kernel) {
  operand<result_of<X>> values(x);
  const auto result = strided_view(out);
  require_same_size(function, "x", values.size(), "out", result.size);
  if (overlaps(values.view(), result)) values.own();
  kernel(values.view(), result);
}
template <real_vector X, class Kernel>
[[nodiscard]] result_like<X> normalised(const char* function, const X& x, Kernel kernel) {
  result_like<X> out = sized_like(x);
  normalised(function, x, out, kernel);
  return out;
}

/// Checks a matrix call and hands `run` the view of x, or of a copy where writing out would change x before it is read.
template <real_matrix X, class Out, class Options, class Run>
void with_lines(const char* function, const X& x, Out& out, const Options& o, bool by_columns,
                Run run) {
  const auto result = strided_matrix_view(out);
  require_same_shape(function, "x", index_t(x.rows()), index_t(x.cols()), "out", result.rows,
                     result.cols);
  require_options(function, result.rows, result.cols, o, by_columns);
  const matrix_operand<X> values(x);
  const auto write = [&](const auto& to) {
    if (overlaps(values.view(), to)) {
      const result_like<X> copied = x.template cast<result_of<X>>();
      run(matrix_operand<result_like<X>>(copied).view(), to);
    } else {
      run(values.view(), to);
    }
  };
  write_apart(o, write, result);
}

/// Runs `kernel(terms, out)` for each row or column.
template <real_matrix X, direction D, class Out, class Options, class Kernel>
void normalised(const char* function, const X& x, Out& out, D, const Options& o, Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  with_lines(function, x, out, o, by_columns, [&](const auto& values, const auto& result) {
    for_each_line(values, result, o, by_columns, kernel);
  });
}

/// Runs `kernel(terms, out, i)` for each row or column i.
template <real_matrix X, direction D, class Out, class Options, class Kernel>
void normalised_lines(const char* function, const X& x, Out& out, D, const Options& o,
                      Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  with_lines(function, x, out, o, by_columns, [&](const auto& values, const auto& result) {
    const auto lines = by_columns ? result.transposed() : result;
    for_each_line(values, o, by_columns,
                  [&](const auto& t, index_t i) { kernel(t, lines.row(i), i); });
  });
}

/// The same as normalised, returning a matrix of x's kind.
template <real_matrix X, direction D, class Options, class Kernel>
[[nodiscard]] result_like<X> normalised(const char* function, const X& x, D d, const Options& o,
                                        Kernel kernel) {
  result_like<X> out(x.rows(), x.cols());
  normalised(function, x, out, d, o, kernel);
  return out;
}

}  // namespace cumulus::detail
