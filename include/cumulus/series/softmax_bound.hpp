// SPDX-License-Identifier: MIT
//
// A bound on the error of an entry of a truncated softmax.
// Layer 3 (series): uses core.
#pragma once

#include <cumulus/series/form.hpp>
#include <limits>

namespace cumulus {

/// Bounds on the error of every entry. absolute is of the entry's share (W / w_i) softmax_i, so times w_i / W it is of the
/// entry; relative is |error| / softmax_i.
template <class T>
struct softmax_bound {
  /// The bound on the absolute error.
  T absolute = std::numeric_limits<T>::infinity();
  /// The bound on the error relative to the exact softmax_i.
  T relative = std::numeric_limits<T>::infinity();
  cumulus::form
      form{};  ///< the form of the bound; form::automatic gives here the form that it chose
};

}  // namespace cumulus
