// expect: error: static.assert.*cumulus: out must be a vector that can be written, not const, with the scalar of the result
#include <cumulus/exact/softmax.hpp>

// Results cannot be written to a const vector.
void call(const Eigen::VectorXd& x, const Eigen::VectorXd& out) { cumulus::softmax(x, out); }
