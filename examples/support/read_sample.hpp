// SPDX-License-Identifier: MIT
//
// The numbers of a file with a name for reports, and the weights that belong to them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/source.hpp"

namespace support {

struct named_numbers {
  std::string name;  ///< of the file, and of its column where that has one
  std::vector<double> values;
};

/// Throws input_error.
named_numbers read_sample(const source& numbers);

/// The weights of `count` numbers, which are called `what`: as many, and one above 0. Throws input_error.
std::vector<double> read_weights(const source& weights, std::size_t count, const std::string& what);

}  // namespace support
