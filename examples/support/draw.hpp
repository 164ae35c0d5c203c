// SPDX-License-Identifier: MIT
//
// A picture by gnuplot, from its instructions.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/input_error.hpp"
#include "support/plot_style.hpp"

namespace support {

/// gnuplot's name for what `path` ends in. Throws input_error where that is neither .svg nor .png.
inline std::string plot_terminal(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".svg") return svg_terminal;
  if (extension == ".png") return "pngcairo size 1200,690 font 'sans-serif,18' background 'white'";
  throw input_error(path, {}, "a plot is neither .svg nor .png", "name it so");
}

/// Whether the file ends as an SVG or PNG does, so that no full disk cut it off.
inline bool is_whole_picture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string end = bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 16));
  return end.find("</svg>") != std::string::npos || end.find("IEND") != std::string::npos;
}

/// Draws gnuplot's `script`, its `set terminal` included, into `path`: complete, or not at all.
/// Throws input_error where gnuplot is missing or fails and where the file cannot be written.
inline void draw_whole(const std::string& script, const std::string& path) {
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(path, {}, wrong, mend);
  };
  if (std::filesystem::is_directory(path)) fail("is a directory", "name a file");

  // gnuplot draws into a file beside the target, which takes its name only when it is complete.
  const std::string unfinished = path + "." + std::to_string(getpid()) + ".tmp";
  if (std::FILE* const file = std::fopen(unfinished.c_str(), "wb"); file != nullptr)
    std::fclose(file);
  else
    fail(std::string("cannot be written: ") + std::strerror(errno),
         "name a file in a folder that exists and is yours");
  setenv("CUMULUS_PLOT", unfinished.c_str(), 1);        // so that the shell need not quote the name
  const auto previous = std::signal(SIGPIPE, SIG_IGN);  // a gnuplot that is not there reads nothing
  int status = -1;
  if (std::FILE* const gnuplot = popen("gnuplot >\"$CUMULUS_PLOT\" 2>/dev/null", "w")) {
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

/// The same of what follows the terminal and the style, into an .svg or .png.
inline void draw(const std::string& script, const std::string& path) {
  draw_whole("set terminal " + plot_terminal(path) + "\n" + plot_style() + script, path);
}

}  // namespace support
