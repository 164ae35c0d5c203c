// SPDX-License-Identifier: MIT
//
// Which numbers to read (a file, a column of it, what they may be), and what is read.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace support {

/// What is wrong with a number and how to mend it, both empty where it is welcome.
struct objection {
  std::string_view wrong;
  std::string_view mend;
};

inline objection any_number(double) { return {}; }

inline objection weight(double w) {
  if (w >= 0 && std::isfinite(w)) return {};
  return {"is not a weight", "write a finite number, 0 or more"};
}

/// `path` is a file or "-" for standard input. `column` is a name from the header line or a
/// position from 1; empty where there is one column only.
struct source {
  std::string path;
  std::string column = {};
  objection (*judge)(double) = any_number;

  /// The name to complain under.
  [[nodiscard]] std::string name() const { return path == "-" ? "<stdin>" : path; }

  /// The column as a position from 1; 0 where it is a name (or a number no file has columns for).
  [[nodiscard]] std::size_t position() const {
    const bool digits = column.find_first_not_of("0123456789") == std::string::npos;
    return digits && !column.empty() && column.size() <= 9 ? std::stoul(column) : 0;
  }
};

struct numbers {
  std::vector<double> values;
  std::string column = {};  ///< its name, where a header line gives one
};

}  // namespace support
