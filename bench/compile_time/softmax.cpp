// SPDX-License-Identifier: MIT
//
// One call through its door: softmax(std::vector<float>).
#include <cumulus/exact.hpp>
#include <vector>

std::vector<float> softmax_of(const std::vector<float>& x) { return cumulus::softmax(x); }
