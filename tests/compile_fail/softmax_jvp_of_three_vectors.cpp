// expect: error: (use of deleted function|call to deleted).*cumulus: say what the third vector is: softmax_jvp.x, v, {.weights = w}., {.mask = keep} or into.out.
#include <cumulus/exact/softmax_derivatives.hpp>
#include <vector>

void call(const std::vector<double>& x, std::vector<double>& out) {
  cumulus::softmax_jvp(x, x, out);
}
