// SPDX-License-Identifier: MIT
//
// How every picture looks: readable on a white and on a dark page, on which it is laid without a background of its own.
// For the programs' plots and for those of the benchmarks' report.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

namespace support {

/// Text and axes. Its contrast (WCAG 2) is 4.3 to 1 with #ffffff and 4.4 to 1 with #0d1117.
inline constexpr const char* plot_grey = "#757b84";

/// Curves: at least 3.4 to 1 with either.
inline constexpr const char* plot_colours[] = {"#3b7dd8", "#d55e00", "#009e73", "#9a6be0",
                                               "#a87b00", "#cc5fa5", "#1b98a6", "#a0673f"};

[[nodiscard]] inline std::string plot_colour(std::size_t i) {
  return plot_colours[i % std::size(plot_colours)];
}

/// What gnuplot's `set terminal` takes for an SVG; its labels stay readable at 700 pixels of width.
inline constexpr const char* svg_terminal = "svg size 800,460 font 'sans-serif,15'";

/// For gnuplot: the grey, three quarters transparent.
[[nodiscard]] inline std::string plot_faint() { return std::string("#c0") + (plot_grey + 1); }

/// gnuplot's settings, to come after `set terminal` and before those of the plot.
[[nodiscard]] inline std::string plot_style() {
  const std::string grey = "rgb '" + std::string(plot_grey) + "'";
  std::string style = "set border 3 lw 1 lc " + grey + "\nset tics nomirror textcolor " + grey +
                      "\nset grid ytics lt 1 lw 1 lc rgb '" + plot_faint() + "'\n";
  for (const char* const what : {"title", "xlabel", "ylabel"})
    style += std::string("set ") + what + " '' textcolor " + grey + " noenhanced\n";
  style += "set key Left reverse samplen 2 spacing 1.15 noenhanced textcolor " + grey + "\n";
  return style;
}

/// Of a name what comes before a comma, no folder and no quote: to stand in gnuplot's quotes.
[[nodiscard]] inline std::string plot_text(const std::string& name) {
  std::string text;
  const std::string path = name.substr(0, name.find(','));
  for (const char c : path.substr(path.rfind('/') + 1))  // npos + 1 is 0
    if (c != '\'' && c != '\\' && static_cast<unsigned char>(c) >= ' ') text += c;
  return text;
}

/// The settings of panel `i` of `count` side by side, to come before its `plot`: `ylabel` stands beside the first, the legend
/// beside the last; `legend` is its share of the width.
[[nodiscard]] inline std::string plot_panel(std::size_t i, std::size_t count,
                                            const std::string& ylabel, double legend) {
  constexpr double left = 0.1, gap = 0.035;
  const double n = static_cast<double>(count), k = static_cast<double>(i);
  const double width = (1 - left - legend - gap * (n - 1)) / n, from = left + k * (width + gap);
  const auto screen = [](double x) { return " at screen " + std::to_string(x); };
  std::string panel = "set lmargin" + screen(from) + "\nset rmargin" + screen(from + width) + "\n";
  panel += "set tmargin at screen 0.9\nset bmargin at screen 0.15\n";
  // A label, as gnuplot 5.4 leaves the axis' own out where the margin is set.
  if (i == 0)
    panel += "set label 1 '" + ylabel + "' at screen 0.015, graph 0.5 center rotate noenhanced " +
             "textcolor rgb '" + plot_grey + "'\n";
  if (i == 1) panel += "unset label 1\nset format y ''\n";
  panel += i + 1 < count ? "set key off\n"
                         : "set key on" + screen(1 - legend + 0.015) + ", graph 1 left top\n";
  return panel;
}

}  // namespace support
