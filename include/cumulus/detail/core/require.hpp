// SPDX-License-Identifier: MIT
//
// How a public function refuses what it cannot take: before any work, naming both values.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace cumulus::detail {

/// Throws std::invalid_argument; prints and aborts where exceptions are off.
[[noreturn]] inline void refuse(const std::string& message) {
#if defined(__cpp_exceptions)
  throw std::invalid_argument("cumulus: " + message);
#else
  std::fprintf(stderr, "cumulus: %s\n", message.c_str());
  std::abort();
#endif
}

/// Refuses two sizes that differ: `softmax: x has 3 elements, out has 4`.
inline void require_same_size(const char* function, const char* a, index_t a_size, const char* b,
                              index_t b_size) {
  if (a_size == b_size) return;
  refuse(std::string(function) + ": " + a + " has " + std::to_string(a_size) + " elements, " + b +
         " has " + std::to_string(b_size));
}

/// Refuses two shapes that differ.
inline void require_same_shape(const char* function, const char* a, index_t a_rows, index_t a_cols,
                               const char* b, index_t b_rows, index_t b_cols) {
  if (a_rows == b_rows && a_cols == b_cols) return;
  refuse(std::string(function) + ": " + a + " is " + std::to_string(a_rows) + " x " +
         std::to_string(a_cols) + ", " + b + " is " + std::to_string(b_rows) + " x " +
         std::to_string(b_cols));
}

/// Refuses an order outside [lowest, highest]; `limit` says what sets the highest.
template <std::integral I>
void require_order(const char* function, I order, int lowest, int highest, const char* limit) {
  if (std::cmp_greater_equal(order, lowest) && std::cmp_less_equal(order, highest)) return;
  refuse(std::string(function) + ": order " + std::to_string(order) + " is outside " +
         std::to_string(lowest) + ".." + std::to_string(highest) + " (" + limit + ")");
}

}  // namespace cumulus::detail
