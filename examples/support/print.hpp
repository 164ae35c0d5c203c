// SPDX-License-Identifier: MIT
//
// Numbers as text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

namespace support {

/// `value` by a printf format of one double; infinities and NaN alike on every system.
inline std::string number(double value, const char* format) {
  if (std::isnan(value)) return "nan";
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// The shortest text that reads back as `value`.
inline std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace support
