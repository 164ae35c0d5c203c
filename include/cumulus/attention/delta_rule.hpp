// SPDX-License-Identifier: MIT
//
// The delta rule: a state that forgets along each key what it is about to learn there.
// Layer 5 (attention): uses core.
#pragma once

#include <cumulus/core/results.hpp>
#include <cumulus/detail/core/aligned.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/simd/features.hpp>
#include <Eigen/Core>

namespace cumulus::presets {

/// S_t = S_{t-1} (I - beta k k^T) + beta v k^T, read as S q: one step of least squares, |v - S k|^2 / 2, for each token.
///
/// Shape    keys [d], values [e]; S [e, d].
/// Requires |k| = 1 and 0 <= beta < 2 for it to be stable: then what is along k shrinks by 1 - beta. add takes any key and
///          divides it by its length unless told not to.
/// Edges    the empty state reads 0. A key of length 0 changes nothing, and neither does a beta that is 0 in T, whatever
///          key and value hold: gates underflow, and pads send 0.
/// Error    plain sums; each step is two products with S.
/// Cost     a token 4 d e operations, a read 2 d e.
/// Source   B. Widrow, M. Hoff, IRE WESCON 4 (1960) 96-104; as attention: I. Schlag, K. Irie, J. Schmidhuber, ICML 2021.
template <class T>
class delta_rule_state {
 public:
  /// An empty state for keys of width d and values of width e.
  delta_rule_state(index_t d, index_t e) : d_(d), e_(e) {
    if (d < 1 || e < 1)
      detail::refuse({"presets::delta_rule_state: keys of width ", d, " and values of width ", e,
                      "; give 1 or more"});
    state_.assign(std::size_t(d * e), T(0));
    key_.resize(std::size_t(d));
    error_.resize(std::size_t(e));
  }

  /// Adds one token: S becomes S + beta (v - S k) k^T, k of length 1 where `normalise` is true.
  /// A key of zeros changes nothing. Refused: beta outside [0, 2).
  template <real_vector K, real_vector V>
  void add(const K& key, const V& value, double beta = 1, bool normalise = true) {
    const detail::operand<T> k(key), v(value);
    detail::require_same_size("presets::delta_rule_state::add", "the state's key", d_, "key",
                              k.size());
    detail::require_same_size("presets::delta_rule_state::add", "the state's value", e_, "value",
                              v.size());
    if (!(beta >= 0 && beta < 2))
      detail::refuse({"presets::delta_rule_state::add: beta ", beta,
                      " is outside [0, 2); give a number within"});
    if (!(T(0) < T(beta))) return;
    const auto from = k.view(), to = v.view();
    bool is_zero = true;
    for (index_t i = 0; i < d_; ++i) {
      key_[std::size_t(i)] = from[i];
      is_zero = is_zero && from[i] == T(0);
    }
    if (is_zero) return;
    if (normalise) detail::kernels::normalise_row(key_.data(), key_.data(), d_);
    // rows of the state are those of S^T: row i is what key entry i holds of the value
    for (index_t j = 0; j < e_; ++j) error_[std::size_t(j)] = T(0);
    for (index_t i = 0; i < d_; ++i)
      detail::kernels::add_row(state_.data() + i * e_, key_[std::size_t(i)], error_.data(), e_);
    for (index_t j = 0; j < e_; ++j) error_[std::size_t(j)] = to[j] - error_[std::size_t(j)];
    for (index_t i = 0; i < d_; ++i)
      detail::kernels::add_row(error_.data(), T(T(beta) * key_[std::size_t(i)]),
                               state_.data() + i * e_, e_);
  }

  /// S q
  template <real_vector Q>
  [[nodiscard]] Eigen::Matrix<T, Eigen::Dynamic, 1> read(const Q& query) const {
    const detail::operand<T> q(query);
    detail::require_same_size("presets::delta_rule_state::read", "the state's key", d_, "query",
                              q.size());
    Eigen::Matrix<T, Eigen::Dynamic, 1> out = Eigen::Matrix<T, Eigen::Dynamic, 1>::Zero(e_);
    for (index_t i = 0; i < d_; ++i)
      detail::kernels::add_row(state_.data() + i * e_, T(q.view()[i]), out.data(), e_);
    return out;
  }

  /// The memory of the state, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return sizeof(T) * state_.size(); }

 private:
  index_t d_, e_;
  detail::aligned_vector<T> state_;
  std::vector<T> key_, error_;
};

}  // namespace cumulus::presets
