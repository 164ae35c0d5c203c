// SPDX-License-Identifier: MIT
//
// What the library asks of a number: the type a result has, the type it is computed in, and the
// few elementary functions, found by argument-dependent look-up so that any scalar may bring its
// own.
// Layer 0 (core).
#pragma once

#include <cumulus/core/index.hpp>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "cumulus needs IEEE arithmetic: build without -ffast-math and -ffinite-math-only"
#endif

namespace Eigen {
struct half;
struct bfloat16;
}  // namespace Eigen

namespace cumulus::detail {

template <class S>
struct result_scalar_of {
  using type = S;
};
template <std::integral S>
struct result_scalar_of<S> {
  using type = double;
};

template <class T>
struct compute_scalar_of {
  using type = T;
};
template <>
struct compute_scalar_of<float> {
  using type = double;
};
template <>
struct compute_scalar_of<Eigen::half> {
  using type = double;
};
template <>
struct compute_scalar_of<Eigen::bfloat16> {
  using type = double;
};

/// The scalar of a result: that of the input, double for integers.
template <class S>
using result_scalar = typename result_scalar_of<S>::type;

/// The scalar that a result of type T is computed in before its one rounding to T: double for float
/// and the half types.
template <class T>
using compute_scalar = typename compute_scalar_of<T>::type;

template <class T>
[[nodiscard]] T unit_roundoff_of() {
  if constexpr (std::same_as<T, Eigen::half>) {
    return T(0x1p-11f);  // Eigen 3.4 has an epsilon of 2^-13 for it
  } else {
    return T(std::numeric_limits<T>::epsilon()) / T(2);
  }
}

/// Half the distance from 1 to the next number: the largest relative error of one operation.
template <class T>
inline const T unit_roundoff = unit_roundoff_of<T>();

template <class T>
inline const T infinity = std::numeric_limits<T>::infinity();

template <class T>
inline const T quiet_nan = std::numeric_limits<T>::quiet_NaN();

/// True for NaN. By comparison, so that it serves any scalar; quietly for the built-in ones, since an
/// ordered comparison with NaN raises FE_INVALID.
template <class T>
[[nodiscard]] constexpr bool is_nan(const T& x) noexcept {
  if constexpr (std::floating_point<T>) {
    return x != x;
  } else {
    return !(x <= x);
  }
}

/// True for a number that is neither NaN nor infinite; quietly for the built-in ones.
template <class T>
[[nodiscard]] constexpr bool is_finite(const T& x) noexcept {
#if defined(__GNUC__)
  if constexpr (std::floating_point<T>) return __builtin_isfinite(x);
#endif
  return x < infinity<T> && -infinity<T> < x;
}

template <class T>
[[nodiscard]] T absolute(const T& x) {
  return x < T(0) ? T(-x) : x;
}

/// The larger of two, NaN if either is NaN.
template <class T>
[[nodiscard]] constexpr T max_of(const T& a, const T& b) noexcept {
  return is_nan(a) || b < a ? a : b;
}

/// The smaller of two, NaN if either is NaN.
template <class T>
[[nodiscard]] constexpr T min_of(const T& a, const T& b) noexcept {
  return is_nan(a) || a < b ? a : b;
}

template <class T>
[[nodiscard]] T exponential(const T& x) {
  using std::exp;
  return T(exp(x));
}

template <class T>
[[nodiscard]] T logarithm(const T& x) {
  using std::log;
  return T(log(x));
}

template <class T>
[[nodiscard]] T square_root(const T& x) {
  using std::sqrt;
  return T(sqrt(x));
}

template <class T>
concept has_log1p = std::floating_point<T> || requires(const T& x) { log1p(x); };
template <class T>
concept has_expm1 = std::floating_point<T> || requires(const T& x) { expm1(x); };
template <class T>
concept has_binary_exponent = std::floating_point<T> || requires(const T& x, int e) {
  frexp(x, &e);
  ldexp(x, e);
};

/// log(1 + x), accurate near 0 for any scalar. Where the type brings none, the rounding error of 1
/// + x is added to first order; by a sum, so that the derivatives of an autodiff scalar stay right.
template <class T>
[[nodiscard]] T log_one_plus(const T& x) {
  using std::log1p;
  if constexpr (has_log1p<T>) {
    return T(log1p(x));
  } else {
    const T sum = T(1) + x;
    if (!is_finite(sum) || !(T(0) < sum)) return logarithm(sum);
    const T lost = x - (sum - T(1));
    return logarithm(sum) + lost / sum;
  }
}

/// e^x - 1, accurate near 0 for any scalar: where the type brings none, by its Taylor series within
/// 1/2.
template <class T>
[[nodiscard]] T exp_minus_one(const T& x) {
  using std::expm1;
  if constexpr (has_expm1<T>) {
    return T(expm1(x));
  } else {
    if (!(absolute(x) < T(0.5))) return exponential(x) - T(1);
    T term = x, sum = x;
    for (int k = 2; unit_roundoff<T> * absolute(sum) < absolute(term); ++k) {
      term = term * x / T(k);
      sum += term;
    }
    return sum;
  }
}

/// The e of |x| in [2^(e-1), 2^e) for a finite x other than 0; 0 where the scalar has no exponent.
template <class T>
[[nodiscard]] int binary_exponent(const T& x) {
  int e = 0;
  if constexpr (has_binary_exponent<T>) {
    using std::frexp;
    static_cast<void>(frexp(x, &e));
  }
  return e;
}

/// x 2^e, rounded once, to infinity or 0 where it does not fit.
template <class T>
[[nodiscard]] T times_power_of_two(const T& x, int e) {
  if constexpr (has_binary_exponent<T>) {
    using std::ldexp;
    return T(ldexp(x, e));
  } else {
    return x;
  }
}

}  // namespace cumulus::detail
