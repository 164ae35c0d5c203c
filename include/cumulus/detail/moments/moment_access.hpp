// SPDX-License-Identifier: MIT
//
// What the layers above read of the states of moments beyond their public members.
// Layer 2 (moments): uses core.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/view.hpp>
#include <utility>

namespace cumulus {

template <class T, int P>
class central_moments;

namespace detail {

template <class S, int P>
class moment_state;

/// A friend of central_moments, comoments and moment_tensor.
struct moment_access {
  /// The same sample, observed in the scalar that it is accumulated in (double for float).
  template <class T, int P>
  [[nodiscard]] static central_moments<compute_scalar<T>, P> wide(const central_moments<T, P>& m) {
    return central_moments<compute_scalar<T>, P>(m.state_);
  }
  template <class T, int P>
  [[nodiscard]] static central_moments<T, P> of_state(moment_state<compute_scalar<T>, P> state) {
    return central_moments<T, P>(std::move(state));
  }
  template <class T, int P>
  [[nodiscard]] static compensated<compute_scalar<T>> mean_pair(const central_moments<T, P>& m) {
    return m.state_.mean_pair();
  }
  template <class T, int P, class X, class W>
  static void add(central_moments<T, P>& m, const strided<const X>& x,
                  const strided<const W>& weights) {
    m.state_.add_range(x, weights);
  }

  template <class T, int P>
  static void include_in_range(central_moments<T, P>& m, const compute_scalar<T>& x) {
    m.state_.include_in_range(x);
  }

  template <class Comoments>
  [[nodiscard]] static auto covariance(const Comoments& m, index_t i, index_t j) {
    return m.wide_covariance(i, j);
  }
  template <class Comoments>
  [[nodiscard]] static auto mean_pair(const Comoments& m, index_t i) {
    return m.state_.mean_pair(i);
  }
};

template <class T, int P>
[[nodiscard]] auto wide(const central_moments<T, P>& m) {
  return moment_access::wide(m);
}

/// The mean as a number and its rounding error.
template <class T, int P>
[[nodiscard]] auto mean_pair(const central_moments<T, P>& m) {
  return moment_access::mean_pair(m);
}

/// Adds elements in memory, with ones where there are no weights; unchecked.
template <class T, int P, class X, class W>
void add_views(central_moments<T, P>& m, const strided<const X>& x,
               const strided<const W>& weights) {
  moment_access::add(m, x, weights);
}

}  // namespace detail

}  // namespace cumulus
