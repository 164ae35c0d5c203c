// SPDX-License-Identifier: MIT
//
// Expands the logsumexp of the numbers in a file and shows how near each order comes.
//
//   expand                            the scores of one query of a trained transformer
//   expand scores.csv --column logit --order 12 --form all --plot error.svg
//   expand --form automatic --order 4 --tolerance 1e-8 --bounds
//   expand --help
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/bounds.hpp"
#include "support/expansion.hpp"
#include "support/expansion_text.hpp"
#include "support/forms.hpp"
#include "support/input_error.hpp"
#include "support/plot.hpp"
#include "support/print.hpp"
#include "support/program.hpp"
#include "support/read_sample.hpp"
#include "support/scores_l0h1.hpp"
#include "support/shared_options.hpp"

namespace {

constexpr const char* help_head =
    R"(Expands logsumexp(x) = log(e^x_1 + ... + e^x_n) and softmax(x) in the central moments of x, and
shows how near each order comes. Reads the numbers x from FILE, or from standard input where FILE
is -; without FILE it takes 256 attention scores of a trained transformer.)";

constexpr const char* help_foot = R"(FILE is one of
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
  expand --form automatic --order 4 --tolerance 1e-8 --bounds)";

struct settings {
  support::source numbers;  ///< path empty: the scores that come with the program
  support::source weights{.path = {}, .judge = support::weight};
  double scale = 1;
  int order = 8;
  std::vector<std::string> forms = {"taylor"};
  double tolerance = std::numeric_limits<double>::infinity();  ///< none
  bool bounds = false;
  std::string format = "table", plot;
};

support::options command_line(settings& s) {
  std::vector<std::string> names = {"all"};
  for (const auto& [name, form] : support::forms()) names.push_back(name);
  support::options o("expand", help_head, help_foot);
  support::number_file(o, s.numbers, "Numbers");
  support::weights_file(o, s.weights, s.numbers, "Weights, as many as numbers", "numbers");
  o.number("--scale", s.scale, "S", "Multiplies every number");
  o.whole("--order", s.order, 0, 64, "N", "Highest order");
  o.choice("--form", s.forms, names, "FORM[,FORM]",
           "taylor (default), normaliser, moment, chebyshev, enclosure, automatic, or all of "
           "them but automatic; may be a list");
  o.positive("--tolerance", s.tolerance, "T", "Also the order and form whose bound is at most T");
  o.flag("--bounds", s.bounds, "Also what the bounds rest on, and those of softmax");
  o.check("--bounds", [&s] {
    return std::string(s.bounds && s.format != "table" ? "needs --format table" : "");
  });
  o.choice("--format", s.format, {"table", "csv", "json"}, "FORMAT");
  support::plot_file(o, s.plot, "the errors");
  return o;
}

/// The forms to report: of `all`, each but automatic, which is another one's row again.
std::vector<std::string> chosen(const std::vector<std::string>& forms) {
  if (std::find(forms.begin(), forms.end(), "all") == forms.end()) return forms;
  std::vector<std::string> all;
  for (const auto& [name, form] : support::forms())
    if (form != cumulus::form::automatic) all.push_back(name);
  return all;
}

/// Numbers, their weights, and what to call them.
struct sample {
  std::string name = "256 attention scores of a trained transformer (layer 0, head 1, query 1596)";
  std::vector<double> x{support::scores_l0h1.begin(), support::scores_l0h1.end()};
  std::vector<double> w;
};

/// What the settings ask for, the numbers scaled. Throws input_error.
sample load(const settings& s) {
  sample result;
  if (!s.numbers.path.empty()) {
    support::named_numbers read = support::read_sample(s.numbers);
    result.name = std::move(read.name);
    result.x = std::move(read.values);
  }
  for (double& x : result.x) {
    const double scaled = s.scale * x;
    if (std::isfinite(x) && !std::isfinite(scaled))
      throw support::input_error(
          s.numbers.name(), {},
          support::shortest(x) + " times " + support::shortest(s.scale) + " does not fit a double",
          "choose a smaller --scale");
    x = scaled;
  }
  result.w.assign(result.x.size(), 1.0);
  if (!s.weights.path.empty())
    result.w = support::read_weights(s.weights, result.x.size(), "numbers");
  return result;
}

std::string run(const settings& s) {
  const sample numbers = load(s);
  support::expansion_report report =
      support::expand(numbers.x, numbers.w, chosen(s.forms), s.order, s.tolerance);
  report.source = numbers.name;
  report.scale = s.scale;
  std::string text = s.format == "json"  ? support::as_json(report)
                     : s.format == "csv" ? support::as_csv(report)
                                         : support::as_table(report);
  if (s.bounds) text += support::bounds_table(report, numbers.x, numbers.w);
  if (!s.plot.empty()) support::plot(report, s.plot);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// 256 attention scores of a trained transformer (layer 0, head 1, query 1596)
//
// n                     256
// mean                  0.303944853104
// standard deviation    0.543051981163
// range                 2.56784510612, from -0.774739265442 to 1.79310584068
// radius                1.2234354 at least, pi / range
// Taylor series         converges: the range is below pi
// logsumexp             6.00230260441, exact
//
// taylor
//   order    partial sum      error     bound  softmax error
//       0  5.84912229758  -1.53e-01  2.30e-01       1.10e-02
//       1  5.84912229758  -1.53e-01  2.30e-01       5.14e-03
//       2  5.99657502471  -5.73e-03  8.25e-02       1.38e-03
//       3  6.00389321094  +1.59e-03  4.16e-03       1.28e-04
//       4  6.00253370279  +2.31e-04  2.80e-03       5.58e-05
//       5  6.00229139777  -1.12e-05  7.48e-05       1.68e-05
//       6  6.00229571885  -6.89e-06  7.92e-05       2.46e-06
//       7  6.00230179068  -8.14e-07  1.28e-06       9.23e-07
//       8  6.00230268864  +8.42e-08  2.09e-06       1.52e-07
