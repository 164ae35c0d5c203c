// expect: error: (use of deleted function|call to deleted).*cumulus: a matrix needs a direction: effective_sample_size.x, rowwise. or effective_sample_size.x, colwise.
#include <cumulus/exact/log_weights.hpp>
#include <Eigen/Core>

const double value = cumulus::effective_sample_size(Eigen::MatrixXd(2, 3));
