// SPDX-License-Identifier: MIT
//
// Where the Taylor series of a sample's logsumexp really stops converging: the zero of M nearest to 0.
// Layer 3 (series): uses core and moments.
//
// K = log M is analytic in t up to the nearest zero of M(t) = E e^{ty}, which is entire. Zeros within a
// circle are counted by the turns of M along it (the argument principle); M is real and positive on the
// real axis and M(conj t) = conj M(t), so half a circle suffices and each turn is a pair of zeros. A step
// ds may be taken where |M| > |ds| sup |M'|: then M stays in a disc that leaves 0 out, and its angle is
// known. The circle is narrowed around the first pair, Newton's method finds it, and two certificates
// remain: no zero within the circle just inside, and, by Rouche's theorem, a zero within `error` of the
// one found: |M' d| > |M| + d^2/2 sup |M''|.
#pragma once

#include <cumulus/detail/series/expansion.hpp>
#include <cumulus/series/logsumexp_series.hpp>

namespace cumulus {

/// The radius of convergence of a sample's series in t, with the numbers that certify the radius.
template <class T>
struct series_radius {
  T radius{};  ///< |t| of the nearest zero; +inf for constant data. Above 1: the series converges
  T real{};    ///< the real part of the zero; NaN where no zero is within reach
  /// The imaginary part of the zero.
  T imaginary{};
  T residual{};   ///< |M| there, as a part of M(real): a rounding error
  T error{};      ///< a zero lies within this distance of it; +inf where that is not proved
  T certified{};  ///< no zero has a smaller |t|, at least the guaranteed pi / range
};

namespace detail {

/// M of a sample in units of s = t range/2, from its moments, with its error.
template <class S>
class moment_function {
 public:
  struct value {
    S real, imaginary, slope_real, slope_imaginary;  // M, M'
    S size;                                          // M(real part), from above
  };

  explicit moment_function(const moment_summary<S>& s) : held_(s.held) {
    const S h = s.range / 2;
    reach_ = max_of(S(-s.low), s.high) / h;
    S unit(1);
    for (int k = 0; k <= held_; ++k) {
      const std::size_t i = std::size_t(k);
      c_[i] = s.m[i].middle / unit;
      r_[i] = s.m[i].radius / unit + S(2 * k + 4) * unit_roundoff<S> * absolute(c_[i]);
      if (k >= held_ - 1) last_ = max_of(last_, S(absolute(c_[i]) + r_[i]));
      unit *= h;
    }
  }

  /// At most |error of M| for |s| <= rho: rounding, and the moments that are not held.
  [[nodiscard]] S error(const S& rho) const {
    S sum(0), power(1);
    for (int k = 0; k <= held_; ++k) {
      sum += power *
             (r_[std::size_t(k)] + S(2 * held_) * unit_roundoff<S> * absolute(c_[std::size_t(k)]));
      if (k < held_) power *= rho;
    }
    const S ratio = rho * reach_ / S(held_ + 1);
    return ratio < S(0.9) ? S(sum + last_ * power * ratio / (1 - ratio)) : infinity<S>;
  }

  [[nodiscard]] value at(const S& a, const S& b) const {
    value v{S(0), S(0), S(0), S(0), S(0)};
    for (int k = held_; k >= 0; --k) {
      const S dr = v.slope_real * a - v.slope_imaginary * b + v.real;
      v.slope_imaginary = v.slope_real * b + v.slope_imaginary * a + v.imaginary;
      v.slope_real = dr;
      const S r = v.real * a - v.imaginary * b + c_[std::size_t(k)];
      v.imaginary = v.real * b + v.imaginary * a;
      v.real = r;
      v.size = v.size * a + c_[std::size_t(k)];
    }
    return v;
  }

  [[nodiscard]] const S& reach() const { return reach_; }

 private:
  int held_;
  S reach_, last_ = S(0);
  std::array<S, max_series_order + 1> c_{}, r_{};
};

/// How many zeros with a positive imaginary part |s| < rho has; -1 where M is too small to tell. near_a,
/// near_b: where |M| / |M'| was least.
template <class S>
[[nodiscard]] int zeros_within(const moment_function<S>& m, const S& rho, S& near_a, S& near_b) {
  using std::atan2;
  using std::cos;
  using std::sin;
  const S error = m.error(rho), pi = atan2(S(0), S(-1));
  S angle(0), turned(0), nearest = infinity<S>;
  auto here = m.at(rho, S(0));
  for (int step = 0; step < 50000; ++step) {
    const S size = square_root(S(here.real * here.real + here.imaginary * here.imaginary)) - error;
    const S slope = square_root(
        S(here.slope_real * here.slope_real + here.slope_imaginary * here.slope_imaginary));
    if (!(S(0) < size) || !(error < infinity<S>)) return -1;
    if (size < nearest * slope) {
      nearest = size / slope;
      near_a = rho * cos(angle);
      near_b = rho * sin(angle);
    }
    if (!(angle < pi)) {
      const S turns = turned / (2 * pi);
      int count = 0;
      while (S(count) + S(0.5) < turns) ++count;
      return absolute(S(turns - S(count))) < S(0.01) ? count : -1;
    }
    // |M'| <= reach M(a) e^{reach |ds|} along the step
    const S steepest = m.reach() * (here.size + error);
    S ds = min_of(S(S(0.3) / m.reach()), S(S(0.6) * size / steepest));
    if (!(rho * S(1e-9) < ds)) return -1;
    const S next_angle = min_of(pi, S(angle + ds / rho));
    const auto next = m.at(rho * cos(next_angle), S(rho * sin(next_angle)));
    turned += atan2(S(here.real * next.imaginary - here.imaginary * next.real),
                    S(here.real * next.real + here.imaginary * next.imaginary));
    angle = next_angle;
    here = next;
  }
  return -1;
}

/// In units of s; radius <= 0 where no zero was found within reach.
template <class S>
[[nodiscard]] series_radius<S> nearest_zero(const moment_function<S>& m) {
  const S none = quiet_nan<S>;
  using std::acos;
  S low = S(acos(S(-1)) / 2) * (1 - 8 * unit_roundoff<S>), high = low, a(0), b(0);
  series_radius<S> out{S(0), none, none, none, infinity<S>, low};
  int count = 0;
  const auto counted = [&](S& rho) {  // a circle through a zero is widened a little
    int found = -1;
    for (int attempt = 0; attempt < 4 && found < 0; ++attempt) {
      if (attempt > 0) rho *= S(1.003);
      found = zeros_within(m, rho, a, b);
    }
    return found;
  };
  while (count == 0 && high < S(40)) {
    S next = high * S(1.2);
    count = counted(next);
    if (count < 0) break;
    if (count == 0) low = next;
    high = next;
  }
  out.certified = low;
  if (count <= 0) return out;
  for (int i = 0; i < 9 && S(1.002) * low < high; ++i) {
    S middle = square_root(S(low * high));
    const int within = counted(middle);
    if (within < 0 || !(middle < high)) break;
    (within == 0 ? low : high) = middle;
  }
  out.certified = low;
  // Newton from where M was least on the two circles
  for (S start : {low, high}) {
    if (zeros_within(m, start, a, b) < 0) continue;
    for (int i = 0; i < 60; ++i) {
      const auto v = m.at(a, b);
      const S slope = v.slope_real * v.slope_real + v.slope_imaginary * v.slope_imaginary;
      const S da = (v.real * v.slope_real + v.imaginary * v.slope_imaginary) / slope;
      const S db = (v.imaginary * v.slope_real - v.real * v.slope_imaginary) / slope;
      a -= da;
      b -= db;
      if (!(8 * unit_roundoff<S> * (absolute(a) + absolute(b)) < absolute(da) + absolute(db)))
        break;
    }
    const S rho = square_root(S(a * a + b * b));
    if (!(low * S(0.999) < rho) || !(rho < high * S(1.001))) continue;
    if (S(0) < out.radius && !(rho < out.radius)) continue;
    out.radius = rho;
    out.real = a;
    out.imaginary = absolute(b);
  }
  if (!(S(0) < out.radius)) return out;
  const auto v = m.at(out.real, out.imaginary);
  const S error = m.error(out.radius), size = v.size + error, reach = m.reach();
  const S left = square_root(S(v.real * v.real + v.imaginary * v.imaginary)) + error;
  const S slope =
      square_root(S(v.slope_real * v.slope_real + v.slope_imaginary * v.slope_imaginary));
  out.residual = left / size;
  const S d = 2 * left / slope;
  if (d * reach < S(1) && left + d * d / 2 * reach * reach * size * S(2.8) < slope * d)
    out.error = d;
  for (const S gap : {S(1e-6), S(1e-4), S(1e-2)}) {
    const S inside = out.radius * (1 - gap);
    if (inside < low || zeros_within(m, inside, a, b) != 0) continue;
    out.certified = inside;
    break;
  }
  return out;
}

template <class T, class M>
[[nodiscard]] series_radius<T> radius_of(M moments) {
  using S = typename M::scalar;
  const T none = quiet_nan<T>;
  if (moments.empty() || !is_finite(moments.mean())) return {none, none, none, none, none, none};
  S range = moments.max() - moments.min();
  if (!(S(0) < range)) {
    const T all = infinity<T>;
    return {all, none, none, T(0), T(0), all};
  }
  const int e = -binary_exponent(range);  // to a range of about 1, exactly
  moments.affine(times_power_of_two(S(1), e), S(0));
  const moment_summary<S> s = summary_of(moments);
  const series_radius<S> z = nearest_zero(moment_function<S>(s));
  const S unit = 2 / s.range;  // s = t range / 2
  const auto scaled = [&](const S& value) { return T(times_power_of_two(S(value * unit), e)); };
  return {S(0) < z.radius ? scaled(z.radius) : scaled(z.certified),
          scaled(z.real),
          scaled(z.imaginary),
          T(z.residual),
          scaled(z.error),
          scaled(z.certified)};
}

}  // namespace detail

/// The actual radius of convergence: the |t| of the zero of M(t) = E e^{t (x - mean)} nearest to 0. The
/// series of logsumexp (at t = 1) and of softmax converge if it is above 1.
///
/// Shape     x: [n]; weights: [n]. Or moments: the more orders the farther it sees,
///           up to about four times pi / range with 32, eight times with 64.
/// Units     1 / x.
/// Edges     constant data: +inf. No data, or an element that is not finite: NaN. Where the zero is out
///           of reach, or cannot be told from noise: its place is NaN, the radius what is certified.
/// Error     `error` bounds the distance of the zero from a true one, `certified` is a radius within
///           which there is none; both allow for the rounding of the moments.
/// Cost      two reads of x at order 64; some milliseconds.
/// Source    the argument principle, Newton's method, Rouche's theorem, as above.
template <moments_like M>
[[nodiscard]] series_radius<typename M::scalar> convergence_radius(const M& moments) {
  return detail::radius_of<typename M::scalar>(detail::wide(moments));
}

/// The radius of a vector, with weights.
template <real_vector X>
[[nodiscard]] series_radius<result_of<X>> convergence_radius(
    const X& x, const weight_options<result_of<X>>& o = {}) {
  using T = result_of<X>;
  const detail::operand<T> values(x);
  detail::require_weights("convergence_radius", values.size(), o.weights);
  const auto m = detail::moments_of<dynamic>(values.view(), o.weights.view(), max_series_order);
  return detail::radius_of<T>(detail::wide(m));
}

}  // namespace cumulus
