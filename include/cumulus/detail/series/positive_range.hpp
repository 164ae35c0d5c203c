// SPDX-License-Identifier: MIT
//
// Up to which range of x the truncated softmax cannot be negative.
// Layer 3 (series): uses core.
//
// Its shares are mixtures of those of two points (softmax_remainder.hpp), polynomials in x, d and the
// range: the least of them decides, and an entry of little weight can have any d beside any x.
#pragma once

#include <cumulus/series/form.hpp>

namespace cumulus::detail {

/// R_pos: the truncated softmax of this degree is non-negative for every sample of range up to it.
///
/// Edges   +inf for degree 0, which is uniform. Orders beyond max_series_order: NaN.
/// Source  derived here: the range where the smallest value over x and d of the polynomial of degree
///         `order` of e^{ds} / (cosh s - x sinh s) is 0, by search (from every low point of a grid of
///         120 x 120 angles), rounded down to six decimals; pi in the limit.
[[nodiscard]] inline double positive_range(int order) {
  constexpr double table[] = {
      1.000000, 2.000000, 1.596071, 2.024493, 2.180607, 2.360720, 2.397920, 2.459804,
      2.546580, 2.622449, 2.619074, 2.645423, 2.692677, 2.741329, 2.735727, 2.750565,
      2.780494, 2.813813, 2.809035, 2.818626, 2.839335, 2.863468, 2.859651, 2.866385,
      2.881584, 2.899836, 2.896785, 2.901784, 2.913421, 2.927694, 2.925223, 2.929086,
      2.938285, 2.949747, 2.947715, 2.950791, 2.958247, 2.967651, 2.965955, 2.968464,
      2.974631, 2.982484, 2.981048, 2.983135, 2.988320, 2.994977, 2.993747, 2.995510,
      2.999932, 3.005645, 3.004581, 3.006089, 3.009905, 3.014861, 3.013932, 3.015238,
      3.018564, 3.022905, 3.022087, 3.023229, 3.026154, 3.029987, 3.029261, 3.030268};
  return order == 0                               ? infinity<double>
         : 0 < order && order <= max_series_order ? table[order - 1]
                                                  : quiet_nan<double>;
}

}  // namespace cumulus::detail
