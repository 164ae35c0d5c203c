// expect: error: (use of deleted function|call to deleted).*cumulus: out must be a matrix of the result's scalar: that of x, double where x holds integers
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// Integers have a softmax in double.
void call(Eigen::MatrixXi& x) { cumulus::softmax(x, cumulus::into(x), cumulus::rowwise); }
