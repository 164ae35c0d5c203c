// SPDX-License-Identifier: MIT
//
// Central moments of any order of a weighted sample, in one pass, mergeable in any tree.
// Layer 2 (moments): uses core and kernels; series, blocks and attention build on it.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/moments/moment_access.hpp>
#include <cumulus/detail/moments/moment_state.hpp>

namespace cumulus {

/// What the Error line promises and its tests assert: the error of moment(p) is at most this many u
/// p of sum w |y|^p / W for a range and for a weighted range; for values added one by one (n <=
/// 10^6, p <= 8) or merged it is at most this part of sum w |y|^p / W.
inline constexpr int central_moments_max_roundings = 4;
/// The bound of central_moments_max_roundings for values with weights.
inline constexpr int central_moments_weighted_max_roundings = 8;
/// Relative to sum w |y|^p / W: the bound for values that are added one by one or merged.
inline constexpr double central_moments_streaming_error = 1e-13;

/// The weight, mean, central moments and range of a sample: a monoid under +=, the empty object its
/// identity. Any split of a sample, merged in any order, gives the same moments to the stated
/// error.
///
/// Shape    order >= 0: P, or chosen at construction where P is cumulus::dynamic.
/// Edges    a weight of 0 changes nothing, whatever it comes with. A value that is not finite
///          leaves the mean that IEEE gives and moments of NaN; a weight that is negative, infinite
///          or NaN leaves NaN; both count. Where the total of the weights overflows, no result has
///          a meaning. Constant data have moments of exactly 0. Empty: weight 0, min +inf, max
///          -inf, the rest NaN.
/// Error    central_moments_max_roundings and its neighbours, at any offset and scale.
/// Cost     a value: order^2 / 2 + 40 operations; a range of float or double to order 12: one read, about order + 4 vector
///          operations; others two reads and about 3 order + 20 operations an element, with other last bits.
/// Source   P. Pebay, T. Terriberry, H. Kolla, J. Bennett, Comput. Stat. 31 (2016) 1305-1325: merge
///          and two-pass correction; anchor, scale and compensation here (moment_state.hpp).
template <class T, int P = dynamic>
class central_moments {
  static_assert(P >= dynamic,
                "cumulus: central_moments takes an order of 0 or more, or cumulus::dynamic");
  using S = detail::compute_scalar<T>;

 public:
  /// The scalar of the results.
  using scalar = T;

  central_moments()
    requires(P != dynamic)
  = default;

  /// The empty object of this order.
  explicit central_moments(std::integral auto order)
    requires(P == dynamic)
      : state_(checked(order)) {}

  /// The highest order of the moments held.
  [[nodiscard]] int order() const noexcept { return state_.order(); }
  /// Whether no value of a weight other than 0 is held.
  [[nodiscard]] bool empty() const noexcept { return state_.empty(); }

  /// One value of weight w.
  void add(const T& x, const T& w = T(1)) { state_.add(S(x), S(w)); }
  /// One value of another scalar: as in a range, it is not rounded to T first.
  template <detail::number X, detail::number W = T>
    requires(!std::same_as<X, T> || !std::same_as<W, T>)
  void add(const X& x, const W& w = W(1)) {
    if constexpr (detail::may_exceed<X, S>) {
      state_.add_range(detail::strided<const X>{&x, 1, 1}, detail::strided<const W>{&w, 1, 1});
    } else {
      state_.add(static_cast<S>(x), static_cast<S>(w));
    }
  }

  /// The elements of a range, of any scalar that converts; in two passes and fixed blocks, so
  /// that the result depends on the elements alone.
  template <real_vector X>
  void add(const X& x) {
    const detail::operand<scalar_of<X>> values(x);
    state_.add_range(values.view(), detail::strided<const detail::unit_weight>{});
  }

  /// The elements of a range with weights w, of x's size.
  template <real_vector X, real_vector W>
  void add(const X& x, const W& w) {
    const detail::operand<scalar_of<X>> values(x);
    const detail::operand<scalar_of<W>> weights(w);
    detail::require_same_size("central_moments::add", "x", values.size(), "weights",
                              weights.size());
    state_.add_range(values.view(), weights.view());
  }

  /// Adds another sample. Requires equal orders.
  central_moments& operator+=(const central_moments& other) {
    require_same_order(other);
    state_.merge(other.state_);
    return *this;
  }

  /// Removes a sample that was added before; what is left of [min, max] is a superset of its range.
  ///
  /// Edges   removing all leaves the empty object, removing more weight than there is leaves NaN.
  /// Error   of moment(p), relative to the one returned: about u times loss().
  central_moments& operator-=(const central_moments& other) {
    require_same_order(other);
    state_.unmerge(other.state_);
    return *this;
  }

  [[nodiscard]] friend central_moments operator+(central_moments a, const central_moments& b) {
    return a += b;
  }
  [[nodiscard]] friend central_moments operator-(central_moments a, const central_moments& b) {
    return a -= b;
  }

  /// Replaces every x by a x + b.
  central_moments& affine(const T& a, const T& b) {
    state_.affine(S(a), S(b));
    return *this;
  }

  /// The largest factor by which a removal has magnified the rounding error of the weight or of an
  /// even moment; 1 if nothing was removed.
  [[nodiscard]] T loss() const { return T(state_.loss()); }
  /// Whether removals have cost more than half of the digits: rebuild the sample then.
  [[nodiscard]] bool lossy() const {
    return state_.loss() * state_.loss() * detail::unit_roundoff<S> > S(1);
  }

  /// The number of values of a weight other than 0 that were added, less the number removed.
  [[nodiscard]] index_t count() const noexcept { return static_cast<index_t>(state_.count()); }
  /// The sum of the weights.
  [[nodiscard]] T weight() const { return T(state_.weight()); }
  /// The weighted mean.
  [[nodiscard]] T mean() const { return T(state_.mean()); }
  /// The least value; +inf where empty.
  [[nodiscard]] T min() const { return T(state_.min()); }
  /// The largest value; -inf where empty.
  [[nodiscard]] T max() const { return T(state_.max()); }

  /// mu_k = sum w y^k / W, divided by the weight, not by one less. Infinity or 0 where the
  /// moment does not fit T.
  [[nodiscard]] T moment(std::integral auto k) const {
    detail::require_order("central_moments::moment", k, 0, order(), "the order held");
    return T(state_.moment(static_cast<int>(k)));
  }

  /// mu_2, divided by the weight, not by one less. Requires order >= 2.
  [[nodiscard]] T variance() const {
    detail::require_order("central_moments::variance", 2, 0, order(), "the order held");
    return T(state_.moment(2));
  }
  /// mu_3 / mu_2^1.5, of the sample itself (g1, not corrected for bias); NaN for constant data. Requires order >= 3.
  [[nodiscard]] T skewness() const {
    detail::require_order("central_moments::skewness", 3, 0, order(), "the order held");
    return T(state_.standardized_moment(3));
  }
  /// mu_4 / mu_2^2, of the sample itself: 3 for a normal law, so not the excess; NaN for constant data. Requires order >= 4.
  [[nodiscard]] T kurtosis() const {
    detail::require_order("central_moments::kurtosis", 4, 0, order(), "the order held");
    return T(state_.standardized_moment(4));
  }

  /// mu_k / mu_2^(k/2), finite at any scale of the data; NaN for constant data. Requires order >=
  /// 2.
  [[nodiscard]] T standardized_moment(std::integral auto k) const {
    detail::require_order("central_moments::standardized_moment", 2, 0, order(), "the order held");
    detail::require_order("central_moments::standardized_moment", k, 0, order(), "the order held");
    return T(state_.standardized_moment(static_cast<int>(k)));
  }

  /// x - mean, to 1 ulp at any offset.
  [[nodiscard]] T deviation(const T& x) const { return T(state_.deviation(S(x))); }

  [[nodiscard]] friend bool operator==(const central_moments&, const central_moments&) = default;

  /// The name of the state in its bytes, as core/serialise.hpp requires.
  static constexpr const char* state_name = "central_moments";
  /// The sizes that of_sizes takes.
  [[nodiscard]] std::array<index_t, 1> sizes() const noexcept { return {order()}; }
  /// The empty object of these sizes.
  [[nodiscard]] static central_moments of_sizes(const std::array<index_t, 1>& sizes) {
    if constexpr (P == dynamic) {
      return central_moments(sizes[0]);
    } else {
      detail::require_order("central_moments", sizes[0], P, P, "the only one of this type");
      return {};
    }
  }
  /// Calls f(number) for each number of the state; f may change the number.
  template <class F>
  void for_each_number(F f) {
    state_.visit(state_, f);
  }
  /// Calls f(number) for each number of the state.
  template <class F>
  void for_each_number(F f) const {
    state_.visit(state_, f);
  }

 private:
  friend struct detail::moment_access;

  explicit central_moments(detail::moment_state<S, P> state) : state_(std::move(state)) {}

  static int checked(std::integral auto order) {
    detail::require_order("central_moments", order, 0, std::numeric_limits<int>::max() / 2,
                          "any order from 0");
    return static_cast<int>(order);
  }

  void require_same_order(const central_moments& other) const {
    if (order() == other.order()) return;
    detail::refuse({"central_moments: this has order ", order(), ", other has order ",
                    other.order(), "; give both the same order"});
  }

  detail::moment_state<S, P> state_;
};

namespace detail {

template <class M>
inline constexpr bool is_central_moments = false;
template <class T, int P>
inline constexpr bool is_central_moments<central_moments<T, P>> = true;

}  // namespace detail

/// A sample whose moments are known: central_moments of some scalar and order.
template <class M>
concept moments_like = detail::is_central_moments<M>;

}  // namespace cumulus
