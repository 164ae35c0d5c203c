// SPDX-License-Identifier: MIT
//
// The types of the members of options: a vector, a matrix or one line for all lines, a number or
// one for each line.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/matrix_operand.hpp>

namespace cumulus {

/// An option with a value for each element of a vector, made from any vector argument: `{.weights =
/// w}`. With elements of bool it is a mask.
/// A vector that lies in memory with this scalar is read in place, so it must outlive the call.
template <class S>
class vector_option : public detail::operand<S> {
  using detail::operand<S>::operand;
};

/// An option with a value for each element of a matrix: a matrix of its shape, or one line for all of its lines.
template <class S>
class matrix_option : public detail::broadcast_operand<S> {
  using detail::broadcast_operand<S>::broadcast_operand;
};

/// An option that is a number for all lines, or a vector with one for each line.
class line_option : public detail::line_number {
  using detail::line_number::line_number;
};

}  // namespace cumulus
