// SPDX-License-Identifier: MIT
//
// cumulus: logsumexp, softmax and their Taylor expansions. All doors, in the order the data flows.
//
//     x    -> central_moments -> cumulants -> logsumexp_series -> estimate
//     keys -> block_summaries -> block_scores -> select_blocks -> block_sparse_attention      (the first path, per block)
//
// The first path: the moments of x give its cumulants, and their sum logsumexp(x), with a bound.
// The second: the moments of each block of keys give its share of a query's attention, and attention reads the best blocks.
//
// Notation, the same in every header:
//     n  elements          w_i, W  weights and their sum      x̄     weighted mean      y_i = x_i - x̄
//     R  max x - min x     μ_k     Σ w_i y_i^k / W            m_k   μ_k / k!           P    order
//     M(t) = Σ m_k t^k     K(t) = log M(t) = Σ c_k t^k        κ_k = k! c_k             r_k  coefficients of 1/M
//     logsumexp(x) = log W + x̄ + K(1)                         softmax(x)_i = (w_i/W) e^{y_i} / M(1)
//     n  queries, m  keys, d  their width, e  the values' width, b  tokens of a block, B  a block
#pragma once

#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>
#include <cumulus/exact.hpp>
#include <cumulus/moments.hpp>
#include <cumulus/series.hpp>
