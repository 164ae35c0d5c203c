// SPDX-License-Identifier: MIT
//
// What `free_energy` reports: exponential averaging beside its cumulant expansion, with errors.
#pragma once

#include <cumulus/exact.hpp>
#include <cumulus/series.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/print.hpp"
#include "support/table.hpp"

namespace support {

struct free_energy_order {
  int order = 0;
  double value = 0;           ///< the free energy by the cumulants to this order
  double standard_error = 0;  ///< of it
  double truncation = 0;      ///< value - the exponential average of the same sample
  double bound = 0;           ///< what |truncation| cannot exceed
};

struct free_energy_report {
  std::string source;
  std::size_t size = 0;
  double kT = 1, inefficiency = 1;
  double mean = 0, deviation = 0, range = 0;  ///< of the work
  double average = 0, standard_error = 0;     ///< by exponential averaging
  double effective_samples = 0, largest_share = 0;
  std::size_t infinite = 0;  ///< how many work values are; then there are no orders
  bool poor_overlap = false;
  bool converges = false;  ///< for sure: the range is below pi kT
  std::optional<double> known;
  std::optional<int> noise_order;
  std::vector<free_energy_order> orders;
};

/// -kT log E e^(-W/kT) and its expansion to order `highest`, from the work W.
inline free_energy_report free_energy(const std::vector<double>& work, double kT, int highest,
                                      double inefficiency) {
  std::vector<double> x;
  for (const double w : work) x.push_back(-w / kT);
  cumulus::central_moments<double, 2> m;
  m.add(x);
  const double log_n = std::log(static_cast<double>(x.size()));
  const auto exact = cumulus::logsumexp_sampling_error(x, {.inefficiency = inefficiency});
  free_energy_report r;
  r.size = x.size();
  r.kT = kT;
  r.inefficiency = inefficiency;
  r.mean = -kT * m.mean();
  r.deviation = kT * std::sqrt(m.moment(2));
  r.range = kT * (m.max() - m.min());
  r.average = -kT * (exact.value - log_n);
  r.standard_error = kT * exact.standard_error;
  r.effective_samples = exact.effective_samples;
  r.largest_share = exact.largest_share;
  r.poor_overlap = exact.poor_overlap;
  for (const double w : work) r.infinite += std::isinf(w) ? 1 : 0;
  if (r.infinite > 0) {
    r.mean = r.deviation = r.range = std::numeric_limits<double>::infinity();
    return r;
  }
  r.converges = cumulus::convergence_radius(m.max() - m.min()) > 1;
  r.noise_order = cumulus::noise_order(x, {.order = highest, .inefficiency = inefficiency});
  for (int order = 1; order <= highest; ++order) {
    const auto sum = cumulus::logsumexp_series(x, order);
    r.orders.push_back(
        {order, -kT * (sum.value - log_n),
         kT * cumulus::standard_error(x, {.order = order, .inefficiency = inefficiency}),
         kT * (exact.value - sum.value), kT * sum.bound});
  }
  return r;
}

inline std::vector<std::vector<std::string>> rows(const free_energy_report& r, const char* value,
                                                  const char* error, const char* difference) {
  std::vector<std::vector<std::string>> out;
  for (const free_energy_order& o : r.orders)
    out.push_back({std::to_string(o.order), number(o.value, value), number(o.standard_error, error),
                   number(o.truncation, difference), number(o.bound, error)});
  return out;
}

inline std::string as_csv(const free_energy_report& r) {
  auto table = rows(r, "%.17g", "%.17g", "%.17g");
  table.insert(table.begin(), {"order", "free_energy", "standard_error", "truncation", "bound"});
  table.push_back(
      {"average", number(r.average, "%.17g"), number(r.standard_error, "%.17g"), "0", "0"});
  return csv(table);
}

/// Why an order is worth no more than the one before.
inline std::string verdict(const free_energy_report& r) {
  std::string out;
  if (r.poor_overlap) {
    out += "Poor overlap: " + number(r.effective_samples, "%.1f") +
           " effective samples, fewer than " + number(cumulus::least_effective_samples, "%.0f") +
           ". Neither the average nor its standard\nerror can be trusted; sample states between "
           "the two.\n";
  } else {
    out += "Good overlap: " + number(r.effective_samples, "%.1f") + " effective samples of " +
           number(static_cast<double>(r.size) / r.inefficiency, "%.6g") + ".\n";
  }
  if (r.infinite > 0) {
    out += "No expansion: " + std::to_string(r.infinite) + " of " + std::to_string(r.size) +
           " work values are infinite, and have no moments.\n";
  } else if (!r.noise_order) {
    out += "No order comes as near to the average as its standard error.\n";
  } else {
    const free_energy_order& o = r.orders[static_cast<std::size_t>(*r.noise_order) - 1];
    out += "The expansion stops paying at order " + std::to_string(o.order) +
           ": there its truncation, " + number(std::abs(o.truncation), "%.1e") +
           ", is within its\nstandard error, " + number(o.standard_error, "%.1e") + ".\n";
  }
  return out;
}

inline std::string as_table(const free_energy_report& r) {
  std::string out = r.source + "\n\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(22, ' ');
    out += name + value + "\n";
  };
  line("n", std::to_string(r.size));
  if (r.inefficiency != 1) line("inefficiency", number(r.inefficiency, "%.6g"));
  line("kT", number(r.kT, "%.8g"));
  line("mean work", number(r.mean, "%.8g"));
  line("standard deviation", number(r.deviation, "%.8g"));
  line("range",
       number(r.range, "%.6g") + (r.converges ? ", below pi kT: the series converges"
                                              : ", not below pi kT: the series may not converge"));
  line("largest share", number(r.largest_share, "%.3g") + " of the average is one sample's");
  out += "\n";
  auto table = rows(r, "%#.8g", "%.2e", "%+.2e");
  table.insert(table.begin(), {"order", "free energy", "std error", "truncation", "bound"});
  table.push_back({"average", number(r.average, "%#.8g"), number(r.standard_error, "%.2e")});
  if (r.known) table.push_back({"known", number(*r.known, "%#.8g")});
  return out + columns(table) + "\n" + verdict(r);
}

}  // namespace support
