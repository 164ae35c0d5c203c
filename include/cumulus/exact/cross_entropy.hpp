// SPDX-License-Identifier: MIT
//
// The loss of a class under the softmax of logits, and its gradient.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/rows/log_excess.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cmath>
#include <optional>

namespace cumulus {

/// The error that cross_entropy's tests assert, in ulp of the loss; with label smoothing, of the largest |x| too.
inline constexpr int cross_entropy_max_ulp = 4;

/// The options of cross_entropy and of its gradient.
struct cross_entropy_options {
  double label_smoothing = 0;        ///< the share of the target that all classes split, 0 to 1
  std::optional<index_t> ignored{};  ///< a label without a loss; it need not be a class
  int threads = 1;               ///< the most threads for the lines: needs OpenMP or the executor
  cumulus::executor executor{};  ///< runs the parts, if given
};

namespace detail {

template <std::integral I>
[[nodiscard]] bool is_ignored(const I& label, const cross_entropy_options& o) noexcept {
  return o.ignored && std::cmp_equal(label, *o.ignored);
}

/// Refuses a label that is no class, before any work.
template <std::integral I>
void require_label(const char* name, index_t i, const I& label, index_t classes,
                   const cross_entropy_options& o) {
  if (is_ignored(label, o)) return;
  if (std::cmp_less(label, 0) || std::cmp_greater_equal(label, classes))
    refuse({name, ": label ", i, " is ", label, ", there are ", classes,
            " classes; a label lies in 0..classes - 1, or is .ignored"});
}
inline void require_smoothing(const char* name, const cross_entropy_options& o) {
  require_threads(name, o.threads);
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    refuse({name, ": .label_smoothing is ", o.label_smoothing, "; give 0 to 1"});
}

/// -sum_j t_j log softmax(x)_j with t_j = (1 - smoothing) [j = label] + smoothing / n.
template <class S>
[[nodiscard]] S label_loss(const strided<const S>& x, index_t label, double smoothing) noexcept {
  const auto base = kernels::excess_of(x);
  using W = typename kernels::log_excess<S>::W;
  const W own = base.loss(static_cast<W>(x[label]));
  if (!(0 < smoothing)) return static_cast<S>(own);
  W mean(0);
  for (index_t j = 0; j < x.size; ++j)
    mean += (base.loss(static_cast<W>(x[j])) - mean) / W(static_cast<double>(j + 1));
  if (is_nan(mean) || is_nan(own) || !is_finite(mean)) {  // a class of probability 0 costs all
    W all(0);
    for (index_t j = 0; j < x.size; ++j) all = max_of(all, base.loss(static_cast<W>(x[j])));
    return static_cast<S>(is_nan(own) || base.invalid ? quiet_nan<W> : all);
  }
  const W part(smoothing);
  return static_cast<S>(part < W(1) ? W((W(1) - part) * own + part * mean) : mean);
}

/// Its gradient in x: softmax(x)_j - t_j. That of the label is less the sum of the others, so that it keeps its digits; where the
/// entries are rounded to 16 bits, from the loss.
template <class S>
void label_gradient(const strided<const S>& x, index_t label, double smoothing,
                    const strided<S>& out) noexcept {
  using C = compute_scalar<S>;
  C others(0);
  if constexpr (!std::same_as<S, C>)
    others = C(-std::expm1(-kernels::excess_of(x).loss(static_cast<double>(x[label]))));
  kernels::softmax(x, out);
  if (is_nan(C(out[label]))) return;
  if constexpr (std::same_as<S, C>)
    others = kernels::sum_but_one(strided<const S>{out.data, out.size, out.stride}, label);
  const C each = C(smoothing) / C(static_cast<double>(x.size));
  if (0 < smoothing) {
    for (index_t j = 0; j < x.size; ++j) out[j] = static_cast<S>(C(out[j]) - each);
  }
  out[label] = static_cast<S>(C(smoothing) - each - others);
}

/// Calls line(x_i, label_i, i) for each row or column, in threads.
template <class T, class Ids, class Line>
void for_each_label(const char* name, const strided_matrix<const T>& lines, const Ids& labels,
                    const cross_entropy_options& o, Line line) {
  require_smoothing(name, o);
  require_same_size(name, "lines", lines.rows, "labels", labels.size);
  for (index_t i = 0; i < labels.size; ++i) require_label(name, i, +labels[i], lines.cols, o);
  run_ranges(lines.rows, 1, o.threads, executor_for(o.executor), [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      if (is_ignored(+labels[i], o)) {
        line(i, index_t(-1));
      } else {
        line(i, index_t(labels[i]));
      }
    }
  });
}

}  // namespace detail

/// -log softmax(x)_label: the loss of a class, in nats.
///
/// Shape    x: [n] logits, label: 0..n - 1.
/// Edges    those of log_softmax: a logit of -inf costs inf, +inf alone nothing; a NaN leaves NaN. The loss of an ignored label is 0.
///          Refused: a label outside the classes, a .label_smoothing outside 0..1.
/// Error    cross_entropy_max_ulp, for a loss near 0 too.
/// Cost     that of logsumexp; label smoothing reads x once more, by a plain loop.
template <real_vector X>
[[nodiscard]] result_of<X> cross_entropy(const X& x, std::integral auto label,
                                         const cross_entropy_options& o = {}) {
  const detail::operand<result_of<X>> values(x);
  detail::require_smoothing("cross_entropy", o);
  detail::require_label("cross_entropy", 0, label, values.size(), o);
  if (detail::is_ignored(label, o)) return result_of<X>(0);
  return detail::label_loss(values.view(), index_t(label), o.label_smoothing);
}

/// The loss of each row or column of a matrix, of a label each: `cross_entropy(logits, labels, rowwise)`.
template <real_matrix X, segment_numbers Labels, direction D>
[[nodiscard]] result_per_line<X, D> cross_entropy(const X& x, const Labels& labels, D,
                                                  const cross_entropy_options& o = {}) {
  using T = result_of<X>;
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  const detail::matrix_operand<X> values(x);
  const detail::operand<scalar_of<Labels>> held(labels);
  const auto lines = by_columns ? values.view().transposed() : values.view();
  result_per_line<X, D> result(lines.rows);
  detail::for_each_label("cross_entropy", lines, held.view(), o, [&](index_t i, index_t label) {
    result[i] = label < 0 ? T(0) : detail::label_loss(lines.row(i), label, o.label_smoothing);
  });
  return result;
}

/// softmax(x) less 1 at the label: the gradient of cross_entropy in x, of x's kind.
///
/// Edges    those of softmax, and zeros for an ignored label.
/// Error    softmax_max_ulp of every entry, that of the label too, and of the half types a rounding more; with label smoothing s, in
///          ulp of the entry's share and of s.
/// Cost     that of softmax and one read of the result.
template <real_vector X>
[[nodiscard]] result_like<X> cross_entropy_gradient(const X& x, std::integral auto label,
                                                    const cross_entropy_options& o = {}) {
  result_like<X> out = detail::sized_like(x);
  cross_entropy_gradient(x, label, into(out), o);
  return out;
}

/// Writes the gradient to out, of x's size, which may be x.
template <real_vector X, out_vector<result_of<X>> Out>
void cross_entropy_gradient(const X& x, std::integral auto label, destination<Out> out,
                            const cross_entropy_options& o = {}) {
  using T = result_of<X>;
  const char* const name = "cross_entropy_gradient";
  detail::operand<T> values(x);
  const auto to = detail::strided_view(*out);
  detail::require_same_size(name, "x", values.size(), "out", to.size);
  detail::require_smoothing(name, o);
  detail::require_label(name, 0, label, values.size(), o);
  if (detail::is_ignored(label, o)) {
    for (index_t i = 0; i < to.size; ++i) to[i] = T(0);
    return;
  }
  if (detail::overlaps(values.view(), to)) values.own();
  detail::label_gradient(values.view(), index_t(label), o.label_smoothing, to);
}

/// Writes the gradient of each row or column, of a label each, to out, of x's shape, which may be x.
template <real_matrix X, segment_numbers Labels, out_matrix<result_of<X>> Out, direction D>
void cross_entropy_gradient(const X& x, const Labels& labels, destination<Out> out, D,
                            const cross_entropy_options& o = {}) {
  using T = result_of<X>;
  const char* const name = "cross_entropy_gradient";
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  const auto all = detail::strided_matrix_view(*out);
  detail::require_same_shape(name, "x", index_t(x.rows()), index_t(x.cols()), "out", all.rows,
                             all.cols);
  const detail::operand<scalar_of<Labels>> held(labels);
  const auto write = [&](const auto& values) {
    const auto lines = by_columns ? values.view().transposed() : values.view();
    const auto to = by_columns ? all.transposed() : all;
    detail::for_each_label(name, lines, held.view(), o, [&](index_t i, index_t label) {
      const auto row = to.row(i);
      if (label >= 0) return detail::label_gradient(lines.row(i), label, o.label_smoothing, row);
      for (index_t j = 0; j < row.size; ++j) row[j] = T(0);
    });
  };
  const detail::matrix_operand<X> values(x);
  if (detail::overlaps(values.view(), all)) {
    const result_like<X> copied = x.template cast<T>();
    write(detail::matrix_operand<result_like<X>>(copied));
  } else {
    write(values);
  }
}

/// The gradient of each row or column, of a label each, of x's kind.
template <real_matrix X, segment_numbers Labels, direction D>
[[nodiscard]] result_like<X> cross_entropy_gradient(const X& x, const Labels& labels, D d,
                                                    const cross_entropy_options& o = {}) {
  result_like<X> out(x.rows(), x.cols());
  cross_entropy_gradient(x, labels, into(out), d, o);
  return out;
}

// clang-format off
// Refused: each line says what to write instead.
template <detail::untagged_matrix X, real_vector Labels>
void cross_entropy(const X&, const Labels&, const cross_entropy_options& = {}) = delete;  // cumulus: a matrix needs a direction: cross_entropy(x, labels, rowwise) or cross_entropy(x, labels, colwise)
template <detail::untagged_matrix X, real_vector Labels>
void cross_entropy_gradient(const X&, const Labels&, const cross_entropy_options& = {}) = delete;  // cumulus: a matrix needs a direction: cross_entropy_gradient(x, labels, rowwise) or cross_entropy_gradient(x, labels, colwise)
template <real_vector X, class Label>
  requires(!std::integral<Label>)
void cross_entropy(const X&, const Label&, const cross_entropy_options& = {}) = delete;  // cumulus: a label is the number of a class, an integer
// clang-format on

}  // namespace cumulus
