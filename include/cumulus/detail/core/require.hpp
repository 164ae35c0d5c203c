// SPDX-License-Identifier: MIT
//
// How a public function refuses what it cannot take: before any work, naming the function, both values and the remedy.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <initializer_list>
#include <utility>

namespace cumulus::detail {

/// A piece of a message: text or a number. A piece does not own its text.
class message_part {
 public:
  enum class holds { text, integer, number };

  constexpr message_part(const char* text) noexcept : text_(text) {}
  template <class String>
    requires requires(const String& s) {
      { s.c_str() } -> std::same_as<const char*>;
    }
  message_part(const String& text) noexcept : text_(text.c_str()) {}
  template <std::integral I>
  constexpr message_part(I value) noexcept
      : integer_(static_cast<unsigned long long>(value)),
        negative_(std::cmp_less(value, 0)),
        holds_(holds::integer) {}
  constexpr message_part(double value) noexcept : number_(value), holds_(holds::number) {}

  [[nodiscard]] constexpr holds kind() const noexcept { return holds_; }
  [[nodiscard]] constexpr const char* text() const noexcept { return text_; }
  [[nodiscard]] constexpr double number() const noexcept { return number_; }
  [[nodiscard]] constexpr unsigned long long magnitude() const noexcept {
    return negative_ ? 0 - integer_ : integer_;
  }
  [[nodiscard]] constexpr bool negative() const noexcept { return negative_; }

 private:
  const char* text_ = "";
  double number_ = 0;
  unsigned long long integer_ = 0;
  bool negative_ = false;
  holds holds_ = holds::text;
};

/// Throws std::invalid_argument("cumulus: " and the parts one after the other); prints the message and aborts where exceptions
/// are off: `refuse({"softmax: x has ", n, " elements, out has ", m})`.
[[noreturn]] CUMULUS_FUNCTION void refuse(std::initializer_list<message_part> parts);

/// Refuses two sizes that differ: `softmax: x has 3 elements, out has 4`.
CUMULUS_FUNCTION void require_same_size(const char* function, const char* a, index_t a_size,
                                        const char* b, index_t b_size);

/// Refuses two shapes that differ.
CUMULUS_FUNCTION void require_same_shape(const char* function, const char* a, index_t a_rows,
                                         index_t a_cols, const char* b, index_t b_rows,
                                         index_t b_cols);

/// Refuses an order outside [lowest, highest]; `limit` says what sets the highest.
CUMULUS_FUNCTION void refuse_order(const char* function, message_part order, int lowest,
                                   int highest, const char* limit);
template <std::integral I>
void require_order(const char* function, I order, int lowest, int highest, const char* limit) {
  if (std::cmp_greater_equal(order, lowest) && std::cmp_less_equal(order, highest)) return;
  refuse_order(function, order, lowest, highest, limit);
}

}  // namespace cumulus::detail

#if !defined(CUMULUS_COMPILED)
#include <cumulus/detail/core/require.inc>
#endif
