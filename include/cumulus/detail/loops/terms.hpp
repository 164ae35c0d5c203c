// SPDX-License-Identifier: MIT
//
// The terms w_i e^{s x_i} of a softmax, and their ratios without overflow or the rounding of a
// shift.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/core/executor.hpp>
#include <cumulus/detail/core/constants.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/view.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// x - y as high + low. The rounding of a plain difference would cost e^(x-y) up to |x - y| u.
/// Requires finite y. Edges: x = -inf, or a difference below the least number, gives -inf.
template <class T>
[[nodiscard]] compensated<T> difference(const T& x, const T& y) noexcept {
  const T plain = x - y;
  const bool finite = is_finite(plain);
  // two_sum of finite numbers in either case: a compiler may evaluate it before it asks
  const compensated<T> exact = two_sum(finite ? x : T(0), finite ? T(-y) : T(0));
  return {finite ? exact.high : plain, exact.low};
}

/// s d as high + low; a high part that is not finite has no low one.
template <class T>
[[nodiscard]] compensated<T> scale_by(const T& s, const compensated<T>& d) noexcept {
  const T plain = s * d.high;
  if (!is_finite(plain)) return {plain, T(0)};
  compensated<T> product = two_product(s, d.high);
  product.low += s * d.low;
  return product;
}

/// e^(high + low). Requires high <= about log of the largest number.
/// Error   1.5 ulp and the error of the scalar's exp.
template <class T>
[[nodiscard]] T exponential(const compensated<T>& x) noexcept {
  const T power = cumulus::detail::exponential(x.high);
  return power + power * x.low;
}

/// The terms of a sum of exponentials, as the kernels take them: those of x, and the sink as one
/// more at the end.
///
/// A scale is split into its size and its sign, which x takes. A scale of 0 makes every x that is
/// not NaN a 0; an infinite one leaves the limit: the largest x become 0 and the others -inf, and
/// the sum is e^limit times as large, limit = scale times the largest x.
template <class S>
struct terms {
  using scalar = compute_scalar<S>;

  strided<const S> x;
  strided<const S> weights{};  ///< ones where data is null
  strided<const bool> mask{};  ///< all kept where data is null
  scalar scale = scalar(1);    ///< > 0 and finite, or NaN
  bool scaled = false;         ///< the scale is not 1
  bool negative = false;       ///< -x stands for x
  bool zero_scale = false;
  bool infinite_scale = false;
  scalar top = scalar(0);    ///< of an infinite scale: the largest x
  scalar limit = scalar(0);  ///< of an infinite scale: what is to be added to the log of the sum
  bool has_sink = false;
  scalar sink = scalar(0);
  double given_scale = 1;                 ///< as the caller gave it: the factor of derivatives
  scalar given_sink = -infinity<scalar>;  ///< as the caller gave it
  int threads = 1;                        ///< that a long row may be spread over
  executor on{};

  [[nodiscard]] index_t size() const noexcept { return x.size; }
  /// Nothing but x is given.
  [[nodiscard]] bool plain() const noexcept {
    return weights.data == nullptr && mask.data == nullptr && !scaled && !negative && !zero_scale &&
           !infinite_scale && !has_sink;
  }
  [[nodiscard]] index_t count() const noexcept { return x.size + (has_sink ? 1 : 0); }

  /// Whether term i takes part: kept by the mask, and of a weight other than 0.
  [[nodiscard]] bool takes_part(index_t i) const noexcept {
    if (i == size()) return true;
    if (mask.data != nullptr && !mask[i]) return false;
    return weights.data == nullptr || weights[i] < S(0) || S(0) < weights[i] || is_nan(weights[i]);
  }

  /// What the scale multiplies in the exponent of term i; of the sink, its exponent itself.
  [[nodiscard]] scalar exponent(index_t i) const noexcept {
    if (i == size()) return sink;
    const scalar value = negative ? scalar(-scalar(x[i])) : scalar(x[i]);
    if (zero_scale) return is_nan(value) ? value : scalar(0);
    if (infinite_scale && !is_nan(value)) return value < top ? -infinity<scalar> : scalar(0);
    return value;
  }

  [[nodiscard]] scalar weight(index_t i) const noexcept {
    return weights.data == nullptr || i == size() ? scalar(1) : scalar(weights[i]);
  }

  /// Leaves the terms w_i e^{x_i}.
  void drop_scale() noexcept {
    scale = scalar(1);
    scaled = negative = zero_scale = infinite_scale = has_sink = false;
  }

  /// log |w_i|
  [[nodiscard]] scalar log_weight(index_t i) const noexcept {
    return weights.data == nullptr || i == size() ? scalar(0) : logarithm(absolute(weight(i)));
  }
};

/// One term taken out of its sequence, so that it stays what it is while results overwrite x.
template <class T>
struct term {
  T exponent;
  T weight;
  T log_weight;
  bool is_sink;
};

template <class S>
[[nodiscard]] term<compute_scalar<S>> term_at(const terms<S>& t, index_t i) noexcept {
  return {t.exponent(i), t.weight(i), t.log_weight(i), i == t.size()};
}

/// The exponent of term i less that of another, the weights left out. Requires that the other is
/// finite.
///
/// The scale multiplies the difference, not its ends; where the difference overflows, that of the
/// halves.
template <class S>
[[nodiscard]] compensated<compute_scalar<S>> exponent_gap(
    const terms<S>& t, index_t i, const term<compute_scalar<S>>& other) noexcept {
  using T = compute_scalar<S>;
  const T x = t.exponent(i);
  if (t.has_sink && (i == t.size()) != other.is_sink) {
    const compensated<T> a = other.is_sink ? scale_by(t.scale, {x, T(0)}) : compensated<T>{x, T(0)};
    const compensated<T> b = other.is_sink ? compensated<T>{other.exponent, T(0)}
                                           : scale_by(t.scale, {other.exponent, T(0)});
    compensated<T> gap = difference(a.high, b.high);
    // the low parts of products may be more than the difference of their high parts
    if (is_finite(gap.high)) gap = two_sum(gap.high, T(gap.low + T(a.low - b.low)));
    return gap;
  }
  const compensated<T> d = difference(x, other.exponent);
  if (!t.scaled || other.is_sink) return d;
  if (is_finite(d.high) || !is_finite(x)) return scale_by(t.scale, d);
  const compensated<T> half = scale_by(t.scale, difference(T(x / 2), T(other.exponent / 2)));
  return {2 * half.high, 2 * half.low};
}

/// log |w_i| less that of another term, as the log of the ratio of fractions and a multiple of log 2.
/// Requires weights that are finite and not 0.
template <class S>
[[nodiscard]] compensated<compute_scalar<S>> log_weight_gap(
    const terms<S>& t, index_t i, const term<compute_scalar<S>>& other) noexcept {
  using T = compute_scalar<S>;
  const T w = t.weight(i);
  const int e = binary_exponent(w), other_e = binary_exponent(other.weight);
  const T fraction = times_power_of_two(w, -e) / times_power_of_two(other.weight, -other_e);
  compensated<T> gap = times_log_two(T(e - other_e));
  return gap += logarithm(absolute(fraction));
}

/// 2^extra w_i e^{s x_i} over another term. Requires finite terms and a result that does not overflow.
///
/// The ratio of the weights may leave the range of the scalar where that of the exponentials brings
/// it back, so its power of two joins the exponent, as a multiple of log 2.
/// Error   unweighted 1.5 ulp and the error of exp, weighted 2.5 ulp and the error of exp.
template <class S>
[[nodiscard]] compute_scalar<S> ratio(const terms<S>& t, index_t i,
                                      const term<compute_scalar<S>>& other,
                                      int extra = 0) noexcept {
  using T = compute_scalar<S>;
  compensated<T> gap = exponent_gap(t, i, other);
  T fraction(1);
  int power = extra;
  if (t.weights.data != nullptr) {
    const T w = t.weight(i);
    const int e = binary_exponent(w), other_e = binary_exponent(other.weight);
    fraction = times_power_of_two(w, -e) / times_power_of_two(other.weight, -other_e);
    power += e - other_e;
  }
  if (power != 0 && is_finite(gap.high)) gap += times_log_two(T(power));
  return t.weights.data == nullptr ? exponential(gap) : T(fraction * exponential(gap));
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
