// expect: error: (use of deleted function|call to deleted).*cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
#include <cumulus/exact/softmax.hpp>

// A matrix of another library iterates over its elements as a vector does.
struct foreign {
  const double* begin() const;
  const double* end() const;
  int size() const, rows() const, cols() const;
};
void call(const foreign& x) { cumulus::softmax(x); }
