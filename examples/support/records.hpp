// SPDX-License-Identifier: MIT
//
// Text as records of fields: one number a line, or a table as RFC 4180 describes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/input_error.hpp"

namespace support {

/// A field without its quotes and outer blanks, and where it begins.
struct field {
  std::string text;
  place where;
};

/// Walks text record by record.
///
/// Fields are separated by the first of tab, semicolon and comma that the first record holds.
/// A field may stand in double quotes and then hold separators, line ends and "" for a quote.
/// Lines end in LF, CRLF or CR; the last may lack its end; a UTF-8 byte order mark is skipped.
/// Blank lines are skipped, and so is a comment: # at the start of a line or after a blank.
class records {
 public:
  records(std::string_view text, std::string file)
      : records(without_mark(text), std::move(file), text.empty()) {}

  /// The same of a text whose byte order mark was removed.
  records(std::string_view text, std::string file, bool nothing)
      : text_(text), file_(std::move(file)), nothing_(nothing) {
    if (skip_to_record()) separator_ = find_separator(text_.substr(at_));
  }

  /// A later part of a text, which begins at a line's beginning, with the separator found before.
  records(std::string_view text, std::string file, place at, char separator)
      : text_(text), file_(std::move(file)), where_(at), separator_(separator) {}

  [[nodiscard]] static std::string_view without_mark(std::string_view text) noexcept {
    return text.substr(text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0);
  }

  /// The next record, or false at the end. Throws input_error at a quote that does not close.
  bool next(std::vector<field>& record) {
    record.clear();
    if (!skip_to_record()) return false;
    do {
      record.push_back(next_field());
    } while (take(separator_));
    if (at_comment()) skip_line();
    skip_line_end();
    return true;
  }

  [[nodiscard]] char separator() const noexcept { return separator_; }
  [[nodiscard]] place where() const noexcept { return where_; }

  /// Where the next record is looked for, in bytes (without a byte order mark).
  [[nodiscard]] std::size_t position() const noexcept { return at_; }
  /// Whether there is no text at all.
  [[nodiscard]] bool nothing() const noexcept { return nothing_; }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t'; }
  static bool line_end(char c) { return c == '\n' || c == '\r'; }

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return done() ? '\0' : text_[at_]; }
  [[nodiscard]] bool at_line_end() const { return done() || line_end(peek()); }
  [[nodiscard]] bool at_comment() const {
    if (peek() != '#' || at_ == 0) return peek() == '#';
    const char before = text_[at_ - 1];
    return line_end(before) || (blank(before) && before != separator_);
  }

  void advance() {
    const char c = text_[at_++];
    if (c == '\n' || (c == '\r' && peek() != '\n')) {
      where_ = {where_.line + 1, 1};
    } else if ((static_cast<unsigned char>(peek()) & 0xC0) != 0x80) {  // a character ends here
      ++where_.column;
    }
  }

  bool take(char c) {
    if (done() || peek() != c) return false;
    advance();
    return true;
  }

  void skip_line() {
    while (!at_line_end()) advance();
  }

  void skip_line_end() {
    take('\r');
    take('\n');
  }

  void skip_blanks() {
    while (!done() && blank(peek()) && peek() != separator_) advance();
  }

  /// Past blank lines and comments to the start of the next record; false at the end of the text.
  bool skip_to_record() {
    while (!done()) {
      std::size_t first = at_;
      while (first < text_.size() && blank(text_[first])) ++first;
      if (first < text_.size() && text_[first] != '#' && !line_end(text_[first])) return true;
      skip_line();
      skip_line_end();
    }
    return false;
  }

  field next_field() {
    skip_blanks();
    field result{{}, where_};
    if (take('"')) {
      while (!take('"') || peek() == '"') {
        if (done())
          throw input_error(file_, result.where, "this quote never closes", "add the second \"");
        result.text += peek();
        advance();
      }
      skip_blanks();
      if (!at_line_end() && peek() != separator_ && !at_comment())
        throw input_error(file_, where_, "text after a closing quote",
                          "write a quote within quotes twice, as \"\"");
    } else {
      while (!at_line_end() && peek() != separator_ && !at_comment()) {
        result.text += peek();
        advance();
      }
      while (!result.text.empty() && blank(result.text.back())) result.text.pop_back();
    }
    return result;
  }

  static char find_separator(std::string_view text) {
    std::string bare;  // the first record, less what stands in quotes and outer blanks
    bool in_quotes = false;
    for (std::size_t i = 0; i < text.size() && (in_quotes || !line_end(text[i])); ++i) {
      if (text[i] == '"') in_quotes = !in_quotes;
      if (!in_quotes && text[i] == '#' && i > 0 && blank(text[i - 1])) break;
      if (!in_quotes && (!bare.empty() || !blank(text[i]))) bare += text[i];
    }
    while (!bare.empty() && blank(bare.back())) bare.pop_back();
    for (const char c : {'\t', ';'}) {
      if (bare.find(c) != std::string::npos) return c;
    }
    return ',';
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  place where_;
  char separator_ = ',';
  bool nothing_ = false;
};

}  // namespace support
