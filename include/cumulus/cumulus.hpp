// SPDX-License-Identifier: MIT
//
// cumulus: logsumexp, softmax and their Taylor expansions. The headers, in the order the data flows.
//
//     x -> central_moments -> cumulants -> logsumexp_series -> estimate
//
// Notation, the same in every header:
//     n  elements          w_i, W  weights and their sum      x̄     weighted mean      y_i = x_i - x̄
//     R  max x - min x     μ_k     Σ w_i y_i^k / W            m_k   μ_k / k!           P    order
//     M(t) = Σ m_k t^k     K(t) = log M(t) = Σ c_k t^k        κ_k = k! c_k             r_k  coefficients of 1/M
//     logsumexp(x) = log W + x̄ + K(1)                         softmax(x)_i = (w_i/W) e^{y_i} / M(1)
#pragma once

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

#include <cumulus/series/cumulants.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/power_series.hpp>
#include <cumulus/series/remainder.hpp>
#include <cumulus/series/softmax_series.hpp>
#include <cumulus/series/uncentred.hpp>
