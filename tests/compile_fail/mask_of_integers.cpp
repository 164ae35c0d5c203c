// expect: error: .*deleted.*cumulus: a mask has elements of type bool, true where it keeps: write x.array.. > 0, or std::vector<bool>
#include <cumulus/exact/logsumexp.hpp>
#include <vector>

// Integers are no mask: they might be weights, or positions. std::vector<bool>, arrays of bool and comparisons are masks.
const std::vector<double> x{1, 2};
const std::vector<int> keep{1, 0};
const double value = cumulus::logsumexp(x, {.mask = keep});
const cumulus::options<double> options{.mask = keep};
