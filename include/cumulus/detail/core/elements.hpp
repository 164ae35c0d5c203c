// SPDX-License-Identifier: MIT
//
// What an argument is made of, without including Eigen: its types are recognised by conversion to their common base, so that
// head(), segment() and every other expression count.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <array>
#include <type_traits>

namespace Eigen {
template <typename Derived>
class DenseBase;
}

namespace cumulus::detail {

template <class D>
std::true_type is_dense(const Eigen::DenseBase<D>*);
std::false_type is_dense(const void*);

/// An Eigen vector, matrix, array or expression of them.
template <class X>
concept eigen_dense = decltype(is_dense(static_cast<std::remove_cvref_t<X>*>(nullptr)))::value;

template <class X>
concept eigen_vector = eigen_dense<X> && bool(std::remove_cvref_t<X>::IsVectorAtCompileTime);

/// Eigen::DirectAccessBit.
inline constexpr unsigned direct_access_bit = 0x40;

/// An Eigen expression whose elements lie in memory at fixed strides.
template <class X>
concept strided_dense =
    eigen_dense<X> && (unsigned(std::remove_cvref_t<X>::Flags) & direct_access_bit) != 0;

/// A matrix or tensor of another library.
template <class X>
concept foreign_array = !eigen_dense<X> && (requires(const X& x) { x.rows(), x.cols(); } ||
                                            requires(const X& x) { x.n_rows; } ||
                                            requires(const X& x) { x.shape(); } ||
                                            requires(const X& x) { x.dimensions(); });

/// A range of known size that is neither Eigen's nor a matrix of another library.
template <class X>
concept sequence = !eigen_dense<X> && !foreign_array<X> && requires(const X& x) {
  *std::begin(x);
  std::end(x);
  { std::size(x) } -> std::convertible_to<std::size_t>;
};

/// A sequence whose elements lie in memory one after the other: std::vector, std::array, std::span, a C array.
template <class X>
concept contiguous_sequence =
    sequence<X> && requires(X& x) { requires std::is_pointer_v<decltype(std::data(x))>; };

template <class X>
struct element {};
template <eigen_dense X>
struct element<X> {
  using type = typename X::Scalar;
};
template <sequence X>
struct element<X> {
  using type = std::remove_cvref_t<decltype(*std::begin(std::declval<const X&>()))>;
};
template <class X>
using element_of = typename element<std::remove_cvref_t<X>>::type;

template <class S>
inline constexpr bool is_character =
    std::same_as<S, char> || std::same_as<S, wchar_t> || std::same_as<S, char8_t> ||
    std::same_as<S, char16_t> || std::same_as<S, char32_t>;

/// A number: what std::numeric_limits knows, but for bool and the character types. int8_t and uint8_t are numbers.
template <class S>
concept number = !std::is_array_v<S> && !std::same_as<S, bool> && !is_character<S> &&
                 (std::is_arithmetic_v<S> || std::numeric_limits<S>::is_specialized);

template <class S>
inline constexpr bool is_complex = !std::numeric_limits<S>::is_specialized && requires(const S& z) {
  typename S::value_type;
  z.real();
  z.imag();
};

// What refusals are chosen by.

/// A matrix where a vector is expected: it needs a direction.
template <class X>
concept untagged_matrix = eigen_dense<X> && !eigen_vector<X>;

/// A vector or matrix of bool or characters.
template <class X>
concept without_numbers =
    requires { typename element_of<X>; } && !number<element_of<X>> && !is_complex<element_of<X>>;

/// A vector of anything but bool, where a mask is expected.
template <class X>
concept no_mask = (eigen_dense<X> || sequence<X>) && !std::same_as<element_of<X>, bool>;

template <class Out>
concept writable = requires(Out& out) {
  requires !std::is_const_v<std::remove_pointer_t<decltype(std::data(out))>>;
} || requires(Out& out) {
  requires eigen_dense<Out> && !std::is_const_v<std::remove_reference_t<Out>>;
  requires !std::is_const_v<std::remove_pointer_t<decltype(out.data())>>;
};

}  // namespace cumulus::detail
