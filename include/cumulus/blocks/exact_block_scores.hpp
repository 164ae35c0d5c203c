// SPDX-License-Identifier: MIT
//
// The log-mass of blocks, computed from their keys. Every block score approximates this log-mass.
// Layer 4 (blocks): uses core and exact.
#pragma once

#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/blocks/score_scale.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <algorithm>
#include <vector>

namespace cumulus {

/// The options of exact_block_score and exact_block_scores.
struct exact_score_options {
  std::optional<double> scale{};  ///< of q . k; 1 / sqrt(d) if not given
};

/// log sum_t e^(scale q . k_t) over tokens first .. first + count - 1, in double whatever the keys' scalar.
///
/// Shape    keys: [n, d], a matrix or token_rows; q: [d]; 0 <= first, first + count <= n. -inf for no tokens.
/// Requires a finite scale.
/// Error    (d/2 + 8) u of max_t |q| |k_t|.
/// Cost     one read of the keys, copied to double 8 rows at a time; count exponentials; allocates count + 9 d numbers.
template <token_matrix K, real_vector Q>
[[nodiscard]] double exact_block_score(const K& keys, const Q& q, index_t first, index_t count,
                                       const exact_score_options& o = {}) {
  const char* const name = "exact_block_score";
  const auto& k = detail::tokens_in<token_scalar_of<K>>(keys);
  detail::require_same_size(name, "a key", k.width(), "q", detail::size_of(q));
  if (first < 0 || count < 0 || count > k.size() - first)
    detail::refuse({name, ": ", count, " tokens from token ", first, " on, but there are ",
                    k.size(), "; give a range within them"});
  detail::require_scale(name, o.scale);
  constexpr index_t together = 8;
  const detail::operand<scalar_of<Q>> held(q);
  const index_t d = k.width();
  const double scale = detail::score_scale(o.scale, d);
  std::vector<double> query(std::size_t(d), 0.0), some(std::size_t(together * d)),
      x(std::size_t(count), 0.0);
  for (index_t i = 0; i < d; ++i)
    query[std::size_t(i)] = scale * static_cast<double>(held.view()[i]);
  for (index_t t = 0; t < count; t += together) {
    const index_t rows = std::min(together, count - t);
    for (index_t j = 0; j < rows; ++j) {
      const auto* const from = k.row(first + t + j);
      double* const to = some.data() + j * d;
      for (index_t i = 0; i < d; ++i) to[i] = static_cast<double>(from[i]);
    }
    detail::kernels::dot_rows<double>(some.data(), d, d, rows, query.data(), x.data() + t);
  }
  return logsumexp(x);
}

/// The log-mass of each block of `block` tokens, the last block with the tokens it has.
template <token_matrix K, real_vector Q>
[[nodiscard]] std::vector<double> exact_block_scores(const K& keys, index_t block, const Q& q,
                                                     const exact_score_options& o = {}) {
  const char* const name = "exact_block_scores";
  if (block < 1) detail::refuse({name, ": a block of ", block, " tokens; give 1 or more"});
  const auto& k = detail::tokens_in<token_scalar_of<K>>(keys);
  detail::require_same_size(name, "a key", k.width(), "q", detail::size_of(q));
  detail::require_scale(name, o.scale);
  std::vector<double> out;
  for (index_t t = 0; t < k.size(); t += block)
    out.push_back(exact_block_score(k, q, t, std::min(block, k.size() - t), o));
  return out;
}

}  // namespace cumulus
