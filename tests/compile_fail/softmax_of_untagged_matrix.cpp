// expect: error: (use of deleted function|call to deleted).*cumulus: a matrix needs a direction: softmax.x, rowwise. or softmax.x, colwise.
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// A matrix has no one softmax: rowwise or colwise must say which.
void call(const Eigen::MatrixXd& x) { cumulus::softmax(x, {.scale = 2}); }
