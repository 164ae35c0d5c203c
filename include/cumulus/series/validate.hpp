// SPDX-License-Identifier: MIT
//
// Whether a sample can have these moments at all.
// Layer 3 (series): uses core and moments.
//
// mu_0, mu_1, .. are the moments of a law only if every Hankel matrix (mu_{i+j}) is non-negative, since
// E (sum a_i y^i)^2 is; and of a law on [min, max] only if that of E y^k (y - min)(max - y) is too. The
// pivots of its elimination are products beta_1 .. beta_k of the law's recurrence, which Chebyshev's
// algorithm gives. All is computed in balls, so that no rounding makes moments impossible; a pivot that
// may be 0 ends the search, as it does for a sample of few points.
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/detail/series/expansion.hpp>
#include <cstdio>
#include <optional>

namespace cumulus {

/// The first moment that no sample can have together with the moments before: its order and the
/// reason.
struct moment_fault {
  /// The order of that moment.
  int order = 0;
  /// What is wrong with that moment, as the end of a sentence.
  const char* reason = "";
};

namespace detail {

template <class T>
[[nodiscard]] ball<T> quotient(const ball<T>& a, const ball<T>& b) {
  const T least = absolute(b.middle) - b.radius, value = a.middle / b.middle;
  return {value, T((a.radius + absolute(value) * b.radius) / least * (1 + 8 * unit_roundoff<T>)+4 *
                   unit_roundoff<T> * absolute(value))};
}

/// The first order 2k whose pivot is surely negative. s: s_0 .. s_top, s_0 above 0.
template <class T>
[[nodiscard]] std::optional<int> negative_pivot(std::vector<ball<T>> here) {
  const int top = int(here.size()) - 1;
  std::vector<ball<T>> above(here.size(), ball<T>(T(0)));
  ball<T> beta(T(0));
  if (!(here[0].radius < here[0].middle)) {
    if (here[0].middle + here[0].radius < T(0)) return 0;
    return std::nullopt;
  }
  ball<T> before(T(0));  // sigma_{k-2,k-1} / sigma_{k-2,k-2}
  for (int k = 1; 2 * k <= top; ++k) {
    const std::size_t i = std::size_t(k);
    const ball<T> last = here[i - 1], ratio = quotient(here[i], last), alpha = ratio - before;
    for (int l = k; l + k <= top; ++l) {
      const std::size_t j = std::size_t(l);
      const ball<T> next = here[j + 1] - alpha * here[j] - beta * above[j];
      above[j] = here[j];
      here[j] = next;
    }
    if (here[i].middle + here[i].radius < T(0)) return 2 * k;
    if (!(here[i].radius < here[i].middle)) return std::nullopt;
    beta = quotient(here[i], last);
    before = ratio;
  }
  return std::nullopt;
}

/// What is wrong with E z^k, k = 0..top, z_0 about 1.
template <class T>
[[nodiscard]] std::optional<moment_fault> fault_of(const std::vector<ball<T>>& z) {
  for (std::size_t k = 0; k < z.size(); ++k) {
    const int order = int(k);
    if (!is_finite(z[k].middle) || !is_finite(z[k].radius))
      return moment_fault{order, "is not finite"};
    if (k == 0 && !(T(0) < z[0].middle)) return moment_fault{order, "is not above 0"};
    if (k % 2 == 0 && z[k].middle + z[k].radius < T(0))
      return moment_fault{order, "is even and negative"};
    const bool none = z.size() > 2 && !(z[2].middle + z[2].radius > T(0));
    if (none && k > 0 && z[k].radius < absolute(z[k].middle))
      return moment_fault{order, "is not 0 where the second is"};
  }
  if (const auto order = negative_pivot(z))
    return moment_fault{*order, "leaves a Hankel determinant negative"};
  return std::nullopt;
}

template <class T>
[[noreturn]] void refuse_moment(const moment_fault& fault, const T& value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  refuse({"validate: moment ", fault.order, " = ", text, " ", fault.reason,
          ": no sample has these moments"});
}

}  // namespace detail

/// What is wrong with the moments mu_0, .., mu_P about any origin: nothing, or the first of them that
/// no sample can have.
///
/// Shape     [P + 1], P >= 0; mu_0 above 0 (1, or a weight).
/// Edges     a moment that is not finite is a fault.
/// Error     each moment may be off by `roundings` u max(1, k) of sqrt(mu_{k-1} mu_{k+1}) or itself:
///           within that nothing is called impossible, so that near the border some impossible
///           moments pass, the more the higher the order.
/// Cost      about 20 P^2 operations, an allocation.
template <real_vector A>
[[nodiscard]] std::optional<moment_fault> find_moment_fault(const A& moments, int roundings = 64) {
  using T = result_of<A>;
  const detail::operand<T> values(moments);
  const auto number = [&](std::size_t k) { return values.view()[index_t(k)]; };
  const std::size_t size = std::size_t(values.size());
  std::vector<detail::ball<T>> z(size);
  if (size == 0) return moment_fault{0, "is missing"};
  // in units of sqrt(mu_2), so that orders compare
  const T spread = size > 2 && T(0) < number(2) && detail::is_finite(number(2)) && T(0) < number(0)
                       ? detail::square_root(T(number(2) / number(0)))
                       : T(1);
  T unit(1);
  std::vector<T> scaled(size);
  for (std::size_t k = 0; k < size; ++k) {
    scaled[k] = number(k) / unit;
    unit *= spread;
  }
  for (std::size_t k = 0; k < size; ++k) {
    T scale = detail::absolute(scaled[k]);
    if (k % 2 == 1 && k + 1 < size && T(0) < scaled[k - 1] && T(0) < scaled[k + 1])
      scale = detail::max_of(
          scale, T(detail::square_root(scaled[k - 1]) * detail::square_root(scaled[k + 1])));
    z[k] = {scaled[k], T(T(roundings) * T(int(k) + 1) * detail::unit_roundoff<T> * scale)};
  }
  return detail::fault_of(z);
}

/// The check for an accumulated sample, with its range: E y^k (y - min)(max - y) must be moments
/// too.
template <moments_like M>
[[nodiscard]] std::optional<moment_fault> find_moment_fault(const M& moments) {
  const auto wide = detail::wide(moments);
  using S = typename decltype(wide)::scalar;
  if (wide.empty()) return std::nullopt;
  if (!detail::is_finite(wide.mean()) || !detail::is_finite(wide.weight()))
    return moment_fault{0, "is not finite"};
  const detail::moment_summary<S> s = detail::summary_of(wide);
  if (s.high < s.low || S(0) < s.low || s.high < S(0)) {
    const S slip = 8 * detail::unit_roundoff<S> * s.loss *
                   (detail::absolute(s.low) + detail::absolute(s.high));
    if (s.high < s.low || slip < s.low || s.high < -slip)
      return moment_fault{1, "is outside the range"};
  }
  if (!(S(0) < s.range)) {
    for (int k = 2; k <= s.held; ++k) {
      if (s.m[std::size_t(k)].radius < detail::absolute(s.m[std::size_t(k)].middle))
        return moment_fault{k, "is not 0 where all values are equal"};
    }
    return std::nullopt;
  }
  std::vector<detail::ball<S>> z, inside;
  S unit(1);
  for (int k = 0; k <= s.held; ++k) {
    z.push_back(s.m[std::size_t(k)] / unit);
    z.back().radius += S(2 * k) * detail::unit_roundoff<S> * detail::absolute(z.back().middle);
    unit *= s.range / 2 / S(k + 1);
    if (!(std::numeric_limits<S>::min() < unit)) break;
  }
  if (const auto fault = detail::fault_of(z)) return fault;
  const S slip = 8 * detail::unit_roundoff<S> * s.loss;
  const detail::ball<S> low(S(2 * s.low / s.range), slip), high(S(2 * s.high / s.range), slip);
  for (std::size_t k = 0; k + 2 < z.size(); ++k)
    inside.push_back((low + high) * z[k + 1] - z[k + 2] - low * high * z[k]);
  if (inside.empty()) return std::nullopt;
  if (const auto order = detail::negative_pivot(inside))
    return moment_fault{*order + 2, "is too large for the range"};
  return std::nullopt;
}

/// Throws std::invalid_argument that names the first moment that no sample can have, if there is one.
template <real_vector A>
void validate(const A& mu, int roundings = 64) {
  using T = result_of<A>;
  if (const auto fault = find_moment_fault(mu, roundings)) {
    const detail::operand<T> values(mu);
    detail::refuse_moment(*fault,
                          fault->order < values.size() ? values.view()[fault->order] : T(0));
  }
}

/// Throws std::invalid_argument as above, for accumulated moments and the range of the sample.
template <moments_like M>
void validate(const M& moments) {
  if (const auto fault = find_moment_fault(moments))
    detail::refuse_moment(
        *fault, fault->order <= moments.order() ? moments.moment(fault->order) : moments.mean());
}

}  // namespace cumulus
