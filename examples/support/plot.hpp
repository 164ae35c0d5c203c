// SPDX-License-Identifier: MIT
//
// The picture of an expansion report, drawn by gnuplot.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/expansion.hpp"
#include "support/input_error.hpp"
#include "support/print.hpp"

namespace support {

/// gnuplot's name for what `path` ends in. Throws input_error where that is neither .svg nor .png.
inline std::string plot_terminal(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".svg") return "svg size 800,500 font 'sans-serif,14' background 'white'";
  if (extension == ".png") return "pngcairo size 1200,750 font 'sans-serif,16'";
  throw input_error(path, {}, "a plot is neither .svg nor .png", "name it so");
}

inline int highest_order(const expansion_report& report) {
  int highest = 0;
  for (const expansion& e : report.expansions) highest = std::max(highest, e.rows.back().order);
  return highest;
}

/// gnuplot's instructions: |error| of each form against the order, under a dashed line, its bound.
/// Errors below 1e-17, 0 among them, are drawn there; what is not finite is left out.
inline std::string plot_script(const expansion_report& report, const std::string& terminal) {
  std::string script = "set terminal " + terminal + "\nset title 'logsumexp of " +
                       std::to_string(report.size) + " numbers of range " +
                       number(report.range, "%.4g") + R"(: error and bound of each order'
set logscale y
set format y '10^{%T}'
set xlabel 'order'
set ylabel 'error'
set key outside right center Left reverse samplen 2
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
)";
  script += "set xrange [-0.4:" + std::to_string(highest_order(report)) + ".4]\n";
  // Rings and dots, so that curves that coincide (taylor and normaliser do) can both be seen.
  const char* const styles[] = {"pt 6 ps 1.6 lc rgb '#0072b2'", "pt 7 ps 0.7 lc rgb '#d55e00'",
                                "pt 5 ps 0.9 lc rgb '#009e73'"};
  std::string curves;
  for (std::size_t i = 0; i < report.expansions.size(); ++i) {
    const auto curve = [&](const std::string& what, double expansion_row::*member,
                           const char* how) {
      std::string points;
      for (const expansion_row& row : report.expansions[i].rows) {
        const double y = std::max(std::abs(row.*member), 1e-17);
        if (std::isfinite(y)) points += std::to_string(row.order) + " " + shortest(y) + "\n";
      }
      if (points.empty()) return;
      const std::string name = "$" + what + std::to_string(i);
      script += name + " << EOD\n" + points + "EOD\n";
      curves += (curves.empty() ? "plot " : ", ") + name + " with " + how + styles[i % 3] +
                " title '" + report.expansions[i].form + ", " + what + "'";
    };
    curve("error", &expansion_row::error, "linespoints lw 2 ");
    curve("bound", &expansion_row::bound, "lines lw 2 dt 2 ");
  }
  return curves.empty() ? curves : script + curves + "\n";
}

/// Whether the file ends as an SVG or PNG does, so that no full disk cut it off.
inline bool is_whole_picture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string end = bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 16));
  return end.find("</svg>") != std::string::npos || end.find("IEND") != std::string::npos;
}

/// Draws `report` into `path`, .svg or .png: complete, or not at all.
/// Throws input_error where gnuplot is missing or fails and where the file cannot be written.
inline void plot(const expansion_report& report, const std::string& path) {
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(path, {}, wrong, mend);
  };
  const std::string script = plot_script(report, plot_terminal(path));
  if (script.empty())
    fail("no error or bound is finite, so there is nothing to draw", "leave out --plot");
  if (std::filesystem::is_directory(path)) fail("is a directory", "name a file");

  // gnuplot draws into a file beside the target, which takes its name only when it is complete.
  const std::string unfinished = path + "." + std::to_string(getpid()) + ".tmp";
  if (std::FILE* const file = std::fopen(unfinished.c_str(), "wb"); file != nullptr)
    std::fclose(file);
  else
    fail(std::string("cannot be written: ") + std::strerror(errno),
         "name a file in a folder that exists and is yours");
  setenv("EXPAND_PLOT", unfinished.c_str(), 1);         // so that the shell need not quote the name
  const auto previous = std::signal(SIGPIPE, SIG_IGN);  // a gnuplot that is not there reads nothing
  int status = -1;
  if (std::FILE* const gnuplot = popen("gnuplot >\"$EXPAND_PLOT\" 2>/dev/null", "w")) {
    std::fwrite(script.data(), 1, script.size(), gnuplot);
    status = pclose(gnuplot);
  }
  std::signal(SIGPIPE, previous);

  const bool drawn = WIFEXITED(status) && WEXITSTATUS(status) == 0 && is_whole_picture(unfinished);
  if (drawn && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
  const std::string reason = std::strerror(errno);
  std::remove(unfinished.c_str());
  if (drawn) fail("cannot be written: " + reason, "name another file");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    fail("gnuplot is not installed", "apt-get install gnuplot-nox, or leave out --plot");
  fail("gnuplot could not draw it", "check the free space and that gnuplot is 5 or later");
}

}  // namespace support
