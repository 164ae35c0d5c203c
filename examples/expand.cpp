// SPDX-License-Identifier: MIT
//
// Expands the logsumexp of the numbers in a file and shows how near each order comes.
//
//   expand                            the scores of one query of a trained transformer
//   expand scores.csv --column logit --order 12 --form all --plot error.svg
//   expand --form automatic --order 4 --tolerance 1e-8 --bounds
//   expand --help
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "support/bounds.hpp"
#include "support/command_line.hpp"
#include "support/expansion.hpp"
#include "support/input_error.hpp"
#include "support/plot.hpp"
#include "support/print.hpp"
#include "support/read_numbers.hpp"
#include "support/scores_l0h1.hpp"

namespace {

/// Numbers, their weights, and what to call them.
struct sample {
  std::string name = "256 attention scores of a trained transformer (layer 0, head 1, query 1596)";
  std::vector<double> x{support::scores_l0h1.begin(), support::scores_l0h1.end()};
  std::vector<double> w;
};

/// What the settings ask for, the numbers scaled. Throws input_error.
sample load(const support::settings& s) {
  sample result;
  if (!s.numbers.path.empty()) {
    support::numbers read = support::read_numbers(s.numbers);
    result.x = std::move(read.values);
    result.name = support::one_line(s.numbers.name());
    if (!read.column.empty()) result.name += ", column " + support::in_quotes(read.column);
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
  if (!s.weights.path.empty()) {
    result.w = support::read_numbers(s.weights).values;
    const auto fail = [&](const std::string& wrong, const std::string& mend) {
      throw support::input_error(s.weights.name(), {}, wrong, mend);
    };
    if (result.w.size() != result.x.size())
      fail(std::to_string(result.w.size()) + " weights for " + std::to_string(result.x.size()) +
               " numbers",
           "give each number one weight");
    if (std::all_of(result.w.begin(), result.w.end(), [](double w) { return w == 0; }))
      fail("every weight is 0", "give a positive one");
  }
  return result;
}

/// `text` to standard output, all of it. Throws input_error where it cannot go there.
void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const std::string reason = std::strerror(errno);
  throw support::input_error("<stdout>", {}, "cannot be written: " + reason,
                             "check where the output goes");
}

void run(const support::settings& s) {
  if (!s.answer.empty()) return print(s.answer);
  const sample numbers = load(s);
  support::expansion_report report =
      support::expand(numbers.x, numbers.w, s.forms, s.order, s.tolerance);
  report.source = numbers.name;
  report.scale = s.scale;
  std::string text = s.format == "json"  ? support::as_json(report)
                     : s.format == "csv" ? support::as_csv(report)
                                         : support::as_table(report);
  if (s.bounds) text += support::bounds_table(report, numbers.x, numbers.w);
  if (!s.plot.empty()) support::plot(report, s.plot);
  print(text);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(support::parse_command_line(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "expand: %s\n", support::one_line(error.what()).c_str());
    return 2;
  }
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
