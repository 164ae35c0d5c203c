// SPDX-License-Identifier: MIT
//
// One score for each block and all query heads that share its keys, so that these heads read the
// same blocks.
// Layer 4 (blocks): uses core and exact.
#pragma once

#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <Eigen/Core>
#include <vector>

namespace cumulus {

/// How the scores of the queries that share keys become one score for each block.
enum class group_rule {
  share,   ///< log of the mean over queries of the block's share of each query's mass
  largest  ///< the largest score, each query's scores less their log-sum-exp
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(group_rule rule) noexcept {
  switch (rule) {
    case group_rule::share:
      return "share";
    case group_rule::largest:
      return "largest";
  }
  return "?";
}

/// scores: [g, blocks], a query head a row, to [blocks].
///
/// Edges   a row of -inf has no part; NaN in a row makes the group NaN (every share of that row is).
/// Cost    g blocks exponentials.
template <real_matrix S>
[[nodiscard]] std::vector<double> group_scores(const S& scores,
                                               group_rule rule = group_rule::share) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> s =
      scores.derived().template cast<double>();
  std::vector<double> out(std::size_t(s.cols()), -detail::infinity<double>);
  if (s.rows() == 0) return out;
  Eigen::VectorXd whole = logsumexp(s, rowwise), column(s.rows());
  const double log_g = std::log(double(s.rows()));
  for (index_t B = 0; B < s.cols(); ++B) {
    for (index_t h = 0; h < s.rows(); ++h)
      column[h] =
          whole[h] == -detail::infinity<double> ? -detail::infinity<double> : s(h, B) - whole[h];
    double top = column[0];
    for (const double x : column) top = detail::max_of(top, x);
    out[std::size_t(B)] = rule == group_rule::largest ? top : logsumexp(column) - log_g;
  }
  return out;
}

}  // namespace cumulus
