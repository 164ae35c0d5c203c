// expect: error: (use of deleted function|call to deleted).*cumulus: results can't be written there: give a vector or matrix that is not const and lies in memory
#include <cumulus/exact/log_softmax.hpp>
#include <span>
#include <vector>

// The numbers of the span are const.
void call(const std::vector<double>& x, std::span<const double> out) {
  cumulus::log_softmax(x, cumulus::into(out));
}
