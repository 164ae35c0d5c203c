// SPDX-License-Identifier: MIT
//
// Prints the terms of the expansions of logsumexp and softmax, with exact coefficients.
//
//   terms                             logsumexp to order 6, as text
//   terms --order 8 --format latex
//   terms --order 5 --function softmax --moments mu --format cpp >softmax_terms.hpp
//   terms --help
#include <cumulus/series.hpp>
#include <string>

#include "support/program.hpp"

namespace {

constexpr const char* help_foot = R"(Formats
  text      one line per order: c_4 = m4 - 1/2 m2^2
  latex     an align* environment
  markdown  a table
  cpp       one function per order and one for their sum; a C++ file that compiles

Examples
  terms --order 8 --format latex
  terms --function softmax --order 4 --moments mu
  terms --raw --order 3 --format markdown
  terms --order 12 --format cpp >terms.hpp)";

struct settings {
  int order = 6;
  std::string function = "logsumexp", moments = "m", format = "text";
  bool raw = false;
};

support::options command_line(settings& s) {
  support::options o("terms", "Prints the terms of the expansions of logsumexp and softmax.",
                     help_foot);
  o.whole("--order", s.order, 0, cumulus::max_terms_order, "N", "Highest order");
  o.choice("--function", s.function, {"logsumexp", "softmax"}, "NAME");
  o.choice("--moments", s.moments, {"m", "mu"}, "NAME",
           "m (default), moments over factorials; or mu, moments");
  o.flag("--raw", s.raw, "Moments about zero, not about the mean");
  o.choice("--format", s.format, {"text", "latex", "markdown", "cpp"}, "FORMAT");
  return o;
}

/// What is expanded, and what the symbols mean; each line after `comment`.
std::string definitions(const settings& s, const std::string& comment) {
  const bool softmax = s.function == "softmax", mu = s.moments == "mu";
  const std::string symbol = s.moments + (s.raw ? "_k'" : "_k");
  const std::string centred = s.raw ? "x^k" : "(x - mean)^k";
  std::string out = comment + (softmax ? "W softmax(x)_i / w_i = s_0 + s_1 + s_2 + ..\n"
                               : s.raw ? "logsumexp(x) = log W + c_1 + c_2 + c_3 + ..\n"
                                       : "logsumexp(x) = log W + mean + c_2 + c_3 + c_4 + ..\n");
  out += comment + symbol + " = E " + centred + (mu ? "" : " / k!") +
         ", E the mean with the weights w, W their sum\n";
  if (softmax) out += comment + (s.raw ? "x = x_i\n" : "y = x_i - mean\n");
  return out;
}

std::string run(const settings& s) {
  const bool softmax = s.function == "softmax";
  using polynomial = cumulus::exact_polynomial;
  const auto symbols = s.moments == "mu" ? polynomial::symbols::mu : polynomial::symbols::m;
  const auto about = s.raw ? polynomial::origin::zero : polynomial::origin::mean;
  const polynomial series =
      softmax ? cumulus::softmax_terms(s.order, about) : cumulus::logsumexp_terms(s.order, about);
  const std::string letter = softmax ? "s" : "c";
  const std::string call = softmax ? (s.raw ? ", x)" : ", y)") : ")";

  std::string out, sum;
  if (s.format == "text") out = definitions(s, "") + "\n";
  if (s.format == "latex") out = definitions(s, "% ") + "\\begin{align*}\n";
  if (s.format == "markdown") out = definitions(s, "    ") + "\n| order | term |\n|---:|:---|\n";
  if (s.format == "cpp")
    out = definitions(s, "// ") + "// entry k of " + s.moments +
          " is that of order k\n#pragma once\n";
  for (int k = softmax ? 0 : s.raw ? 1 : 2; k <= s.order; ++k) {
    const polynomial p = series.term(k);
    const std::string order = std::to_string(k);
    if (s.format == "text") out += letter + "_" + order + " = " + p.text(symbols) + "\n";
    if (s.format == "latex")
      out += letter + "_{" + order + "} &= " + p.latex(symbols) + (k < s.order ? " \\\\\n" : "\n");
    if (s.format == "markdown") out += "| " + order + " | " + p.markdown(symbols) + " |\n";
    if (s.format == "cpp") {
      const std::string name = s.function + "_" + order;
      out += "\n";
      out += p.cpp(name, symbols);
      sum += "  sum += " + name + "(" + s.moments + call + ";\n";
    }
  }
  if (s.format == "latex") out += "\\end{align*}\n";
  if (s.format == "cpp") {
    const std::string used = sum.empty() ? "/*" + s.moments + "*/" : s.moments;
    out += "\n/// All orders to " + std::to_string(s.order) + ".\ninline double " + s.function +
           "_to_" + std::to_string(s.order) + "(const double* " + used;
    if (softmax) out += s.raw ? ", double x" : ", double y";
    out += ") {\n  double sum = 0;\n" + sum + "  return sum;\n}\n";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// logsumexp(x) = log W + mean + c_2 + c_3 + c_4 + ..
// m_k = E (x - mean)^k / k!, E the mean with the weights w, W their sum
//
// c_2 = m2
// c_3 = m3
// c_4 = m4 - 1/2 m2^2
// c_5 = m5 - m2 m3
// c_6 = m6 - m2 m4 - 1/2 m3^2 + 1/3 m2^3
