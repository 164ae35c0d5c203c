// SPDX-License-Identifier: MIT
//
// The door to series: from moments to the expansions of logsumexp and softmax, each value with a bound. Does not include Eigen.
//
//     x -> central_moments -> cumulants -> logsumexp_series -> estimate
//
//     logsumexp_series, softmax_series      from x, or from moments: {.order = 4, .form = form::chebyshev, ...}
//     softmax_series_bound, convergence_radius, validate
//     logsumexp_series_gradient, softmax_series_jvp, ...    derivatives of the truncations
//     standard_error, logsumexp_sampling_error              where x is a sample
//     temperature_series, tilted_moments                    over beta from one set of moments; about another base point
//     logsumexp_terms, softmax_terms                        the series as exact symbols: text, LaTeX, Markdown, C++
#pragma once

#include <cumulus/core/isa.hpp>
#include <cumulus/core/version.hpp>
#include <cumulus/series/convergence.hpp>
#include <cumulus/series/cumulants.hpp>
#include <cumulus/series/form.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/series_derivatives.hpp>
#include <cumulus/series/series_options.hpp>
#include <cumulus/series/softmax_bound.hpp>
#include <cumulus/series/softmax_series.hpp>
#include <cumulus/series/softmax_series_bound.hpp>
#include <cumulus/series/standard_error.hpp>
#include <cumulus/series/temperature.hpp>
#include <cumulus/series/terms.hpp>
#include <cumulus/series/tilted_moments.hpp>
#include <cumulus/series/validate.hpp>
