// SPDX-License-Identifier: MIT
//
// Estimates of the cumulants and central moments that a sample was drawn from, without bias.
// Layer 2 (moments): uses core.
//
// n is the total of the weights, so that weights count repetitions (frequency weights). A total that
// is no whole number gives NaN. Reliability weights are not for these functions: their estimates need
// the sums of w^2..w^r, which moments do not hold.
#pragma once

#include <cumulus/moments/central_moments.hpp>

namespace cumulus {

/// What the Error lines promise and their tests assert, for moments of a range without weights: at
/// most this many u r of the sum of the sizes of the terms, with sum |y|^p / n for a moment p.
inline constexpr int unbiased_max_roundings = 8;

namespace detail {

/// A sample as the estimates read it, in double where it was accumulated in float.
template <class M>
class unbiased_sample {
  using S = compute_scalar<typename M::scalar>;

 public:
  using scalar = std::conditional_t<std::same_as<S, float>, double, S>;

  explicit unbiased_sample(const M& moments) : moments_(wide(moments)) {}

  [[nodiscard]] scalar mean() const { return scalar(moments_.mean()); }
  /// mu_k.
  [[nodiscard]] scalar moment(int k) const { return scalar(moments_.moment(k)); }
  /// mu_k / mu_2^(k/2).
  [[nodiscard]] scalar ratio(int k) const { return scalar(moments_.standardized_moment(k)); }
  /// ratio mu_2^(r/2); 0 for constant data, whose ratios are NaN.
  [[nodiscard]] scalar times_power(const scalar& ratio, int r) const {
    const scalar variance = moment(2);
    if (!(scalar(0) < variance) && !is_nan(variance)) return scalar(0);
    scalar product = r % 2 == 0 ? ratio : scalar(ratio * square_root(variance));
    for (int i = 0; i < r / 2; ++i) product *= variance;
    return product;
  }
  /// n; NaN where it is no whole number, or below `least`.
  [[nodiscard]] scalar size(int least) const {
    const scalar n(moments_.weight());
    if (!(scalar(least) <= n)) return quiet_nan<scalar>;
    if constexpr (std::floating_point<scalar>) {
      if (std::floor(n) < n) return quiet_nan<scalar>;
    }
    return n;
  }

 private:
  decltype(wide(std::declval<const M&>())) moments_;
};

/// k-statistics to order 6, coefficients of order 1 as n grows; requires 1 <= r <= 6 and moments to r.
template <class Sample>
[[nodiscard]] typename Sample::scalar k_statistic_of(const Sample& s, int r) {
  using S = typename Sample::scalar;
  const S n = s.size(r);
  if (is_nan(n)) return n;
  const auto less = [&](int k) { return S(n - S(k)); };
  const S a = n / less(r > 1 ? 1 : 0);
  if (r == 1) return s.mean();
  if (r == 2) return a * s.moment(2);
  const S b = n / less(2);
  if (r == 3) return a * b * s.moment(3);
  const S g4 = s.ratio(4), c = b * (n / less(3));
  if (r == 4) return s.times_power(c * ((n + S(1)) / less(1) * g4 - S(3)), r);
  const S g3 = s.ratio(3), g5 = s.ratio(5);
  if (r == 5) return s.times_power(c * (n / less(4)) * ((n + S(5)) / less(1) * g5 - S(10) * g3), r);
  const S d = less(1), factor = c * (d / less(4)) * (d / less(5));
  const S w6 = (n + S(1)) / d * ((n * (n + S(15)) - S(4)) / (d * d)), w4 = S(15) * (n + S(4)) / d,
          w3 = S(10) * (n * d + S(4)) / (d * d), w2 = S(30) * (n / d) * (less(2) / d);
  return s.times_power(factor * (w6 * s.ratio(6) - w4 * g4 - w3 * g3 * g3 + w2), r);
}

/// h-statistics to order 6; requires 0 <= r <= 6 and moments to r.
template <class Sample>
[[nodiscard]] typename Sample::scalar unbiased_moment_of(const Sample& s, int r) {
  using S = typename Sample::scalar;
  const S n = s.size(r < 1 ? 1 : r);
  if (is_nan(n)) return n;
  if (r < 2) return S(1 - r);
  if (r < 4) return k_statistic_of(s, r);
  const auto less = [&](int k) { return S(n - S(k)); };
  const S a = n / less(1), g4 = s.ratio(4);
  if (r == 4) {
    const S under = less(2) * less(3);
    const S w4 = (n * less(2) + S(3)) / under, w2 = S(3) * (S(2) * n - S(3)) / under;
    return s.times_power(a * (w4 * g4 - w2), r);
  }
  const S g3 = s.ratio(3), g5 = s.ratio(5);
  if (r == 5) {
    const S under = less(3) * less(4);
    const S w5 = (n * less(5) + S(10)) / under, w3 = S(10) * less(2) / under;
    return s.times_power(a * (n / less(2)) * (w5 * g5 - w3 * g3), r);
  }
  const S under = less(2) * less(3) * less(4) * less(5);
  const S w6 = (n * (n * (n * less(9) + S(31)) - S(39)) + S(40)) / under,
          w4 = S(15) * (n * (n * less(8) + S(29)) - S(40)) / under,
          w3 = S(40) * (n * less(6) + S(10)) / under, w2 = S(15) * n * (S(3) * n - S(10)) / under;
  return s.times_power(a * (w6 * s.ratio(6) - w4 * g4 - w3 * g3 * g3 + w2), r);
}

inline constexpr int most_unbiased_order = 6;

inline void require_unbiased_order(const char* function, std::integral auto r, int lowest,
                                   int held) {
  const bool all = held >= most_unbiased_order;
  require_order(function, r, lowest, all ? most_unbiased_order : held,
                all ? "no formula is here for more" : "the order held");
}

}  // namespace detail

/// The k-statistic k_r: over all samples of n values its mean is the cumulant kappa_r.
///
/// Shape    r: 1..6, at most the order of the moments.
/// Units    x^r
/// Edges    n < r, or no whole number: NaN. Constant data: 0 for r >= 2.
/// Error    unbiased_max_roundings.
/// Source   R. Fisher, Proc. London Math. Soc. 30 (1930) 199-238; scipy.stats.kstat to r = 4.
template <class T, int P>
[[nodiscard]] T k_statistic(const central_moments<T, P>& moments, std::integral auto r) {
  detail::require_unbiased_order("k_statistic", r, 1, moments.order());
  return T(detail::k_statistic_of(detail::unbiased_sample(moments), static_cast<int>(r)));
}

/// An estimate without bias of the variance of k_r over all samples of n values: k_2 / n, and
/// (2 n k_2^2 + (n - 1) k_4) / (n (n + 1)). Its root is the standard error of k_statistic.
///
/// Shape    r: 1 or 2, of moments to the order 2 r.
/// Units    x^2r
/// Edges    n < 2 r, or no whole number: NaN. That of k_2 may be negative for small n.
/// Error    unbiased_max_roundings, with 2 r for r.
/// Source   as scipy.stats.kstatvar; A. Stuart, J. K. Ord, Kendall's Advanced Theory of Statistics 1,
///          6th ed. 1994, 12.
template <class T, int P>
[[nodiscard]] T k_statistic_variance(const central_moments<T, P>& moments, std::integral auto r) {
  const bool both = moments.order() >= 4;
  detail::require_order("k_statistic_variance", r, 1, both ? 2 : moments.order() / 2,
                        both ? "no formula is here for more" : "half the order held");
  const detail::unbiased_sample s(moments);
  using S = typename decltype(s)::scalar;
  const S n = s.size(2), k2 = detail::k_statistic_of(s, 2);
  if (r == 1) return T(k2 / n);
  const S k4 = detail::k_statistic_of(s, 4);
  return T(S(2) / (n + S(1)) * k2 * k2 + (n - S(1)) / (n + S(1)) * (k4 / n));
}

/// The h-statistic h_r: over all samples of n values its mean is the central moment mu_r. That of
/// r = 2 is the variance divided by n - 1.
///
/// Shape    r: 0..6, at most the order of the moments.
/// Units    x^r
/// Edges    n < r, or no whole number: NaN. Constant data: 0 for r >= 1.
/// Error    unbiased_max_roundings.
/// Source   P. Dwyer, Ann. Math. Stat. 8 (1937) 21-65; C. Rose, M. Smith, Mathematical Statistics
///          with Mathematica, 2002, 7.2.
template <class T, int P>
[[nodiscard]] T unbiased_moment(const central_moments<T, P>& moments, std::integral auto r) {
  detail::require_unbiased_order("unbiased_moment", r, 0, moments.order());
  return T(detail::unbiased_moment_of(detail::unbiased_sample(moments), static_cast<int>(r)));
}

/// k_3 / k_2^1.5 = g_1 sqrt(n (n - 1)) / (n - 2): a ratio of estimates without bias. Without bias
/// itself for normal data.
///
/// Edges    n < 3, or no whole number: NaN, and for constant data.
/// Error    unbiased_max_roundings of sum |y|^3 / (n sigma^3), with r = 3.
/// Source   as scipy.stats.skew(x, bias=False).
template <class T, int P>
[[nodiscard]] T unbiased_skewness(const central_moments<T, P>& moments) {
  detail::require_order("unbiased_skewness", 3, 0, moments.order(), "the order held");
  const detail::unbiased_sample s(moments);
  using S = typename decltype(s)::scalar;
  const S n = s.size(3);
  return T(s.ratio(3) * (detail::square_root(S(n / (n - S(2)))) *
                         detail::square_root(S((n - S(1)) / (n - S(2))))));
}

/// k_4 / k_2^2 + 3: a ratio of estimates without bias. 3 is for a normal law, as in kurtosis(), so
/// that it is not the excess.
///
/// Edges    n < 4, or no whole number: NaN, and for constant data.
/// Error    unbiased_max_roundings, with r = 4.
/// Source   as scipy.stats.kurtosis(x, fisher=False, bias=False).
template <class T, int P>
[[nodiscard]] T unbiased_kurtosis(const central_moments<T, P>& moments) {
  detail::require_order("unbiased_kurtosis", 4, 0, moments.order(), "the order held");
  const detail::unbiased_sample s(moments);
  using S = typename decltype(s)::scalar;
  const S n = s.size(4), d = n - S(1);
  return T(d / (n - S(2)) * (((n + S(1)) * s.ratio(4) - S(3) * d) / (n - S(3))) + S(3));
}

}  // namespace cumulus
