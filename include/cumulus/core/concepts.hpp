// SPDX-License-Identifier: MIT
//
// The concepts of a vector, a matrix and a mask, and the scalar of a function's result.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/elements.hpp>

namespace cumulus {

/// A vector argument: an Eigen vector expression of any stride, or a range of numbers whose size is known, such as a
/// std::vector, std::deque, std::span, C array or transformed view. bool and the character types
/// are not numbers.
template <class X>
concept real_vector =
    (detail::eigen_vector<X> || detail::sequence<X>) && detail::number<detail::element_of<X>>;

/// A matrix argument: an Eigen matrix or array expression. A vector is allowed: it is a matrix of
/// one row or column.
template <class X>
concept real_matrix = detail::eigen_dense<X> && detail::number<detail::element_of<X>>;

/// A mask of a vector: elements of type bool, true for the elements to keep; std::vector<bool> is
/// allowed.
template <class X>
concept mask_vector =
    (detail::eigen_vector<X> || detail::sequence<X>) && std::same_as<detail::element_of<X>, bool>;

/// A mask of a matrix: an Eigen expression of bool.
template <class X>
concept mask_matrix = detail::eigen_dense<X> && std::same_as<detail::element_of<X>, bool>;

/// The scalar of a vector's or matrix's elements.
template <class X>
using scalar_of = detail::element_of<X>;

/// The scalar of a function's result: that of the elements, double for integers.
template <class X>
using result_of = detail::result_scalar<scalar_of<X>>;

/// A vector that results can be written to: the caller's memory, of any stride.
template <class Out, class T>
concept out_vector =
    real_vector<Out> && (detail::contiguous_sequence<Out> || detail::strided_dense<Out>) &&
    detail::writable<Out> && std::same_as<scalar_of<Out>, T>;

/// A matrix that results can be written to.
template <class Out, class T>
concept out_matrix = real_matrix<Out> && detail::strided_dense<Out> && detail::writable<Out> &&
                     std::same_as<scalar_of<Out>, T>;

}  // namespace cumulus
