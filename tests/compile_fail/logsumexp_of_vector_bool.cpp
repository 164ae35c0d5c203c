// expect: error: static.assert.*cumulus: std::vector<bool> keeps no elements in memory
#include <cumulus/exact/logsumexp.hpp>
#include <vector>

// Its elements are bits, which have no address.
const auto value = cumulus::logsumexp(std::vector<bool>{true, false});
