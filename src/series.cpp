// SPDX-License-Identifier: MIT
//
// logsumexp_series of float and double, from a row and from moments, the order chosen at run time.
#include <cumulus/detail/series/expand_row.hpp>

namespace cumulus::detail {

CUMULUS_SERIES_INSTANCES(, float)
CUMULUS_SERIES_INSTANCES(, double)

}  // namespace cumulus::detail
