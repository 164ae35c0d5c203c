// expect: error: .*deleted.*cumulus: weights are numbers, and bool and characters are none: a vector of bool is a mask, {.mask = keep}
#include <cumulus/exact/softmax.hpp>
#include <vector>

// What keeps terms is a mask.
void call(const std::vector<double>& x, const std::vector<bool>& keep) {
  cumulus::softmax(x, {.weights = keep});
  const cumulus::softmax_options<double> options{.weights = keep};
}
