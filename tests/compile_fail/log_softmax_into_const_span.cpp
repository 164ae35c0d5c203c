// expect: error: static.assert.*cumulus: out must be a vector that can be written, not const, with the scalar of the result
#include <cumulus/exact/log_softmax.hpp>
#include <span>
#include <vector>

// The numbers of the span are const.
void call(const std::vector<double>& x, std::span<const double> out) {
  cumulus::log_softmax(x, out);
}
