// SPDX-License-Identifier: MIT
//
// The door to moments: from data to moments in one pass; every type a monoid under +=.
//
//     central_moments<T, P>   of numbers: weight, mean, variance, skewness, kurtosis, moments to any order, min and max
//     k_statistic(m, r), unbiased_moment(m, r)   cumulants and moments without bias
//     comoments<T>            of vectors: means and covariance, also with a second vector
//     moment_tensor<T>        of vectors: moments to any order, packed
//     low_rank_covariance<T>  a covariance as a few factors and a diagonal
//     sliding_window<State>   any of them over the last w observations
//     to_bytes, from_bytes    any of them as bytes, for files and other machines
#pragma once

#include <cumulus/core/isa.hpp>
#include <cumulus/core/serialise.hpp>
#include <cumulus/core/version.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/low_rank_covariance.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <cumulus/moments/sliding_window.hpp>
#include <cumulus/moments/unbiased.hpp>
