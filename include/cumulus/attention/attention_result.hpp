// SPDX-License-Identifier: MIT
//
// What attention gives, and how the results of split ranges of keys become that of all of them.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <limits>

namespace cumulus {

/// Of n queries: the means of the values, a row each, and log sum e^score. The default object is that of no query.
template <class T>
struct attention_result {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> output;  ///< [n, e]
  Eigen::Matrix<T, Eigen::Dynamic, 1> logsumexp;                             ///< [n]

  /// Of n queries that see no key: the identity of merge.
  [[nodiscard]] static attention_result none(index_t n, index_t e) {
    return {decltype(output)::Zero(n, e),
            decltype(logsumexp)::Constant(n, -std::numeric_limits<T>::infinity())};
  }
};

/// Of n queries with several heads side by side.
template <class T>
struct multi_head_result {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
      output;  ///< [n, heads.queries e]
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
      logsumexp;  ///< [n, heads.queries]
};

namespace detail {

/// The share of a part of log-sum-exp a beside one of b: 1 / (1 + e^(b - a)).
///
/// Edges   0 where a is -inf or b alone is +inf, also beside each other; NaN where both are +inf, or one is NaN.
/// Error   u (|a| + |b|) relative from the rounding of a and b, and 3 u.
template <class T>
[[nodiscard]] T share_beside(const T& a, const T& b) {
  using C = compute_scalar<T>;
  if (is_nan(a) || is_nan(b)) return quiet_nan<T>;
  if (a <= -infinity<T>) return T(0);
  if (b <= -infinity<T>) return T(1);
  if (!(a < infinity<T>)) return b < infinity<T> ? T(1) : quiet_nan<T>;
  if (!(b < infinity<T>)) return T(0);
  return T(C(1) / (C(1) + exponential(C(C(b) - C(a)))));
}

/// Makes (log_sum, mean [e]) of two parts that of both. A part of share 0 takes no part, whatever it holds.
template <class T, class Mean, class Other>
void mix_parts(T& log_sum, Mean* mean, const T& other_log_sum, const Other* other, index_t e) {
  using C = compute_scalar<T>;
  if (other_log_sum <= -infinity<T>) {
    if (log_sum <= -infinity<T>) std::fill(mean, mean + e, Mean(0));
    return;
  }
  const T mine = share_beside(log_sum, other_log_sum),
          theirs = share_beside(other_log_sum, log_sum);
  const auto part = [](const T& share, const auto& x) {
    return is_nan(share) || T(0) < share ? C(share) * C(x) : C(0);
  };
  for (index_t j = 0; j < e; ++j) mean[j] = Mean(part(mine, mean[j]) + part(theirs, other[j]));
  log_sum = logaddexp(log_sum, other_log_sum);
}

/// The same as merge of one query: row i of `into` with row j of `other`. Unchecked.
template <class T>
void merge_row(attention_result<T>& into, index_t i, const attention_result<T>& other, index_t j) {
  mix_parts(into.logsumexp[i], into.output.row(i).data(), other.logsumexp[j],
            other.output.row(j).data(), into.output.cols());
}

}  // namespace detail

/// Makes `into` the result of the keys of both: of attention, or of all heads of multi_head_attention.
///
/// A part of log-sum-exp -inf changes nothing, and neither does one whose share rounds to 0, whatever its outputs hold. Two parts
/// of +inf leave a mean of NaN, a NaN leaves NaN.
///
/// Shape    the same n and e; else std::invalid_argument.
/// Error    that of shares: u (|a| + |b| + 4) for log-sum-exps a and b, of the larger |output|.
/// Cost     n (2 exp + 3 e operations); no allocation.
/// Source   as softmax_mean, whose states keep more digits.
template <class T>
attention_result<T>& merge(attention_result<T>& into, const attention_result<T>& other) {
  detail::require_same_shape("merge", "output", into.output.rows(), into.output.cols(),
                             "other output", other.output.rows(), other.output.cols());
  detail::require_same_size("merge", "logsumexp", into.logsumexp.size(), "other logsumexp",
                            other.logsumexp.size());
  detail::require_same_size("merge", "output's column", into.output.rows(), "logsumexp",
                            into.logsumexp.size());
  for (index_t i = 0; i < into.output.rows(); ++i) detail::merge_row(into, i, other, i);
  return into;
}

/// The same for each head.
template <class T>
multi_head_result<T>& merge(multi_head_result<T>& into, const multi_head_result<T>& other) {
  detail::require_same_shape("merge", "output", into.output.rows(), into.output.cols(),
                             "other output", other.output.rows(), other.output.cols());
  detail::require_same_shape("merge", "logsumexp", into.logsumexp.rows(), into.logsumexp.cols(),
                             "other logsumexp", other.logsumexp.rows(), other.logsumexp.cols());
  detail::require_same_size("merge", "output's column", into.output.rows(), "logsumexp's column",
                            into.logsumexp.rows());
  const index_t n = into.output.rows(), heads = into.logsumexp.cols();
  if (heads == 0 || into.output.cols() % heads != 0)
    detail::refuse({"merge: an output of width ", into.output.cols(), " can't be split into ",
                    heads, " heads; give results of multi_head_attention"});
  const index_t e = into.output.cols() / heads;
  for (index_t i = 0; i < n; ++i) {
    for (index_t h = 0; h < heads; ++h)
      detail::mix_parts(into.logsumexp(i, h), into.output.row(i).data() + h * e,
                        other.logsumexp(i, h), other.output.row(i).data() + h * e, e);
  }
  return into;
}

}  // namespace cumulus
