// expect: error: (use of deleted function|call to deleted).*cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
#include <cumulus/exact/logsumexp.hpp>
#include <array>

// A tensor of another library.
struct foreign {
  const float* begin() const;
  const float* end() const;
  int size() const;
  std::array<int, 3> shape() const;
};
const float value = cumulus::logsumexp(foreign());
