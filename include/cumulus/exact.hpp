// SPDX-License-Identifier: MIT
//
// The door to exact: logsumexp, softmax and what belongs to them, for every input. Does not include Eigen.
//
//     logsumexp, logaddexp, logsubexp          sums and differences of exponentials; logsumexp_signed, of both signs
//     softmax, log_softmax                     of a vector, or of each row or column: f(x), f(x, into(out)), f(X, rowwise)
//     cross_entropy, cross_entropy_gradient    the loss of a class, or of each row's
//     log_product                              the product of matrices given by their logarithms
//     logmeanexp, logvarexp                    mean and variance of e^x
//     logcumsumexp, segment_logsumexp          running, and by segment
//     segment_softmax, segment_log_softmax, segment_entropy
//     logsumexp_accumulator, softmax_mean      the same as states that merge
//     logsumexp_gradient, softmax_vjp, ...     derivatives
//     softmax_entropy, effective_sample_size, perplexity, normalise_log_weights
//     options, softmax_options, ...            {.weights = w, .mask = keep, .scale = 2, .sink = 0, .threads = 4}
#pragma once

#include <cumulus/core/isa.hpp>
#include <cumulus/core/version.hpp>
#include <cumulus/exact/cross_entropy.hpp>
#include <cumulus/exact/log_product.hpp>
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/logsumexp_complex.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/segment_softmax.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>
#include <cumulus/exact/softmax_mean.hpp>
