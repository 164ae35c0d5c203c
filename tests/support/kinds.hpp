// SPDX-License-Identifier: MIT
//
// One list of numbers as every kind of argument: what a caller may pass as a vector, as a place for results, as a matrix.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

namespace kinds {

template <class T>
using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using row = Eigen::Matrix<T, 1, Eigen::Dynamic>;
template <class T>
using col_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class T>
using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using strided_map = Eigen::Map<T, Eigen::Unaligned, Eigen::InnerStride<>>;

/// The numbers of any vector, an Eigen expression or a range, in an Eigen column.
template <class X>
[[nodiscard]] auto column_of(const X& x) {
  using T = std::remove_cvref_t<decltype(*std::begin(x))>;
  column<T> result(Eigen::Index(std::size(x)));
  Eigen::Index i = 0;
  for (const auto& value : x) result[i++] = value;
  return result;
}

/// How many numbers the lists hold: a C array and fixed sizes need to know.
inline constexpr std::size_t size = 13;

/// f(name, x) for every kind of vector. Around the numbers lies a large one, which must not be read.
template <class T, class Function>
void each_vector(const std::vector<T>& values, Function f) {
  const auto n = Eigen::Index(size);
  const T trap = T(1000);
  std::array<T, size> array{};
  T c_array[size];
  std::copy(values.begin(), values.end(), array.begin());
  std::copy(values.begin(), values.end(), c_array);
  const column<T> v = Eigen::Map<const column<T>>(values.data(), n);

  f("std::vector", values);
  f("std::array", array);
  f("C array", c_array);
  f("std::span", std::span<const T>(values));
  f("fixed span", std::span<T, size>(array));
  f("column", v);
  f("row vector", row<T>(v.transpose()));
  f("array", Eigen::Array<T, Eigen::Dynamic, 1>(v.array()));
  f("fixed size", Eigen::Matrix<T, int(size), 1>(v));
  f("bounded size", Eigen::Matrix<T, Eigen::Dynamic, 1, 0, 16, 1>(v));
  f("map", Eigen::Map<const column<T>>(values.data(), n));
  f("ref", Eigen::Ref<const column<T>>(v));
  f("transpose", v.transpose());
  f("expression", v + column<T>::Zero(n));

  column<T> padded = column<T>::Constant(n + 4, trap);
  padded.segment(2, n) = v;
  f("segment", padded.segment(2, n));
  f("fixed segment", padded.template segment<int(size)>(2));
  f("head of tail", padded.tail(n + 2).head(n));
  f("reversed twice", v.reverse().reverse());
  const column<T> backwards = v.reverse();
  f("reversed", backwards.reverse());

  col_major<T> a = col_major<T>::Constant(5, n + 3, trap);
  row_major<T> b = row_major<T>::Constant(n + 3, 5, trap);
  a.row(2).segment(1, n) = v.transpose();
  b.col(2).segment(1, n) = v;
  f("row of a block", a.block(1, 1, 3, n).row(1));
  f("column of a row-major block", b.block(1, 1, n, 3).col(1));
  f("column of a transpose", a.transpose().col(2).segment(1, n));
  col_major<T> square = col_major<T>::Constant(n, n, trap);
  square.diagonal() = v;
  f("diagonal", square.diagonal());

  std::vector<T> spread(3 * size, trap);
  for (std::size_t i = 0; i < size; ++i) spread[3 * i] = values[i];
  f("stride 3", strided_map<const column<T>>(spread.data(), n, Eigen::InnerStride<>(3)));
  std::reverse(spread.begin(), spread.end());
  f("stride -3",
    strided_map<const column<T>>(spread.data() + spread.size() - 1, n, Eigen::InnerStride<>(-3)));
}

/// f(name, out, read) for every kind of place for results: read() gives what was written.
template <class T, class Function>
void each_out(Function f) {
  const auto n = Eigen::Index(size);
  const auto read_from = [](const auto& v) {
    return [&v] {
      std::vector<T> result(size);
      for (std::size_t i = 0; i < size; ++i) result[i] = v[Eigen::Index(i)];
      return result;
    };
  };
  column<T> v(n);
  std::vector<T> memory(size);
  T c_array[size];
  f("column", v, read_from(v));
  f("array", v.array(), read_from(v));
  f("std::vector", memory, [&] { return memory; });
  f("std::span", std::span<T>(memory), [&] { return memory; });
  f("C array", c_array, [&] { return std::vector<T>(c_array, c_array + size); });
  f("transpose", v.transpose(), read_from(v));
  f("ref", Eigen::Ref<column<T>>(v), read_from(v));

  col_major<T> a = col_major<T>::Zero(4, n + 2);
  row_major<T> b = row_major<T>::Zero(n + 2, 4);
  const auto in_a = a.row(2).segment(1, n);
  const auto in_b = b.col(1).segment(1, n);
  f("part of a row", a.row(2).segment(1, n), read_from(in_a));
  f("part of a row-major column", b.col(1).segment(1, n), read_from(in_b));

  std::vector<T> spread(3 * size);
  const strided_map<column<T>> forwards(spread.data(), n, Eigen::InnerStride<>(3));
  f("stride 3", strided_map<column<T>>(forwards), read_from(forwards));
  const strided_map<column<T>> backwards(spread.data() + spread.size() - 1, n,
                                         Eigen::InnerStride<>(-3));
  f("stride -3", strided_map<column<T>>(backwards), read_from(backwards));
}

/// f(name, X) for every kind of matrix that holds `values`.
template <class T, class Function>
void each_matrix(const col_major<T>& values, Function f) {
  const Eigen::Index rows = values.rows(), cols = values.cols();
  const T trap = T(1000);
  f("column-major", values);
  f("row-major", row_major<T>(values));
  f("array", Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic>(values.array()));
  f("expression", values + col_major<T>::Zero(rows, cols));
  const col_major<T> turned = values.transpose();
  f("transpose", turned.transpose());
  f("reversed", col_major<T>(values.reverse()).reverse());
  col_major<T> a = col_major<T>::Constant(rows + 3, cols + 2, trap);
  row_major<T> b = row_major<T>::Constant(rows + 3, cols + 2, trap);
  a.block(1, 1, rows, cols) = values;
  b.block(1, 1, rows, cols) = values;
  f("block", a.block(1, 1, rows, cols));
  f("block of row-major", b.block(1, 1, rows, cols));
  f("map with strides",
    Eigen::Map<const col_major<T>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
        b.data() + b.cols() + 1, rows, cols,
        Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(1, b.cols())));
  f("ref", Eigen::Ref<const col_major<T>>(values));
}

}  // namespace kinds
