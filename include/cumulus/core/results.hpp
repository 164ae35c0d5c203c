// SPDX-License-Identifier: MIT
//
// The types that results are returned in: the caller's kind of vector or matrix, with the scalar of the result.
// Layer 0 (core).
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/core/index.hpp>
#include <cumulus/core/tags.hpp>
#include <array>
#include <vector>

namespace Eigen {
template <typename Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
class Matrix;
template <typename Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
class Array;
}  // namespace Eigen

namespace cumulus {

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

template <class X, class T>
struct kind_of {
  using type = std::vector<T>;
};
template <eigen_dense X, class T>
struct kind_of<X, T> {
  using type = typename rescalar<typename X::PlainObject, T>::type;
};
template <class S, std::size_t N, class T>
struct kind_of<std::array<S, N>, T> {
  using type = std::array<T, N>;
};
template <class S, std::size_t N, class T>
struct kind_of<S[N], T> {
  using type = std::array<T, N>;
};

/// An Eigen vector of a size that is known at run time: a column, or a row.
template <class T>
using column_of = Eigen::Matrix<T, -1, 1, 0, -1, 1>;

/// The results of a matrix: a column with one for each row, or a row with one for each column.
template <class T, int Rows>
using result_column = Eigen::Matrix<T, Rows, 1, 0, Rows, 1>;
template <class T, int Cols>
using result_row =
    Eigen::Matrix<T, 1, Cols, Cols == 1 ? 0 : 1, 1, Cols>;  // Eigen stores a row by rows

}  // namespace detail

/// The owning type of X's kind with the scalar of the result: an Eigen expression gives the plain Eigen type of its shape and
/// storage order, a std::array or C array of n a std::array of n, any other range a std::vector.
template <class X>
using result_like = typename detail::kind_of<std::remove_cvref_t<X>, result_of<X>>::type;

/// One result per row of X as a column, or per column as a row.
template <class X, direction D>
using result_per_line = std::conditional_t<
    std::same_as<D, rowwise_t>,
    detail::result_column<result_of<X>, std::remove_cvref_t<X>::RowsAtCompileTime>,
    detail::result_row<result_of<X>, std::remove_cvref_t<X>::ColsAtCompileTime>>;

/// A vector of another size than X, with the scalar of the result: an Eigen column where X is an Eigen type, else a std::vector.
template <class X>
using result_list = std::conditional_t<detail::eigen_dense<X>, detail::column_of<result_of<X>>,
                                       std::vector<result_of<X>>>;

namespace detail {

/// An owning vector or matrix of x's size and kind.
template <class X>
[[nodiscard]] result_like<X> sized_like(const X& x) {
  if constexpr (eigen_dense<X>) {
    return result_like<X>(x.rows(), x.cols());
  } else if constexpr (requires { std::tuple_size<result_like<X>>::value; }) {
    return {};
  } else {
    return result_like<X>(std::size(x));
  }
}

}  // namespace detail

}  // namespace cumulus
