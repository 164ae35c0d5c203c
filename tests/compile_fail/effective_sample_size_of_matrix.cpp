// expect: error: (use of deleted function|call to deleted).*cumulus: effective_sample_size takes a vector: give a row or column of the matrix
#include <cumulus/exact/log_weights.hpp>
#include <Eigen/Core>

const double value = cumulus::effective_sample_size(Eigen::MatrixXd(2, 3));
