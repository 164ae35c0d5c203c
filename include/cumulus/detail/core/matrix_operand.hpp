// SPDX-License-Identifier: MIT
//
// Matrix arguments and the options that go with them, line by line: a line is a row, or a column
// where the columns are reduced.
// Layer 0 (core).
#pragma once

#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>

namespace cumulus::detail {

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
      return result_like<X>(x.template cast<result_of<X>>());
    }
  }

  std::conditional_t<in_place, const X&, result_like<X>> held_;
};

/// An option with a value for each element of a matrix: a matrix of its shape, or one line for all
/// of its lines. Requires that it does not outlive the argument.
template <class S>
class broadcast_operand {
  static constexpr bool of_mask = std::same_as<S, bool>;

 public:
  broadcast_operand() = default;
  broadcast_operand(const broadcast_operand&) = delete;
  broadcast_operand& operator=(const broadcast_operand&) = delete;

  template <class X>
    requires((of_mask && (mask_vector<X> || mask_matrix<X>)) ||
             (!of_mask && (real_vector<X> || real_matrix<X>)))
  broadcast_operand(const X& x) : given_(true) {
    if constexpr (real_vector<X> || mask_vector<X>) {
      line_.take(x);
    } else if constexpr (strided_dense<X> && std::same_as<scalar_of<X>, S>) {
      const auto v = strided_matrix_view(x);
      matrix_ = {v.data, v.rows, v.cols, v.row_stride, v.col_stride};
    } else {
      const auto& values = x.derived().eval();
      const index_t rows = index_t(values.rows()), cols = index_t(values.cols());
      owned_ = array_of<S>(rows * cols);
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < cols; ++j)
          owned_[i * cols + j] = static_cast<S>(values.coeff(i, j));
      }
      matrix_ = {owned_.data(), rows, cols, cols, 1};
    }
  }

  // clang-format off
  template <no_mask X>
    requires of_mask
  broadcast_operand(const X&) = delete;  // cumulus: a mask has elements of type bool, true where it keeps: write x.array() > 0, or std::vector<bool>
  template <without_numbers X>
    requires(!of_mask)
  broadcast_operand(const X&) = delete;  // cumulus: weights are numbers, and bool and characters are none: a matrix of bool is a mask, {.mask = keep}
  // clang-format on

  // clang-format off
  template <foreign_array X>
  broadcast_operand(const X&) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
  // clang-format on

  [[nodiscard]] bool given() const noexcept { return given_; }

  /// Refuses what fits neither a matrix of this shape nor its lines.
  void require_shape(const char* function, const char* name, index_t rows, index_t cols,
                     bool by_columns) const {
    if (!given_) return;
    if (line_.given()) {
      require_same_size(function, by_columns ? "a column of x" : "a row of x",
                        by_columns ? rows : cols, name, line_.size());
    } else {
      require_same_shape(function, "x", rows, cols, name, matrix_.rows, matrix_.cols);
    }
  }

  /// Where the elements lie.
  [[nodiscard]] extent memory() const noexcept {
    return line_.given() ? line_.memory() : memory_of(matrix_);
  }

  /// Line i; null where the option is not given.
  [[nodiscard]] strided<const S> line(index_t i, bool by_columns) const noexcept {
    if (line_.given()) return line_.view();
    if (!given_) return {};
    return by_columns ? matrix_.transposed().row(i) : matrix_.row(i);
  }

 private:
  operand<S> line_;
  array_of<S> owned_;
  strided_matrix<const S> matrix_;
  bool given_ = false;
};

/// An option that is a number for all lines, or a vector with one for each.
class line_number {
 public:
  line_number() = default;
  line_number(double value) : value_(value), given_(true) {}
  template <real_vector X>
  line_number(const X& x) : given_(true) {
    values_.take(x);
  }
  line_number(const line_number&) = delete;
  line_number& operator=(const line_number&) = delete;

  [[nodiscard]] bool given() const noexcept { return given_; }
  void require_count(const char* function, const char* name, index_t lines) const {
    if (values_.given()) require_same_size(function, "the result", lines, name, values_.size());
  }
  [[nodiscard]] extent memory() const noexcept { return values_.memory(); }
  [[nodiscard]] double operator[](index_t i) const noexcept {
    return values_.given() ? values_.view()[i] : value_;
  }

 private:
  operand<double> values_;
  double value_ = 0;
  bool given_ = false;
};

}  // namespace cumulus::detail
