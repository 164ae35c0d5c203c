// SPDX-License-Identifier: MIT
//
// A picture by gnuplot, from its instructions.
#pragma once

#include "support/plot.hpp"

namespace support {

/// Draws `script`, what follows gnuplot's `set terminal`, into `path`, .svg or .png: complete, or
/// not at all. Throws input_error where gnuplot is missing or fails and where the file cannot be
/// written.
inline void draw(const std::string& script, const std::string& path) {
  const auto fail = [&](const std::string& wrong, const std::string& mend) {
    throw input_error(path, {}, wrong, mend);
  };
  const std::string whole = "set terminal " + plot_terminal(path) + "\n" + script;
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
    std::fwrite(whole.data(), 1, whole.size(), gnuplot);
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
