// SPDX-License-Identifier: MIT
//
// One call through its door: logsumexp(std::vector<double>).
#include <cumulus/exact.hpp>
#include <vector>

double logsumexp_of(const std::vector<double>& x) { return cumulus::logsumexp(x); }
