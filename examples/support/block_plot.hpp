// SPDX-License-Identifier: MIT
//
// The picture of block reports: the attention on the chosen blocks against the bytes that are kept of a block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/block_report.hpp"
#include "support/plot_style.hpp"
#include "support/print.hpp"

namespace support {

/// gnuplot's instructions: a panel for each head, in it a colour and a mark for each score; a line joins a score's summaries.
[[nodiscard]] inline std::string plot_script(const std::vector<block_report>& reports) {
  std::vector<std::string> scores;
  double least = 1;
  for (const block_report& r : reports) {
    for (const block_report_row& row : r.rows) {
      if (row.score == "exact") continue;
      if (std::find(scores.begin(), scores.end(), row.score) == scores.end())
        scores.push_back(row.score);
      least = std::min(least, row.mass / r.rows.back().mass);
    }
  }
  std::string script = R"(set multiplot
set logscale x 4
set xrange [200:]
set xtics ('256' 256, '1 K' 1024, '4 K' 4096, '16 K' 16384, '64 K' 65536, '256 K' 262144, '1 M' 1048576)
set xlabel 'bytes kept of a block'
)";
  script += "set yrange [" + shortest(std::floor(least * 20 - 0.1) / 20) + ":1.005]\n";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    script += plot_panel(i, reports.size(), "share of what the exact best blocks hold", 0.195) +
              "set title '" + plot_text(reports[i].name) + ": deviation of scores " +
              number(reports[i].deviation, "%.2g") + "'\n";
    std::string curves;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const std::string name = "$" + scores[j] + std::to_string(i);
      script += name + " << EOD\n";
      for (const block_report_row& row : reports[i].rows) {
        if (row.score == scores[j])
          script += std::to_string(row.bytes) + " " +
                    shortest(row.mass / reports[i].rows.back().mass) + "\n";
      }
      script += "EOD\n";
      // open marks after filled ones of the same colour
      const std::size_t mark = 5 + 2 * (j % 5) - (j < 5 || j >= 10 ? 0 : 1);
      curves += (j == 0 ? "plot " : ", ") + name + " with linespoints lw 2 ps 1.1 pt " +
                std::to_string(mark) + " lc rgb '" + plot_colour(j) + "' title '" + scores[j] + "'";
    }
    script += curves + "\n";
  }
  return script + "unset multiplot\n";
}

}  // namespace support
