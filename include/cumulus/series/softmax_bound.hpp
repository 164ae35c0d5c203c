// SPDX-License-Identifier: MIT
//
// How far an entry of a truncated softmax can be from the exact one.
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
  cumulus::form form{};  ///< what is bounded; form::automatic says here what it chose
};

}  // namespace cumulus
