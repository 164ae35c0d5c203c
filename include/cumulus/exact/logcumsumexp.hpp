// SPDX-License-Identifier: MIT
//
// log-sum-exp of every prefix of a vector.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/normalised.hpp>
#include <cumulus/kernels/running_exp_sum.hpp>

namespace cumulus {

/// log sum_{j<=i} w_j e^{scale x_j}, and of e^sink in every one, written to out.
///
/// Shape    x, out, weights, mask: [n], n >= 0. out may be x itself; memory that overlaps otherwise
///          is copied first.
/// Units    x and the result in nats.
/// Edges    what is masked, of weight 0 or -inf repeats the value before it, -inf (or the sink) at
///          first; +inf stays to the end but for a NaN, which stays; a weight that is negative or
///          NaN, and one of +inf on -inf give NaN.
/// Error    each as logsumexp of its prefix: logsumexp_max_ulp and logsumexp_tail_max_ulp.
/// Cost     one read of x, n exp, n log; no allocation where x lies in memory.
/// Source   kernels/running_exp_sum.hpp
template <real_vector X, out_vector<result_of<X>> Out>
void logcumsumexp(const X& x, Out&& out, const options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  using C = compute_scalar<T>;
  operand<T> values(x);
  const auto result = strided_view(out);
  require_same_size("logcumsumexp", "x", values.size(), "out", result.size);
  require_options("logcumsumexp", values.size(), o);
  if (overlaps(values.view(), result)) values.own();
  kernels::running_log_sum<C> start;
  if (o.sink) start.add({C(*o.sink), C(0)}, C(1));
  kernels::cumulative_log_sum(
      start, kernels::terms<T>{values.view(), o.weights.view(), o.mask.view()}, C(o.scale), result);
}

/// The same, returned.
template <real_vector X>
[[nodiscard]] plain_of<X> logcumsumexp(const X& x, const options<result_of<X>>& o = {}) {
  plain_of<X> out = plain_like(x);
  logcumsumexp(x, out, o);
  return out;
}

/// The same along every row or column of a matrix.
template <real_matrix X, direction D>
[[nodiscard]] plain_of<X> logcumsumexp(const X& x, D, const matrix_options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  using C = compute_scalar<T>;
  constexpr bool by_columns = std::same_as<D, colwise_t>;
  require_options("logcumsumexp", index_t(x.rows()), index_t(x.cols()), o, by_columns);
  const matrix_operand<X> values(x);
  plain_of<X> out(x.rows(), x.cols());
  const auto in_lines = by_columns ? values.view().transposed() : values.view();
  const auto out_view = strided_matrix_view(out);
  const auto out_lines = by_columns ? out_view.transposed() : out_view;
  for (index_t i = 0; i < in_lines.rows; ++i) {
    kernels::running_log_sum<C> start;
    if (o.sink.given()) start.add({C(o.sink[i]), C(0)}, C(1));
    const kernels::terms<T> t{in_lines.row(i), o.weights.line(i, by_columns),
                              o.mask.line(i, by_columns)};
    kernels::cumulative_log_sum(start, t, C(o.scale[i]), out_lines.row(i));
  }
  return out;
}

}  // namespace cumulus
