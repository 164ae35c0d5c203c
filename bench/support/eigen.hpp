// SPDX-License-Identifier: MIT
//
// Vectors and rows as Eigen sees them, and the moments as its expressions.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <utility>

namespace bench {

template <class T>
using const_array = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using array = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using const_rows =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using rows = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// y^K without temporaries: what y.square(), y.cube(), y.square().square() ... write out.
template <int K, class Y>
[[nodiscard]] auto power(const Y& y) {
  if constexpr (K == 1) {
    return y;
  } else if constexpr (K % 2 == 0) {
    return power<K / 2>(y).square();
  } else {
    return y * power<K - 1>(y);
  }
}

/// mu[k] = mean of y^k, k = 2..P.
template <int P, class Y, class Moments>
void power_means(const Y& y, Moments& mu) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((mu[K + 2] = power<int(K) + 2>(y).mean()), ...);
  }(std::make_index_sequence<P - 1>());
}

}  // namespace bench
