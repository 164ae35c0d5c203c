// SPDX-License-Identifier: MIT
//
// The log-mass of blocks from their keys: what every block score approximates.
// Layer 4 (blocks): uses core, kernels and exact.
#pragma once

#include <cumulus/blocks/block_score.hpp>
#include <cumulus/core/token_rows.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <algorithm>
#include <vector>

namespace cumulus {

/// log sum_t e^(scale q . k_t) over tokens first .. first + count - 1, in double whatever the keys' scalar.
///
/// Shape    keys: [n, d], q: [d]; 0 <= first, first + count <= n. -inf for no tokens.
/// Error    (d/2 + 8) u of max_t |q| |k_t|.
/// Cost     one read of the keys, copied to double 8 rows at a time; count exponentials; allocates count + 9 d numbers.
template <class S, real_vector Q>
[[nodiscard]] double exact_block_score(const token_rows<S>& keys, const Q& q, index_t first,
                                       index_t count, double scale = 1) {
  detail::require_same_size("exact_block_score", "a key", keys.width(), "q", detail::size_of(q));
  if (first < 0 || count < 0 || count > keys.size() - first)
    detail::refuse({"exact_block_score: ", count, " tokens from ", first, " on, of ", keys.size()});
  constexpr index_t together = 8;
  const detail::operand<scalar_of<Q>> held(q);
  const index_t d = keys.width();
  std::vector<double> query(std::size_t(d), 0.0), some(std::size_t(together * d)),
      x(std::size_t(count), 0.0);
  for (index_t i = 0; i < d; ++i)
    query[std::size_t(i)] = scale * static_cast<double>(held.view()[i]);
  for (index_t t = 0; t < count; t += together) {
    const index_t rows = std::min(together, count - t);
    for (index_t k = 0; k < rows; ++k) {
      const S* const from = keys.row(first + t + k);
      double* const to = some.data() + k * d;
      for (index_t i = 0; i < d; ++i) to[i] = static_cast<double>(from[i]);
    }
    detail::kernels::dot_rows<double>(some.data(), d, d, rows, query.data(), x.data() + t);
  }
  return logsumexp(x);
}

/// The log-mass of each block of `block` tokens, the last by the tokens it has.
template <class S, real_vector Q>
[[nodiscard]] std::vector<double> exact_block_scores(const token_rows<S>& keys, index_t block,
                                                     const Q& q, double scale = 1) {
  if (block < 1) detail::refuse({"exact_block_scores: blocks of ", block, " tokens"});
  detail::require_same_size("exact_block_scores", "a key", keys.width(), "q", detail::size_of(q));
  std::vector<double> out;
  for (index_t t = 0; t < keys.size(); t += block)
    out.push_back(exact_block_score(keys, q, t, std::min(block, keys.size() - t), scale));
  return out;
}
template <real_matrix K, real_vector Q>
[[nodiscard]] std::vector<double> exact_block_scores(const K& keys, index_t block, const Q& q,
                                                     double scale = 1) {
  return exact_block_scores(token_rows<scalar_of<K>>(keys), block, q, scale);
}

}  // namespace cumulus
