// SPDX-License-Identifier: MIT
//
// What the programs with options have in common: the manner of their command line, and how they
// end.
#pragma once

#include <cumulus/core/version.hpp>
#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/input_error.hpp"
#include "support/parse_number.hpp"

namespace support {

/// Shows an option's type as it was given, without what CLI11 adds to it.
struct option_formatter : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }
};

/// A whole number from `low` to `high`, written anew, as CLI11 would take 010 for 8.
inline CLI::Validator whole_number(int low, int high) {
  return {[low, high](std::string& text) {
            int value = low - 1;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (stop != end || error != std::errc{} || value < low || value > high)
              return "not a whole number from " + std::to_string(low) + " to " +
                     std::to_string(high) + ": " + text;
            text = std::to_string(value);
            return std::string();
          },
          ""};
}

inline CLI::Validator finite_number() {
  return {[](std::string& text) {
            const auto value = parse_number(text);
            return value && std::isfinite(*value) ? std::string() : "not a finite number: " + text;
          },
          ""};
}

inline CLI::Validator positive_number() {
  return {[](std::string& text) {
            const auto value = parse_number(text);
            return value && *value > 0 && std::isfinite(*value)
                       ? std::string()
                       : "not a positive finite number: " + text;
          },
          ""};
}

/// One of these words.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

inline CLI::Validator nonempty() {
  return {[](std::string& text) { return std::string(text.empty() ? "the name is empty" : ""); },
          ""};
}

/// Reads the command line of `app`, then calls check(), which may throw CLI::ValidationError.
/// Returns what to print instead of all else: the help, the version, or nothing. Throws
/// std::runtime_error, in one line, at what the command line cannot mean.
template <class Check>
std::string parse(CLI::App& app, int argc, const char* const* argv, Check check) {
  const std::string version =
      app.get_name() + ", cumulus " + std::to_string(CUMULUS_VERSION_MAJOR) + "." +
      std::to_string(CUMULUS_VERSION_MINOR) + "." + std::to_string(CUMULUS_VERSION_PATCH) + "\n";
  app.formatter(std::make_shared<option_formatter>());
  app.set_version_flag("--version", version, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  try {
    app.parse(argc, argv);
    check();
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return version;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error("command line: " + one_line(error.what()) + "; see " + app.get_name() +
                             " --help");
  }
  return {};
}

/// `text` to standard output, all of it. Throws input_error where it cannot go there.
inline void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const std::string reason = std::strerror(errno);
  throw input_error("<stdout>", {}, "cannot be written: " + reason, "check where the output goes");
}

/// Prints what run() returns; at an error one line to standard error and status 2.
template <class Run>
int finish(const char* name, Run run) {
  try {
    print(run());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, one_line(error.what()).c_str());
    return 2;
  }
}

}  // namespace support
