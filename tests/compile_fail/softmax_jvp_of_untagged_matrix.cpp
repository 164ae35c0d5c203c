// expect: error: (use of deleted function|call to deleted).*cumulus: a matrix needs a direction: softmax_jvp.x, v, rowwise. or softmax_jvp.x, v, colwise.
#include <cumulus/exact/softmax_derivatives.hpp>
#include <Eigen/Core>

void call(const Eigen::MatrixXd& x) { cumulus::softmax_jvp(x, x); }
