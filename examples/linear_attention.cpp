// SPDX-License-Identifier: MIT
//
// How near linear attention comes to attention on a head, by order, form and centring, and what it costs.
//
//   linear_attention                      two heads of a trained transformer, 256 tokens
//   linear_attention --q q.npy --k k.npy --v v.npy --causal --orders 1,2,3 --form moment --plot error.svg
//   linear_attention --help
#include <algorithm>
#include <string>
#include <vector>

#include "support/draw.hpp"
#include "support/linear_plot.hpp"
#include "support/linear_report.hpp"
#include "support/program.hpp"
#include "support/shared_options.hpp"

namespace {

constexpr const char* help_head =
    R"(Compares attention with softmax truncated at an order, which needs a state of fixed size in place
of all keys and values. Reads queries, keys and values from .npy files of [tokens, width], scaled so
that a score is q k; without files it takes two causal heads of a trained transformer.)";

constexpr const char* help_foot =
    R"(What the table shows
  form       taylor: all terms of the softmax up to that degree; moment: the truncated exponential
             over its sum
  about      what powers are taken of: a score less the mean of the scores (mean), or a score (0)
  error      |output - exact| / |exact| of all queries together; median: that of one query
  logsumexp  the mean distance from the exact one; nan where a query has none
  negative   queries whose weights have no positive sum, as an odd order can have
  state      bytes of the state in float; of exact attention those of keys and values
  crossover  keys from which a step of decoding reads less than from keys and values
  time       of a query, in double, by the state or, where that is faster, by the scores
The series is for scores of a standard deviation near 1 or below; on peaked heads it serves beside
an exact --window and --sinks.

Examples
  linear_attention --orders 2 --window 64 --sinks 4
  linear_attention --q l0h1_q.npy --k l0h1_k.npy --v l0h1_v.npy --causal --format csv)";

struct settings {
  support::head_files files;
  std::vector<int> orders = support::linear_settings{}.orders;
  std::vector<std::string> forms = {"all"};
  int window = 0, sinks = 0;
  std::string format = "table", plot;
};

support::options command_line(settings& s) {
  support::options o("linear_attention", help_head, help_foot);
  support::attention_files(o, s.files);
  o.whole("--orders", s.orders, 0, cumulus::linear_attention_max_order, "N[,N]", "Orders");
  o.choice("--form", s.forms, {"taylor", "moment", "all"}, "FORM[,FORM]");
  o.whole("--window", s.window, 0, 1000000, "N", "Last keys that are exact");
  o.whole("--sinks", s.sinks, 0, 1000000, "N", "First keys that are exact");
  o.choice("--format", s.format, {"table", "csv"}, "FORMAT");
  support::plot_file(o, s.plot, "the errors");
  o.check("--window", [&s] {
    return std::string(s.window > 0 && !s.files.is_causal() ? "needs --causal" : "");
  });
  return o;
}

/// The head of the files. Throws input_error.
support::attention_head load(const support::head_files& files) {
  support::attention_head head{support::one_line(files.k), support::read_npy_matrix(files.q),
                               support::read_npy_matrix(files.k),
                               support::read_npy_matrix(files.v)};
  const auto need = [](const std::string& file, const char* what, long has, long should) {
    if (has != should)
      throw support::input_error(file, {}, std::to_string(has) + what,
                                 "the keys have " + std::to_string(should));
  };
  need(files.q, " numbers a token", head.q.cols(), head.k.cols());
  need(files.v, " tokens", head.v.rows(), head.k.rows());
  if (files.causal && head.q.rows() > head.k.rows())
    throw support::input_error(files.q, {},
                               std::to_string(head.q.rows()) + " causal queries of " +
                                   std::to_string(head.k.rows()) + " keys",
                               "give each query its own key");
  return head;
}

std::string run(const settings& s) {
  std::vector<support::attention_head> heads;
  if (s.files.given()) {
    heads.push_back(load(s.files));
  } else {
    heads = support::sample_heads();
    for (auto& head : heads) head.name += ", 256 tokens of a trained transformer";
  }
  support::linear_settings trial;
  trial.orders = s.orders;
  if (std::find(s.forms.begin(), s.forms.end(), "all") == s.forms.end()) trial.forms = s.forms;
  trial.causal = s.files.is_causal();
  trial.window = s.window;
  trial.sinks = s.sinks;
  std::vector<support::linear_report> reports;
  for (const auto& head : heads) reports.push_back(support::over_orders(head, trial));
  std::string out;
  if (s.format == "csv") {
    std::vector<std::vector<std::string>> table;
    for (const auto& report : reports) {
      const auto cells = support::cells(report, true);
      table.insert(table.end(), cells.begin() + (table.empty() ? 0 : 1), cells.end());
    }
    out = support::csv(table);
  } else {
    for (const auto& report : reports) out += (out.empty() ? "" : "\n") + support::as_table(report);
  }
  if (!s.plot.empty()) {
    const std::string script = support::plot_script(reports);
    if (script.empty())
      throw support::input_error(s.plot, {}, "no error is finite, so there is nothing to draw",
                                 "leave out --plot");
    support::draw(script, s.plot);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// l0h1, 256 tokens of a trained transformer
// 256 causal queries, 256 keys of width 64; the scores of a query have a standard deviation of 0.89, a range of 5.69, 66.8 effective keys
//     form  about  order  error  median  logsumexp  negative    state  crossover      time
//   taylor   mean      0   0.88    0.81       0.74         0    520 B      0.508  0.817 us
//   taylor   mean      1   0.68    0.49       0.74         0  33.8 KB         33  0.843 us
//   taylor   mean      2    0.6    0.29        0.3         0  1.12 MB   1.09e+03   1.19 us
//   taylor   mean      3   0.82    0.14       0.19         0  24.9 MB   2.43e+04   1.19 us
//   taylor   mean      4    1.3   0.054       0.14         0   423 MB   4.14e+05   1.34 us
//   taylor   mean      6    3.6   0.027       0.13         0  68.2 GB   6.66e+07   1.41 us
//   taylor   mean      8     12  0.0088       0.27         0  6.22 TB   6.08e+09   1.66 us
//   moment   mean      0   0.88    0.81       0.74         0    520 B      0.508  0.807 us
//   moment   mean      1   0.68    0.49       0.74         0  33.8 KB         33  0.804 us
//   moment   mean      2   0.54    0.38       0.39         0  1.12 MB   1.09e+03   1.15 us
//   moment   mean      3   0.37    0.22       0.31         0  24.9 MB   2.43e+04   1.16 us
//   moment   mean      4   0.25    0.13       0.19         0   423 MB   4.14e+05   1.29 us
//   moment   mean      6  0.097   0.028      0.073         0  68.2 GB   6.66e+07   1.37 us
//   moment   mean      8  0.032  0.0041      0.024         0  6.22 TB   6.08e+09    1.6 us
//   moment      0      0   0.88    0.81       0.95         0    520 B      0.508  0.505 us
//   moment      0      1   0.71    0.54       0.79         0  33.8 KB         33  0.773 us
//   moment      0      2   0.56    0.39       0.47         0  1.12 MB   1.09e+03   1.02 us
//   moment      0      3    0.4    0.25       0.35         0  24.9 MB   2.43e+04   1.04 us
//   moment      0      4   0.27    0.14       0.23         0   423 MB   4.14e+05   1.14 us
//   moment      0      6   0.11   0.034      0.091         0  68.2 GB   6.66e+07   1.21 us
//   moment      0      8  0.037  0.0056      0.032         0  6.22 TB   6.08e+09   1.43 us
//    exact                    0       0          0         0   131 KB              1.23 us
//
// l2h0, 256 tokens of a trained transformer
// 256 causal queries, 256 keys of width 64; the scores of a query have a standard deviation of 5.4, a range of 26.5, 3.54 effective keys
//     form  about  order    error   median  logsumexp  negative    state  crossover      time
//   taylor   mean      0     0.79     0.74         10         0    520 B      0.508  0.862 us
//   taylor   mean      1      1.1        1         10         0  33.8 KB         33  0.882 us
//   taylor   mean      2      2.3        2        5.2         0  1.12 MB   1.09e+03   1.18 us
//   taylor   mean      3      9.5      5.8        8.9         0  24.9 MB   2.43e+04   1.22 us
//   taylor   mean      4       38       16         21         0   423 MB   4.14e+05   1.32 us
//   taylor   mean      6  4.8e+02       93    1.7e+02         0  68.2 GB   6.66e+07    1.4 us
//   taylor   mean      8    7e+03  6.8e+02    9.2e+02         0  6.22 TB   6.08e+09   1.67 us
//   moment   mean      0     0.79     0.74         10         0    520 B      0.508   0.86 us
//   moment   mean      1      1.1        1         10         0  33.8 KB         33  0.851 us
//   moment   mean      2     0.69     0.65        7.3         0  1.12 MB   1.09e+03   1.15 us
//   moment   mean      3      4.4     0.63        nan         1  24.9 MB   2.43e+04   1.16 us
//   moment   mean      4     0.54     0.53        5.3         0   423 MB   4.14e+05   1.28 us
//   moment   mean      6     0.41      0.4        3.8         0  68.2 GB   6.66e+07   1.35 us
//   moment   mean      8     0.32     0.28        2.7         0  6.22 TB   6.08e+09   1.61 us
//   moment      0      0     0.79     0.74         17         0    520 B      0.508  0.503 us
//   moment      0      1     0.76     0.66         15         0  33.8 KB         33  0.776 us
//   moment      0      2      0.7     0.63         13         0  1.12 MB   1.09e+03   1.02 us
//   moment      0      3     0.63     0.57         11         0  24.9 MB   2.43e+04   1.02 us
//   moment      0      4     0.57     0.53         10         0   423 MB   4.14e+05   1.14 us
//   moment      0      6     0.44     0.41        7.9         0  68.2 GB   6.66e+07   1.24 us
//   moment      0      8     0.33      0.3        6.1         0  6.22 TB   6.08e+09   1.44 us
//    exact                      0        0          0         0   131 KB              1.04 us
