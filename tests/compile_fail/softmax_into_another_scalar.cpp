// expect: error: (use of deleted function|call to deleted).*cumulus: out must be a vector of the result's scalar: that of x, double where x holds integers
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// A float input has a float softmax; no silent conversion into double.
void call(const Eigen::VectorXf& x, Eigen::VectorXd& out) {
  cumulus::softmax(x, cumulus::into(out));
}
