// expect: error: (use of deleted function|call to deleted).*cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
#include <cumulus/exact/logmeanexp.hpp>

// As Armadillo has them.
struct foreign {
  const double* begin() const;
  const double* end() const;
  int size() const;
  int n_rows, n_cols;
};
const double value = cumulus::logmeanexp(foreign());
