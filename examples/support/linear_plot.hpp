// SPDX-License-Identifier: MIT
//
// The picture of linear attention reports: error against order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/linear_report.hpp"
#include "support/plot_style.hpp"
#include "support/print.hpp"

namespace support {

/// gnuplot's instructions: a panel for each head, in it for each form the error of all queries together, and dashed its median.
/// Empty where nothing is finite. Errors below 1e-16, 0 among them, are drawn there.
[[nodiscard]] inline std::string plot_script(const std::vector<linear_report>& reports) {
  double least = 1, most = 1;
  int highest = 0;
  std::string panels;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const linear_report& r = reports[i];
    std::string data, curves;
    for (std::size_t j = 0, form = 0; j < r.rows.size(); ++form) {
      const linear_row first = r.rows[j];
      std::string together, median;
      for (; j < r.rows.size() && r.rows[j].form == first.form && r.rows[j].about == first.about;
           ++j) {
        const auto point = [&](double error, std::string& points) {
          if (!std::isfinite(error)) return;
          error = std::max(error, 1e-16);
          least = std::min(least, error);
          most = std::max(most, error);
          points += std::to_string(r.rows[j].order) + " " + shortest(error) + "\n";
        };
        highest = std::max(highest, r.rows[j].order);
        point(r.rows[j].error, together);
        point(r.rows[j].median, median);
      }
      const auto curve = [&](const char* what, const std::string& points, const std::string& how,
                             const std::string& title) {
        if (points.empty()) return;
        const std::string name = std::string("$") + what + std::to_string(i) + std::to_string(form);
        data += name + " << EOD\n" + points + "EOD\n";
        curves += (curves.empty() ? "plot " : ", ") + name + " with " + how + " lc rgb '" +
                  plot_colour(form) + "' title '" + title + "'";
      };
      curve("all", together, "linespoints lw 2 pt " + std::to_string(5 + 2 * form) + " ps 0.9",
            first.form + (first.about == "0" ? " about 0" : ""));
      curve("median", median, "lines lw 2 dt (8,5)", "  median query");
    }
    if (curves.empty()) return {};
    panels += data + plot_panel(i, reports.size(), "|output - exact| / |exact|", 0.25) +
              "set title '" + plot_text(r.name) + ": deviation of scores " +
              number(r.deviation, "%.2g") + "'\n" + curves + "\n";
  }
  std::string script = R"(set multiplot
set logscale y
set format y '10^{%T}'
set xlabel 'order'
)";
  script += std::string("set xtics ") + (highest > 8 ? "2" : "1") + "\nset yrange [1e" +
            number(std::floor(std::log10(least)), "%.0f") + ":1e" +
            number(std::ceil(std::log10(most)), "%.0f") + "]\n";
  return script + panels + "unset multiplot\n";
}

}  // namespace support
