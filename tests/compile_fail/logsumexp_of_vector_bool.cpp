// expect: error: (use of deleted function|call to deleted).*cumulus: the first argument holds bool or characters, which are no numbers
#include <cumulus/exact/logsumexp.hpp>
#include <vector>

// bool is no number, packed or not.
const auto value = cumulus::logsumexp(std::vector<bool>{true, false});
