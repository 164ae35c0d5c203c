// SPDX-License-Identifier: MIT
//
// A sliding window over any state that merges: what leaves it leaves no trace.
// Layer 2 (moments): it knows a state by += alone, so logsumexp_accumulator and softmax_mean slide too.
//
// Two stacks. What enters lies on the one at the back, beside the sum of all of it. What leaves is taken off the one at the
// front, where each entry holds the sum of itself and of all that entered after it. When the front is empty the back is
// turned over, once for each state that passes. So the value is one merge of two sums, made of nothing but what is inside:
// nothing is ever subtracted, and an outlier that has left costs no digit.
#pragma once

#include <cumulus/detail/core/require.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace cumulus {

/// The sum of the states that entered last.
///
/// Shape    State: copyable, with += of a monoid: central_moments, comoments, moment_tensor, logsumexp_accumulator, softmax_mean.
/// Edges    an empty window has the value of the identity; pop() of an empty one is refused.
/// Error    of the state after as many merges as the window holds states, whatever has passed through it.
/// Cost     at most three merges a state, counted over its passage (one push in a window's length costs as many as the
///          window holds); value() one. Memory: one State for each inside, and two.
/// Source   the queue of two stacks is folklore; surveyed by K. Tangwongsan, M. Hirzel, S. Schneider, DEBS 2017, 66-77.
template <class State>
class sliding_window {
 public:
  /// `identity` is the empty state and the value of an empty window. The window holds every state pushed and not yet popped.
  explicit sliding_window(State identity = State())
      : identity_(std::move(identity)), entered_(identity_) {}

  /// Holds the last `count` states: a push into a full window pops the oldest. Requires count >= 1.
  explicit sliding_window(std::integral auto count, State identity = State())
      : sliding_window(std::move(identity)) {
    if (std::cmp_less(count, 1))
      detail::refuse({"sliding_window: a count of ", count, "; give 1 or more"});
    count_ = static_cast<std::size_t>(count);
  }

  /// A state enters: of one observation, or of a block of them.
  void push(State state) {
    entered_ += state;
    back_.push_back(std::move(state));
    if (size() > count_) pop();
  }

  /// An observation enters: what identity.add takes.
  template <class... Arguments>
  void add(const Arguments&... arguments) {
    State state = identity_;
    state.add(arguments...);
    push(std::move(state));
  }

  /// The state that entered first leaves.
  void pop() {
    if (empty()) detail::refuse({"sliding_window::pop: the window holds 0 states; push one first"});
    if (front_.empty()) {
      for (; !back_.empty(); back_.pop_back()) {
        if (!front_.empty()) back_.back() += front_.back();
        front_.push_back(std::move(back_.back()));
      }
      entered_ = identity_;
    }
    front_.pop_back();
  }

  /// Removes all states.
  void clear() {
    front_.clear();
    back_.clear();
    entered_ = identity_;
  }

  /// The sum of the states in the window.
  [[nodiscard]] State value() const {
    if (front_.empty()) return entered_;
    State sum = front_.back();
    return sum += entered_;
  }

  /// The number of states in the window.
  [[nodiscard]] std::size_t size() const noexcept { return front_.size() + back_.size(); }
  /// Whether the window holds no states.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  State identity_;
  std::vector<State> front_, back_;
  State entered_;  // the sum of back_
  std::size_t count_ = static_cast<std::size_t>(-1);
};

}  // namespace cumulus
