// expect: error: (use of deleted function|call to deleted).*cumulus: say that the result goes there: softmax.x, into.out., rowwise.
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// Weights, or where the result goes?
void call(const Eigen::MatrixXd& x, Eigen::MatrixXd& out) {
  cumulus::softmax(x, out, cumulus::rowwise);
}
