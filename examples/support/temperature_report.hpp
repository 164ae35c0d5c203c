// SPDX-License-Identifier: MIT
//
// What `temperature` reports: log Z, mean energy and heat capacity over beta, from one pass.
#pragma once

#include <cumulus/exact.hpp>
#include <cumulus/series.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/plot_style.hpp"
#include "support/print.hpp"
#include "support/table.hpp"

namespace support {

/// An estimate, its bound and the exact value.
struct compared {
  double value = 0, bound = 0, exact = 0;
};

struct temperature_row {
  double beta = 0;
  compared log_z, energy, heat_capacity;
};

struct temperature_report {
  std::string source;
  std::size_t size = 0;
  double weight = 0, mean = 0, deviation = 0, min = 0, max = 0, radius = 0;
  int order = 0;
  std::optional<double> known;  ///< log Z at the last beta, in closed form
  std::vector<temperature_row> rows;
};

/// log Z(beta) = log sum w e^(-beta E) by the moments of E, taken once, to this order; the exact
/// values by one sum over the energies for each beta.
inline temperature_report over_temperature(const std::vector<double>& energies,
                                           const std::vector<double>& weights, int order,
                                           const std::vector<double>& betas) {
  std::vector<double> x;
  for (const double e : energies) x.push_back(-e);
  cumulus::central_moments<double> m(std::max(order + order % 2, 2));
  m.add(x, weights);
  temperature_report r;
  r.size = x.size();
  r.weight = m.weight();
  r.mean = 0 - m.mean();  // not -0
  r.deviation = std::sqrt(m.moment(2));
  r.min = -m.max();
  r.max = -m.min();
  r.radius = cumulus::convergence_radius(m.max() - m.min());
  r.order = order;
  for (const double beta : betas) {
    const auto at = cumulus::temperature_series(m, beta, order);
    std::vector<double> exponents;
    for (const double v : x) exponents.push_back(beta * v);
    const auto exact = cumulus::tilted_moments(x, exponents, 2, {.weights = weights});
    const double square = beta * beta;
    r.rows.push_back(
        {beta,
         {at.value.value, at.value.bound, cumulus::logsumexp(exponents, {.weights = weights})},
         {-at.slope.value, at.slope.bound, -exact.mean()},
         {square * at.curvature.value, square * at.curvature.bound, square * exact.moment(2)}});
  }
  return r;
}

inline std::string as_csv(const temperature_report& r) {
  std::vector<std::vector<std::string>> table = {
      {"beta", "log_z", "log_z_bound", "log_z_exact", "energy", "energy_bound", "energy_exact",
       "heat_capacity", "heat_capacity_bound", "heat_capacity_exact"}};
  for (const temperature_row& row : r.rows) {
    table.push_back({shortest(row.beta)});
    for (const compared& c : {row.log_z, row.energy, row.heat_capacity})
      for (const double v : {c.value, c.bound, c.exact}) table.back().push_back(shortest(v));
  }
  return csv(table);
}

inline std::string as_table(const temperature_report& r) {
  std::string out = r.source + "\n\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(22, ' ');
    out += name + value + "\n";
  };
  line("n", std::to_string(r.size));
  if (r.weight != static_cast<double>(r.size)) line("total weight", number(r.weight, "%.8g"));
  line("mean energy", number(r.mean, "%.8g") + ", at beta = 0");
  line("standard deviation", number(r.deviation, "%.8g"));
  line("range", "from " + number(r.min, "%.8g") + " to " + number(r.max, "%.8g"));
  line("order", std::to_string(r.order));
  line("radius", number(r.radius, "%.6g") + " at least, pi / range");
  out += "\n";
  std::vector<std::vector<std::string>> table = {{"beta", "log Z", "error", "bound", "energy",
                                                  "error", "bound", "heat cap.", "error", "bound"}};
  for (const temperature_row& row : r.rows) {
    table.push_back({number(row.beta, "%.4g")});
    for (const compared& c : {row.log_z, row.energy, row.heat_capacity}) {
      table.back().push_back(number(c.value + 0.0, "%#.7g"));
      for (const double e : {std::abs(c.value - c.exact), c.bound})
        table.back().push_back(e < 1e-12 ? "<1e-12" : number(e, "%.0e"));
    }
  }
  out += columns(table);
  if (r.known)
    out += "\nlog Z at beta = " + number(r.rows.back().beta, "%.4g") +
           " in closed form: " + number(*r.known, "%.10g") +
           "; by the exact sum: " + number(r.rows.back().log_z.exact, "%.10g") + "\n";
  return out;
}

/// gnuplot's instructions: three panels over beta, the series as a line, the exact values as dots.
inline std::string plot_script(const temperature_report& r) {
  std::string script = "$rows << EOD\n";
  for (const temperature_row& row : r.rows) {
    script += shortest(row.beta);
    for (const compared& c : {row.log_z, row.energy, row.heat_capacity}) {
      for (const double v : {c.value, c.exact}) {
        script += ' ';
        script += std::isfinite(v) ? shortest(v) : "NaN";
      }
    }
    script += "\n";
  }
  script +=
      "EOD\nset multiplot layout 3,1 margins 0.12,0.97,0.14,0.91 spacing 0.06 title 'The series of "
      "order " +
      std::to_string(r.order) + R"( (line) and the exact sums (dots)' textcolor rgb ')" +
      plot_grey + R"('
unset key
set ytics font ',11'
set format x ''
)";
  const auto panel = [&](const std::string& name, int column) {
    script += "set label 1 '" + name +
              "' at screen 0.015, graph 0.5 center rotate textcolor rgb '" + plot_grey +
              "'\nplot $rows using 1:" + std::to_string(column) + " with lines lw 2 lc rgb '" +
              plot_colour(0) + "', '' using 1:" + std::to_string(column + 1) +
              " with points pt 7 ps 0.5 lc rgb '" + plot_colour(1) + "'\n";
  };
  panel("log Z", 2);
  panel("mean energy", 4);
  script += "set xlabel 'beta'\nset format x\n";
  panel("heat capacity", 6);
  return script + "unset multiplot\n";
}

}  // namespace support
