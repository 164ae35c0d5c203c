// SPDX-License-Identifier: MIT
//
// The average of values that are weighted by the softmax of their scores, added one by one.
// Attention computes such averages.
// Layer 2 (exact): uses core, loops and rows; attention builds on it.
#pragma once

#include <cumulus/detail/core/matrix_operand.hpp>
#include <cumulus/detail/loops/running_exp_sum.hpp>
#include <array>
#include <vector>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of sum p_i |v_i|.
inline constexpr int softmax_mean_max_ulp = 4;

namespace detail {

template <class Value>
inline constexpr int width_of = 1;
template <eigen_vector Value>
inline constexpr int width_of<Value> = Value::SizeAtCompileTime;

}  // namespace detail

/// sum_i p_i v_i with p = softmax of the scores s_i, and their log-sum-exp: a monoid under +=, the
/// empty object its identity.
///
/// Any order and any split, merged in any tree, gives the same mean to the stated error, and to the
/// last bit where logsumexp_accumulator does.
///
/// Shape    Value: a scalar, or an Eigen vector of e entries; where e is not in its type, the
///          constructor takes it.
/// Edges    empty: zeros, log-sum-exp -inf. A score of -inf changes nothing, whatever its value
///          holds. One score of +inf takes all; several leave a mean of NaN; a NaN leaves NaN in
///          both. An infinite value makes its entry infinite, opposite ones and NaN make it NaN.
/// Error    mean: softmax_mean_max_ulp for every number of terms, plus the least normal number times
///          2^128 (double; it matters where all values are below 2^-800). Equal values give that
///          value. logsumexp: as logsumexp.
/// Cost     a term: one exp and about 40 + 10 e operations; a merge: 40 + 20 e. Only the constructor
///          allocates.
/// Source   M. Milakov, N. Gimelshein, arXiv 1805.02867 (the running normaliser); the powers of two
///          here.
template <class T, class Value = T>
class softmax_mean {
  static_assert(!std::integral<T>,
                "cumulus: softmax_mean takes the scalar of its scores; of integers that is double");
  using C = detail::compute_scalar<T>;
  static constexpr bool vector_valued = detail::eigen_vector<Value>;
  static constexpr int fixed_width = detail::width_of<Value>;

 public:
  /// The scalar of the scores.
  using scalar = T;
  /// The type of the mean.
  using value_type = Value;

  softmax_mean()
    requires(fixed_width != dynamic)
  = default;

  /// The empty object for values with e entries.
  explicit softmax_mean(std::integral auto e)
    requires(fixed_width == dynamic)
      : values_(checked(e)) {}

  /// The number e of entries of a value.
  [[nodiscard]] index_t width() const noexcept { return index_t(values_.size()); }

  /// One term.
  void add(const T& score, const T& value)
    requires(!vector_valued)
  {
    add_term(C(score), [&](std::size_t) { return C(value); });
  }
  /// One term with a vector as its value.
  template <real_vector V>
    requires(vector_valued)
  void add(const T& score, const V& value) {
    const detail::operand<scalar_of<V>> entries(value);
    detail::require_same_size("softmax_mean::add", "the mean", width(), "value", entries.size());
    const auto v = entries.view();
    add_term(C(score), [&](std::size_t j) { return C(v[index_t(j)]); });
  }

  /// A term for each score; `values` has the size of `scores`.
  template <real_vector X, real_vector V>
    requires(!vector_valued)
  void add(const X& scores, const V& values) {
    const detail::operand<scalar_of<X>> x(scores);
    const detail::operand<scalar_of<V>> entries(values);
    detail::require_same_size("softmax_mean::add", "scores", x.size(), "values", entries.size());
    const auto s = x.view();
    const auto v = entries.view();
    for (index_t i = 0; i < s.size; ++i) add_term(C(s[i]), [&](std::size_t) { return C(v[i]); });
  }

  /// A term for each score; the values are the rows of a matrix, [m, e].
  template <real_vector X, real_matrix V>
    requires(vector_valued)
  void add(const X& scores, const V& values) {
    const detail::operand<scalar_of<X>> x(scores);
    detail::require_same_shape("softmax_mean::add", "scores x mean", x.size(), width(), "values",
                               index_t(values.rows()), index_t(values.cols()));
    const detail::matrix_operand<V> rows(values);
    const auto s = x.view();
    for (index_t i = 0; i < s.size; ++i) {
      const auto v = rows.view().row(i);
      add_term(C(s[i]), [&](std::size_t j) { return C(v[index_t(j)]); });
    }
  }

  /// Adds the terms of another object. Requires equal widths.
  softmax_mean& operator+=(const softmax_mean& other) {
    detail::require_same_size("softmax_mean", "this", width(), "other", other.width());
    if (other.takers_ > 0) {
      if (takers_ == 0) values_ = other.values_;
      takers_ = std::min(takers_ + other.takers_, 2);
      scores_.merge(other.scores_);
    } else {
      const auto before = scores_.reference();
      scores_.merge(other.scores_);
      if (!finite()) return *this;
      for (std::size_t j = 0; j < values_.size(); ++j) {
        detail::compensated<C> sum = scores_.reference().moved(values_[j], before);
        gather(sum, scores_.reference().moved(other.values_[j], other.scores_.reference()));
        values_[j] = sum;
      }
    }
    return *this;
  }
  [[nodiscard]] friend softmax_mean operator+(softmax_mean a, const softmax_mean& b) {
    return a += b;
  }

  /// The mean: zeros where empty.
  [[nodiscard]] Value value() const {
    if constexpr (vector_valued) {
      Value mean;
      if constexpr (fixed_width == dynamic) mean.resize(width());
      for (index_t j = 0; j < width(); ++j)
        mean[j] = static_cast<typename Value::Scalar>(entry(std::size_t(j)));
      return mean;
    } else {
      return static_cast<Value>(entry(0));
    }
  }

  /// log sum_i e^{s_i}: -inf where empty.
  [[nodiscard]] T logsumexp() const noexcept { return T(scores_.log_sum()); }

  /// Whether no score other than -inf was added.
  [[nodiscard]] bool empty() const noexcept { return scores_.empty(); }

  /// The largest score; -inf where empty.
  [[nodiscard]] T max_score() const noexcept { return T(scores_.log_largest()); }

  /// Whether the states are equal. Equal means do not suffice, and a state of NaN equals no state.
  [[nodiscard]] friend bool operator==(const softmax_mean&, const softmax_mean&) = default;

  /// The name of the state in its bytes, as core/serialise.hpp requires.
  static constexpr const char* state_name = "softmax_mean";
  /// The sizes that of_sizes takes.
  [[nodiscard]] std::array<index_t, 1> sizes() const noexcept { return {width()}; }
  /// The empty object of these sizes.
  [[nodiscard]] static softmax_mean of_sizes(const std::array<index_t, 1>& sizes) {
    if constexpr (fixed_width == dynamic) {
      return softmax_mean(sizes[0]);
    } else {
      detail::require_same_size("softmax_mean", "the mean", fixed_width, "its bytes", sizes[0]);
      return {};
    }
  }
  /// Calls f(number) for each number of the state; f may change the number.
  template <class F>
  void for_each_number(F f) {
    visit(*this, f);
  }
  /// Calls f(number) for each number of the state.
  template <class F>
  void for_each_number(F f) const {
    visit(*this, f);
  }

 private:
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    self.scores_.visit(self.scores_, f);
    for (auto& sum : self.values_) f(sum.high), f(sum.low);
    f(self.takers_);
  }

  static std::size_t checked(std::integral auto e) {
    if (std::cmp_less(e, 0)) detail::refuse({"softmax_mean: a width of ", e, "; give 0 or more"});
    return static_cast<std::size_t>(e);
  }

  /// Whether the mean is one of finite scores.
  [[nodiscard]] bool finite() const noexcept { return detail::is_finite(scores_.log_largest()); }

  /// Onto a sum that may be infinite, or become so.
  static void gather(detail::compensated<C>& sum, const detail::compensated<C>& x) noexcept {
    const C plain = sum.high + x.high;
    if (detail::is_finite(plain)) {
      detail::kernels::gather(sum, x);
    } else {
      sum = {plain, C(0)};
    }
  }

  template <class Entry>
  void add_term(const C& score, Entry value) {
    const bool takes_all = !(score < detail::infinity<C>) && !detail::is_nan(score);
    if (takes_all) {
      if (takers_ == 0) {
        for (std::size_t j = 0; j < values_.size(); ++j) values_[j] = {value(j), C(0)};
      }
      takers_ = std::min(takers_ + 1, 2);
    }
    const auto before = scores_.reference();
    const detail::compensated<C> term = scores_.add({score, C(0)}, C(1));
    if (!finite() || !(-detail::infinity<C> < score)) return;
    const bool moved = !(scores_.reference() == before);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      if (moved) values_[j] = scores_.reference().moved(values_[j], before);
      const C v = value(j);
      detail::compensated<C> product{v, C(0)};
      if (detail::is_finite(v)) {
        product = detail::two_product(term.high, v);
        product.low += term.low * v;
      }
      gather(values_[j], product);
    }
  }

  [[nodiscard]] C entry(std::size_t j) const noexcept {
    if (empty()) return C(0);
    if (detail::is_nan(scores_.log_largest()) || takers_ > 1) return detail::quiet_nan<C>;
    return takers_ == 1 ? values_[j].high : detail::kernels::quotient(values_[j], scores_.sum());
  }

  using sums = std::conditional_t<
      fixed_width == dynamic, std::vector<detail::compensated<C>>,
      std::array<detail::compensated<C>, std::size_t(fixed_width == dynamic ? 0 : fixed_width)>>;

  // A low place, so that the sums of the largest values fit.
  detail::kernels::running_exp_sum<C,
                                   std::floating_point<C> ? -detail::kernels::exp_room<C> / 8 : 0>
      scores_;
  sums values_{};   // sum of e^(s - reference) v; of a score of +inf, its value
  int takers_ = 0;  // scores of +inf: none, one, several
};

}  // namespace cumulus
