// SPDX-License-Identifier: MIT
//
// What `expand` reports: a sample, its exact logsumexp, and how each order of a series comes near.
#pragma once

#include <cumulus/cumulus.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/forms.hpp"

namespace support {

/// One order of one series.
struct expansion_row {
  int order = 0;
  double value = 0;  ///< the partial sum
  double error = 0;  ///< value - exact
  double bound = 0;  ///< what the library says |error| is at most
  double softmax_error =
      0;  ///< the largest |truncated softmax - softmax| of any entry; NaN for none
  std::string evaluated{};  ///< the form that was evaluated: what `automatic` chose
  std::string kind{};       ///< what the bound rests on
};

struct expansion {
  std::string form;
  std::vector<expansion_row> rows;
};

struct expansion_report {
  std::string source;
  std::size_t size = 0;
  double scale = 1;
  double weight = 0;
  double mean = 0;
  double deviation = 0;
  double min = 0;
  double max = 0;
  double range = 0;
  double radius = 0;        ///< of convergence, guaranteed: pi / range
  bool guaranteed = false;  ///< that the Taylor series converges at 1
  double logsumexp = 0;
  std::vector<expansion> expansions;
};

/// approximate - exact; 0 where both are the same infinity.
inline double difference(double approximate, double exact) {
  return approximate == exact ? 0 : approximate - exact;
}

/// The largest |difference| of any entry, NaN where one is.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(difference(a[i], b[i]));
    if (std::isnan(d)) return d;
    largest = std::max(largest, d);
  }
  return largest;
}

/// log sum_i w_i e^{x_i} and its softmax, exactly and by every order up to `highest`, each from the
/// moments up to that order (the bound from the next even one). The moment form takes even orders only.
/// Where a tolerance is given (not infinite), also by the order and form that reach it.
inline expansion_report expand(const std::vector<double>& x, const std::vector<double>& w,
                               const std::vector<std::string>& chosen, int highest,
                               double tolerance = std::numeric_limits<double>::infinity()) {
  cumulus::central_moments<double, 2> m;
  m.add(x, w);

  expansion_report report;
  report.size = x.size();
  report.weight = m.weight();
  report.mean = m.mean();
  report.deviation = std::sqrt(m.moment(2));
  report.min = m.min();
  report.max = m.max();
  report.range = report.max - report.min;
  report.radius = cumulus::convergence_radius(report.range);
  report.guaranteed = report.radius > 1;
  report.logsumexp = cumulus::logsumexp(x, {.weights = w});
  const std::vector<double> softmax = cumulus::softmax(x, {.weights = w});
  const auto row = [&](const cumulus::estimate<double>& sum, cumulus::form form, bool has_softmax) {
    double softmax_error = std::numeric_limits<double>::quiet_NaN();
    if (has_softmax)
      softmax_error = largest_difference(
          cumulus::softmax_series(x, {.weights = w, .order = sum.order, .form = form}), softmax);
    return expansion_row{sum.order,        sum.value,     difference(sum.value, report.logsumexp),
                         sum.bound,        softmax_error, name_of(sum.form),
                         name_of(sum.kind)};
  };

  for (const auto& [name, form] : forms()) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
    expansion table{name, {}};
    const int step = form == cumulus::form::moment ? 2 : 1;
    for (int order = 0; order <= highest; order += step)
      table.rows.push_back(
          row(cumulus::logsumexp_series(x, {.weights = w, .order = order, .form = form}), form,
              form != cumulus::form::enclosure));
    report.expansions.push_back(std::move(table));
  }
  if (std::isfinite(tolerance)) {
    const auto sum = cumulus::logsumexp_series(x, {.weights = w, .tolerance = tolerance});
    report.expansions.push_back(
        {"adaptive",
         {row(sum, cumulus::form::automatic, sum.kind != cumulus::bound_kind::groups)}});
  }
  return report;
}

}  // namespace support
