// SPDX-License-Identifier: MIT
//
// The series of logsumexp and softmax up to an order, as polynomials with exact coefficients.
// Layer 3 (series): uses core, moments and series.
#pragma once

#include <cumulus/detail/series/terms_text.hpp>
#include <cumulus/series/cumulants.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>

namespace cumulus {

/// The highest order whose terms are listed.
inline constexpr int max_terms_order = 40;

/// A sum of terms in y and the moments, with exact coefficients: a range over its terms, from the lowest order up.
class exact_polynomial {
 public:
  /// The point that moments are taken about.
  enum class origin {
    mean,  ///< m_k = E (x - mean)^k / k!; the terms have no m_1
    zero,  ///< m_k = E x^k / k!
  };

  /// What the moments are written as.
  enum class symbols {
    m,   ///< m_k, the moment over k!
    mu,  ///< mu_k, the moment itself
  };

  /// numerator / denominator times y^j/j! with j = exponents[0], times prod_k m_k^exponents[k], k > 0.
  ///
  /// m_k and y^j/j! hold the factorials, so that the fractions are small: to order 40 they fit 64
  /// bits, which 21! does not. text() and its like multiply them out.
  struct monomial {
    /// Entry 0: the j of y^j/j!; entry k: the exponent of m_k.
    std::array<std::uint8_t, max_terms_order + 1> exponents{};
    /// The numerator of the coefficient; it carries the sign.
    std::int64_t numerator = 1;
    std::int64_t denominator = 1;  ///< > 0, without a common factor

    /// sum_k k exponents[k] + exponents[0]
    [[nodiscard]] int order() const noexcept {
      int sum = exponents[0];
      for (int k = 1; k <= max_terms_order; ++k) sum += k * exponents[std::size_t(k)];
      return sum;
    }
    friend bool operator==(const monomial&, const monomial&) = default;
  };

  /// `order` is the highest of the terms, or above.
  exact_polynomial(int order, origin about, bool takes_y, std::vector<monomial> terms)
      : order_(order), about_(about), takes_y_(takes_y), terms_(std::move(terms)) {}

  /// The order given to the constructor.
  [[nodiscard]] int order() const noexcept { return order_; }
  /// The point about which the moments are taken.
  [[nodiscard]] origin about() const noexcept { return about_; }
  /// Whether the polynomial is a softmax's, which takes y.
  [[nodiscard]] bool takes_y() const noexcept { return takes_y_; }

  /// The number of terms.
  [[nodiscard]] std::size_t size() const noexcept { return terms_.size(); }
  /// Whether the polynomial has no terms.
  [[nodiscard]] bool empty() const noexcept { return terms_.empty(); }
  /// An iterator to the first term.
  [[nodiscard]] auto begin() const noexcept { return terms_.begin(); }
  /// The iterator past the last term.
  [[nodiscard]] auto end() const noexcept { return terms_.end(); }
  /// Term i. Requires i < size(), unchecked.
  [[nodiscard]] const monomial& operator[](std::size_t i) const { return terms_[i]; }

  /// The terms of order k alone.
  [[nodiscard]] exact_polynomial term(std::integral auto k) const {
    detail::require_order("exact_polynomial::term", k, 0, order_, "the polynomial's order");
    const int wanted = static_cast<int>(k);
    std::vector<monomial> chosen;
    for (const monomial& t : terms_) {
      if (t.order() == wanted) chosen.push_back(t);
    }
    return {wanted, about_, takes_y_, std::move(chosen)};
  }

  /// The value at mu_k = E (x - mean)^k, or E x^k where the moments are about zero; y is the x -
  /// mean (or the x) of the softmax's entry.
  ///
  /// Shape   mu: entry k of order k, to the polynomial's order at least; entry 0 does not matter,
  ///         nor entry 1 about the mean. Any scalar with T(int), exact in a rational.
  /// Cost    at most order + 2 multiplications a term.
  template <class A>
    requires(!moments_like<A>)
  [[nodiscard]] scalar_of<A> evaluate(const A& mu, const scalar_of<A>& y = scalar_of<A>(0)) const {
    using T = scalar_of<A>;
    detail::require_order("exact_polynomial::evaluate", order_, 0, int(mu.size()) - 1,
                          "the order of the moments");
    return T(sum_at<detail::compute_scalar<T>>([&](std::size_t k) { return mu[k]; }, y));
  }

  /// At the moments of a sample.
  template <moments_like M>
  [[nodiscard]] typename M::scalar evaluate(
      const M& moments, const typename M::scalar& y = typename M::scalar(0)) const {
    using T = typename M::scalar;
    detail::require_order("exact_polynomial::evaluate", order_, 0, moments.order(),
                          "the order of the moments");
    const auto wide = detail::wide(moments);
    using S = typename decltype(wide)::scalar;
    std::vector<S> mu(std::size_t(order_) + 1);
    for (std::size_t k = 0; k < mu.size(); ++k) mu[k] = wide.moment(int(k));
    if (about_ == origin::zero) mu = detail::raw_from_central(mu, wide.mean());
    return T(sum_at<S>([&](std::size_t k) { return mu[k]; }, S(y)));
  }

  /// One line: `m4 - 1/2 m2^2`, `1/24 mu4 - 1/8 mu2^2`; moments about zero have a prime, `m4'`; 0
  /// where there is no term.
  [[nodiscard]] std::string text(symbols s = symbols::m) const {
    return detail::terms_as_text(*this, s);
  }

  /// For LaTeX's mathematics: `m_{4} - \frac{1}{2} m_{2}^{2}`.
  [[nodiscard]] std::string latex(symbols s = symbols::m) const {
    return detail::terms_as_latex(*this, s);
  }

  /// For Markdown, without an extension for mathematics: `*m*<sub>4</sub> - 1/2
  /// *m*<sub>2</sub><sup>2</sup>`.
  [[nodiscard]] std::string markdown(symbols s = symbols::m) const {
    return detail::terms_as_markdown(*this, s);
  }

  /// A function `inline double name(const double* m)`, of softmax `(const double* m, double y)`;
  /// entry k of m is m_k (of mu: mu_k). One statement a term.
  [[nodiscard]] std::string cpp(const std::string& name, symbols s = symbols::m) const {
    return detail::terms_as_cpp(*this, name, s);
  }

 private:
  /// An integer below 2^53 from parts that every scalar takes.
  template <class S>
  [[nodiscard]] static S number(std::int64_t value) {
    constexpr std::int64_t base = std::int64_t(1) << 27;
    return S(int(value / base)) * S(int(base)) + S(int(value % base));
  }

  template <class S, class Moment, class Y>
  [[nodiscard]] S sum_at(Moment mu, const Y& y) const {
    const std::size_t size = std::size_t(order_) + 1;
    std::vector<S> m(size, S(1)), powers(size, S(1));  // powers of y, over factorials
    S factorial(1);
    for (std::size_t k = 1; k < size; ++k) {
      factorial *= S(int(k));
      m[k] = S(mu(k)) / factorial;
      powers[k] = powers[k - 1] * S(y) / S(int(k));
    }
    S sum(0);
    for (const monomial& t : terms_) {
      S product = number<S>(t.numerator) * powers[t.exponents[0]];
      for (std::size_t k = 1; k < size; ++k)
        for (int i = 0; i < t.exponents[k]; ++i) product *= m[k];
      sum += product / number<S>(t.denominator);
    }
    return sum;
  }

  int order_;
  origin about_;
  bool takes_y_;
  std::vector<monomial> terms_;
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(exact_polynomial::origin about) noexcept {
  switch (about) {
    case exact_polynomial::origin::mean:
      return "mean";
    case exact_polynomial::origin::zero:
      return "zero";
  }
  return "unknown";
}

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(exact_polynomial::symbols symbols) noexcept {
  switch (symbols) {
    case exact_polynomial::symbols::m:
      return "m";
    case exact_polynomial::symbols::mu:
      return "mu";
  }
  return "unknown";
}

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
void each_partition(int rest, int least, int greatest, exact_polynomial::monomial& t, int factors,
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

/// The series of logsumexp up to this order, K_P = c_2 + c_3 + .. + c_P with c_k = kappa_k / k!: logsumexp(x) is log W + mean
/// + K_P + .., or about zero log W + c_1 + c_2 + ... `.term(k)` is c_k.
///
///     c_k = sum over partitions of k  (-1)^(r-1) (r-1)! prod_j m_j^e_j / e_j!,  r = sum e_j
///
/// Shape    order: 0..max_terms_order, about the mean 37338 terms at 40, of which c_40 has 6153. c_0 has none, c_1 one about
///          zero and none about the mean.
/// Cost     that of its terms: the partitions of each order, without parts 1 about the mean.
/// Source   log(1 + z) = sum (-1)^(r-1) z^r / r and the multinomial theorem.
[[nodiscard]] inline exact_polynomial logsumexp_terms(
    std::integral auto order, exact_polynomial::origin about = exact_polynomial::origin::mean) {
  detail::require_order("logsumexp_terms", order, 0, max_terms_order, "max_terms_order");
  using monomial = exact_polynomial::monomial;
  const int highest = int(order), least = about == exact_polynomial::origin::mean ? 2 : 1;
  std::vector<monomial> terms;
  for (int k = 1; k <= highest; ++k) {
    monomial scratch;
    detail::each_partition(
        k, least, k, scratch, 0, 1, [&](monomial t, int factors, std::int64_t arrangements) {
          const std::int64_t common = std::gcd(arrangements, std::int64_t(factors));
          t.numerator = (factors % 2 == 1 ? arrangements : -arrangements) / common;
          t.denominator = factors / common;
          terms.push_back(t);
        });
  }
  return {highest, about, false, std::move(terms)};
}

/// The truncated softmax of this degree, W softmax_i / w_i in y = x_i - mean (or x_i about zero): the terms of e^(ty) / M(t)
/// up to t^order. `.term(k)` is degree k's.
///
///     degree k: sum_j y^j/j! sum over partitions of k - j  (-1)^r r! prod_i m_i^e_i / e_i!,  r = sum e_i
///
/// Shape    order: 0..max_terms_order. exponents[0] is the power of y. About the mean degree 40 has 37338 terms.
/// Source   1/(1 + z) = sum (-1)^r z^r and the multinomial theorem.
[[nodiscard]] inline exact_polynomial softmax_terms(
    std::integral auto order, exact_polynomial::origin about = exact_polynomial::origin::mean) {
  detail::require_order("softmax_terms", order, 0, max_terms_order, "max_terms_order");
  using monomial = exact_polynomial::monomial;
  const int highest = int(order), least = about == exact_polynomial::origin::mean ? 2 : 1;
  std::vector<monomial> terms;
  for (int degree = 0; degree <= highest; ++degree) {
    for (int j = degree; j >= 0; --j) {
      monomial scratch;
      scratch.exponents[0] = std::uint8_t(j);
      detail::each_partition(degree - j, least, degree - j, scratch, 0, 1,
                             [&](monomial t, int factors, std::int64_t arrangements) {
                               t.numerator = factors % 2 == 0 ? arrangements : -arrangements;
                               terms.push_back(t);
                             });
    }
  }
  return {highest, about, true, std::move(terms)};
}

}  // namespace cumulus
