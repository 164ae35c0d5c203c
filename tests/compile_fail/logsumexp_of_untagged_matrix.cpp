// expect: error: static.assert.*cumulus: a matrix needs a direction, cumulus::rowwise or cumulus::colwise
#include <cumulus/exact/logsumexp.hpp>
#include <Eigen/Core>

// A matrix has no one logsumexp: rowwise or colwise must say which.
const double value = cumulus::logsumexp(Eigen::MatrixXd(2, 3));
