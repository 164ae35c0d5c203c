// SPDX-License-Identifier: MIT
//
// Arguments as the kernels see them: a pointer, sizes and strides.
// Layer 0 (core).
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/detail/core/array_of.hpp>
#include <cstdint>
#include <initializer_list>

namespace cumulus::detail {

/// `size` elements in memory, `stride` apart: any sign; 0 repeats one element.
template <class S>
struct strided {
  S* data = nullptr;
  index_t size = 0;
  index_t stride = 1;

  [[nodiscard]] S& operator[](index_t i) const noexcept { return data[i * stride]; }
  [[nodiscard]] strided segment(index_t first, index_t count) const noexcept {
    return {data + first * stride, count, stride};
  }
};

/// How many elements a vector has.
template <class X>
[[nodiscard]] index_t size_of(const X& x) noexcept {
  if constexpr (eigen_dense<X>) {
    return index_t(x.size());
  } else {
    return index_t(std::size(x));
  }
}

/// The elements of a vector that lies in memory, to read or to write.
template <class X>
[[nodiscard]] auto strided_view(X&& x) noexcept {
  if constexpr (eigen_dense<X>) {
    return strided<std::remove_pointer_t<decltype(x.data())>>{x.data(), index_t(x.size()),
                                                              index_t(x.innerStride())};
  } else {
    return strided<std::remove_pointer_t<decltype(std::data(x))>>{std::data(x),
                                                                  index_t(std::size(x)), 1};
  }
}

struct extent {
  std::uintptr_t begin, end;
  [[nodiscard]] bool meets(const extent& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

/// The addresses between two elements, both included.
template <class S>
[[nodiscard]] extent extent_of(S* first, S* last) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(first),
             b = reinterpret_cast<std::uintptr_t>(last);
  return a < b ? extent{a, b + sizeof(S)} : extent{b, a + sizeof(S)};
}

/// The bytes that a vector lies in; none where it is empty.
template <class S>
[[nodiscard]] extent memory_of(const strided<S>& x) noexcept {
  if (x.size == 0 || x.data == nullptr) return {0, 0};
  return extent_of(x.data, x.data + (x.size - 1) * x.stride);
}

/// The elements of a range, one after the other, with the type S or their own.
template <class Range, class S = element_of<Range>>
[[nodiscard]] array_of<S> copied(const Range& values) {
  array_of<S> out(index_t(std::size(values)));
  index_t i = 0;
  for (const auto& value : values) out[i++] = static_cast<S>(value);
  return out;
}

template <class S>
[[nodiscard]] array_of<std::remove_const_t<S>> copied(const strided<S>& values) {
  array_of<std::remove_const_t<S>> out(values.size);
  for (index_t i = 0; i < values.size; ++i) out[i] = values[i];
  return out;
}

/// A vector argument with elements of type S: a view where they lie in memory as such, else a copy. Of bool, a mask.
/// Requires that it does not outlive the argument.
template <class S>
class operand {
  static constexpr bool of_mask = std::same_as<S, bool>;

 public:
  operand() = default;
  operand(const operand&) = delete;
  operand& operator=(const operand&) = delete;

  /// Converts, so that options read `.weights = w`.
  template <class X>
    requires((of_mask && mask_vector<X>) || (!of_mask && real_vector<X>))
  operand(const X& x) {
    take(x);
  }
  operand(std::initializer_list<S> values) : given_(true) { copy(values); }

  // clang-format off
  template <no_mask X>
    requires of_mask
  operand(const X&) = delete;  // cumulus: a mask has elements of type bool, true where it keeps: write x.array() > 0, or std::vector<bool>
  template <without_numbers X>
    requires(!of_mask)
  operand(const X&) = delete;  // cumulus: weights are numbers, and bool and characters are none: a vector of bool is a mask, {.mask = keep}
  // clang-format on

  // clang-format off
  template <foreign_array X>
  operand(const X&) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
  // clang-format on

  template <class X>
  void take(const X& x) {
    given_ = true;
    if constexpr (std::same_as<scalar_of<X>, S> && (strided_dense<X> || contiguous_sequence<X>)) {
      const auto v = strided_view(x);
      view_ = {v.data, v.size, v.stride};
    } else if constexpr (eigen_dense<X>) {
      const auto& values = x.derived().eval();
      owned_ = array_of<S>(index_t(values.size()));
      for (index_t i = 0; i < owned_.size(); ++i) owned_[i] = static_cast<S>(values.coeff(i));
      view_ = {owned_.data(), owned_.size(), 1};
    } else {
      copy(x);
    }
  }

  [[nodiscard]] bool given() const noexcept { return given_; }
  [[nodiscard]] index_t size() const noexcept { return view_.size; }
  [[nodiscard]] strided<const S> view() const noexcept { return view_; }

  /// Where the elements lie.
  [[nodiscard]] extent memory() const noexcept { return memory_of(view_); }

  /// Replaces the view by a copy, for a caller about to write into the same memory.
  void own() {
    owned_ = copied(view_);
    view_ = {owned_.data(), owned_.size(), 1};
  }

 private:
  template <class Range>
  void copy(const Range& values) {
    owned_ = copied<Range, S>(values);
    view_ = {owned_.data(), owned_.size(), 1};
  }

  array_of<S> owned_;
  strided<const S> view_;
  bool given_ = false;
};

/// A matrix in memory: element (i, j) lies at data[i row_stride + j col_stride].
template <class S>
struct strided_matrix {
  S* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  index_t row_stride = 0;
  index_t col_stride = 0;

  [[nodiscard]] strided<S> row(index_t i) const noexcept {
    return {cols == 0 ? data : data + i * row_stride, cols, col_stride};  // data may be null there
  }
  [[nodiscard]] strided_matrix transposed() const noexcept {
    return {data, cols, rows, col_stride, row_stride};
  }
};

/// The elements of a matrix that lies in memory, to read or to write.
template <strided_dense X>
[[nodiscard]] auto strided_matrix_view(X&& x) noexcept {
  constexpr bool by_rows = std::remove_cvref_t<X>::IsRowMajor;
  return strided_matrix<std::remove_pointer_t<decltype(x.data())>>{
      x.data(), index_t(x.rows()), index_t(x.cols()),
      index_t(by_rows ? x.outerStride() : x.innerStride()),
      index_t(by_rows ? x.innerStride() : x.outerStride())};
}

/// The bytes that a matrix lies in; none where it is empty.
template <class S>
[[nodiscard]] extent memory_of(const strided_matrix<S>& m) noexcept {
  if (m.rows == 0 || m.cols == 0 || m.data == nullptr) return {0, 0};
  const index_t rows = (m.rows - 1) * m.row_stride, cols = (m.cols - 1) * m.col_stride;
  const auto low = m.data + (rows < 0 ? rows : 0) + (cols < 0 ? cols : 0);
  return extent_of(low, low + (rows < 0 ? -rows : rows) + (cols < 0 ? -cols : cols));
}

/// Whether writing `out` element by element can change `in` before it is read: true for memory that
/// overlaps, unless both are the same elements in the same places.
template <class S, class T>
[[nodiscard]] bool overlaps(const strided<S>& in, const strided<T>& out) noexcept {
  if (in.size == 0 || out.size == 0) return false;
  if (static_cast<const void*>(in.data) == out.data && in.stride == out.stride)
    return in.stride == 0;
  return memory_of(in).meets(memory_of(out));
}

/// The same of matrices, for writing row by row.
template <class S, class T>
[[nodiscard]] bool overlaps(const strided_matrix<S>& in, const strided_matrix<T>& out) noexcept {
  if (in.rows == 0 || in.cols == 0) return false;
  if (static_cast<const void*>(in.data) == out.data && in.row_stride == out.row_stride &&
      in.col_stride == out.col_stride) {
    return false;
  }
  return memory_of(in).meets(memory_of(out));
}

}  // namespace cumulus::detail
