// SPDX-License-Identifier: MIT
//
// An approximate value that says how wrong it can be.
// Layer 0 (core).
#pragma once

namespace cumulus {

/// |exact - value| <= bound. NaN bounds nothing: it stands where the value is NaN as well.
template <class T>
struct estimate {
  T value{};      ///< the partial sum itself
  T bound{};      ///< truncation and rounding together; +inf where powers overflow
  int order = 0;  ///< how many orders the value took
};

}  // namespace cumulus
