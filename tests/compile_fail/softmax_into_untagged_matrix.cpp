// expect: error: static.assert.*cumulus: a matrix needs a direction, cumulus::rowwise or cumulus::colwise
#include <cumulus/exact/softmax.hpp>

// Neither the matrix nor the place for its softmax says in which direction.
void call(const Eigen::MatrixXd& x, Eigen::MatrixXd& out) { cumulus::softmax(x, out); }
