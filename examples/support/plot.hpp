// SPDX-License-Identifier: MIT
//
// The picture of an expansion report, drawn by gnuplot.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "support/draw.hpp"
#include "support/expansion.hpp"
#include "support/input_error.hpp"
#include "support/print.hpp"

namespace support {

inline int highest_order(const expansion_report& report) {
  int highest = 0;
  for (const expansion& e : report.expansions) highest = std::max(highest, e.rows.back().order);
  return highest;
}

/// gnuplot's instructions: |error| of each form against the order, and dashed its bound.
/// Errors below 1e-17, 0 among them, are drawn there; what is not finite is left out.
inline std::string plot_script(const expansion_report& report) {
  std::string script = "set title 'logsumexp of " + std::to_string(report.size) +
                       " numbers of range " + number(report.range, "%.4g") +
                       R"(: error and bound of each order'
set logscale y
set format y '10^{%T}'
set xlabel 'order'
set ylabel 'error'
set key outside right center
)";
  script += "set xrange [-0.4:" + std::to_string(highest_order(report)) + ".4]\n";
  // Rings and dots, so that curves that coincide (taylor and normaliser do) can both be seen.
  const char* const points_of[] = {" pt 6 ps 1.5", " pt 7 ps 0.7", " pt 5 ps 0.8"};
  std::string curves;
  for (std::size_t i = 0; i < report.expansions.size(); ++i) {
    const auto curve = [&](const std::string& what, double expansion_row::* member,
                           const std::string& how) {
      std::string points;
      for (const expansion_row& row : report.expansions[i].rows) {
        const double y = std::max(std::abs(row.*member), 1e-17);
        if (std::isfinite(y)) points += std::to_string(row.order) + " " + shortest(y) + "\n";
      }
      if (points.empty()) return;
      const std::string name = "$" + what + std::to_string(i);
      script += name + " << EOD\n" + points + "EOD\n";
      curves += (curves.empty() ? "plot " : ", ") + name + " with " + how + " lc rgb '" +
                plot_colour(i) + "' title '" + report.expansions[i].form + ", " + what + "'";
    };
    curve("error", &expansion_row::error, std::string("linespoints lw 2") + points_of[i % 3]);
    curve("bound", &expansion_row::bound, "lines lw 2 dt (8,5)");
  }
  return curves.empty() ? curves : script + curves + "\n";
}

/// Draws `report` into `path`, .svg or .png: complete, or not at all.
/// Throws input_error where gnuplot is missing or fails and where the file cannot be written.
inline void plot(const expansion_report& report, const std::string& path) {
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(path, {}, wrong, mend);
  };
  const std::string script = plot_script(report);
  if (script.empty())
    fail("no error or bound is finite, so there is nothing to draw", "leave out --plot");
  draw(script, path);
}

}  // namespace support
