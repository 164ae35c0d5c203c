// SPDX-License-Identifier: MIT
//
// log-sum-exp of terms that arrive one by one or in parts: a monoid.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/loops/running_exp_sum.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <array>

namespace cumulus {

/// log(sum_i w_i e^{x_i}) so far: a monoid under +=, the empty object its identity.
///
/// Any order and any split of the terms, merged in any tree, gives the same value to the stated error;
/// for built-in scalars and |x| < 2^48 (double) to the last bit, but for rare roundings, since terms
/// do not depend on the maximum so far and sums move by powers of two (detail/loops/exp_reference.hpp).
///
/// Units    x and the value in nats.
/// Edges    empty: -inf. A term of e^-inf or of weight 0 changes nothing; a +inf gives +inf; a NaN,
///          a weight that is negative or NaN, and one of +inf on -inf leave NaN.
/// Error    logsumexp_max_ulp and logsumexp_tail_max_ulp, as logsumexp, for every number of terms.
/// Cost     a term: one exp and about 40 operations; a merge: about 40; a value: one log. 64 bytes in double.
/// Source   as logsumexp; the powers of two here.
template <class T>
class logsumexp_accumulator {
  static_assert(
      !std::integral<T>,
      "cumulus: logsumexp_accumulator takes the scalar of its result; of integers that is double");
  using C = detail::compute_scalar<T>;

 public:
  /// The scalar of the result.
  using scalar = T;

  logsumexp_accumulator() = default;

  /// One term, of weight w >= 0.
  void add(const T& x, const T& w = T(1)) noexcept { sum_.add({C(x), C(0)}, C(w)); }
  /// One term of another scalar: as in a range, it is not rounded to T first.
  template <detail::number X, detail::number W = T>
    requires(!std::same_as<X, T> || !std::same_as<W, T>)
  void add(const X& x, const W& w = W(1)) noexcept {
    sum_.add({static_cast<C>(x), C(0)}, static_cast<C>(w));
  }

  /// The elements of a range, of any scalar that converts.
  template <real_vector X>
  void add(const X& x) {
    const detail::operand<scalar_of<X>> values(x);
    const auto v = values.view();
    for (index_t i = 0; i < v.size; ++i) sum_.add({C(v[i]), C(0)}, C(1));
  }

  /// The elements of a range with weights w, of x's size.
  template <real_vector X, real_vector W>
  void add(const X& x, const W& w) {
    const detail::operand<scalar_of<X>> values(x);
    const detail::operand<scalar_of<W>> weights(w);
    detail::require_same_size("logsumexp_accumulator::add", "x", values.size(), "weights",
                              weights.size());
    const auto v = values.view();
    const auto u = weights.view();
    for (index_t i = 0; i < v.size; ++i) sum_.add({C(v[i]), C(0)}, C(u[i]));
  }

  /// Adds the terms of another accumulator.
  logsumexp_accumulator& operator+=(const logsumexp_accumulator& other) noexcept {
    sum_.merge(other.sum_);
    return *this;
  }
  [[nodiscard]] friend logsumexp_accumulator operator+(logsumexp_accumulator a,
                                                       const logsumexp_accumulator& b) noexcept {
    return a += b;
  }

  /// The log-sum-exp of the terms added; -inf where empty.
  [[nodiscard]] T value() const noexcept { return T(sum_.log_sum()); }

  /// Whether no term other than e^-inf was added.
  [[nodiscard]] bool empty() const noexcept { return sum_.empty(); }

  /// The largest x, of weighted terms the largest x + log w; -inf where empty.
  [[nodiscard]] T max() const noexcept { return T(sum_.log_largest()); }

  /// Whether the states are equal. Equal values do not suffice, and a state of NaN equals no state.
  [[nodiscard]] friend bool operator==(const logsumexp_accumulator&,
                                       const logsumexp_accumulator&) = default;

  /// The name of the state in its bytes, as core/serialise.hpp requires.
  static constexpr const char* state_name = "logsumexp";
  /// The sizes that of_sizes takes: an empty list.
  [[nodiscard]] static std::array<index_t, 0> sizes() noexcept { return {}; }
  /// The empty accumulator.
  [[nodiscard]] static logsumexp_accumulator of_sizes(const std::array<index_t, 0>&) noexcept {
    return {};
  }
  /// Calls f(number) for each number of the state; f may change the number.
  template <class F>
  void for_each_number(F f) {
    sum_.visit(sum_, f);
  }
  /// Calls f(number) for each number of the state.
  template <class F>
  void for_each_number(F f) const {
    sum_.visit(sum_, f);
  }

 private:
  detail::kernels::running_log_sum<C> sum_;
};

}  // namespace cumulus
