// expect: error: (use of deleted function|call to deleted).*cumulus: segment_ids must be a vector of integers, one for each element of x
#include <cumulus/exact/segment_logsumexp.hpp>
#include <vector>

const auto value = cumulus::segment_logsumexp(std::vector<double>{1, 2}, std::vector<double>{0, 1});
