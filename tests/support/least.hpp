// SPDX-License-Identifier: MIT
//
// Vectors of the standard library in tests: the least element, and a view as an Eigen column.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

/// Of a vector that is not empty.
template <class X>
auto least_of(const X& x) {
  return *std::min_element(x.begin(), x.end());
}

template <class T>
Eigen::Matrix<T, Eigen::Dynamic, 1> as_column(const std::vector<T>& x) {
  return Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(x.data(), Eigen::Index(x.size()));
}
