// SPDX-License-Identifier: MIT
//
// One call through its door: logsumexp_series(std::vector<double>, 4).
#include <cumulus/series.hpp>
#include <vector>

double series_of(const std::vector<double>& x) { return cumulus::logsumexp_series(x, 4).value; }
