// SPDX-License-Identifier: MIT
//
// Which arguments are vectors and matrices, without including Eigen: its types are recognised by
// conversion to their common base, so that head(), segment() and every other expression count.
// Layer 0 (core).
#pragma once

#include <cumulus/core/scalar.hpp>
#include <iterator>
#include <type_traits>

namespace Eigen {
template <typename Derived>
class DenseBase;
}

namespace cumulus {

namespace detail {

template <class D>
std::true_type is_dense(const Eigen::DenseBase<D>*);
std::false_type is_dense(const void*);

}  // namespace detail

/// An Eigen vector, matrix, array or expression of them.
template <class X>
concept eigen_dense =
    decltype(detail::is_dense(static_cast<std::remove_cvref_t<X>*>(nullptr)))::value;

template <class X>
concept eigen_vector = eigen_dense<X> && bool(std::remove_cvref_t<X>::IsVectorAtCompileTime);

/// A contiguous range that is no Eigen object: std::vector, std::array, std::span, a C array.
template <class X>
concept contiguous_sequence = !eigen_dense<X> && requires(X & x) {
  requires std::is_pointer_v<decltype(std::data(x))>;
  requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*std::data(x))>> ||
      std::numeric_limits<std::remove_cvref_t<decltype(*std::data(x))>>::is_specialized;
  { std::size(x) } -> std::convertible_to<std::size_t>;
};

namespace detail {

template <class S>
inline constexpr bool is_complex = !std::numeric_limits<S>::is_specialized && requires(const S& z) {
  typename S::value_type;
  z.real();
  z.imag();
};
template <class X>
concept complex_dense = eigen_dense<X> && is_complex<typename std::remove_cvref_t<X>::Scalar>;

}  // namespace detail

/// What a vector argument may be.
template <class X>
concept real_vector = (eigen_vector<X> && !detail::complex_dense<X>) || contiguous_sequence<X>;

/// What a matrix argument may be; a vector counts, as a matrix of one row or column.
template <class X>
concept real_matrix = eigen_dense<X> && !detail::complex_dense<X>;

namespace detail {
inline constexpr unsigned direct_access_bit =
    0x40;  // Eigen::DirectAccessBit; core/plain.hpp asserts it
}

/// An Eigen expression whose elements lie in memory at fixed strides.
template <class X>
concept strided_dense = eigen_dense<X> &&
                        (unsigned(std::remove_cvref_t<X>::Flags) & detail::direct_access_bit) != 0;

namespace detail {

template <class X>
struct element {};
template <eigen_dense X>
struct element<X> {
  using type = typename X::Scalar;
};
template <class X>
requires(!eigen_dense<X> && requires(X & x) { *std::data(x); }) struct element<X> {
  using type = std::remove_cvref_t<decltype(*std::data(std::declval<X&>()))>;
};

}  // namespace detail

namespace detail {

template <class X>
concept untagged_matrix = eigen_dense<X> && !eigen_vector<X>;

/// std::vector<bool>, whose elements are bits.
template <class X>
concept packed_bits = !eigen_dense<X> && requires(std::remove_cvref_t<X> & x) {
  requires std::same_as < typename std::remove_cvref_t<X>::value_type,
  bool > ;
  { x[0] } -> std::convertible_to<bool>;
  requires !std::is_reference_v<decltype(x[0])>;
};

/// What reads first when a call is refused at compile time.
template <class X>
constexpr void explain_refusal() {
  static_assert(!untagged_matrix<X>,
                "cumulus: a matrix needs a direction, cumulus::rowwise or cumulus::colwise");
  static_assert(!packed_bits<X>,
                "cumulus: std::vector<bool> keeps no elements in memory; use std::vector<char>, "
                "std::array<bool, n> or "
                "an Eigen array");
}

}  // namespace detail

/// The scalar of a vector's or matrix's elements.
template <class X>
using scalar_of = typename detail::element<std::remove_cvref_t<X>>::type;

/// The scalar of a function's result.
template <class X>
using result_of = result_scalar<scalar_of<X>>;

namespace detail {

template <class Out>
concept writable = requires(Out& out) {
  requires !std::is_const_v<std::remove_pointer_t<decltype(std::data(out))>>;
}
|| requires(Out& out) {
  requires eigen_dense<Out> && !std::is_const_v<std::remove_reference_t<Out>>;
  requires !std::is_const_v<std::remove_pointer_t<decltype(out.data())>>;
};

}  // namespace detail

/// A vector that results can be written to: memory of the caller's, any stride.
template <class Out, class T>
concept out_vector = real_vector<Out> &&
    (contiguous_sequence<Out> ||
     strided_dense<Out>)&&detail::writable<Out>&& std::same_as<scalar_of<Out>, T>;

template <class Out, class T>
concept out_matrix = real_matrix<Out> && strided_dense<Out> && detail::writable<Out> &&
    std::same_as<scalar_of<Out>, T>;

}  // namespace cumulus
