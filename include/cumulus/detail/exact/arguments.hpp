// SPDX-License-Identifier: MIT
//
// From the arguments of an exact function to the terms that its kernel takes, and the loop over the
// lines of a matrix.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/core/into.hpp>
#include <cumulus/core/options.hpp>
#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#include <cumulus/detail/rows/tile.hpp>

namespace cumulus::detail {

/// Gives terms their scale: its sign to x, and 0 and infinity their limits (detail/loops/terms.hpp).
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
  if (t.has_sink) t.sink = t.given_sink = C(sink);
  t.given_scale = scale;
  if (!(scale == 1)) set_scale(t, scale);
  return t;
}

/// A vector's terms, all kept with weight 1.
template <class T>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x) noexcept {
  return {x};
}

/// A vector's terms with the options of its call. Requires that the options outlive them.
template <class T, class Options>
[[nodiscard, gnu::always_inline]] inline kernels::terms<T> terms_of(strided<const T> x,
                                                                    const Options& o) noexcept {
  bool has_sink = false;
  double sink = 0;
  if constexpr (requires { o.sink; }) {
    has_sink = o.sink.has_value();
    sink = o.sink.value_or(0);
  }
  kernels::terms<T> t = make_terms(x, o.weights.view(), o.mask.view(), o.scale, has_sink, sink);
  t.threads = o.threads;
  t.on = executor_for(o.executor);
  return t;
}

/// The terms of line i of a matrix.
template <class T, class Options>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x, const Options& o, index_t i,
                                         bool by_columns) noexcept {
  bool has_sink = false;
  double sink = 0;
  if constexpr (requires { o.sink; }) {
    has_sink = o.sink.given();
    sink = o.sink[i];
  }
  return make_terms(x, o.weights.line(i, by_columns), o.mask.line(i, by_columns), o.scale[i],
                    has_sink, sink);
}

#if CUMULUS_VECTORS
template <class T>
concept tiled_scalar = std::same_as<T, float> || std::same_as<T, double>;
#else
template <class T>
concept tiled_scalar = false;
#endif

/// Whether lines lie across the memory, so that several of them share each cache line.
template <class T>
[[nodiscard]] bool lie_across(const strided_matrix<T>& lines) noexcept {
  return lines.row_stride == 1 && lines.col_stride > 1 && lines.rows > 1 && lines.cols > 1;
}

/// Whether a kernel takes lines side by side: `across(lines, scale, result, left)`, or with out.
template <class Kernel, class T>
concept has_across =
    requires(const Kernel& k, const strided_matrix<const T>& m, void (*result)(index_t, double),
             void (*left)(index_t)) { k.across(m, 1.0, result, left); };
template <class Kernel, class T>
concept has_across_to =
    requires(const Kernel& k, const strided_matrix<const T>& m, const strided_matrix<T>& out,
             void (*left)(index_t)) { k.across(m, out, 1.0, left); };

/// How many neighbouring lines one thread should keep to itself.
template <class T>
inline constexpr index_t line_grain = index_t(64 / (sizeof(T) < 64 ? sizeof(T) : 64));

/// Whether the lines are best taken in the order of the memory: they lie across it, and copies of some would have to come from
/// beyond the caches.
template <class T, class Options>
[[nodiscard]] bool are_long_across(const strided_matrix<const T>& lines,
                                   const Options& o) noexcept {
  constexpr index_t copied = (index_t(1) << 20) / index_t(sizeof(T));
  if constexpr (requires { o.sink; }) {
    if (o.sink.given()) return false;
  }
  return lie_across(lines) && copied < lines.cols * lines.col_stride && !o.weights.given() &&
         !o.mask.given();
}

/// The scale of all lines, if there is one and the kernels take it; else 0.
template <class Options>
[[nodiscard]] double common_scale(const Options& o, index_t first, index_t end) noexcept {
  const double scale = o.scale[first];
  for (index_t i = first; i < end; ++i) {
    if (o.scale[i] < scale || scale < o.scale[i] || is_nan(o.scale[i])) return 0;
  }
  return kernels::takes_scale(scale) ? scale : 0;
}

template <class T>
[[nodiscard]] strided_matrix<T> some_rows(const strided_matrix<T>& m, index_t first,
                                          index_t end) noexcept {
  return {m.data + first * m.row_stride, end - first, m.cols, m.row_stride, m.col_stride};
}

/// Runs `use(terms, i)` for each row of x, or for each column; lines that lie across the memory in copies, some at a time.
template <class T, class Options, class Use>
void for_each_line(const strided_matrix<const T>& x, const Options& o, bool by_columns, Use use) {
  const auto lines = by_columns ? x.transposed() : x;
  const auto range = [&](index_t first, index_t end) {
    if constexpr (tiled_scalar<T>) {
      if (lie_across(lines)) {
        const kernels::line_tile<T> tile(lines.cols);
        for (; tile.lines() > 0 && first < end; first += tile.lines()) {
          const index_t count = end - first < tile.lines() ? end - first : tile.lines();
          tile.read(lines.data + first, lines.col_stride, count);
          for (index_t k = 0; k < count; ++k)
            use(terms_of(strided<const T>{tile.line(k), lines.cols, 1}, o, first + k, by_columns),
                first + k);
        }
      }
    }
    for (; first < end; ++first) use(terms_of(lines.row(first), o, first, by_columns), first);
  };
  run_ranges(lines.rows, line_grain<T>, o.threads, o.executor, range);
}

/// Runs `kernel(terms, out)` for each line of x and of out. Requires lines of equal shape that overlap only where they are the same.
template <class T, class Options, class Kernel>
void for_each_line(const strided_matrix<const T>& x, const strided_matrix<T>& out, const Options& o,
                   bool by_columns, Kernel kernel) {
  const auto lines = by_columns ? x.transposed() : x;
  const auto results = by_columns ? out.transposed() : out;
  const auto range = [&](index_t first, index_t end) {
    if constexpr (tiled_scalar<T> && has_across_to<Kernel, T>) {
      const double scale = common_scale(o, first, end);
      if (scale > 0 && are_long_across(lines, o) && lie_across(results) &&
          kernel.across(some_rows(lines, first, end), some_rows(results, first, end), scale,
                        [&](index_t k) {
                          const index_t i = first + k;
                          kernel(terms_of(lines.row(i), o, i, by_columns), results.row(i));
                        })) {
        return;
      }
    }
    if constexpr (tiled_scalar<T>) {
      const bool in_across = lie_across(lines), out_across = lie_across(results);
      if (in_across || out_across) {
        const kernels::line_tile<T> tile(lines.cols);
        for (; tile.lines() > 0 && first < end; first += tile.lines()) {
          const index_t count = end - first < tile.lines() ? end - first : tile.lines();
          if (in_across) tile.read(lines.data + first, lines.col_stride, count);
          for (index_t k = 0; k < count; ++k) {
            const index_t i = first + k;
            const strided<T> here{tile.line(k), lines.cols, 1};
            const auto from = in_across ? strided<const T>{tile.line(k), lines.cols, 1}
                                        : strided<const T>(lines.row(i));
            kernel(terms_of(from, o, i, by_columns), out_across ? here : results.row(i));
          }
          if (out_across) tile.write(results.data + first, results.col_stride, count);
        }
      }
    }
    for (; first < end; ++first)
      kernel(terms_of(lines.row(first), o, first, by_columns), results.row(first));
  };
  run_ranges(lines.rows, line_grain<T>, o.threads, o.executor, range);
}

/// Checks a vector call and returns `kernel(terms)`.
template <real_vector X, class Options, class Kernel>
[[nodiscard]] result_of<X> reduced(const char* function, const X& x, const Options& o,
                                   Kernel kernel) {
  const operand<result_of<X>> values(x);
  require_options(function, values.size(), o);
  return result_of<X>(kernel(terms_of(values.view(), o)));
}

/// Checks a matrix call and returns `kernel(terms)` of each row or column.
template <real_matrix X, direction D, class Options, class Kernel>
[[nodiscard]] result_per_line<X, D> reduced(const char* function, const X& x, D, const Options& o,
                                            Kernel kernel) {
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  require_options(function, index_t(x.rows()), index_t(x.cols()), o, by_columns);
  const matrix_operand<X> values(x);
  result_per_line<X, D> result(by_columns ? x.cols() : x.rows());
  const auto use = [&](const auto& t, index_t i) { result[i] = result_of<X>(kernel(t)); };
  if constexpr (tiled_scalar<result_of<X>> && has_across<Kernel, result_of<X>>) {
    const auto lines = by_columns ? values.view().transposed() : values.view();
    if (are_long_across(lines, o)) {
      run_ranges(
          lines.rows, line_grain<result_of<X>>, o.threads, o.executor,
          [&](index_t first, index_t end) {
            const double scale = common_scale(o, first, end);
            const auto one = [&](index_t i) { use(terms_of(lines.row(i), o, i, by_columns), i); };
            const bool done =
                scale > 0 && kernel.across(
                                 some_rows(lines, first, end), scale,
                                 [&](index_t i, double v) { result[first + i] = result_of<X>(v); },
                                 [&](index_t i) { one(first + i); });
            if (!done) {
              for (index_t i = first; i < end; ++i) one(i);
            }
          });
      return result;
    }
  }
  for_each_line(values.view(), o, by_columns, use);
  return result;
}

}  // namespace cumulus::detail
