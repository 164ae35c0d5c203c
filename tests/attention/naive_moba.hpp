// SPDX-License-Identifier: MIT
//
// MoBA, mixture of block attention, by its definition: dense attention under a mask.
#pragma once

#include <cumulus/attention/dense.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace naive_moba {

struct options {
  Eigen::Index block = 512;  ///< tokens of a block; the last may be shorter
  Eigen::Index top = 3;      ///< blocks that a query sees, its own counted
  std::optional<double> scale{};
};

/// For each query the blocks before its own that it sees, in order: the top - 1 of the largest q . (mean key), the earlier of
/// equal ones. A NaN gate is never chosen before a number.
template <class Q, class K>
[[nodiscard]] std::vector<std::vector<Eigen::Index>> gate_of(const Q& queries, const K& keys,
                                                             const options& o) {
  using T = cumulus::score_of<typename K::Scalar>;
  const Eigen::Index n = Eigen::Index(queries.rows()), blocks = n / o.block;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> means(blocks, keys.cols());
  for (Eigen::Index b = 0; b < blocks; ++b)
    means.row(b) = keys.middleRows(b * o.block, o.block).template cast<T>().colwise().mean();
  std::vector<std::vector<Eigen::Index>> seen(static_cast<std::size_t>(n));
  std::vector<std::pair<T, Eigen::Index>> gate;
  for (Eigen::Index t = 0; t < n; ++t) {
    gate.clear();
    for (Eigen::Index b = 0; b < t / o.block; ++b) {
      const T score = queries.row(t).template cast<T>().dot(means.row(b));
      gate.push_back({score != score ? -std::numeric_limits<T>::infinity() : score, b});
    }
    const std::size_t chosen = std::min(gate.size(), std::size_t(o.top - 1));
    std::partial_sort(gate.begin(), gate.begin() + std::ptrdiff_t(chosen), gate.end(),
                      [](const auto& a, const auto& b) {
                        return b.first < a.first || (!(a.first < b.first) && a.second < b.second);
                      });
    for (std::size_t i = 0; i < chosen; ++i) seen[std::size_t(t)].push_back(gate[i].second);
    std::sort(seen[std::size_t(t)].begin(), seen[std::size_t(t)].end());
  }
  return seen;
}

/// Causal attention of each query over its own block and those that its gate chooses, query t at token t.
template <class Q, class K, class V>
[[nodiscard]] cumulus::attention_result<typename K::Scalar> attend(const Q& q, const K& k,
                                                                   const V& v,
                                                                   const options& o = {}) {
  const auto seen = gate_of(q, k, o);
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> keep =
      decltype(keep)::Constant(q.rows(), k.rows(), false);
  for (Eigen::Index t = 0; t < Eigen::Index(q.rows()); ++t) {
    const Eigen::Index own = t / o.block * o.block;
    keep.row(t).segment(own, t + 1 - own).setConstant(true);
    for (const Eigen::Index b : seen[std::size_t(t)])
      keep.row(t).segment(b * o.block, o.block).setConstant(true);
  }
  return cumulus::attention(q, k, v, {.mask = keep, .scale = o.scale});
}

}  // namespace naive_moba
