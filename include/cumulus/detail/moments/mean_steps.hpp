// SPDX-License-Identifier: MIT
//
// What the step of a mean takes: shares of a weight, with their errors, and room for the steps of a vector.
// Layer 2 (moments): uses core.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <vector>

namespace cumulus::detail {

/// a / b and a b, to nearly twice the digits: a mean far from some of its values is still exact beside the spread of the others.
template <class S>
[[nodiscard]] compensated<S> ratio_of(const compensated<S>& a, const compensated<S>& b) {
  const S high = a.high / b.high;
  const compensated<S> back = two_product(high, b.high);
  return {high, S((((a.high - back.high) - back.low) + (a.low - high * b.low)) / b.high)};
}
template <class S>
[[nodiscard]] compensated<S> product_of(const compensated<S>& a, const compensated<S>& b) {
  const compensated<S> exact = two_product(a.high, b.high);
  return {exact.high, S(exact.low + (a.high * b.low + a.low * b.high))};
}

/// Room for the numbers of one vector: on the stack, where it is short.
template <class S>
class vector_buffer {
 public:
  explicit vector_buffer(index_t n) : long_(n <= short_length ? 0 : static_cast<std::size_t>(n)) {}
  [[nodiscard]] S* data() noexcept { return long_.empty() ? short_ : long_.data(); }
  [[nodiscard]] S& operator[](index_t i) noexcept { return data()[i]; }

 private:
  static constexpr index_t short_length = 256;
  S short_[short_length];
  std::vector<S> long_;
};

}  // namespace cumulus::detail
