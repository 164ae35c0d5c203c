// SPDX-License-Identifier: MIT
//
// log-sum-exp of complex numbers.
// Layer 2 (exact): uses core, loops and rows.
#pragma once

#include <cumulus/core/concepts.hpp>
#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cmath>

namespace cumulus {

/// A vector of complex numbers: an Eigen vector expression, or a range whose size is known, of std::complex.
template <class Z>
concept complex_vector =
    (detail::eigen_vector<Z> || detail::sequence<Z>) && detail::is_complex<detail::element_of<Z>>;

namespace detail {

/// y to (-pi, pi].
template <class R>
[[nodiscard]] R principal_argument(const R& y) {
  const R pi = std::acos(R(-1));
  const R wrapped = std::remainder(y, 2 * pi);
  return wrapped <= -pi ? pi : wrapped;
}

/// log sum e^{z_i} of elements read by at(i).
/// C: std::complex, which its elements bring, since <complex> is 20,000 lines.
template <class C, class At>
[[nodiscard]] C log_sum_of_complex(index_t n, At at) {
  using R = typename C::value_type;
  index_t peak = -1;
  bool infinite = false, invalid = false;
  R direction = R(0);  // of the terms whose real part is +inf
  for (index_t i = 0; i < n; ++i) {
    const R a = at(i).real(), b = at(i).imag();
    if (a == -infinity<R>) continue;  // e^-inf is 0 whatever its argument
    if (is_nan(a) || !is_finite(b)) {
      invalid = invalid || !(a == infinity<R>);
      if (a == infinity<R>) direction = quiet_nan<R>, infinite = true;
    } else if (a == infinity<R>) {
      direction = !infinite || direction == b ? b : quiet_nan<R>;
      infinite = true;
    } else if (peak < 0 || at(peak).real() < a) {
      peak = i;
    }
  }
  if (invalid) return C{quiet_nan<R>, quiet_nan<R>};
  if (infinite)
    return C{infinity<R>, is_nan(direction) ? direction : principal_argument(direction)};
  if (peak < 0) return C{-infinity<R>, R(0)};
  const C top = at(peak);
  compensated<R> real, imaginary;
  for (index_t i = 0; i < n; ++i) {
    if (i == peak || at(i).real() == -infinity<R>) continue;
    const R size = std::exp(at(i).real() - top.real()), angle = at(i).imag() - top.imag();
    real += size * std::cos(angle);
    imaginary += size * std::sin(angle);
  }
  const R a = real.value(), b = imaginary.value();
  if (a == R(-1) && b == R(0)) return C{-infinity<R>, R(0)};
  const R log_size = std::abs(a) < R(0.5) && std::abs(b) < R(0.5)
                         ? std::log1p(a * (2 + a) + b * b) / 2
                         : std::log(std::hypot(1 + a, b));
  return C{top.real() + log_size, principal_argument(R(top.imag() + std::atan2(b, 1 + a)))};
}

}  // namespace detail

/// log sum_i e^{z_i}, its imaginary part in (-pi, pi].
///
/// Shape    z: [n], n >= 0; std::complex of a built-in scalar.
/// Edges    a real part of -inf takes no part, whatever the imaginary part (C99, G.6.3.1); nothing
///          else gives (-inf, 0), as does a sum of 0. One real part of +inf gives +inf and its
///          argument, several that differ give a NaN argument. NaN, and an infinite imaginary part
///          beside a finite real one, give NaN.
/// Error    4 ulp of max(1, max |z|) where the terms do not cancel.
/// Cost     two reads of z; n exp, sin and cos.
template <complex_vector Z>
[[nodiscard]] scalar_of<Z> logsumexp(const Z& z) {
  using C = scalar_of<Z>;
  if constexpr (detail::eigen_dense<Z>) {
    const auto& values = z.derived().eval();
    return detail::log_sum_of_complex<C>(index_t(z.size()), [&](index_t i) { return values[i]; });
  } else if constexpr (detail::contiguous_sequence<Z>) {
    return detail::log_sum_of_complex<C>(index_t(std::size(z)),
                                         [&](index_t i) { return std::data(z)[i]; });
  } else {
    const detail::array_of<C> values = detail::copied(z);
    return detail::log_sum_of_complex<C>(values.size(), [&](index_t i) { return values[i]; });
  }
}

}  // namespace cumulus
