// SPDX-License-Identifier: MIT
//
// The terms of the expansions as text, LaTeX, Markdown and C++, their factorials multiplied out.
// Layer 3 (series): the polynomial is a parameter, so that a program which prints none compiles none of this.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cumulus::detail {

/// A positive integer without prime factors above 37, by their powers. Denominators reach 40!,
/// which no built-in integer holds.
class smooth_integer {
 public:
  /// Requires 1 <= factor <= 40.
  smooth_integer& operator*=(int factor) {
    for (std::size_t i = 0; i < primes.size(); ++i)
      for (; factor % primes[i] == 0; factor /= primes[i]) ++powers_[i];
    return *this;
  }

  /// Takes the common factors out of this and n.
  void cancel(std::int64_t& n) {
    for (std::size_t i = 0; i < primes.size(); ++i)
      for (; powers_[i] > 0 && n % primes[i] == 0; n /= primes[i]) --powers_[i];
  }

  [[nodiscard]] bool is_one() const { return *this == smooth_integer(); }

  /// All decimal digits.
  [[nodiscard]] std::string str() const {
    std::string digits = "1";  // the last first
    for (std::size_t i = 0; i < primes.size(); ++i) {
      for (int power = 0; power < powers_[i]; ++power) {
        int carry = 0;
        for (char& digit : digits) {
          carry += (digit - '0') * primes[i];
          digit = char('0' + carry % 10);
          carry /= 10;
        }
        for (; carry > 0; carry /= 10) digits += char('0' + carry % 10);
      }
    }
    return {digits.rbegin(), digits.rend()};
  }

  friend bool operator==(const smooth_integer&, const smooth_integer&) = default;

 private:
  static constexpr std::array<int, 12> primes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  std::array<int, 12> powers_{};
};

/// A coefficient, exact and without a common factor.
struct exact_fraction {
  std::int64_t numerator = 1;
  smooth_integer denominator;
};

/// The coefficient of y^j prod_k m_k^e_k, or of y^j prod_k mu_k^e_k.
///
/// The numerator only shrinks from the term's, and so fits.
template <class Polynomial>
[[nodiscard]] exact_fraction exact_coefficient(const typename Polynomial::monomial& t,
                                               typename Polynomial::symbols symbols) {
  exact_fraction f{t.numerator, {}};
  const auto divide_by_factorial = [&](int n) {
    for (; n > 1; --n) f.denominator *= n;
  };
  f.denominator *= int(t.denominator);
  divide_by_factorial(t.exponents[0]);
  constexpr int highest = int(std::tuple_size_v<decltype(t.exponents)>) - 1;
  for (int k = 2; k <= highest && symbols == Polynomial::symbols::mu; ++k)
    for (int i = 0; i < t.exponents[std::size_t(k)]; ++i) divide_by_factorial(k);
  f.denominator.cancel(f.numerator);
  return f;
}

/// How a language writes a polynomial.
template <class Polynomial>
struct term_style {
  std::string (*factor)(int k, int power, const Polynomial& p,
                        typename Polynomial::symbols symbols);
  std::string (*fraction)(const std::string& numerator, const std::string& denominator);
  const char* minus;
  const char* times;
};

template <class Polynomial>
[[nodiscard]] std::string written(const Polynomial& p, typename Polynomial::symbols symbols,
                                  const term_style<Polynomial>& style) {
  std::string out;
  for (const typename Polynomial::monomial& t : p) {
    const exact_fraction f = exact_coefficient<Polynomial>(t, symbols);
    const bool negative = f.numerator < 0;
    const std::string size = std::to_string(negative ? -f.numerator : f.numerator);
    std::string product;
    const auto times = [&](const std::string& factor) {
      product += (product.empty() ? "" : style.times) + factor;
    };
    if (!f.denominator.is_one())
      times(style.fraction(size, f.denominator.str()));
    else if (size != "1")
      times(size);
    for (int k = 0; k <= p.order(); ++k) {
      if (const int power = t.exponents[std::size_t(k)]; power > 0)
        times(style.factor(k, power, p, symbols));
    }
    if (product.empty()) product = "1";
    out += out.empty() ? (negative ? style.minus : "")
                       : " " + std::string(negative ? style.minus : "+") + " ";
    out += product;
  }
  return out.empty() ? "0" : out;
}

[[nodiscard]] inline std::string slash(const std::string& a, const std::string& b) {
  return a + "/" + b;
}

/// "m", "mu", and "y", or "x" about zero.
template <class Polynomial>
[[nodiscard]] std::string symbol_of(int k, const Polynomial& p,
                                    typename Polynomial::symbols symbols) {
  if (k == 0) return p.about() == Polynomial::origin::mean ? "y" : "x";
  return symbols == Polynomial::symbols::m ? "m" : "mu";
}

// What the members text(), latex(), markdown() and cpp() of a polynomial give.

template <class Polynomial>
[[nodiscard]] std::string terms_as_text(const Polynomial& p, typename Polynomial::symbols symbols) {
  const auto factor = [](int k, int power, const Polynomial& of, typename Polynomial::symbols s) {
    std::string out = symbol_of(k, of, s);
    if (k > 0) out += std::to_string(k) + (of.about() == Polynomial::origin::zero ? "'" : "");
    return power == 1 ? out : out + "^" + std::to_string(power);
  };
  return written<Polynomial>(p, symbols, {factor, slash, "-", " "});
}

template <class Polynomial>
[[nodiscard]] std::string terms_as_latex(const Polynomial& p,
                                         typename Polynomial::symbols symbols) {
  const auto factor = [](int k, int power, const Polynomial& of, typename Polynomial::symbols s) {
    std::string out = symbol_of(k, of, s);
    const bool prime = k > 0 && of.about() == Polynomial::origin::zero;
    if (out == "mu") out = "\\mu";
    if (k > 0) out += (prime ? "'_{" : "_{") + std::to_string(k) + "}";
    if (power == 1) return out;
    return (prime ? "{" + out + "}" : out) + "^{" + std::to_string(power) + "}";
  };
  const auto fraction = [](const std::string& a, const std::string& b) {
    return "\\frac{" + a + "}{" + b + "}";
  };
  return written<Polynomial>(p, symbols, {factor, fraction, "-", " "});
}

template <class Polynomial>
[[nodiscard]] std::string terms_as_markdown(const Polynomial& p,
                                            typename Polynomial::symbols symbols) {
  const auto factor = [](int k, int power, const Polynomial& of, typename Polynomial::symbols s) {
    const std::string name = symbol_of(k, of, s);
    std::string out = "*" + (name == "mu" ? "&mu;" : name) + "*";
    if (k > 0 && of.about() == Polynomial::origin::zero) out += "&prime;";
    if (k > 0) out += "<sub>" + std::to_string(k) + "</sub>";
    return power == 1 ? out : out + "<sup>" + std::to_string(power) + "</sup>";
  };
  return written<Polynomial>(p, symbols, {factor, slash, "&minus;", " "});
}

template <class Polynomial>
[[nodiscard]] std::string terms_as_cpp(const Polynomial& p, const std::string& name,
                                       typename Polynomial::symbols symbols) {
  const std::string moments = symbol_of(1, p, symbols), y = symbol_of(0, p, symbols);
  bool has_y = false, has_moments = false;
  std::string body;
  for (const typename Polynomial::monomial& t : p) {
    const exact_fraction f = exact_coefficient<Polynomial>(t, symbols);
    const bool negative = f.numerator < 0;
    std::string product = std::to_string(negative ? -f.numerator : f.numerator) + ".0";
    if (!f.denominator.is_one()) product += " / " + f.denominator.str() + ".0";
    if (product == "1.0") product.clear();
    for (int k = 0; k <= p.order(); ++k) {
      for (int i = 0; i < t.exponents[std::size_t(k)]; ++i) {
        product += product.empty() ? "" : " * ";
        product += k == 0 ? y : moments + "[" + std::to_string(k) + "]";
        (k == 0 ? has_y : has_moments) = true;
      }
    }
    body += negative ? "  sum -= " : "  sum += ";
    body += product.empty() ? "1.0" : product;
    body += ";\n";
  }
  const auto parameter = [](const std::string& type, const std::string& called, bool used) {
    return type + (used ? called : "/*" + called + "*/");
  };
  std::string out =
      "inline double " + name + "(" + parameter("const double* ", moments, has_moments);
  if (p.takes_y()) out += ", " + parameter("double ", y, has_y);
  return out + ") {\n  double sum = 0;\n" + body + "  return sum;\n}\n";
}

}  // namespace cumulus::detail
