// SPDX-License-Identifier: MIT
//
// One number from text, whatever the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "support/input_error.hpp"

namespace support {

/// The double nearest to `text`; nothing where `text` is not one number or does not fit a double.
///
/// Decimal (-1.5e-3, +2, .5, 7.) of any length, hexadecimal as printf's %a writes it (0x1.8p3), and
/// inf, infinity, nan in any case. What is too small for a double is 0, as rounding says.
inline std::optional<double> parse_number(std::string_view text) {
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const bool negative = has_sign && text[0] == '-';
  std::string_view digits = text.substr(has_sign ? 1 : 0);
  std::chars_format format = std::chars_format::general;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    if (std::string_view("0123456789abcdefABCDEF.").find(digits[2]) == std::string_view::npos)
      return std::nullopt;
    format = std::chars_format::hex;
    digits.remove_prefix(2);
  }
  if (digits.empty() || digits[0] == '-') return std::nullopt;  // from_chars would take the sign
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, format);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {  // too large, or so small that it is 0
    value = std::abs(std::strtod(std::string(text).c_str(), nullptr));
    if (value > 1) return std::nullopt;
  }
  return negative ? -value : value;
}

/// How to mend a `text` that parse_number refuses.
inline std::string number_advice(std::string_view text) {
  const auto is = [&](std::string_view word) {
    return text.size() == word.size() &&
           std::equal(text.begin(), text.end(), word.begin(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  };
  const auto only = [&](std::string_view set) {
    return text.find_first_not_of(set) == std::string_view::npos;
  };
  if (text.empty() || is("na") || is("n/a") || is("null") || is("none") || is("-") || is("?"))
    return "write nan for a missing value, or remove its line";
  if (only("0123456789+-.eE,")) {
    if (text.find(',') != std::string_view::npos) return "write a decimal point and no commas";
    return "write a number such as -1.25e3, at most 1.797e308 in size (inf is allowed)";
  }
  if (only("0123456789+-.eE, \t;"))
    return "put one number on a line, or separate columns by commas and choose one";
  if (text.find("\xE2\x88\x92") != std::string_view::npos) return "write an ASCII minus sign, -";
  return "correct it, or begin the line with # to leave it out";
}

}  // namespace support
