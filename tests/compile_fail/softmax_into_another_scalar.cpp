// expect: error: static.assert.*cumulus: out must be a vector that can be written, not const, with the scalar of the result
#include <cumulus/exact/softmax.hpp>

// A float input has a float softmax; no silent conversion into double.
void call(const Eigen::VectorXf& x, Eigen::VectorXd& out) { cumulus::softmax(x, out); }
