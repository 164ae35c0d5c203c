// SPDX-License-Identifier: MIT
//
// What the fuzzers share: numbers and choices drawn from the fuzzer's bytes, and claims that stop it where they are false.
#pragma once

#include <cumulus/detail/core/scalar.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace fuzz {

using cumulus::index_t;

/// The bytes of one input, taken from the front; zeros when they are used up, so that every input means something.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  [[nodiscard]] const std::uint8_t* rest() const noexcept { return data_; }

  std::uint8_t byte() noexcept {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  bool flag() noexcept { return (byte() & 1) != 0; }
  /// One of 0..n-1, n at most 256.
  index_t below(index_t n) noexcept { return byte() % n; }

  template <class T>
  T raw() noexcept {
    unsigned char bits[sizeof(T)];
    for (unsigned char& b : bits) b = byte();
    T value;
    std::memcpy(&value, bits, sizeof value);
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

/// What numbers of a vector look like: one choice for all of it.
enum class family {
  small,    ///< multiples of 1/16 from -8 to 8
  offset,   ///< the same about 2^20, in float 2^10
  wide,     ///< multiples of 6, from -768 to 762: exponentials overflow
  special,  ///< small, but a quarter of them infinities, NaN, zeros, the least and the greatest
  any,      ///< any bits
  spread    ///< from -0.98 to 0.98 of the largest number: differences overflow
};
inline family draw_family(bytes& in) { return static_cast<family>(in.below(5)); }
/// For functions whose differences must not overflow.
inline family draw_any_family(bytes& in) { return static_cast<family>(in.below(6)); }
[[nodiscard]] inline bool certainly_finite(family f) {
  return f != family::special && f != family::any;
}

template <class T>
T draw(bytes& in, family f) {
  using limits = std::numeric_limits<T>;
  if (f == family::any) return in.raw<T>();
  const int b = in.byte();
  const T x = T(b - 128) / T(16);
  if (f == family::offset) return T(sizeof(T) > 4 ? 1048576 : 1024) + x;
  if (f == family::wide) return T(b - 128) * T(6);
  if (f == family::spread) return T(b - 128) * (limits::max() / T(130));
  if (f == family::special && b >= 192) {
    const T of[] = {limits::infinity(),
                    -limits::infinity(),
                    limits::quiet_NaN(),
                    T(0),
                    -T(0),
                    limits::max(),
                    limits::lowest(),
                    limits::min(),
                    limits::denorm_min(),
                    limits::epsilon(),
                    T(88.75),
                    T(-103.5),
                    T(709.8125),
                    T(-745.25),
                    T(1),
                    T(-1)};
    return of[b % 16];
  }
  return x;
}

template <class T>
std::vector<T> draw_vector(bytes& in, index_t n, family f) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = draw<T>(in, f);
  return x;
}

/// Finite weights of 0 or more, a quarter of them 0.
template <class T>
std::vector<T> draw_weights(bytes& in, index_t n) {
  std::vector<T> w(static_cast<std::size_t>(n));
  for (T& v : w) {
    const int b = in.byte();
    v = b % 4 == 0 ? T(0) : T(b) / T(32);
  }
  return w;
}

inline void print(double x) { std::fprintf(stderr, " %.17g (%a)", x, x); }

/// Stops the fuzzer where `claim` is false, with the numbers that it is about.
template <class... Numbers>
void expect(bool is_true, const char* claim, const Numbers&... numbers) {
  if (is_true) return;
  std::fprintf(stderr, "not true: %s:", claim);
  (print(static_cast<double>(numbers)), ...);
  std::fprintf(stderr, "\n");
  std::abort();
}

/// Whether f refuses what it is given. Any other exception ends the program.
template <class Function>
[[nodiscard]] bool refused(Function f) {
  try {
    f();
    return false;
  } catch (const std::invalid_argument&) {
    return true;
  }
}

/// The same number, or both NaN.
template <class T>
[[nodiscard]] bool same(const T& a, const T& b) {
  return a == b || (a != a && b != b);
}
template <class A, class B>
[[nodiscard]] bool all_same(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  for (index_t i = 0; i < index_t(a.size()); ++i) {
    if (!same(a.data()[i], b.data()[i])) return false;
  }
  return true;
}

/// An ulp of T at this size, at least its least number.
template <class T>
[[nodiscard]] long double ulp_at(long double size) {
  using limits = std::numeric_limits<T>;
  size = std::fabs(size);
  if (!(size >= static_cast<long double>(limits::min()))) return limits::denorm_min();
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0L, exponent - limits::digits);
}

/// |value - exact| <= off; equal where exact is not finite, or not a finite T.
template <class T>
[[nodiscard]] bool within(const T& value, long double exact, long double off) {
  if (std::isnan(exact)) return value != value;
  if (std::isinf(exact) || static_cast<long double>(value) == exact)
    return static_cast<long double>(value) == exact;
  if (std::isinf(value))  // rounding may have reached it
    return (value > 0) == (exact > 0) &&
           std::fabs(exact) + off >= static_cast<long double>(std::numeric_limits<T>::max());
  return std::fabs(static_cast<long double>(value) - exact) <= off;
}

}  // namespace fuzz
