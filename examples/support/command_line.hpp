// SPDX-License-Identifier: MIT
//
// The command line of `expand`: its options, its help, and what it refuses.
#pragma once

#include <cumulus/core/version.hpp>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/expansion.hpp"
#include "support/input_error.hpp"
#include "support/plot.hpp"
#include "support/source.hpp"

namespace support {

inline constexpr const char* help_head =
    R"(Expands logsumexp(x) = log(e^x_1 + ... + e^x_n) and softmax(x) in the central moments of x, and
shows how near each order comes. Reads the numbers x from FILE, or from standard input where FILE
is -; without FILE it takes 256 attention scores of a trained transformer.
)";

inline constexpr const char* help_foot = R"(FILE is one of
  text    one number on each line: -1.25e3, inf, nan, 0x1.8p3
  table   fields separated by commas, semicolons or tabs, with or without a header line;
          a field that holds a separator or a line break stands in double quotes
  .npy    a 1-D or 2-D array of floats, integers or bools, as numpy.save writes it
In text and tables blank lines are skipped, and # begins a comment.

What the table shows
  partial sum    the series cut off at that order
  error          partial sum - exact logsumexp
  bound          what |error| cannot exceed, from the moments to the next even order and the range of x
  softmax error  the largest error of an entry of the softmax cut off at that order
The Taylor series surely converges where the range of x (greatest - least) is below pi. The form
normaliser takes the same sum but a positive softmax; the form moment converges for every x, by
even orders; so do chebyshev, far faster, and enclosure, the middle of the sharpest interval that
the moments and the range leave, which has no softmax (nan). automatic takes one of them by the
order and the range. csv and json give every digit; json has the strings "inf", "-inf" and "nan".
--tolerance adds one row, adaptive: the order and form that reach it, or the sample cut by value.
--bounds adds a table: what each bound rests on, the sharp bound, and the bounds of softmax,
absolute in units of an entry's part of the total weight, and relative to the entry.

Examples
  expand --order 12 --form all
  expand scores.txt --scale 0.125
  expand table.csv --column logit --weights table.csv --weights-column count
  seq 0 0.1 2 | expand - --format json
  expand scores.npy --column 3 --form taylor,moment --plot error.svg
  expand --form automatic --order 4 --tolerance 1e-8 --bounds

Bad input ends the program with status 2 and one line that says where, what and how to mend it.)";

struct settings {
  source numbers;  ///< path empty: the scores that come with the program
  source weights{.path = {}, .judge = weight};
  double scale = 1;
  int order = 8;
  std::vector<std::string> forms = {"taylor"};
  double tolerance = std::numeric_limits<double>::infinity();  ///< none
  bool bounds = false;
  std::string format = "table";
  std::string plot;

  std::string answer;  ///< to print instead of all else: the help or the version
};

/// Shows an option's type as it was given, without what CLI11 adds to it.
struct plain_formatter : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }
};

/// Throws std::runtime_error, in one line, at what the command line cannot mean.
inline settings parse_command_line(int argc, const char* const* argv) {
  settings s;
  std::vector<std::string> names = {"all"};
  for (const auto& [name, form] : forms()) names.push_back(name);
  const auto one_of = [](const std::vector<std::string>& words) {
    return CLI::IsMember(words).description("");
  };
  const CLI::Validator given(
      [](const std::string& text) { return std::string(text.empty() ? "the name is empty" : ""); },
      "");

  const CLI::Validator order(  // writes it anew, as CLI11 would take 010 for 8
      [](std::string& text) {
        int value = -1;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (stop != end || error != std::errc{} || value < 0 || value > 64)
          return "not a whole number from 0 to 64: " + text;
        text = std::to_string(value);
        return std::string();
      },
      "");

  CLI::App app(help_head, "expand");
  app.footer(help_foot);
  app.formatter(std::make_shared<plain_formatter>());
  app.add_option("FILE", s.numbers.path, "Numbers to read; - is standard input")
      ->type_name("")
      ->check(given);
  app.add_option("--column", s.numbers.column, "Column of a table, by name or number from 1")
      ->type_name("NAME|N")
      ->check(given);
  app.add_option("--weights", s.weights.path, "Weights, as many as numbers, each 0 or more")
      ->type_name("FILE")
      ->check(given);
  app.add_option("--weights-column", s.weights.column, "Column of the table of weights")
      ->type_name("NAME|N")
      ->check(given);
  app.add_option("--scale", s.scale, "Multiplies every number")->type_name("S");
  app.add_option("--order", s.order, "Highest order, 0 to 64, by default 8")
      ->type_name("N")
      ->transform(order);
  app.add_option("--form", s.forms,
                 "taylor (default), normaliser, moment, chebyshev, enclosure, automatic, or all of "
                 "them but automatic; may be a list")
      ->type_name("FORM[,FORM]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(names));
  app.add_option("--tolerance", s.tolerance, "Also the order and form whose bound is at most T")
      ->type_name("T");
  app.add_flag("--bounds", s.bounds, "Also what the bounds rest on, and those of softmax");
  app.add_option("--format", s.format, "table (default), csv or json")
      ->type_name("FORMAT")
      ->check(one_of({"table", "csv", "json"}));
  app.add_option("--plot", s.plot, "Also draw the errors into a .svg or .png, by gnuplot")
      ->type_name("FILE")
      ->check(given);
  const std::string version = "expand, cumulus " + std::to_string(CUMULUS_VERSION_MAJOR) + "." +
                              std::to_string(CUMULUS_VERSION_MINOR) + "." +
                              std::to_string(CUMULUS_VERSION_PATCH) + "\n";
  app.set_version_flag("--version", version, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");

  try {
    app.parse(argc, argv);
    if (!std::isfinite(s.scale)) throw CLI::ValidationError("--scale", "must be finite");
    if (app.count("--tolerance") > 0 && !(s.tolerance > 0 && std::isfinite(s.tolerance)))
      throw CLI::ValidationError("--tolerance", "must be finite and above 0");
    if (s.bounds && s.format != "table")
      throw CLI::ValidationError("--bounds", "needs --format table");
    if (!s.numbers.column.empty() && s.numbers.path.empty())
      throw CLI::ValidationError("--column", "needs a FILE");
    if (!s.weights.column.empty() && s.weights.path.empty())
      throw CLI::ValidationError("--weights-column", "needs --weights FILE");
    if (s.numbers.path == "-" && s.weights.path == "-")
      throw CLI::ValidationError("--weights", "standard input holds the numbers already");
  } catch (const CLI::CallForHelp&) {
    s.answer = app.help();
  } catch (const CLI::CallForVersion&) {
    s.answer = version;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error("command line: " + one_line(error.what()) + "; see expand --help");
  }
  if (std::find(s.forms.begin(), s.forms.end(), "all") != s.forms.end())
    s.forms.assign(names.begin() + 1, names.end() - 1);
  if (!s.plot.empty()) plot_terminal(s.plot);  // refuses the name before any work
  return s;
}

}  // namespace support
