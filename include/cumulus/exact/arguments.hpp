// SPDX-License-Identifier: MIT
//
// From the arguments of an exact function to what its kernel takes.
// Layer 2 (exact): uses core and kernels.
#pragma once

#include <cumulus/core/options.hpp>
#include <cumulus/core/plain.hpp>
#include <cumulus/kernels/terms.hpp>

namespace cumulus {

/// A vector's terms, all kept with weight 1.
template <class T>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x) noexcept {
  return {x, {}, {}};
}

/// A vector's terms with the options of its call. Requires that the options outlive them.
template <class T>
[[nodiscard]] kernels::terms<T> terms_of(strided<const T> x, const options<T>& o) noexcept {
  return {x, o.weights.view(), o.mask.view()};
}

/// A matrix argument in memory with the scalar of the result: as it lies, else evaluated.
/// Requires that it does not outlive the argument.
template <eigen_dense X>
class matrix_operand {
  static constexpr bool in_place = strided_dense<X> && std::same_as<scalar_of<X>, result_of<X>>;

 public:
  explicit matrix_operand(const X& x) : held_(hold(x)) {}

  [[nodiscard]] strided_matrix<const result_of<X>> view() const noexcept {
    const auto v = strided_matrix_view(held_);
    return {v.data, v.rows, v.cols, v.row_stride, v.col_stride};
  }

 private:
  static decltype(auto) hold(const X& x) {
    if constexpr (in_place) {
      return static_cast<const X&>(x);
    } else {
      return plain_of<X>(x.template cast<result_of<X>>());
    }
  }

  std::conditional_t<in_place, const X&, plain_of<X>> held_;
};

}  // namespace cumulus
