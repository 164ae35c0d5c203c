// expect: error: (use of deleted function|call to deleted).*cumulus: a matrix needs a direction: softmax.x, rowwise. or softmax.x, colwise.
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// Neither the matrix nor the place for its softmax says in which direction.
void call(const Eigen::MatrixXd& x, Eigen::MatrixXd& out) {
  cumulus::softmax(x, cumulus::into(out));
}
