// SPDX-License-Identifier: MIT
//
// What a call of an exact function may say besides x.
// Layer 0 (core).
#pragma once

#include <cumulus/core/require.hpp>
#include <cumulus/core/view.hpp>

namespace cumulus {

/// The options of the exact functions of a vector, by designated initializers: `{.weights = w, .mask = keep}`.
///
/// Shape   weights, mask: as x. A mask is true where it keeps.
/// Edges   a masked term, or one of weight 0, never enters arithmetic, whatever it holds.
template <class T>
struct options {
  operand<T> weights{};  ///< multiplies e^x; ones if not given
  operand<bool> mask{};  ///< all kept if not given
};

/// Refuses options of another size than x.
template <class T>
void require_options(const char* function, index size, const options<T>& o) {
  if (o.weights.given()) require_same_size(function, "x", size, "weights", o.weights.size());
  if (o.mask.given()) require_same_size(function, "x", size, "mask", o.mask.size());
}

}  // namespace cumulus
