// SPDX-License-Identifier: MIT
#include "support/read_sample.hpp"

#include <algorithm>
#include <utility>

#include "support/input_error.hpp"
#include "support/read_numbers.hpp"

namespace support {

named_numbers read_sample(const source& numbers) {
  support::numbers read = read_numbers(numbers);
  std::string name = one_line(numbers.name());
  if (!read.column.empty()) name += ", column " + in_quotes(read.column);
  return {std::move(name), std::move(read.values)};
}

std::vector<double> read_weights(const source& weights, std::size_t count,
                                 const std::string& what) {
  std::vector<double> w = read_numbers(weights).values;
  if (w.size() != count)
    throw input_error(
        weights.name(), {},
        std::to_string(w.size()) + " weights for " + std::to_string(count) + " " + what,
        "give each of them one weight");
  if (std::all_of(w.begin(), w.end(), [](double x) { return x == 0; }))
    throw input_error(weights.name(), {}, "every weight is 0", "give a positive one");
  return w;
}

}  // namespace support
