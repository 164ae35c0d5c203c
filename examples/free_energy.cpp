// SPDX-License-Identifier: MIT
//
// The free energy difference from work values: Zwanzig's exponential average, its cumulant
// expansion, and where that stops paying.
//
//   free_energy                       a harmonic oscillator, whose answer is known
//   free_energy work.txt --kT 2.479   work in kJ/mol at 298 K
//   free_energy log_weights.txt --sign -1
//   free_energy --help
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/free_energy_report.hpp"
#include "support/input_error.hpp"
#include "support/oscillator.hpp"
#include "support/print.hpp"
#include "support/program.hpp"
#include "support/read_sample.hpp"
#include "support/shared_options.hpp"

namespace {

constexpr const char* help_head =
    R"(Estimates a free energy difference, -kT log E e^(-W/kT), from a sample of work values W: by the
exponential average (R. Zwanzig, J. Chem. Phys. 22 (1954) 1420) and by its cumulant expansion, each
with a standard error. Reads W from FILE, or from standard input where FILE is -; without FILE it
takes 4000 work values of a harmonic oscillator whose answer is known.)";

constexpr const char* help_foot =
    R"(FILE is text, one number on each line; a table; or .npy, as `expand` reads them.

What the table shows
  free energy  the expansion to that order; order 2 is mean - variance / 2kT
  std error    of it, from the sample: what another sample would change
  truncation   free energy - the exponential average of the same sample
  bound        what |truncation| cannot exceed, from the moments and the range
The order at which the truncation falls below the standard error is the last that pays. Where fewer
than 100 samples carry the average, the overlap is poor and no estimate of the sample can be trusted.
A work of inf, such as a clash, counts in the average with weight 0; it has no moments, so there is no
expansion then.

Examples
  free_energy work.csv --column W --kT 0.5922
  free_energy work.txt --inefficiency 12.5 --order 8 --format csv
  free_energy reduced.txt --sign -1)";

support::objection number(double value) {
  if (!std::isnan(value)) return {};
  return {"is not a work value",
          "write a number (inf for a work beyond all bounds), or begin the line with # to leave it "
          "out"};
}

struct settings {
  support::source numbers{.path = {}, .judge = number};  ///< path empty: the oscillator
  double kT = 1, inefficiency = 1;
  int order = 6;
  std::string sign = "1", format = "table";
};

support::options command_line(settings& s) {
  support::options o("free_energy", help_head, help_foot);
  support::number_file(o, s.numbers, "Work values");
  o.positive("--kT", s.kT, "E", "Temperature in the unit of the work");
  o.choice("--sign", s.sign, {"1", "+1", "-1"}, "S",
           "1 (default): numbers are W; -1: they are -W, as log weights are");
  o.positive("--inefficiency", s.inefficiency, "G",
             "Statistical inefficiency: how many values carry what one independent does");
  o.whole("--order", s.order, 1, 32, "N", "Highest order");
  o.choice("--format", s.format, {"table", "csv"}, "FORMAT");
  return o;
}

std::string run(const settings& s) {
  const support::oscillator model;
  std::string name = "4000 work values of a harmonic oscillator, k = 1 to 1.5, moved by 0.5";
  std::vector<double> work;
  if (s.numbers.path.empty()) {
    for (const double w : model.work(4000, 2024)) work.push_back(s.kT * w);
  } else {
    support::named_numbers read = support::read_sample(s.numbers);
    name = std::move(read.name);
    work = std::move(read.values);
    for (double& w : work) {
      if (s.sign == "-1") w = -w;
      if (w < 0 && std::isinf(w))
        throw support::input_error(
            s.numbers.name(), {}, "a work of -inf makes the free energy -inf",
            "mend that value, or give --sign " + std::string(s.sign == "-1" ? "1" : "-1") +
                " if the numbers are " + (s.sign == "-1" ? "work" : "log weights"));
      if (std::isfinite(w) && !std::isfinite(w / s.kT))
        throw support::input_error(
            s.numbers.name(), {},
            support::shortest(w) + " over " + support::shortest(s.kT) + " does not fit a double",
            "choose a larger --kT");
    }
  }
  support::free_energy_report report = support::free_energy(work, s.kT, s.order, s.inefficiency);
  report.source = name;
  if (s.numbers.path.empty()) report.known = s.kT * model.free_energy();
  return s.format == "csv" ? support::as_csv(report) : support::as_table(report);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// 4000 work values of a harmonic oscillator, k = 1 to 1.5, moved by 0.5
//
// n                     4000
// kT                    1
// mean work             0.44978539
// standard deviation    0.83420728
// range                 7.21938, not below pi kT: the series may not converge
// largest share         0.000449 of the average is one sample's
//
//     order  free energy  std error  truncation     bound
//         1   0.44978539   1.32e-02   +2.38e-01  3.83e-01
//         2   0.10183449   1.06e-02   -1.10e-01  2.60e-01
//         3   0.26468560   1.27e-02   +5.33e-02  1.18e-01
//         4   0.18385543   1.34e-02   -2.76e-02  4.84e-02
//         5   0.22640672   1.28e-02   +1.50e-02  4.50e-02
//         6   0.20361763   1.11e-02   -7.81e-03  2.22e-02
//   average   0.21143087   8.45e-03
//     known   0.20273255
//
// Good overlap: 3110.9 effective samples of 4000.
// The expansion stops paying at order 6: there its truncation, 7.8e-03, is within its
// standard error, 1.1e-02.
