// SPDX-License-Identifier: MIT
//
// An expansion report as text for people, as CSV and as JSON.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/expansion.hpp"
#include "support/print.hpp"
#include "support/table.hpp"

namespace support {

inline std::string as_table(const expansion_report& r) {
  std::string out = r.source + "\n\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(22, ' ');
    out += name + value + "\n";
  };
  line("n", std::to_string(r.size));
  if (r.weight != static_cast<double>(r.size)) line("total weight", number(r.weight, "%.8g"));
  if (r.scale != 1) line("scale", number(r.scale, "%.8g"));
  line("mean", number(r.mean, "%.12g"));
  line("standard deviation", number(r.deviation, "%.12g"));
  line("range", number(r.range, "%.12g") + ", from " + number(r.min, "%.12g") + " to " +
                    number(r.max, "%.12g"));
  if (std::isfinite(r.mean)) {
    line("radius", number(r.radius, "%.8g") + " at least, pi / range");
    line("Taylor series", r.guaranteed ? "converges: the range is below pi"
                                       : "may not converge: the range is not below pi");
  } else {
    line("Taylor series", "none: a number is not finite, so every order has the exact answer");
  }
  line("logsumexp", number(r.logsumexp, "%.12g") + ", exact");

  for (const expansion& e : r.expansions) {
    std::vector<std::vector<std::string>> rows = {
        {"order", "partial sum", "error", "bound", "softmax error"}};
    for (const expansion_row& row : e.rows)
      rows.push_back({std::to_string(row.order), number(row.value, "%#.12g"),
                      number(row.error, "%+.2e"), number(row.bound, "%.2e"),
                      number(row.softmax_error, "%.2e")});
    out += "\n" + e.form + "\n" + columns(rows);
  }
  return out;
}

inline std::string as_csv(const expansion_report& r) {
  std::string out = "form,order,partial_sum,error,bound,softmax_error\n";
  for (const expansion& e : r.expansions) {
    for (const expansion_row& row : e.rows) {
      out += e.form + "," + std::to_string(row.order);
      for (const double value : {row.value, row.error, row.bound, row.softmax_error}) {
        out += ',';
        out += shortest(value);
      }
      out += "\n";
    }
  }
  return out;
}

/// JSON knows no infinity and no NaN: they are the strings "inf", "-inf" and "nan".
inline std::string as_json(const expansion_report& r) {
  const auto json = [](double value) {
    std::string text = shortest(value);
    if (!std::isfinite(value)) (text += '"').insert(text.begin(), '"');
    return text;
  };
  std::string out = "{\n  \"n\": " + std::to_string(r.size);
  const auto member = [&](const char* name, double value) {
    out += std::string(",\n  \"") + name + "\": " + json(value);
  };
  member("scale", r.scale);
  member("weight", r.weight);
  member("mean", r.mean);
  member("standard_deviation", r.deviation);
  member("min", r.min);
  member("max", r.max);
  member("range", r.range);
  member("radius", r.radius);
  out += std::string(",\n  \"guaranteed\": ") + (r.guaranteed ? "true" : "false");
  member("logsumexp", r.logsumexp);
  out += ",\n  \"expansions\": [";
  for (std::size_t i = 0; i < r.expansions.size(); ++i) {
    const expansion& e = r.expansions[i];
    out += (i == 0 ? "\n" : ",\n") + ("    {\"form\": \"" + e.form + "\", \"orders\": [");
    for (std::size_t k = 0; k < e.rows.size(); ++k) {
      const expansion_row& row = e.rows[k];
      out += (k == 0 ? "\n" : ",\n") + ("      {\"order\": " + std::to_string(row.order)) +
             ", \"partial_sum\": " + json(row.value) + ", \"error\": " + json(row.error) +
             ", \"bound\": " + json(row.bound) + ", \"softmax_error\": " + json(row.softmax_error) +
             "}";
    }
    out += "\n    ]}";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace support
