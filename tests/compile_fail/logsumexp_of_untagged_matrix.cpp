// expect: error: (use of deleted function|call to deleted).*cumulus: a matrix needs a direction: logsumexp.x, rowwise. or logsumexp.x, colwise.
#include <cumulus/exact/logsumexp.hpp>
#include <Eigen/Core>

// A matrix has no one logsumexp: rowwise or colwise must say which.
const double value = cumulus::logsumexp(Eigen::MatrixXd(2, 3));
