// SPDX-License-Identifier: MIT
//
// Central moments of vectors up to any order: symmetric tensors, packed, in one pass, mergeable in any tree.
// Layer 2 (moments): uses core and kernels; series, blocks and attention build on it.
#pragma once

#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/moments/moment_tensor_block.hpp>
#include <cumulus/detail/moments/moment_tensor_state.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <span>

namespace cumulus {

/// What the Error line promises and its tests assert: the error of E y_i ... y_k, p factors, is at most this many u p of the
/// product of their (sum w |y|^p / W)^(1/p) for a block of rows, plain or weighted; for vectors added one by one (n <= 10^6,
/// p <= 8) or merged it is at most this part of it.
inline constexpr int moment_tensor_max_roundings = 4;
/// The bound of moment_tensor_max_roundings for values with weights.
inline constexpr int moment_tensor_weighted_max_roundings = 8;
/// Relative to the product of the p factors (sum w |y|^p / W)^(1/p): the bound for vectors that are
/// added one by one or merged.
inline constexpr double moment_tensor_streaming_error = 1e-13;

/// The weight, mean and all central moments E y_i y_j ... y_k, y = x - mean, of orders 2..order of vectors x of d numbers: a
/// monoid under +=, the empty object of the same shape its identity.
///
/// Shape    order p has C(d + p - 1, p) components, each once: i1 <= ... <= ip at sum_l C(i_l + l - 1, l), so order 2 is the
///          lower triangle row by row, and i <= j <= k lies at i + j (j + 1) / 2 + k (k + 1) (k + 2) / 6.
/// Edges    a weight of 0 changes nothing, whatever it comes with. A number that is not finite leaves means that IEEE gives
///          (those of other coordinates as they are) and moments of NaN; a weight that is negative, infinite or NaN leaves NaN.
///          A coordinate that never changes has moments of exactly 0. Empty: weight 0, the rest NaN. W times the moments is
///          held, and powers of a coordinate's range, with and without W, appear on the way: where those overflow, moments of
///          that order and above are infinite or NaN; values whose difference overflows leave NaN. Means are right all the
///          same, if W fits.
/// Error    moment_tensor_max_roundings and its neighbours, at any offset; while W, every E y_i^p of even p and W times it
///          are above 2^-900 or 0, below digits are lost.
/// Cost     a block of rows: about one multiply-add a component and row. A vector or a merge: 2 p multiply-adds a component of
///          order p; it allocates memory for some copies of the state.
/// Source   P. Pebay, T. Terriberry, H. Kolla, J. Bennett, Comput. Stat. 31 (2016) 1305-1325: the merge of multivariate
///          moments; the shift of all orders at once is ours (packed_symmetric.hpp).
template <class T>
class moment_tensor {
  using S = detail::compute_scalar<T>;

 public:
  /// The scalar of the results.
  using scalar = T;
  /// The type of means.
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  /// The empty object for vectors of width d, with moments up to this order.
  moment_tensor(index_t d, std::integral auto order)
      : state_("moment_tensor", checked(d), checked_order(order)) {}

  /// The width d of the vectors.
  [[nodiscard]] index_t width() const noexcept { return state_.width(); }
  /// The highest order of the moments held.
  [[nodiscard]] int order() const noexcept { return state_.order(); }
  /// Whether no vector of a weight other than 0 is held.
  [[nodiscard]] bool empty() const noexcept { return state_.empty(); }

  /// One vector of weight w.
  template <real_vector X>
  void add(const X& x, const T& w = T(1)) {
    detail::require_same_size("moment_tensor::add", "x", detail::size_of(x), "the mean", width());
    const detail::operand<S> values(x);
    detail::vector_buffer<S> contiguous(width());
    for (index_t i = 0; i < width(); ++i) contiguous[i] = values.view()[i];
    state_.add(contiguous.data(), S(w));
  }

  /// A vector for each row of X, [n, d]; with weights, [n].
  template <real_matrix X>
  void add_rows(const X& x) {
    add_matrix(x, detail::strided<const S>{});
  }
  /// A vector for each row of X, with weights.
  template <real_matrix X, real_vector W>
  void add_rows(const X& x, const W& weights) {
    const detail::operand<scalar_of<W>> w(weights);
    detail::require_same_size("moment_tensor::add_rows", "a column of x", index_t(x.rows()),
                              "weights", w.size());
    add_matrix(x, w.view());
  }

  /// Adds another sample. Requires equal widths and orders.
  moment_tensor& operator+=(const moment_tensor& other) {
    require_same_shape(other);
    state_.merge(other.state_);
    return *this;
  }

  /// Removes a sample that was added before.
  ///
  /// Edges   removing all leaves the empty object, removing more weight than there is leaves NaN.
  /// Error   of E y_i^p, p even, relative to the one returned: about u times loss().
  moment_tensor& operator-=(const moment_tensor& other) {
    require_same_shape(other);
    state_.unmerge(other.state_);
    return *this;
  }

  [[nodiscard]] friend moment_tensor operator+(moment_tensor a, const moment_tensor& b) {
    return a += b;
  }
  [[nodiscard]] friend moment_tensor operator-(moment_tensor a, const moment_tensor& b) {
    return a -= b;
  }

  /// The largest factor by which a removal has magnified the rounding error of the weight or of an even moment of a coordinate;
  /// 1 if nothing was removed.
  [[nodiscard]] T loss() const { return T(state_.loss()); }
  /// Whether removals have cost more than half of the digits: rebuild the sample then.
  [[nodiscard]] bool lossy() const {
    return state_.loss() * state_.loss() * detail::unit_roundoff<S> > S(1);
  }

  /// How many vectors of a weight other than 0 were added, less those that were removed.
  [[nodiscard]] index_t count() const noexcept { return static_cast<index_t>(state_.count()); }
  /// The sum of the weights.
  [[nodiscard]] T weight() const { return T(state_.weight()); }
  /// [d]
  [[nodiscard]] vector mean() const {
    vector out(width());
    for (index_t i = 0; i < width(); ++i) out(i) = T(state_.mean(i));
    return out;
  }

  /// All components of order p, packed; 1 for order 0, zeros for order 1.
  [[nodiscard]] vector packed(std::integral auto p) const {
    detail::require_order("moment_tensor::packed", p, 0, order(), "the order held");
    const int of_order = static_cast<int>(p);
    vector out(state_.layout().count(of_order));
    for (index_t i = 0; i < out.size(); ++i) out(i) = T(state_.moment(of_order, i));
    return out;
  }

  /// E y_i y_j ... y_k, the indices in any order, as many as the moment's order.
  [[nodiscard]] T moment(std::span<const index_t> indices) const {
    detail::require_order("moment_tensor::moment", indices.size(), 0, order(), "the order held");
    std::vector<index_t> sorted(indices.begin(), indices.end());
    std::sort(sorted.begin(), sorted.end());
    index_t place = 0;
    for (std::size_t l = 0; l < sorted.size(); ++l) {
      if (sorted[l] < 0 || sorted[l] >= width())
        detail::refuse({"moment_tensor::moment: index ", sorted[l], " is outside 0..", width() - 1,
                        " of ", width(), " coordinates"});
      place += state_.layout().count(static_cast<int>(l) + 1, sorted[l]);
    }
    return T(state_.moment(static_cast<int>(sorted.size()), place));
  }
  /// The moment of these indices, written as a list.
  [[nodiscard]] T moment(std::initializer_list<index_t> indices) const {
    return moment(std::span<const index_t>(indices.begin(), indices.size()));
  }

  /// The moments of q x, so that every series of the library applies to it: E (q y)^p = p! sum of the components times
  /// q_i^a / a! .... Its [min, max] is that of q x in the box of the sample: a superset of the range.
  ///
  /// Shape    q: [d].
  /// Error    of order p: moment_tensor's, of (sum_i |q_i| (sum w |y_i|^p / W)^(1/p))^p.
  /// Cost     2 operations a component, 10 more for the sum with its errors.
  template <real_vector Q>
  [[nodiscard]] central_moments<T> directional(const Q& q) const {
    detail::require_same_size("moment_tensor::directional", "q", detail::size_of(q), "the mean",
                              width());
    const detail::operand<S> direction(q);
    detail::vector_buffer<S> values(width());
    for (index_t i = 0; i < width(); ++i) values[i] = direction.view()[i];
    return along(values.data());
  }

  /// The name of the state in its bytes, as core/serialise.hpp requires.
  static constexpr const char* state_name = "moment_tensor";
  /// The sizes that of_sizes takes.
  [[nodiscard]] std::array<index_t, 2> sizes() const noexcept { return {width(), order()}; }
  /// The empty object of these sizes.
  [[nodiscard]] static moment_tensor of_sizes(const std::array<index_t, 2>& sizes) {
    return moment_tensor(sizes[0], sizes[1]);
  }
  /// How many numbers a state of these sizes, 0 or more, has; the greatest index_t where that does not fit.
  [[nodiscard]] static constexpr index_t number_count(
      const std::array<index_t, 2>& sizes) noexcept {
    constexpr index_t most = std::numeric_limits<index_t>::max();
    const index_t d = sizes[0], order = sizes[1];
    if (d > most / 16 || order > max_order) return most;
    // orders 0..order have C(d + order, order) components together, the sums those from 2 on, of two numbers each
    const index_t components = detail::packed_count(d + 1, static_cast<int>(order));
    if (components > most / 4) return most;
    return 5 + 5 * d + (order < 2 ? 0 : 2 * (components - 1 - d));
  }
  /// f(number), const for a const object, for every number of the state in a fixed order: the count, an integer, and what is
  /// accumulated, in double for float. With width() and order() they are the state.
  template <class F>
  void for_each_number(F f) {
    state_.for_each_number(f);
  }
  /// Calls f(number) for each number of the state.
  template <class F>
  void for_each_number(F f) const {
    state_.for_each_number(f);
  }

  [[nodiscard]] friend bool operator==(const moment_tensor&, const moment_tensor&) = default;

 private:
  static constexpr int max_order = 1000;
  static index_t checked(index_t d) {
    if (d < 0)
      detail::refuse({"moment_tensor: vectors of ", d, " numbers; give a width of 0 or more"});
    return d;
  }
  static int checked_order(std::integral auto order) {
    detail::require_order("moment_tensor", order, 0, max_order, "what it takes");
    return static_cast<int>(order);
  }
  void require_same_shape(const moment_tensor& other) const {
    if (width() == other.width() && order() == other.order()) return;
    detail::refuse({"moment_tensor: this has width ", width(), " and order ", order(),
                    ", other has ", other.width(), " and ", other.order(), "; give both the same"});
  }

  template <class X, class W>
  void add_matrix(const X& x, const detail::strided<const W>& weights) {
    detail::require_same_size("moment_tensor::add_rows", "a row of x", index_t(x.cols()),
                              "the mean", width());
    const detail::matrix_operand<X> rows(x);
    detail::moment_tensor_block<S> block(state_, weights.data != nullptr);
    block.add(rows.view(), weights);
  }

  [[nodiscard]] central_moments<T> along(const S* q) const {
    if (empty()) return central_moments<T>(order());
    detail::compensated<S> mean;
    S low(0), high(0), reach(0);
    for (index_t i = 0; i < width(); ++i) {
      const detail::compensated<S> at = state_.mean_pair(i),
                                   exact = detail::two_product(q[i], at.high);
      mean += exact.high;
      mean += S(exact.low + q[i] * at.low);
      const S ends[] = {S(q[i] * state_.deviation(i, state_.low(i))),
                        S(q[i] * state_.deviation(i, state_.high(i)))};
      low += detail::min_of(ends[0], ends[1]);
      high += detail::max_of(ends[0], ends[1]);
      reach += detail::absolute(q[i]) *
               detail::max_of(detail::absolute(state_.low(i)), detail::absolute(state_.high(i)));
    }
    if (!state_.finite() || !detail::is_finite(mean.high)) {
      const S product = detail::is_finite(mean.high) ? detail::quiet_nan<S> : mean.value();
      detail::moment_state<S, dynamic> unknown(order());
      unknown.add(product, state_.weight());
      unknown.set_count(state_.count());
      return detail::moment_access::of_state<T, dynamic>(std::move(unknown));
    }
    if (low < high) {  // the box and this sum are rounded
      const S slack = detail::unit_roundoff<S> * (S(2 * width() + 8) * (high - low) + S(4) * reach);
      low -= slack;
      high += slack;
    }
    const detail::packed_symmetric& layout = state_.layout();
    const detail::packed_tensors<S> weights(layout);
    layout.exponential(q, order(), weights.orders());
    std::vector<detail::compensated<S>> sums(static_cast<std::size_t>(order()) + 1);
    sums[0] = state_.weight_pair();
    S factorial(1);
    for (int p = 2; p <= order(); ++p) {
      factorial *= S(p);
      detail::compensated<S> total;
      for (index_t i = 0; i < layout.count(p); ++i) {
        const detail::compensated<S>& sum = state_.sum(p, i);
        const detail::compensated<S> exact = detail::two_product(weights[p][i], sum.high);
        total += exact.high;
        total += S(exact.low + weights[p][i] * sum.low);
      }
      if (p % 2 == 0 && total.high < S(0)) total = {};
      sums[std::size_t(p)] = {S(total.high * factorial), S(total.low * factorial)};
    }
    return detail::moment_access::of_state<T, dynamic>(detail::moment_state<S, dynamic>::from_sums(
        std::move(sums), mean, S(mean.high + low), S(mean.high + high), state_.count()));
  }

  detail::moment_tensor_state<S> state_;
};

}  // namespace cumulus
