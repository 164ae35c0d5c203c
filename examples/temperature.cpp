// SPDX-License-Identifier: MIT
//
// log Z, mean energy and heat capacity at every temperature, from one pass over the energies.
//
//   temperature                       a ring of 12 spins
//   temperature energies.txt --to 2 --steps 40 --plot log_z.svg
//   temperature --help
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/draw.hpp"
#include "support/ising_ring.hpp"
#include "support/program.hpp"
#include "support/read_numbers.hpp"
#include "support/temperature_report.hpp"

namespace {

constexpr const char* help_head =
    R"(Expands log Z(beta) = log sum w e^(-beta E) and its derivatives in beta from the moments of the
energies E, which one pass over them gives. Reads E from FILE, or from standard input where FILE is
-; without FILE it takes all 4096 states of a ring of 12 spins.
)";

constexpr const char* help_foot =
    R"(FILE is text, one number on each line; a table; or .npy, as `expand` reads them.

What the table shows
  log Z      the series in beta to the order asked
  energy     its mean, -d log Z / d beta
  heat cap.  over k: beta^2 times the variance of the energy
  error      the distance from the exact sum over all energies
  bound      what the error cannot exceed, from the moments and the range
The series surely converges for |beta| below the radius; the bounds hold at every beta.

Examples
  temperature levels.csv --column energy --weights levels.csv --weights-column degeneracy
  temperature --from -0.1 --to 0.1 --steps 8 --order 6
  temperature energies.npy --to 0.5 --plot heat.svg --format csv

Bad input ends the program with status 2 and one line that says where, what and how to mend it.)";

support::objection finite(double value) {
  if (std::isfinite(value)) return {};
  return {"is not an energy", "write a finite number, or begin the line with # to leave it out"};
}

struct settings {
  support::source numbers{.path = {}, .judge = finite};  ///< path empty: the ring
  support::source weights{.path = {}, .judge = support::weight};
  double from = 0, to = 0.5;
  int steps = 10, order = 12;
  std::string format = "table", plot;

  std::string answer;  ///< to print instead of all else: the help or the version
};

settings parse_command_line(int argc, const char* const* argv) {
  settings s;
  CLI::App app(help_head, "temperature");
  app.footer(help_foot);
  app.add_option("FILE", s.numbers.path, "Energies to read; - is standard input")
      ->type_name("")
      ->check(support::nonempty());
  app.add_option("--column", s.numbers.column, "Column of a table, by name or number from 1")
      ->type_name("NAME|N")
      ->check(support::nonempty());
  app.add_option("--weights", s.weights.path, "Weights (degeneracies), each 0 or more")
      ->type_name("FILE")
      ->check(support::nonempty());
  app.add_option("--weights-column", s.weights.column, "Column of the table of weights")
      ->type_name("NAME|N")
      ->check(support::nonempty());
  app.add_option("--from", s.from, "First beta, by default 0")
      ->type_name("BETA")
      ->check(support::finite_number());
  app.add_option("--to", s.to, "Last beta, by default 0.5")
      ->type_name("BETA")
      ->check(support::finite_number());
  app.add_option("--steps", s.steps, "Steps between them, 1 to 1000, by default 10")
      ->type_name("N")
      ->transform(support::whole_number(1, 1000));
  app.add_option("--order", s.order, "Order of the series, 0 to 64, by default 12")
      ->type_name("N")
      ->transform(support::whole_number(0, 64));
  app.add_option("--format", s.format, "table (default) or csv")
      ->type_name("FORMAT")
      ->check(support::one_of({"table", "csv"}));
  app.add_option("--plot", s.plot, "Also draw the table into a .svg or .png, by gnuplot")
      ->type_name("FILE")
      ->check(support::nonempty());
  s.answer = support::parse(app, argc, argv, [&] {
    if (!s.numbers.column.empty() && s.numbers.path.empty())
      throw CLI::ValidationError("--column", "needs a FILE");
    if (!s.weights.path.empty() && s.numbers.path.empty())
      throw CLI::ValidationError("--weights", "needs a FILE");
    if (!s.weights.column.empty() && s.weights.path.empty())
      throw CLI::ValidationError("--weights-column", "needs --weights FILE");
    if (s.numbers.path == "-" && s.weights.path == "-")
      throw CLI::ValidationError("--weights", "standard input holds the energies already");
  });
  if (!s.plot.empty()) support::plot_terminal(s.plot);  // refuses the name before any work
  return s;
}

std::string run(const settings& s) {
  if (!s.answer.empty()) return s.answer;
  const support::ising_ring ring;
  std::string name = "All states of a ring of 12 spins, E = -sum s_i s_i+1";
  std::vector<double> energies, weights;
  if (s.numbers.path.empty()) {
    energies = ring.energies();
  } else {
    support::numbers read = support::read_numbers(s.numbers);
    name = support::one_line(s.numbers.name());
    if (!read.column.empty()) name += ", column " + support::in_quotes(read.column);
    energies = std::move(read.values);
  }
  weights.assign(energies.size(), 1.0);
  if (!s.weights.path.empty()) {
    weights = support::read_numbers(s.weights).values;
    const auto fail = [&](const std::string& wrong, const std::string& mend) {
      throw support::input_error(s.weights.name(), {}, wrong, mend);
    };
    if (weights.size() != energies.size())
      fail(std::to_string(weights.size()) + " weights for " + std::to_string(energies.size()) +
               " energies",
           "give each energy one weight");
    if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; }))
      fail("every weight is 0", "give a positive one");
  }
  std::vector<double> betas;
  for (int i = 0; i <= s.steps; ++i) betas.push_back((s.from * (s.steps - i) + s.to * i) / s.steps);
  support::temperature_report report = support::over_temperature(energies, weights, s.order, betas);
  report.source = name;
  if (s.numbers.path.empty()) report.known = ring.log_z(betas.back());
  if (!s.plot.empty()) support::draw(support::plot_script(report), s.plot);
  return s.format == "csv" ? support::as_csv(report) : support::as_table(report);
}

}  // namespace

int main(int argc, char** argv) {
  return support::finish("temperature", [&] { return run(parse_command_line(argc, argv)); });
}

// Output:
// All states of a ring of 12 spins, E = -sum s_i s_i+1
//
// n                     4096
// mean energy           0, at beta = 0
// standard deviation    3.4641016
// range                 from -12 to 12
// order                 12
// radius                0.1309 at least, pi / range
//
//   beta     log Z   error   bound      energy   error   bound   heat cap.   error   bound
//      0  8.317766  <1e-12  <1e-12    0.000000  <1e-12  <1e-12    0.000000  <1e-12  <1e-12
//   0.05  8.332760  <1e-12  <1e-12  -0.5995005  <1e-12  <1e-12  0.02992512  <1e-12  <1e-12
//    0.1  8.377666  <1e-12   2e-12   -1.196016   5e-12   3e-10   0.1188080   7e-12   4e-10
//   0.15  8.452263   1e-11   4e-10   -1.786620   1e-09   4e-08   0.2640150   2e-09   7e-08
//    0.2  8.556183   6e-10   2e-08   -2.368504   4e-08   1e-06   0.4613012   1e-07   3e-06
//   0.25  8.688924   1e-08   3e-07   -2.939027   7e-07   2e-05   0.7050190   2e-06   5e-05
//    0.3  8.849856   2e-07   3e-06   -3.495773   7e-06   1e-04   0.9884180   3e-05   5e-04
//   0.35  9.038236   1e-06   2e-05   -4.036622   5e-05   7e-04    1.304118   2e-04   3e-03
//    0.4  9.253225   8e-06   8e-05   -4.559891   3e-04   3e-03    1.645040   1e-03   2e-02
//   0.45  9.493915   4e-05   3e-04   -5.064626   1e-03   1e-02    2.006558   6e-03   7e-02
//    0.5  9.759384   1e-04   1e-03   -5.551260   4e-03   3e-02    2.391539   2e-02   2e-01
//
// log Z at beta = 0.5 in closed form: 9.759235093; by the exact sum: 9.759235093
