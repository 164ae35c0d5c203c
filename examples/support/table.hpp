// SPDX-License-Identifier: MIT
//
// Tables as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace support {

/// Rows of text as columns that end at one place, two blanks between them.
inline std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& other : rows)
        if (column < other.size()) width = std::max(width, other[column].size());
      out += std::string(width + 2 - row[column].size(), ' ') + row[column];
    }
    out += "\n";
  }
  return out;
}

/// Rows as comma-separated values.
inline std::string csv(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      out += (column == 0 ? "" : ",") + row[column];
    out += "\n";
  }
  return out;
}

}  // namespace support
