// expect: error: static.assert.*cumulus: std::vector<bool> keeps no elements in memory
#include <cumulus/exact/logsumexp.hpp>
#include <vector>

// A mask may be an array, a span or an Eigen expression of bool, or of integers; not packed bits.
const std::vector<double> x{1, 2};
const std::vector<bool> keep{true, false};
const double value = cumulus::logsumexp(x, {.mask = keep});
