// SPDX-License-Identifier: MIT
//
// Numbers from text: one a line, or one column of a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/input_error.hpp"
#include "support/parse_number.hpp"
#include "support/records.hpp"
#include "support/source.hpp"

namespace support {

/// A header holds no number, and does not begin in the column wanted like one that is misspelt.
inline bool is_header(const std::vector<field>& record, std::size_t column) {
  const std::string& text = record[column].text;
  return !text.empty() && std::string_view("0123456789+-.").find(text[0]) == std::string::npos &&
         std::none_of(record.begin(), record.end(),
                      [](const field& f) { return parse_number(f.text).has_value(); });
}

/// Throws input_error where `first`, taken for numbers, may yet be a header: over a number it has a
/// word. `second` stands behind `first`.
inline void require_no_header(const std::vector<field>& first, const std::vector<field>& second,
                              const source& wanted) {
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (!first[i].text.empty() && !parse_number(first[i].text) && parse_number(second[i].text))
      throw input_error(wanted.name(), first[i].where,
                        "cannot tell a header line from numbers: " + in_quotes(first[i].text) +
                            " stands over a number, beside others",
                        "begin a header line with #, write nan for a missing number");
  }
}

/// Where `wanted` stands in the first record, from 0. Throws input_error where that is not clear.
inline std::size_t find_column(const std::vector<field>& first, const source& wanted) {
  const std::size_t count = first.size();
  const std::string range = count == 1 ? "1" : "1 to " + std::to_string(count);
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(wanted.name(), first[0].where, wrong, mend);
  };
  if (wanted.column.empty()) {
    if (count > 1)
      fail("the table has " + std::to_string(count) + " columns",
           "choose one by its name or number, " + range + " (within a number write a point)");
    return 0;
  }
  if (const std::size_t position = wanted.position(); position >= 1 && position <= count)
    return position - 1;
  const auto named = [&](const field& f) { return f.text == wanted.column; };
  const auto found = std::find_if(first.begin(), first.end(), named);
  if (found == first.end()) {
    std::string names;
    for (const field& f : first) names += (names.empty() ? "" : ", ") + in_quotes(f.text);
    fail("the first line has no column " + in_quotes(wanted.column) + " but " +
             (names.size() <= 200 ? names : names.substr(0, 200) + "..."),
         "choose a name from the header line or a number, " + range);
  }
  if (std::find_if(found + 1, first.end(), named) != first.end())
    fail("two columns are named " + in_quotes(wanted.column), "choose one by its number, " + range);
  return static_cast<std::size_t>(found - first.begin());
}

/// A column of a table, number by number. Table gives records as `records` does.
template <class Table>
class text_column {
 public:
  /// Finds the column and reads past a header line. Throws input_error.
  text_column(Table table, source wanted) : table_(std::move(table)), wanted_(std::move(wanted)) {
    if (!table_.next(record_))
      fail({}, table_.nothing() ? "is empty" : "holds no number", "write one number on each line");
    column_ = find_column(record_, wanted_);
    count_ = record_.size();
    first_ = record_[0].where;
    const bool by_name = !wanted_.column.empty() && wanted_.position() - 1 != column_;
    if (by_name || is_header(record_, column_)) {
      name_ = record_[column_].text;
      if (!table_.next(record_))
        fail(table_.where(), "holds a header line but no number", "write one number on each line");
    } else if (count_ > 1) {
      std::vector<field> second;
      ended_ = !table_.next(second);
      require_no_header(record_, second, wanted_);
      ahead_ = std::move(second);
    }
    held_ = true;
  }

  /// The next number, or false at the end. Throws input_error at the first thing that is not right.
  bool next(double& value) {
    if (!held_ && !advance()) return false;
    held_ = false;
    if (record_.size() != count_)
      fail(record_[std::min(count_, record_.size() - 1)].where,
           "fields: " + std::to_string(record_.size()) + " here, " + std::to_string(count_) +
               " on line " + std::to_string(first_.line),
           std::string("give every row the same, in quotes what holds a ") +
               (table_.separator() == '\t' ? "tab" : std::string(1, table_.separator())));
    const field& cell = record_[column_];
    const auto number = parse_number(cell.text);
    if (!number)
      fail(cell.where,
           cell.text.empty() ? "an empty field" : in_quotes(cell.text) + " is not a number",
           number_advice(cell.text));
    if (const auto [wrong, mend] = wanted_.judge(*number); !wrong.empty())
      fail(cell.where, cell.text + " " + std::string(wrong), std::string(mend));
    value = *number;
    return true;
  }

  /// Its name, where a header line gives one.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  [[noreturn]] void fail(place where, const std::string& wrong, const std::string& mend) const {
    throw input_error(wanted_.name(), where, wrong, mend);
  }

  bool advance() {
    if (ahead_.empty()) return !ended_ && table_.next(record_);
    record_ = std::move(ahead_);
    ahead_.clear();
    return true;
  }

  Table table_;
  source wanted_;
  std::vector<field> record_, ahead_;  // the one at hand, and one read to look at the first
  bool held_ = false, ended_ = false;
  std::size_t column_ = 0, count_ = 0;
  place first_;
  std::string name_;
};

/// The numbers in `text`. Throws input_error.
inline numbers read_text(std::string_view text, const source& wanted) {
  text_column<records> column(records(text, wanted.name()), wanted);
  numbers result;
  result.column = column.name();
  for (double value = 0; column.next(value);) result.values.push_back(value);
  return result;
}

}  // namespace support
