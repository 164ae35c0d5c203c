// SPDX-License-Identifier: MIT
//
// Arithmetic in as many words as it takes: unsigned numbers, least significant word first.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
//
// A fixed-point number has its last word before the point and the others, `fraction_bits` of them,
// behind it; its unit is 2^-fraction_bits.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scalar.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

using word = std::uint32_t;
using words = std::span<word>;
using const_words = std::span<const word>;

inline constexpr index_t word_bits = 32;

[[nodiscard]] inline index_t fraction_bits(const_words a) noexcept {
  return (index_t(a.size()) - 1) * word_bits;
}

inline void clear(words a) noexcept { std::fill(a.begin(), a.end(), word(0)); }

/// The number of bits up to the highest that is set; 0 for 0.
[[nodiscard]] inline index_t bit_length(const_words a) noexcept {
  std::size_t i = a.size();
  while (i > 0 && a[i - 1] == 0) --i;
  return i == 0 ? 0 : index_t(i - 1) * word_bits + index_t(std::bit_width(a[i - 1]));
}

/// a < b. Requires equal sizes.
[[nodiscard]] inline bool less(const_words a, const_words b) noexcept {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

/// a += b 2^(32 offset). Requires that b is no longer than what it is added to, and that the sum
/// fits.
inline void add(words a, const_words b, std::size_t offset = 0) noexcept {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i + offset < a.size() && (i < b.size() || carry != 0); ++i) {
    carry += std::uint64_t(a[i + offset]) + (i < b.size() ? b[i] : 0);
    a[i + offset] = word(carry);
    carry >>= word_bits;
  }
}

/// a -= b. Requires equal sizes and b <= a.
inline void subtract(words a, const_words b) noexcept {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t difference = std::uint64_t(a[i]) - b[i] - borrow;
    a[i] = word(difference);
    borrow = (difference >> word_bits) != 0 ? 1 : 0;
  }
}

/// a += b factor. Requires that the sum fits.
inline void add_multiple(words a, const_words b, word factor) noexcept {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    carry += a[i] + std::uint64_t(i < b.size() ? b[i] : 0) * factor;
    a[i] = word(carry);
    carry >>= word_bits;
  }
}

/// a /= divisor, rounded down.
inline void divide(words a, word divisor) noexcept {
  std::uint64_t rest = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    rest = rest << word_bits | a[i];
    a[i] = word(rest / divisor);
    rest %= divisor;
  }
}

/// out = a 2^-count, rounded down; a negative count shifts to the left. Words of `out` beyond those
/// of a take what is shifted into them, so any two sizes do; out may be a where count >= 0.
inline void shift_right(const_words a, index_t count, words out) noexcept {
  const auto floor_of = [](index_t n) {
    return n >= 0 ? n / word_bits : -((word_bits - 1 - n) / word_bits);
  };
  const index_t whole = floor_of(count), bits = count - whole * word_bits;
  const auto at = [&](index_t i) {
    return i < 0 || i >= index_t(a.size()) ? std::uint64_t(0) : std::uint64_t(a[std::size_t(i)]);
  };
  for (index_t i = 0; i < index_t(out.size()); ++i) {
    const std::uint64_t pair = at(i + whole) | at(i + whole + 1) << word_bits;
    out[std::size_t(i)] = word(pair >> bits);
  }
}

/// out = a b, rounded down. Requires fixed-point numbers of one size, `scratch` twice as long; out
/// may be a or b.
inline void multiply(const_words a, const_words b, words scratch, words out) noexcept {
  const std::size_t n = a.size();
  clear(scratch.first(2 * n));
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < n; ++j) {
      carry += scratch[i + j] + std::uint64_t(a[i]) * b[j];
      scratch[i + j] = word(carry);
      carry >>= word_bits;
    }
    scratch[i + n] = word(carry);
  }
  std::copy_n(scratch.begin() + std::ptrdiff_t(n - 1), n, out.begin());
}

/// a += x 2^unit, rounded down. Requires x >= 0 finite, in radix 2, and that the sum fits.
template <class T>
void add_number(words a, const T& x, index_t unit) noexcept {
  if (!(T(0) < x)) return;
  const int exponent = binary_exponent(x);
  T rest = times_power_of_two(x, -exponent);
  for (index_t place = exponent + unit - word_bits; T(0) < rest && place > -word_bits;
       place -= word_bits) {
    rest = times_power_of_two(rest, int(word_bits));
    const word digit = static_cast<word>(rest);
    rest -= T(digit);
    std::uint64_t shifted = place < 0 ? digit >> -place : digit;
    const index_t bits = place < 0 ? 0 : place % word_bits;
    shifted <<= bits;
    const word pair[2]{word(shifted), word(shifted >> word_bits)};
    add(a, pair, std::size_t(place < 0 ? 0 : place / word_bits));
  }
}

/// The leading bits as a number in [1/2, 1): a = fraction 2^bit_length(a). Requires a > 0.
/// Error   1 ulp.
template <class T>
[[nodiscard]] T leading_fraction(const_words a) noexcept {
  const index_t length = bit_length(a);
  T sum(0);
  index_t place = length;
  for (std::size_t i = a.size();
       i-- > 0 && length - place <= std::numeric_limits<T>::digits + word_bits;) {
    place = index_t(i) * word_bits;
    sum += times_power_of_two(T(a[i]), int(place - length));
  }
  return sum;
}

/// a = log 2 as a fixed-point number. Requires scratch of at least three more words than three
/// times a's.
/// Error   1 unit.
/// Source  log 2 = 2 artanh(1/3), with one word more than a has.
inline void log_of_two(words a, words scratch) noexcept {
  const std::size_t n = a.size() + 1;
  const words sum = scratch.first(n), power = scratch.subspan(n, n),
              part = scratch.subspan(2 * n, n);
  clear(sum);
  clear(power);
  power[n - 1] = 2;
  divide(power, 3);
  for (word k = 1; bit_length(power) > 0; k += 2) {
    std::copy(power.begin(), power.end(), part.begin());
    divide(part, k);
    add(sum, part);
    divide(power, 9);
  }
  std::copy(sum.begin() + 1, sum.end(), a.begin());
}

/// How often `exponential` halves its argument: as often as it then takes terms of the series.
[[nodiscard]] inline int exponential_halvings(index_t bits) noexcept {
  int halvings = 1;
  while (index_t(halvings) * halvings < bits) ++halvings;
  return halvings;
}

/// out = e^x, x itself overwritten. Requires fixed-point numbers of one size, 0 <= x < 2, scratch
/// twice as long.
/// Error   48 2^exponential_halvings units: the series leaves 5 relative ones, each squaring
///         doubles them and adds one, and the result is at most e^2.
inline void exponential(words x, words scratch, words out) noexcept {
  const index_t bits = fraction_bits(x);
  const int halvings = exponential_halvings(bits);
  shift_right(x, halvings, x);
  word terms = 0;
  for (index_t reached = -index_t(2); reached < bits; ++terms)
    reached += halvings - 1 + index_t(std::bit_width(terms + 1)) - 1;
  const std::size_t last = out.size() - 1;
  clear(out);
  out[last] = 1;
  for (word k = terms; k > 0; --k) {
    multiply(out, x, scratch, out);
    divide(out, k);
    out[last] += 1;
  }
  for (int i = 0; i < halvings; ++i) multiply(out, out, scratch, out);
}

/// Scalars whose bits can be taken apart.
template <class T>
inline constexpr bool has_words =
    std::numeric_limits<T>::radix == 2 && std::numeric_limits<T>::digits != 0 &&
    cumulus::detail::has_binary_exponent<T>;

/// sign fraction 2^exponent, the fraction in [1/2, 1), and how far off it may be.
template <class T>
struct wide_value {
  int sign = 0;
  T fraction = T(0);
  index_t exponent = 0;
  double error_bits = -infinity<double>;  ///< log2 of a bound on the absolute error

  /// log2 of a bound on the relative error.
  [[nodiscard]] double relative_bits() const noexcept { return error_bits - double(exponent - 1); }
  [[nodiscard]] T value() const noexcept {
    const index_t bound = index_t(1) << 30;
    return T(sign) * times_power_of_two(fraction, int(std::clamp(exponent, -bound, bound)));
  }
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
