// SPDX-License-Identifier: MIT
//
// The bounds of an expansion: what each rests on, what the slower ones add, and those of softmax.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/expansion.hpp"
#include "support/forms.hpp"
#include "support/print.hpp"

namespace support {

/// A table under the report's own: for each form and order the bound and its kind, the least of all
/// bounds (`sharp`) and its kind, and how far an entry of softmax may be off, absolutely (times its
/// weight's part of the total) and relatively.
inline std::string bounds_table(const expansion_report& report, const std::vector<double>& x,
                                const std::vector<double>& w) {
  std::vector<std::vector<std::string>> rows = {{"form", "order", "bound", "rests on",
                                                 "sharp bound", "rests on", "softmax bound",
                                                 "relative"}};
  for (const expansion& e : report.expansions) {
    for (const expansion_row& row : e.rows) {
      std::vector<std::string> line = {row.evaluated, std::to_string(row.order),
                                       number(row.bound, "%.2e"), row.kind};
      for (const auto& [name, form] : forms()) {
        if (name != row.evaluated || row.kind == "groups") continue;
        const auto sharp = cumulus::logsumexp_series(
            x, {.weights = w, .order = row.order, .form = form, .sharp = true});
        line.push_back(number(sharp.bound, "%.2e"));
        line.push_back(name_of(sharp.kind));
        if (form == cumulus::form::enclosure) continue;
        const auto bound =
            cumulus::softmax_series_bound(x, {.weights = w, .order = row.order, .form = form});
        line.push_back(number(bound.absolute, "%.2e"));
        line.push_back(number(bound.relative, "%.2e"));
      }
      line.resize(rows[0].size(), "-");
      rows.push_back(std::move(line));
    }
  }
  std::string out = "\nbounds\n";
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[column].size());
      const std::string pad(width - row[column].size(), ' ');
      const bool text = column == 0 || column == 3 || column == 5;  // to the left
      out += "  " + (text ? row[column] + pad : pad + row[column]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  return out;
}

}  // namespace support
