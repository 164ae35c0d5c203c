// SPDX-License-Identifier: MIT
//
// Mean and covariance of weighted vectors, and their covariance with a second vector; in one pass, mergeable in any tree.
// Layer 2 (moments): uses core and kernels; blocks and attention build on it.
#pragma once

#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/moments/comoment_block.hpp>
#include <cumulus/detail/moments/comoment_state.hpp>
#include <cumulus/detail/moments/moment_access.hpp>
#include <Eigen/Core>
#include <array>
#include <limits>

namespace cumulus {

/// What the Error line promises and its tests assert: the error of Cov(x_i, x_j) is at most this many u of sum w |y_i y_j| / W
/// for a block of rows, plain or weighted (8 of rows that differ, 28 of hundreds of equal rows beside another, whose roundings all
/// go one way); for vectors added one by one (n <= 10^6) or merged it is at most this part of the product of the standard
/// deviations.
inline constexpr int comoments_max_roundings = 32;
/// The bound of comoments_max_roundings for values with weights.
inline constexpr int comoments_weighted_max_roundings = 32;
/// Relative to the product of the two standard deviations: the bound for vectors added one by one
/// or merged.
inline constexpr double comoments_streaming_error = 1e-13;

/// The weight, mean and covariance of vectors x of d numbers, and where e > 0 the mean of a second vector v that comes with
/// each and Cov(v, x): a monoid under +=, the empty object of the same widths its identity.
///
/// Edges    a weight of 0 changes nothing, whatever it comes with. A number that is not finite leaves means that IEEE gives
///          (those of other coordinates as they are) and covariances of NaN; a weight that is negative, infinite or NaN leaves
///          NaN. A coordinate that never changes has covariances of exactly 0. Empty: weight 0, the rest NaN.
///          W Cov is held, and W times the square of a coordinate's range appears on the way: where that overflows, covariances
///          are infinite or NaN; values whose difference overflows leave NaN. Means stay right
///          where W does not overflow.
/// Error    comoments_max_roundings and its neighbours, at any offset; while W and W Cov(x_i, x_i) are above 2^-900 or 0, below
///          digits are lost.
/// Cost     a vector: 9 operations a product of two coordinates. A block of rows: two passes in cache and one product of half
///          the full matrix; it allocates memory for 256 rows and for three times the sums.
/// Source   T. Chan, G. Golub, R. LeVeque, Am. Stat. 37 (1983) 242-247; anchor, compensation and blocks here
///          (comoment_state.hpp, comoment_block.hpp).
template <class T>
class comoments {
  using S = detail::compute_scalar<T>;

 public:
  /// The scalar of the results.
  using scalar = T;
  /// The type of means and variances.
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  /// The type of covariances.
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

  /// The empty object for vectors x of width d.
  explicit comoments(index_t d) : comoments(d, 0) {}
  /// The empty object for vectors x of width d and v of width e.
  comoments(index_t d, index_t e) : state_(checked(d, e), e) {}

  /// The width d of x.
  [[nodiscard]] index_t width() const noexcept { return state_.width(); }
  /// The width e of v; 0 without a second vector.
  [[nodiscard]] index_t second_width() const noexcept { return state_.second_width(); }
  /// Whether no vector of a weight other than 0 is held.
  [[nodiscard]] bool empty() const noexcept { return state_.empty(); }

  /// One vector of weight w.
  template <real_vector X>
  void add(const X& x, const T& w = T(1)) {
    require_widths("comoments::add", "x", detail::size_of(x), 0);
    add_one(detail::operand<S>(x).view(), detail::strided<const S>{}, S(w));
  }
  /// One pair of vectors of weight w.
  template <real_vector X, real_vector V>
  void add(const X& x, const V& v, const T& w = T(1)) {
    require_widths("comoments::add", "x", detail::size_of(x), detail::size_of(v));
    add_one(detail::operand<S>(x).view(), detail::operand<S>(v).view(), S(w));
  }

  /// A vector for each row of X, [n, d]; with those of V, [n, e]; with weights, [n].
  template <real_matrix X>
  void add_rows(const X& x) {
    add_matrices(x, no_matrix{}, detail::strided<const S>{});
  }
  /// A vector for each row of X, with weights.
  template <real_matrix X, real_vector W>
  void add_rows(const X& x, const W& weights) {
    const detail::operand<scalar_of<W>> w(weights);
    require_weights(index_t(x.rows()), w.size());
    add_matrices(x, no_matrix{}, w.view());
  }
  /// A pair of vectors for each row of X and V.
  template <real_matrix X, real_matrix V>
    requires(!real_vector<V>)
  void add_rows(const X& x, const V& v) {
    add_matrices(x, v, detail::strided<const S>{});
  }
  /// A pair of vectors for each row of X and V, with weights.
  template <real_matrix X, real_matrix V, real_vector W>
  void add_rows(const X& x, const V& v, const W& weights) {
    const detail::operand<scalar_of<W>> w(weights);
    require_weights(index_t(x.rows()), w.size());
    add_matrices(x, v, w.view());
  }

  /// A vector for each token, in one piece or in pages.
  template <class K>
  void add_rows(const token_rows<K>& x) {
    require_widths("comoments::add_rows", "a row of x", x.width(), 0);
    add_tokens(x, static_cast<const token_rows<K>*>(nullptr));
  }
  /// A pair of vectors for each token.
  template <class K, class V>
  void add_rows(const token_rows<K>& x, const token_rows<V>& v) {
    require_widths("comoments::add_rows", "a row of x", x.width(), v.width());
    detail::require_same_size("comoments::add_rows", "x", x.size(), "v", v.size());
    add_tokens(x, &v);
  }

  /// Adds another sample. Requires equal widths.
  comoments& operator+=(const comoments& other) {
    require_same_widths(other);
    state_.merge(other.state_);
    return *this;
  }

  /// Removes a sample that was added before.
  ///
  /// Edges   removing all leaves the empty object, removing more weight than there is leaves NaN.
  /// Error   of a variance, relative to the one returned: about u times loss(); of a covariance, relative to those of before.
  comoments& operator-=(const comoments& other) {
    require_same_widths(other);
    state_.unmerge(other.state_);
    return *this;
  }

  [[nodiscard]] friend comoments operator+(comoments a, const comoments& b) { return a += b; }
  [[nodiscard]] friend comoments operator-(comoments a, const comoments& b) { return a -= b; }

  /// Every x becomes A x + b, A of any number of rows; v stays.
  template <real_matrix A, real_vector B>
  comoments& affine(const A& a, const B& b) {
    if (index_t(a.cols()) != width())
      detail::refuse(
          {"comoments::affine: A has ", a.cols(), " columns, x has ", width(), " elements"});
    detail::require_same_size("comoments::affine", "a column of A", index_t(a.rows()), "b",
                              detail::size_of(b));
    const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> map = a.template cast<S>();
    const detail::operand<S> shift(b);
    state_ = state_.affine(
        index_t(a.rows()), [&](index_t i, index_t j) { return map(i, j); },
        [&](index_t i) { return shift.view()[i]; });
    return *this;
  }

  /// The largest factor by which a removal has magnified the rounding error of the weight or of a variance; 1 if nothing was
  /// removed.
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
  [[nodiscard]] vector mean() const { return means(0, width()); }
  /// [e]
  [[nodiscard]] vector second_mean() const { return means(width(), second_width()); }

  /// Cov(x_i, x_j) = sum w y_i y_j / W, divided by the weight, not by one less.
  [[nodiscard]] T covariance(index_t i, index_t j) const {
    require_index("comoments::covariance", i, width());
    require_index("comoments::covariance", j, width());
    return T(wide_covariance(i, j));
  }
  /// The covariance matrix of x, [d, d].
  [[nodiscard]] matrix covariance() const {
    matrix out(width(), width());
    for (index_t i = 0; i < width(); ++i) {
      for (index_t j = 0; j <= i; ++j) out(i, j) = out(j, i) = covariance(i, j);
    }
    return out;
  }
  /// The variances of x, [d]: the diagonal of covariance().
  [[nodiscard]] vector variance() const {
    vector out(width());
    for (index_t i = 0; i < width(); ++i) out(i) = covariance(i, i);
    return out;
  }
  /// The lower triangle of covariance() row by row, [d (d + 1) / 2]: element (i, j), j <= i, at i
  /// (i + 1) / 2 + j.
  [[nodiscard]] vector packed() const {
    vector out(width() * (width() + 1) / 2);
    for (index_t i = 0, at = 0; i < width(); ++i) {
      for (index_t j = 0; j <= i; ++j, ++at) out(at) = covariance(i, j);
    }
    return out;
  }
  /// Cov(v, x), [e, d].
  [[nodiscard]] matrix cross_covariance() const {
    matrix out(second_width(), width());
    for (index_t i = 0; i < second_width(); ++i) {
      for (index_t j = 0; j < width(); ++j) out(i, j) = T(state_.covariance(width() + i, j));
    }
    return out;
  }

  /// z less the mean of coordinate i, those of v after those of x; to 1 ulp at any offset.
  [[nodiscard]] T deviation(index_t i, const T& z) const {
    require_index("comoments::deviation", i, width() + second_width());
    return T(state_.deviation(i, S(z)));
  }

  /// The name of the state in its bytes, as core/serialise.hpp requires.
  static constexpr const char* state_name = "comoments";
  /// The sizes that of_sizes takes.
  [[nodiscard]] std::array<index_t, 2> sizes() const noexcept { return {width(), second_width()}; }
  /// The empty object of these sizes.
  [[nodiscard]] static comoments of_sizes(const std::array<index_t, 2>& sizes) {
    return comoments(sizes[0], sizes[1]);
  }
  /// How many numbers a state of these sizes, 0 or more, has; the greatest index_t where that does not fit.
  [[nodiscard]] static constexpr index_t number_count(
      const std::array<index_t, 2>& sizes) noexcept {
    constexpr index_t most = std::numeric_limits<index_t>::max();
    const index_t d = sizes[0], e = sizes[1];
    if (d > most / 8 || e > most / 8) return most;
    const index_t pairs = d + 1 + 2 * e;  // d (d + 1) / 2 and d e sums, of two numbers each
    if (d > 0 && pairs > most / 8 / d) return most;
    return 5 + 3 * (d + e) + d * pairs;
  }
  /// f(number), const for a const object, for every number of the state in a fixed order: the count, an integer, and what is
  /// accumulated, in double for float. With width() and second_width() they are the state.
  template <class F>
  void for_each_number(F f) {
    state_.for_each_number(f);
  }
  /// Calls f(number) for each number of the state.
  template <class F>
  void for_each_number(F f) const {
    state_.for_each_number(f);
  }

  [[nodiscard]] friend bool operator==(const comoments&, const comoments&) = default;

 private:
  friend struct detail::moment_access;
  struct no_matrix {};

  static void require_index(const char* function, index_t i, index_t count) {
    if (count == 0)
      detail::refuse({function, ": coordinate ", i, " of vectors of width 0, which have none"});
    if (i < 0 || count <= i)
      detail::refuse({function, ": coordinate ", i, " of ", count, "; give 0..", count - 1});
  }
  /// In the scalar that it is held in (double for float).
  [[nodiscard]] S wide_covariance(index_t i, index_t j) const {
    return i < j ? state_.covariance(j, i) : state_.covariance(i, j);
  }

  static index_t checked(index_t d, index_t e) {
    if (d < 0 || e < 0)
      detail::refuse(
          {"comoments: vectors of ", d, " and ", e, " numbers; give widths of 0 or more"});
    if (number_count({d, e}) == std::numeric_limits<index_t>::max())
      detail::refuse({"comoments: the covariances of vectors of ", d, " and ", e,
                      " numbers have no addresses; give smaller widths"});
    return d;
  }

  void require_widths(const char* function, const char* name, index_t d, index_t e) const {
    detail::require_same_size(function, name, d, "the mean", width());
    detail::require_same_size(function, "v", e, "the second mean", second_width());
  }
  static void require_weights(index_t n, index_t weights) {
    detail::require_same_size("comoments::add_rows", "a column of x", n, "weights", weights);
  }
  void require_same_widths(const comoments& other) const {
    detail::require_same_shape("comoments", "this", width(), second_width(), "other", other.width(),
                               other.second_width());
  }

  void add_one(const detail::strided<const S>& x, const detail::strided<const S>& v, const S& w) {
    detail::vector_buffer<S> z(state_.rows());
    for (index_t j = 0; j < x.size; ++j) z[j] = x[j];
    for (index_t j = 0; j < v.size; ++j) z[width() + j] = v[j];
    state_.add(z.data(), w);
  }

  template <class X, class V, class W>
  void add_matrices(const X& x, const V& v, const detail::strided<const W>& weights) {
    const detail::matrix_operand<X> rows(x);
    constexpr bool alone = std::same_as<V, no_matrix>;
    if constexpr (alone) {
      require_widths("comoments::add_rows", "a row of x", index_t(x.cols()), 0);
      add_views(rows.view(), detail::strided_matrix<const S>{}, weights);
    } else {
      require_widths("comoments::add_rows", "a row of x", index_t(x.cols()), index_t(v.cols()));
      detail::require_same_size("comoments::add_rows", "a column of x", index_t(x.rows()),
                                "a column of v", index_t(v.rows()));
      const detail::matrix_operand<V> seconds(v);
      add_views(rows.view(), seconds.view(), weights);
    }
  }

  template <class X, class V, class W>
  void add_views(const detail::strided_matrix<const X>& x, const detail::strided_matrix<const V>& v,
                 const detail::strided<const W>& weights) {
    detail::comoment_block<S> block(state_, weights.data != nullptr);
    block.add(x, v, weights);
    block.flush();
  }

  template <class K, class V>
  void add_tokens(const token_rows<K>& x, const token_rows<V>* v) {
    detail::comoment_block<S> block(state_, false);
    for (index_t t = 0; t < x.size();) {
      index_t n = x.run(t);
      detail::strided_matrix<const V> seconds;
      if (v != nullptr) {
        n = std::min(n, v->run(t));
        seconds = {v->row(t), n, v->width(), v->row_stride(), 1};
      }
      block.add(detail::strided_matrix<const K>{x.row(t), n, x.width(), x.row_stride(), 1}, seconds,
                detail::strided<const S>{});
      t += n;
    }
    block.flush();
  }

  [[nodiscard]] vector means(index_t first, index_t count) const {
    vector out(count);
    for (index_t i = 0; i < count; ++i) out(i) = T(state_.mean(first + i));
    return out;
  }

  detail::comoment_state<S> state_;
};

}  // namespace cumulus
