// SPDX-License-Identifier: MIT
//
// log Z, mean energy and heat capacity at every temperature, from one pass over the energies.
//
//   temperature                       a ring of 12 spins
//   temperature energies.txt --to 2 --steps 40 --plot log_z.svg
//   temperature --help
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/draw.hpp"
#include "support/ising_ring.hpp"
#include "support/program.hpp"
#include "support/read_sample.hpp"
#include "support/shared_options.hpp"
#include "support/temperature_report.hpp"

namespace {

constexpr const char* help_head =
    R"(Expands log Z(beta) = log sum w e^(-beta E) and its derivatives in beta from the moments of the
energies E, which one pass over them gives. Reads E from FILE, or from standard input where FILE is
-; without FILE it takes all 4096 states of a ring of 12 spins.)";

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
  temperature energies.npy --to 0.5 --plot heat.svg --format csv)";

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
};

support::options command_line(settings& s) {
  support::options o("temperature", help_head, help_foot);
  support::number_file(o, s.numbers, "Energies");
  support::needs_file(o, "--weights", s.weights.path, s.numbers);
  support::weights_file(o, s.weights, s.numbers, "Weights (degeneracies)", "energies");
  o.number("--from", s.from, "BETA", "First beta");
  o.number("--to", s.to, "BETA", "Last beta");
  o.whole("--steps", s.steps, 1, 1000, "N", "Steps between them");
  o.whole("--order", s.order, 0, 64, "N", "Order of the series");
  o.choice("--format", s.format, {"table", "csv"}, "FORMAT");
  support::plot_file(o, s.plot, "the table");
  return o;
}

std::string run(const settings& s) {
  const support::ising_ring ring;
  std::string name = "All states of a ring of 12 spins, E = -sum s_i s_i+1";
  std::vector<double> energies, weights;
  if (s.numbers.path.empty()) {
    energies = ring.energies();
  } else {
    support::named_numbers read = support::read_sample(s.numbers);
    name = std::move(read.name);
    energies = std::move(read.values);
  }
  weights.assign(energies.size(), 1.0);
  if (!s.weights.path.empty())
    weights = support::read_weights(s.weights, energies.size(), "energies");
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
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
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
