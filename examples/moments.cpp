// SPDX-License-Identifier: MIT
//
// Moments, cumulants and the logsumexp series of numbers that need not fit in memory, in one pass.
//
//   moments                           a million numbers by formula
//   moments big.npy --column 3 --order 12
//   moments table.csv --column x --weights table.csv --weights-column w
//   moments monday.npy --save monday.state && moments tuesday.npy --merge monday.state
//   moments --help
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/moments_report.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/shared_options.hpp"
#include "support/stream_numbers.hpp"

namespace {

constexpr const char* help_head =
    R"(Prints the moments, cumulants, skewness and kurtosis of the numbers in FILE, and the expansion of
their logsumexp, in one pass and constant memory. Reads standard input where FILE is -; without FILE
it takes a million numbers by a formula. A terminal shows how far it has come.)";

constexpr const char* help_foot =
    R"(FILE is text, one number on each line; a table; or .npy, as `expand` reads them, of any size.
Numbers are decimal, or hexadecimal as printf's %a writes them: 0x1.8p3 is 12, and 0x10 is 16.

Moments are about the mean and divided by the total weight. Skewness and kurtosis are given as they
are of the sample (biased, g1 and g2) and as estimates of a population's (unbiased, G1 and G2; not
for weights, which need not be counts). Kurtosis is the excess over that of a normal law.

--save writes the state of the sample, some hundred bytes; --merge adds such a state to the sample:
parts of a sample, counted on several machines, become the whole.

Examples
  moments huge.csv --column 2
  zcat numbers.gz | moments - --order 4 --format csv
  moments --form chebyshev)";

support::objection finite(double value) {
  if (std::isfinite(value)) return {};
  return {"has no moments", "write a finite number, or begin the line with # to leave it out"};
}

struct settings {
  support::source numbers{.path = {}, .judge = finite};  ///< path empty: by formula
  support::source weights{.path = {}, .judge = support::weight};
  int order = 8;
  std::string form = "taylor", format = "table", save;
  std::vector<std::string> merge;
};

support::options command_line(settings& s) {
  support::options o("moments", help_head, help_foot);
  support::number_file(o, s.numbers, "Numbers");
  support::needs_file(o, "--weights", s.weights.path, s.numbers);
  support::weights_file(o, s.weights, s.numbers, "Weights, as many as numbers", "numbers");
  o.whole("--order", s.order, 4, 32, "N", "Highest order");
  o.choice("--form", s.form, {"taylor", "moment", "chebyshev", "enclosure"}, "FORM");
  o.file("--save", s.save, "Also write the state of the sample");
  o.file("--merge", s.merge, "Also count a sample whose state was saved, of the same order");
  o.choice("--format", s.format, {"table", "csv"}, "FORMAT");
  return o;
}

/// 3 f^2, f the fractional part of i times the golden ratio: dense in [0, 3], more so near 0.
double term(std::uint64_t i) {
  const double f = static_cast<double>((i * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53;
  return 3 * f * f;
}

/// How many numbers are held at a time.
constexpr std::size_t block = 1 << 16;
constexpr std::uint64_t formula_count = 1000000;

void count_formula(support::running_sample& sample) {
  std::vector<double> x;
  for (std::uint64_t i = 1; i <= formula_count;) {
    for (x.clear(); x.size() < block && i <= formula_count; ++i) x.push_back(term(i));
    sample.add(x, {});
  }
}

/// Returns what the sample is called. Throws input_error.
std::string count_file(const settings& s, support::running_sample& sample) {
  support::number_stream numbers(s.numbers);
  std::unique_ptr<support::number_stream> weights;
  if (!s.weights.path.empty()) weights = std::make_unique<support::number_stream>(s.weights);
  const bool known = numbers.size() != support::byte_stream::unknown;
  support::progress progress(known ? numbers.size() : 0);
  std::vector<double> x(block), w(weights ? block + 1 : 0);  // one more, to see that there is none
  std::size_t count = 0, weight_count = 0;
  do {
    count = numbers.read(x);
    const std::span<const double> values(x.data(), count);
    if (weights) {
      weight_count = weights->read(std::span(w).first(count < block ? count + 1 : count));
      if (weight_count != count) {
        const auto seen = static_cast<std::size_t>(sample.count);
        throw support::input_error(
            s.weights.name(), {},
            weight_count < count
                ? std::to_string(seen + weight_count) + " weights for more numbers"
                : "more weights than the " + std::to_string(seen + count) + " numbers",
            "give each number one weight");
      }
    }
    sample.add(values, std::span(w).first(weight_count));
    if (known) progress.show(numbers.at());
  } while (count == block);
  if (weights && !(sample.moments.weight() > 0))
    throw support::input_error(s.weights.name(), {}, "every weight is 0", "give a positive one");
  std::string name = support::one_line(s.numbers.name());
  if (!numbers.column().empty()) name += ", column " + support::in_quotes(numbers.column());
  return name;
}

/// The state that --save wrote. Throws input_error.
support::running_sample load(const std::string& path, int order) {
  support::byte_stream file({.path = path});
  std::vector<std::byte> bytes(1 << 16);  // more than any state of ours
  bytes.resize(file.read(reinterpret_cast<char*>(bytes.data()), bytes.size()));
  try {
    auto sample = cumulus::from_bytes<support::running_sample>(bytes);
    if (sample.moments.order() != order)
      throw std::invalid_argument("it has order " + std::to_string(sample.moments.order() - 2) +
                                  ", not " + std::to_string(order - 2));
    return sample;
  } catch (const std::invalid_argument& error) {
    throw support::input_error(path == "-" ? "<stdin>" : path, {}, error.what(),
                               "name a file that moments --save wrote with the same --order");
  }
}

void save(const support::running_sample& sample, const std::string& path) {
  const std::vector<std::byte> bytes = cumulus::to_bytes(sample);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             std::fclose);
  if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0)
    throw support::input_error(path, {}, std::string("cannot be written: ") + std::strerror(errno),
                               "choose another name or folder");
}

std::string run(const settings& s) {
  const int held = s.order + 2;  // a bound takes the moments to the next even order
  support::moments_report report;
  report.sample = support::running_sample(held);
  report.order = s.order;
  report.form = s.form;
  report.weighted = !s.weights.path.empty();
  if (s.numbers.path.empty()) {
    report.source = "1000000 numbers 3 f^2, f the fractional part of i times the golden ratio";
    count_formula(report.sample);
  } else {
    report.source = count_file(s, report.sample);
  }
  for (const std::string& path : s.merge) {
    const support::running_sample part = load(path, held);
    report.weighted =
        report.weighted || part.moments.weight() < part.count || part.count < part.moments.weight();
    report.sample += part;
    report.source += ", with " + support::one_line(path);
  }
  if (!s.save.empty()) save(report.sample, s.save);
  return s.format == "csv" ? support::as_csv(report) : support::as_table(report);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// 1000000 numbers 3 f^2, f the fractional part of i times the golden ratio
//
// n                     1000000
// mean                  1.00000281
// variance              0.8000027128, divided by n
//                       0.8000035128, divided by n - 1
// range                 2.999996775, from 2.269018797e-12 to 2.999996775
// skewness              0.63887525, biased: g1 = mu_3 / mu_2^1.5
//                       0.6388762, unbiased: G1 = g1 sqrt(n (n - 1)) / (n - 2)
// excess kurtosis       -0.85714483, biased: g2 = mu_4 / mu_2^2 - 3
//                       -0.85714312, unbiased: G2 = ((n + 1) g2 + 6) (n - 1) / ((n - 2) (n - 3))
// logsumexp             15.2558738455, exact
// Taylor series         converges: the range is below pi
//
// moments
//   order  central moment  standardized     cumulant
//       1               0             0    1.0000028
//       2      0.80000271             1   0.80000271
//       3      0.45714424    0.63887525   0.45714424
//       4       1.3714366     2.1428552  -0.54857641
//       5       1.6623471     2.9039763   -1.9948192
//       6        3.388637     6.6183643   0.20168958
//       7        5.370671     11.727581    16.940695
//       8       10.004203     24.423993    29.929821
//
// logsumexp, taylor
//   order    partial sum      error     bound
//       0  14.8155133681  -4.40e-01  4.40e-01
//       1  14.8155133681  -4.40e-01  4.40e-01
//       2  15.2155147245  -4.04e-02  4.04e-02
//       3  15.2917054310  +3.58e-02  3.58e-02
//       4  15.2688480805  +1.30e-02  1.30e-02
//       5  15.2522245870  -3.65e-03  3.65e-03
//       6  15.2525047115  -3.37e-03  3.37e-03
//       7  15.2558659605  -7.88e-06  8.02e-06
//       8  15.2566082676  +7.34e-04  7.36e-04
