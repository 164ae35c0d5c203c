// expect: error: (use of deleted function|call to deleted).*cumulus: results can't be written there: give a vector or matrix that is not const and lies in memory
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// Results cannot be written to a const vector.
void call(const Eigen::VectorXd& x, const Eigen::VectorXd& out) {
  cumulus::softmax(x, cumulus::into(out));
}
