// SPDX-License-Identifier: MIT
//
// The type of sizes and positions.
// Layer 0 (core).
#pragma once

#include <cstddef>

namespace cumulus {

/// Sizes and positions, as in Eigen.
using index_t = std::ptrdiff_t;

}  // namespace cumulus
