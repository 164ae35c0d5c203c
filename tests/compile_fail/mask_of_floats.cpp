// expect: error: .*deleted.*cumulus: a mask has elements of type bool, true where it keeps: write x.array.. > 0, or std::vector<bool>
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

// Zeros and ones in floating point are weights, not a mask; of a matrix too.
void call(const Eigen::MatrixXf& x) {
  cumulus::softmax(x, cumulus::rowwise, {.mask = x});
  const cumulus::softmax_matrix_options<float> options{.mask = x};
}
