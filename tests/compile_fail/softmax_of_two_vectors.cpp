// expect: error: (use of deleted function|call to deleted).*cumulus: say what the second vector is: softmax.x, {.weights = w}., softmax.x, {.mask = keep}. or softmax.x, into.out..
#include <cumulus/exact/softmax.hpp>
#include <vector>

// Weights, or where the result goes?
void call(const std::vector<double>& x, std::vector<double>& w) { cumulus::softmax(x, w); }
