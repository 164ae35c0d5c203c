// expect: error: static.assert.*cumulus: a matrix needs a direction, cumulus::rowwise or cumulus::colwise
#include <cumulus/exact/softmax.hpp>

// A matrix has no one softmax: rowwise or colwise must say which.
const Eigen::MatrixXd value = cumulus::softmax(Eigen::MatrixXd(2, 3));
