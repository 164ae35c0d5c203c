// SPDX-License-Identifier: MIT
//
// cumulus: logsumexp, softmax and their Taylor expansions. The headers, in the order the data flows.
//
//     x    -> central_moments -> cumulants -> logsumexp_series -> estimate
//     keys -> block_summaries -> block_scores -> select_blocks -> block_sparse_attention      (the first path, per block)
//
// Notation, the same in every header:
//     n  elements          w_i, W  weights and their sum      x̄     weighted mean      y_i = x_i - x̄
//     R  max x - min x     μ_k     Σ w_i y_i^k / W            m_k   μ_k / k!           P    order
//     M(t) = Σ m_k t^k     K(t) = log M(t) = Σ c_k t^k        κ_k = k! c_k             r_k  coefficients of 1/M
//     logsumexp(x) = log W + x̄ + K(1)                         softmax(x)_i = (w_i/W) e^{y_i} / M(1)
//     n  queries, m  keys, d  their width, e  the values' width, b  tokens of a block, B  a block
#pragma once

#include <cumulus/core/serialise.hpp>
#include <cumulus/core/version.hpp>

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_sum_exp.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_complex.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>
#include <cumulus/exact/softmax_mean.hpp>

#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/low_rank_covariance.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <cumulus/moments/sliding_window.hpp>

#include <cumulus/detail/series/adaptive.hpp>
#include <cumulus/detail/series/certified_maximum.hpp>
#include <cumulus/detail/series/chebyshev.hpp>
#include <cumulus/series/convergence.hpp>
#include <cumulus/series/cumulants.hpp>
#include <cumulus/detail/series/enclosure.hpp>
#include <cumulus/detail/series/expansion.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/detail/series/least_order.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/detail/series/positive_range.hpp>
#include <cumulus/detail/series/power_series.hpp>
#include <cumulus/detail/series/remainder.hpp>
#include <cumulus/series/series_derivatives.hpp>
#include <cumulus/detail/series/sharp_remainder.hpp>
#include <cumulus/detail/series/softmax_remainder.hpp>
#include <cumulus/series/softmax_series.hpp>
#include <cumulus/series/softmax_series_bound.hpp>
#include <cumulus/series/standard_error.hpp>
#include <cumulus/series/temperature.hpp>
#include <cumulus/series/terms.hpp>
#include <cumulus/series/terms_text.hpp>
#include <cumulus/series/tilted_moments.hpp>
#include <cumulus/detail/series/uncentred.hpp>
#include <cumulus/series/validate.hpp>

#include <cumulus/blocks.hpp>

#include <cumulus/attention.hpp>
