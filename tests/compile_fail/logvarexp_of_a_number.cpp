// expect: error: (use of deleted function|call to deleted).*cumulus: say what the number is: logvarexp.x, {.correction = 1}.
#include <cumulus/exact/logmeanexp.hpp>
#include <vector>

const double value = cumulus::logvarexp(std::vector<double>{1, 2}, 1);
