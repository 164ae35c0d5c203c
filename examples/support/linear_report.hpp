// SPDX-License-Identifier: MIT
//
// How near truncated softmax attention comes to attention on one head: by order, form and centring.
#pragma once

#include <cumulus/attention.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "support/print.hpp"
#include "support/sample_heads.hpp"
#include "support/table.hpp"

namespace support {

struct linear_row {
  int order = 0;
  std::string form, about;
  double error = 0;    ///< |output - exact| / |exact|, of all queries together
  double median = 0;   ///< the same of one query, its median
  double log_sum = 0;  ///< the mean error of the log-sum-exp; NaN where a query has none
  long negative = 0;   ///< queries whose weights have no positive sum
  double bytes = 0;    ///< of a state in float
  double crossover =
      0;  ///< keys from which a step of decoding reads less than with a cache of keys and values
  double time = 0;  ///< of a query, in seconds
};

struct linear_report {
  std::string name;
  long queries = 0, keys = 0, width = 0, value_width = 0;
  bool causal = false;
  double deviation = 0, range = 0;  ///< of a query's scores, means over the queries
  double effective = 0;             ///< e^entropy of the exact weights, the mean
  double exact_bytes = 0, exact_time = 0;
  std::vector<linear_row> rows;
};

struct linear_settings {
  std::vector<int> orders = {0, 1, 2, 3, 4, 6, 8};
  std::vector<std::string> forms = {"taylor", "moment"};
  bool causal = false;
  int window = 0, sinks = 0;
};

namespace detail {

/// The shortest of three times of one call.
template <class Call>
double shortest_time(const Call& call) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace detail

[[nodiscard]] inline linear_report over_orders(const attention_head& head,
                                               const linear_settings& s) {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const matrix q = head.q.cast<double>(), k = head.k.cast<double>(), v = head.v.cast<double>();
  linear_report r;
  r.name = head.name;
  r.queries = q.rows();
  r.keys = k.rows();
  r.width = k.cols();
  r.value_width = v.cols();
  r.causal = s.causal;

  cumulus::attention_result<double> exact;
  r.exact_time = detail::shortest_time([&] {
                   exact = cumulus::attention(q, k, v, {.scale = 1, .causal = s.causal});
                 }) /
                 double(r.queries);
  r.exact_bytes = 4.0 * double(r.keys) * double(r.width + r.value_width);
  for (long i = 0; i < r.queries; ++i) {
    const long seen = s.causal ? r.keys - r.queries + i + 1 : r.keys;
    const Eigen::ArrayXd u = (k.topRows(seen) * q.row(i).transpose()).array();
    const Eigen::ArrayXd p = (u - exact.logsumexp[i]).exp();
    r.deviation += std::sqrt((u - u.mean()).square().mean()) / double(r.queries);
    r.range += (u.maxCoeff() - u.minCoeff()) / double(r.queries);
    r.effective += std::exp(exact.logsumexp[i] - (p * u).sum()) / double(r.queries);
  }

  for (const std::string& form : s.forms) {
    for (const bool centred : {true, false}) {
      if (form == "taylor" && !centred) continue;  // it is the same
      for (const int order : s.orders) {
        cumulus::linear_attention_options options{
            .scale = 1,
            .causal = s.causal,
            .first_tokens = s.sinks,
            .order = order,
            .form = form == "taylor" ? cumulus::form::taylor : cumulus::form::moment,
            .centred = centred};
        if (s.window > 0) options.window = s.window;
        cumulus::linear_attention_result<double> result;
        linear_row row{.order = order, .form = form, .about = centred ? "mean" : "0"};
        row.time =
            detail::shortest_time([&] { result = cumulus::linear_attention(q, k, v, options); }) /
            double(r.queries);
        row.error = (result.output - exact.output).norm() / exact.output.norm();
        std::vector<double> each;
        for (long i = 0; i < r.queries; ++i)
          each.push_back((result.output.row(i) - exact.output.row(i)).norm() /
                         exact.output.row(i).norm());
        std::nth_element(each.begin(), each.begin() + r.queries / 2, each.end());
        row.median = each[std::size_t(r.queries / 2)];
        row.log_sum = (result.logsumexp.col(0) - exact.logsumexp).cwiseAbs().mean();
        row.negative = result.without_mass();
        row.bytes =
            double(cumulus::linear_attention_state<float>::bytes(r.width, r.value_width, order));
        row.crossover =
            cumulus::linear_attention_state<float>::crossover(r.width, r.value_width, order);
        r.rows.push_back(row);
      }
    }
  }
  return r;
}

[[nodiscard]] inline std::string in_bytes(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 5; ++unit) bytes /= 1000;
  return number(bytes, "%.3g") + " " + units[unit];
}

[[nodiscard]] inline std::vector<std::vector<std::string>> cells(const linear_report& r,
                                                                 bool plain) {
  std::vector<std::vector<std::string>> table = {{"form", "about", "order", "error", "median",
                                                  "logsumexp", "negative", "state", "crossover",
                                                  "time"}};
  if (plain) table[0].insert(table[0].begin(), "head");
  for (const linear_row& row : r.rows) {
    const auto digits = [&](double x, const char* format) {
      return plain ? shortest(x) : number(x, format);
    };
    std::vector<std::string> line = {
        row.form,
        row.about,
        std::to_string(row.order),
        digits(row.error, "%.2g"),
        digits(row.median, "%.2g"),
        digits(row.log_sum, "%.2g"),
        std::to_string(row.negative),
        plain ? shortest(row.bytes) : in_bytes(row.bytes),
        digits(row.crossover, "%.3g"),
        plain ? shortest(row.time) : number(row.time * 1e6, "%.3g") + " us"};
    if (plain) line.insert(line.begin(), r.name);
    table.push_back(line);
  }
  return table;
}

[[nodiscard]] inline std::string as_table(const linear_report& r) {
  std::string out = r.name + "\n" + std::to_string(r.queries) + (r.causal ? " causal" : "") +
                    " queries, " + std::to_string(r.keys) + " keys of width " +
                    std::to_string(r.width) +
                    "; the scores of a query have a standard deviation of " +
                    number(r.deviation, "%.2g") + ", a range of " + number(r.range, "%.3g") + ", " +
                    number(r.effective, "%.3g") + " effective keys\n";
  auto table = cells(r, false);
  table.push_back({"exact", "", "", "0", "0", "0", "0", in_bytes(r.exact_bytes), "",
                   number(r.exact_time * 1e6, "%.3g") + " us"});
  return out + columns(table);
}

}  // namespace support
