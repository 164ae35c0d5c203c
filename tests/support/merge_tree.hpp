// SPDX-License-Identifier: MIT
//
// A monoid built every way its laws allow: any split of n terms in parts, merged in any tree and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "families.hpp"

/// n terms dealt at random to `parts` copies of `identity` by add(state, i); then two random ones merged until one is left.
template <class State, class Add>
[[nodiscard]] State merge_tree(const State& identity, std::size_t n, std::size_t parts,
                               std::uint64_t seed, Add add) {
  families::random r(seed);
  std::vector<State> states(parts, identity);
  for (std::size_t i = 0; i < n; ++i) add(states[r.below(parts)], i);
  while (states.size() > 1) {
    const std::size_t from = r.below(states.size());
    std::swap(states[from], states.back());
    const State last = states.back();
    states.pop_back();
    State& to = states[r.below(states.size())];
    if (r.below(2) == 0) {
      to += last;
    } else {
      to = last + to;
    }
  }
  return states.front();
}

/// The order 0..n-1 shuffled.
[[nodiscard]] inline std::vector<std::size_t> permutation(std::size_t n, std::uint64_t seed) {
  families::random r(seed);
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[r.below(i)]);
  return order;
}
