// SPDX-License-Identifier: MIT
//
// The plain Eigen types that results are returned in.
// Layer 0 (core).
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/core/tags.hpp>
#include <Eigen/Core>

namespace cumulus {

static_assert(detail::direct_access_bit == Eigen::DirectAccessBit);

namespace detail {

template <class Plain, class T>
struct rescalar;
template <class S, int Rows, int Cols, int Options, int MaxRows, int MaxCols, class T>
struct rescalar<Eigen::Matrix<S, Rows, Cols, Options, MaxRows, MaxCols>, T> {
  using type = Eigen::Matrix<T, Rows, Cols, Options, MaxRows, MaxCols>;
};
template <class S, int Rows, int Cols, int Options, int MaxRows, int MaxCols, class T>
struct rescalar<Eigen::Array<S, Rows, Cols, Options, MaxRows, MaxCols>, T> {
  using type = Eigen::Array<T, Rows, Cols, Options, MaxRows, MaxCols>;
};

template <class X>
struct plain_type {};
template <contiguous_sequence X>
struct plain_type<X> {
  using type = Eigen::Matrix<result_of<X>, Eigen::Dynamic, 1>;
};
template <eigen_dense X>
struct plain_type<X> {
  using type = typename rescalar<typename X::PlainObject, result_of<X>>::type;
};

}  // namespace detail

/// The owning type of X's shape, storage order and kind (Matrix or Array) with the scalar of the
/// result; a column for a contiguous range.
template <class X>
using plain_of = typename detail::plain_type<std::remove_cvref_t<X>>::type;

/// One result per row of X as a column, or per column as a row.
template <class X, direction D>
using per_line =
    std::conditional_t<std::same_as<D, rowwise_t>,
                       Eigen::Matrix<result_of<X>, std::remove_cvref_t<X>::RowsAtCompileTime, 1>,
                       Eigen::Matrix<result_of<X>, 1, std::remove_cvref_t<X>::ColsAtCompileTime>>;

}  // namespace cumulus
