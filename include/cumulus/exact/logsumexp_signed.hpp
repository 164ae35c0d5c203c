// SPDX-License-Identifier: MIT
//
// log-sum-exp with weights of either sign, however far they cancel.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/core/signed_log.hpp>
#include <cumulus/detail/exact/arguments.hpp>
#include <cumulus/detail/loops/exact_exp_sum.hpp>
#include <cumulus/detail/loops/signed_exp_sum.hpp>
#include <vector>

namespace cumulus {

/// What the Error line promises and its test asserts, in ulp of log_abs.
inline constexpr int logsumexp_signed_max_ulp = 4;

/// The most words behind the point that a sum is computed with, of 32 bits: where terms cancel even
/// further, the answer is NaN. One cancelled difference of two doubles takes at most 34.
inline constexpr int logsumexp_signed_max_words = 256;

/// What a call may say besides x and the weights: `{.mask = keep, .scale = s}`, as in
/// core/options.hpp.
struct signed_options {
  vector_option<bool> mask{};  ///< true keeps; all kept if not given
  double scale = 1;            ///< multiplies x
};

namespace detail {

/// More and more words until the error is small enough: `enough(value)`. An infinite error if that
/// takes too many.
template <class S, class T, class Enough>
[[nodiscard]] kernels::wide_value<T> sum_until(const kernels::exact_exp_sum<S>& sum, const T& shift,
                                               int subtracted, Enough enough) {
  std::vector<kernels::word> scratch;
  for (std::size_t fraction = 4; fraction <= logsumexp_signed_max_words; fraction *= 2) {
    scratch.resize(sum.scratch_words(fraction));
    const auto value = sum.evaluate(shift, subtracted, fraction, scratch);
    if (enough(value)) return value;
  }
  return {0, T(0), 0, infinity<double>};
}

/// log |sum| and its sign from the bits of the terms. Requires that none is +inf or NaN, `kept` the
/// positions of those that are not 0.
///
/// The sum is first computed as far as its sign takes, then what is left of it when e^log_abs is
/// subtracted, or 1 where that is close: log_abs + log1p of that is the answer, and exact to one
/// rounding.
template <class S>
[[nodiscard]] signed_log<compute_scalar<S>> exact_signed_sum(const kernels::terms<S>& t,
                                                             std::vector<index_t> kept) {
  using T = compute_scalar<S>;
  constexpr int digits = std::numeric_limits<T>::digits;
  std::sort(kept.begin(), kept.end(),
            [&](index_t a, index_t b) { return t.exponent(b) < t.exponent(a); });
  const kernels::exact_exp_sum<S> sum(t, kept);
  std::vector<kernels::word> scratch(sum.scratch_words(0));
  const auto leader = sum.leading(scratch);
  if (leader.sign == 0) return {-infinity<T>, T(0)};
  const T top = T(t.scale * t.exponent(leader.position));
  if (!is_finite(top)) return {top, T(leader.sign)};

  const T shift = sum.largest_exponent(scratch);
  const auto rough =
      sum_until(sum, shift, 0, [](const auto& v) { return v.relative_bits() <= -3; });
  if (rough.sign == 0) return {quiet_nan<T>, quiet_nan<T>};
  const T twos = T(rough.exponent) * logarithm(T(2)), log_fraction = logarithm(rough.fraction);
  const T log_scaled = twos + log_fraction;
  T log_abs = shift + log_scaled;
  const T rounding = T(2) + 2 * (absolute(twos) + absolute(log_fraction)) + absolute(log_scaled);
  if (rough.relative_bits() <= -(digits + 6) && rounding <= 3 * absolute(log_abs))
    return {log_abs, T(rough.sign)};
  if (absolute(log_abs) < T(1) / 4) log_abs = T(0);
  const bool near_zero = !(log_abs < T(0) || T(0) < log_abs);
  const auto left = sum_until(sum, log_abs, rough.sign, [&](const auto& v) {
    return near_zero ? v.relative_bits() <= -(digits + 3) ||
                           v.error_bits <= std::numeric_limits<T>::min_exponent - digits - 3
                     : v.error_bits <= binary_exponent(log_abs) - (digits + 4);
  });
  if (left.error_bits == infinity<double>) return {quiet_nan<T>, quiet_nan<T>};
  return {log_abs + log_one_plus(T(T(rough.sign) * left.value())), T(rough.sign)};
}

/// An infinite scale leaves the largest x whose weights do not cancel.
template <class S>
[[nodiscard]] signed_log<compute_scalar<S>> signed_sum_limit(kernels::terms<S> t,
                                                             std::vector<index_t> kept) {
  using T = compute_scalar<S>;
  T top = -infinity<T>;
  while (!kept.empty()) {
    top = -infinity<T>;
    for (const index_t i : kept) top = max_of(top, t.exponent(i));
    std::vector<index_t> tied, others;
    for (const index_t i : kept) (t.exponent(i) < top ? others : tied).push_back(i);
    t.zero_scale = true;
    const signed_log<T> total = exact_signed_sum(t, std::move(tied));
    t.zero_scale = false;
    if (total.sign < T(0) || T(0) < total.sign) {
      if (top < T(0)) break;
      return {T(0) < top ? infinity<T> : total.log_abs, total.sign};
    }
    kept = std::move(others);
  }
  return {-infinity<T>, T(0)};
}

}  // namespace detail

/// log |sum_i w_i e^{scale x_i}| and the sign of that sum.
///
/// Shape    x, w, mask: [n], n >= 0.
/// Units    x and log_abs in nats.
/// Edges    nothing kept, all -inf, or weights that cancel at every x give (-inf, 0); +inf, or a
///          weight of +-inf on a finite x, give (inf, its sign), both signs of it (NaN, NaN); so do
///          a kept NaN and a weight of +-inf on -inf; a weight of 0 removes its term whatever it
///          holds.
/// Error    the sign is exact, log_abs within logsumexp_signed_max_ulp, near 0 too; NaN beyond
///          logsumexp_signed_max_words. For scalars whose bits cannot be taken apart (autodiff),
///          that of logsumexp times sum |w| e^x / |sum|; those without a fused multiply-add round
///          scale x.
/// Cost     up to three reads of x and 2n exp; where terms cancel or the result is close to 0, a
///          sort and some 4 us a term more, allocated index included; growing with the cube of the
///          digits lost.
template <real_vector X, real_vector W>
[[nodiscard]] signed_log<result_of<X>> logsumexp_signed(const X& x, const W& w,
                                                        const signed_options& o = {}) {
  using S = result_of<X>;
  using T = detail::compute_scalar<S>;
  const detail::operand<S> values(x), weights(w);
  detail::require_same_size("logsumexp_signed", "x", values.size(), "w", weights.size());
  if (o.mask.given())
    detail::require_same_size("logsumexp_signed", "x", values.size(), "mask", o.mask.size());
  const auto rounded = [](const signed_log<T>& v) -> signed_log<S> {
    return {S(v.log_abs), S(v.sign)};
  };
  const bool limit =
      !(detail::absolute(o.scale) < detail::infinity<double>) && !detail::is_nan(o.scale);
  const double scale = !limit ? o.scale : o.scale < 0 ? -1.0 : 1.0;
  const auto t =
      detail::make_terms(values.view(), weights.view(), o.mask.view(), scale, false, 0.0);
  const detail::kernels::signed_sum<T> plain = detail::kernels::signed_exp_sum(t);
  const T value = plain.value.log_abs;
  if constexpr (detail::kernels::has_words<T>) {
    if (plain.error <= T(0) && !(limit && detail::is_finite(value))) return rounded(plain.value);
    const bool zero = !(value < T(0) || T(0) < value);
    const T ulp = zero ? T(0)
                       : detail::times_power_of_two(T(std::numeric_limits<S>::epsilon()) / 2,
                                                    detail::binary_exponent(value));
    const T least = T(std::numeric_limits<S>::denorm_min());
    if (!limit && plain.error <= detail::max_of(least, T(3 * ulp))) return rounded(plain.value);
    std::vector<index_t> kept;
    for (index_t i = 0; i < t.size(); ++i) {
      if (t.takes_part(i) && -detail::infinity<T> < t.exponent(i)) kept.push_back(i);
    }
    return rounded(limit ? detail::signed_sum_limit(t, std::move(kept))
                         : detail::exact_signed_sum(t, std::move(kept)));
  } else {
    return rounded(plain.value);
  }
}

// clang-format off
// Refused: each line says what to write instead.
template <class X, class W, class... Rest>
  requires(detail::untagged_matrix<X> || detail::untagged_matrix<W>)
void logsumexp_signed(const X&, const W&, const Rest&...) = delete;  // cumulus: logsumexp_signed takes vectors: give a row or column of the matrix
template <class X, class W, class... Rest>
  requires(detail::foreign_array<X> || detail::foreign_array<W>)
void logsumexp_signed(const X&, const W&, const Rest&...) = delete;  // cumulus: this is neither an Eigen type nor a range: give a view, such as Eigen::Map or std::span
template <class X, class W, class... Rest>
  requires(detail::without_numbers<X> || detail::without_numbers<W>)
void logsumexp_signed(const X&, const W&, const Rest&...) = delete;  // cumulus: an argument holds bool or characters, which are no numbers
// clang-format on

}  // namespace cumulus
