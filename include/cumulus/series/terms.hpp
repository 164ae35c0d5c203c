// SPDX-License-Identifier: MIT
//
// The terms of each order of logsumexp and softmax, as polynomials with exact coefficients.
// Layer 3 (series): uses core, moments and series; terms_text prints them.
#pragma once

#include <cumulus/series/cumulants.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace cumulus {

/// The highest order whose terms are listed.
inline constexpr int max_terms_order = 40;

/// The point that moments are taken about.
enum class moments_about {
  mean,  ///< m_k = E (x - mean)^k / k!; the terms have no m_1
  zero,  ///< m_k = E x^k / k!
};

/// numerator / denominator times y^j/j! with j = exponents[0], times prod_k m_k^exponents[k], k >
/// 0.
///
/// m_k and y^j/j! hold the factorials, so that the fractions are small: to order 40 they fit 64
/// bits, which 21! does not. terms_text.hpp multiplies them out.
struct expansion_term {
  std::array<std::uint8_t, max_terms_order + 1> exponents{};
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;  ///< > 0, without a common factor

  friend bool operator==(const expansion_term&, const expansion_term&) = default;
};

/// A sum of terms of one order: sum_k k exponents[k] + exponents[0] is that order in each.
class exact_polynomial {
 public:
  exact_polynomial(int order, moments_about about, bool takes_y, std::vector<expansion_term> terms)
      : order_(order), about_(about), takes_y_(takes_y), terms_(std::move(terms)) {}

  [[nodiscard]] int order() const noexcept { return order_; }
  [[nodiscard]] moments_about about() const noexcept { return about_; }
  /// Whether it is one of softmax's.
  [[nodiscard]] bool takes_y() const noexcept { return takes_y_; }

  [[nodiscard]] std::size_t size() const noexcept { return terms_.size(); }
  [[nodiscard]] bool empty() const noexcept { return terms_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return terms_.begin(); }
  [[nodiscard]] auto end() const noexcept { return terms_.end(); }
  [[nodiscard]] const expansion_term& operator[](std::size_t i) const { return terms_[i]; }

  /// The value at mu_k = E (x - mean)^k, or E x^k where the moments are about zero; y is the x -
  /// mean (or the x) of the softmax's entry.
  ///
  /// Shape   mu: entry k of order k, to the polynomial's order at least; entry 0 does not matter,
  ///         nor entry 1 about the mean. Any scalar with T(int), exact in a rational.
  /// Cost    at most order + 2 multiplications a term.
  template <detail::coefficients A>
  [[nodiscard]] detail::coefficient_of<A> evaluate(
      const A& mu, const detail::coefficient_of<A>& y = detail::coefficient_of<A>(0)) const {
    using T = detail::coefficient_of<A>;
    detail::require_order("exact_polynomial::evaluate", order_, 0, int(mu.size()) - 1,
                  "the order of the moments");
    return T(sum_at<detail::compute_scalar<T>>(mu, y));
  }

  /// At the moments of a sample.
  template <class T, int P>
  [[nodiscard]] T evaluate(const central_moments<T, P>& moments, const T& y = T(0)) const {
    detail::require_order("exact_polynomial::evaluate", order_, 0, moments.order(),
                  "the order of the moments");
    const auto wide = detail::wide(moments);
    using S = typename decltype(wide)::scalar;
    std::vector<S> mu(std::size_t(order_) + 1);
    for (std::size_t k = 0; k < mu.size(); ++k) mu[k] = wide.moment(int(k));
    if (about_ == moments_about::zero) mu = detail::raw_from_central(mu, wide.mean());
    return T(sum_at<S>(mu, S(y)));
  }

 private:
  /// An integer below 2^53 from parts that every scalar takes.
  template <class S>
  [[nodiscard]] static S number(std::int64_t value) {
    constexpr std::int64_t base = std::int64_t(1) << 27;
    return S(int(value / base)) * S(int(base)) + S(int(value % base));
  }

  template <class S, class A, class Y>
  [[nodiscard]] S sum_at(const A& mu, const Y& y) const {
    const std::size_t size = std::size_t(order_) + 1;
    std::vector<S> m(size, S(1)), powers(size, S(1));  // powers of y, over factorials
    S factorial(1);
    for (std::size_t k = 1; k < size; ++k) {
      factorial *= S(int(k));
      m[k] = S(mu[k]) / factorial;
      powers[k] = powers[k - 1] * S(y) / S(int(k));
    }
    S sum(0);
    for (const expansion_term& t : terms_) {
      S product = number<S>(t.numerator) * powers[t.exponents[0]];
      for (std::size_t k = 1; k < size; ++k)
        for (int i = 0; i < t.exponents[k]; ++i) product *= m[k];
      sum += product / number<S>(t.denominator);
    }
    return sum;
  }

  int order_;
  moments_about about_;
  bool takes_y_;
  std::vector<expansion_term> terms_;
};

namespace detail {

/// n over k; exact for n <= 40.
[[nodiscard]] constexpr std::int64_t binomial(int n, int k) noexcept {
  std::int64_t value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// Calls visit(exponents, factors, arrangements) for every way to write `rest` as a sum of parts
/// from `least` to `greatest`, the largest parts first. The arrangements, factors! / prod e_k!,
/// count the ordered sums, of which an n has 2^(n-1): every one fits.
template <class Visit>
void each_partition(int rest, int least, int greatest, expansion_term& t, int factors,
                    std::int64_t arrangements, const Visit& visit) {
  if (rest == 0) return visit(t, factors, arrangements);
  for (int part = std::min(rest, greatest); part >= least; --part) {
    for (int count = rest / part; count > 0; --count) {
      t.exponents[std::size_t(part)] = std::uint8_t(count);
      each_partition(rest - part * count, least, part - 1, t, factors + count,
                     arrangements * binomial(factors + count, count), visit);
    }
    t.exponents[std::size_t(part)] = 0;
  }
}

}  // namespace detail

/// The terms of c_k = kappa_k / k!, k the order: the series of logsumexp(x) is log W + mean + c_2 +
/// c_3 + ..., or log W + c_1 + c_2 + .. about zero.
///
///     c_k = sum over partitions of k  (-1)^(r-1) (r-1)! prod_j m_j^e_j / e_j!,  r = sum e_j
///
/// Shape    order: 0..max_terms_order, about the mean 6153 terms at 40. c_0 has none, c_1 one about
///          zero and none about the mean.
/// Cost     that of its terms: the partitions of the order, without parts 1 about the mean.
/// Source   log(1 + z) = sum (-1)^(r-1) z^r / r and the multinomial theorem.
[[nodiscard]] inline exact_polynomial logsumexp_terms(std::integral auto order,
                                                      moments_about about = moments_about::mean) {
  detail::require_order("logsumexp_terms", order, 0, max_terms_order, "max_terms_order");
  const int k = int(order);
  std::vector<expansion_term> terms;
  expansion_term scratch;
  const int least = about == moments_about::mean ? 2 : 1;
  detail::each_partition(
      k, least, k, scratch, 0, 1, [&](expansion_term t, int factors, std::int64_t arrangements) {
        if (factors == 0) return;
        const std::int64_t common = std::gcd(arrangements, std::int64_t(factors));
        t.numerator = (factors % 2 == 1 ? arrangements : -arrangements) / common;
        t.denominator = factors / common;
        terms.push_back(t);
      });
  return {k, about, false, std::move(terms)};
}

/// The terms of degree `order` of W softmax_i / w_i: of t^order in e^(ty) / M(t), y = x_i - mean
/// (or x_i about zero). Those of degrees 0..P add up to the truncated softmax of degree P.
///
///     sum_j y^j/j! sum over partitions of order - j  (-1)^r r! prod_k m_k^e_k / e_k!,  r = sum e_k
///
/// Shape    order: 0..max_terms_order. exponents[0] is the power of y. About the mean 37338 terms
///          at 40.
/// Source   1/(1 + z) = sum (-1)^r z^r and the multinomial theorem.
[[nodiscard]] inline exact_polynomial softmax_terms(std::integral auto order,
                                                    moments_about about = moments_about::mean) {
  detail::require_order("softmax_terms", order, 0, max_terms_order, "max_terms_order");
  const int degree = int(order);
  std::vector<expansion_term> terms;
  const int least = about == moments_about::mean ? 2 : 1;
  for (int j = degree; j >= 0; --j) {
    expansion_term scratch;
    scratch.exponents[0] = std::uint8_t(j);
    detail::each_partition(degree - j, least, degree - j, scratch, 0, 1,
                           [&](expansion_term t, int factors, std::int64_t arrangements) {
                             t.numerator = factors % 2 == 0 ? arrangements : -arrangements;
                             terms.push_back(t);
                           });
  }
  return {degree, about, true, std::move(terms)};
}

}  // namespace cumulus
