// SPDX-License-Identifier: MIT
//
// What a program says about input it cannot use: where, what is wrong, how to mend it; in one line.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

/// Line and column, both from 1. Columns count characters, in a binary file bytes (all on line 1).
/// A complaint about a whole file stands at 1:1.
struct place {
  std::size_t line = 1;
  std::size_t column = 1;

  friend bool operator==(const place&, const place&) = default;
};

/// `text` without control characters, so that it stays on one line.
inline std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

/// `text` in quotes, cut after 40 bytes but never within a UTF-8 character.
inline std::string in_quotes(std::string_view text) {
  std::size_t end = 40;
  const bool cut = text.size() > end;
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string out(1, '\'');
  out += one_line(text.substr(0, end));
  return out += cut ? "...'" : "'";
}

/// Unusable input. what() reads "FILE:LINE:COLUMN: what is wrong; how to mend it".
class input_error : public std::runtime_error {
 public:
  input_error(std::string_view file, place where, std::string_view wrong, std::string_view mend)
      : std::runtime_error(one_line(std::string(file) + ":" + std::to_string(where.line) + ":" +
                                    std::to_string(where.column) + ": " + std::string(wrong) +
                                    "; " + std::string(mend))),
        where_(where) {}

  [[nodiscard]] place where() const noexcept { return where_; }

 private:
  place where_;
};

}  // namespace support
