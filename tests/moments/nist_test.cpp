// SPDX-License-Identifier: MIT
//
// The univariate sets of NIST's Statistical Reference Datasets (public domain, itl.nist.gov/div898/strd): mean, standard
// deviation (by n - 1) and lag-1 autocorrelation, which NIST certifies to 15 digits.
//
// Two readings. As decimals, in 50 digits, moments must give every certified digit. As the nearest doubles they cannot: what
// reading leaves is in the table below (Michelso to NumAcc4), and moments of doubles must lose nothing more, so they are also
// held against the exact values of those doubles. NumAcc1 to 4 are here, by their definition. Where the environment variable
// CUMULUS_NIST names a folder with the .dat files, all nine sets are read from it.
#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/moments/central_moments.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "oracle.hpp"

namespace {

using oracle::wide;

const wide u = wide(1) / wide(9007199254740992.0);  // 2^-53

struct statistics {
  wide mean, sd, r1;
};

/// What a user would write. The products of neighbours are added with their errors: at r1 near 0 they cancel.
template <class Moments, class T>
statistics of(const Moments& m, const std::vector<T>& x) {
  cumulus::detail::compensated<T> neighbours;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const T left = m.deviation(x[i]), right = m.deviation(x[i + 1]);
    neighbours += cumulus::detail::two_product(left, right);
  }
  using std::sqrt;
  const T n = m.weight(), variance = m.moment(2) * (n / (n - 1)), sd = sqrt(variance);
  const T r1 = neighbours.value() / n / m.moment(2);
  return {wide(m.mean()), wide(sd), wide(r1)};
}

/// The same by definition, in 50 digits.
statistics exact(const std::vector<wide>& x) {
  const wide mean = oracle::mean(x), n = wide(x.size());
  wide squares = 0, neighbours = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - mean) * (x[i] - mean);
    if (i > 0) neighbours += (x[i] - mean) * (x[i - 1] - mean);
  }
  return {mean, sqrt(squares / (n - 1)), neighbours / squares};
}

/// Digits that agree, 99 where all do.
double digits(const wide& actual, const wide& expected) {
  const wide error = abs(actual - expected);
  return error == 0
             ? 99
             : -static_cast<double>(log10(expected == 0 ? error : wide(error / abs(expected))));
}

struct set {
  const char* name;
  std::size_t n;
  const char *mean, *sd, *r1;  // certified
  double mean_digits, sd_digits,
      r1_digits;  // of the certified values that the nearest doubles have; 99: all
};

constexpr set sets[] = {
    {"PiDigits", 5000, "4.53480000000000", "2.86733906028871", "-0.00355099287237972", 99, 99, 99},
    {"Lottery", 218, "518.958715596330", "291.699727470969", "-0.120948622967393", 99, 99, 99},
    {"Lew", 200, "-177.435000000000", "277.332168044316", "-0.307304800605679", 99, 99, 99},
    {"Mavro", 50, "2.00185600000000", "0.000429123454003053", "0.937989183438248", 16.9, 13.1,
     13.9},
    {"Michelso", 100, "299.852400000000", "0.0790105478190518", "0.535199668621283", 18.5, 13.8,
     13.4},
    {"NumAcc1", 3, "10000002", "1", "-0.5", 99, 99, 99},
    {"NumAcc2", 1001, "1.2", "0.1", "-0.999", 16.3, 15.7, 18.0},
    {"NumAcc3", 1001, "1000000.2", "0.1", "-0.999", 16.9, 9.5, 12.2},
    {"NumAcc4", 1001, "10000000.2", "0.1", "-0.999", 16.7, 8.3, 11.0}};

/// The numbers of a set as text: by definition, or from the file, whose data begin on line 61.
std::vector<std::string> values(const set& s, const char* folder) {
  const std::string name = s.name;
  std::vector<std::string> out;
  if (folder != nullptr) {
    std::ifstream file(std::string(folder) + "/" + name + ".dat");
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      const auto first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
      if (number > 60 && first != std::string::npos)
        out.push_back(line.substr(first, last + 1 - first));
    }
  } else if (name == "NumAcc1") {
    out = {"10000001", "10000003", "10000002"};
  } else if (name.substr(0, 6) == "NumAcc") {
    const std::string whole = name == "NumAcc2" ? "1" : name == "NumAcc3" ? "1000000" : "10000000";
    out = {whole + ".2"};
    for (int i = 0; i < 500; ++i) out.push_back(whole + ".1"), out.push_back(whole + ".3");
  }
  return out;
}

void check_all(const set& s, const std::vector<std::string>& text) {
  std::vector<double> doubles;
  std::vector<wide> decimals, read;
  for (const std::string& value : text) {
    doubles.push_back(std::strtod(value.c_str(), nullptr));
    read.emplace_back(doubles.back());
    decimals.emplace_back(value);
  }
  const statistics certified{wide(s.mean), wide(s.sd), wide(s.r1)}, of_doubles = exact(read);

  // as decimals, to all certified digits: 15, the last of them rounded
  cumulus::central_moments<wide, 2> wide_moments;
  wide_moments.add(decimals);
  const statistics by_decimals = of(wide_moments, decimals);
  const double all = 14.3;
  CHECK(digits(by_decimals.mean, certified.mean) >= all);
  CHECK(digits(by_decimals.sd, certified.sd) >= all);
  CHECK(digits(by_decimals.r1, certified.r1) >= all);

  cumulus::central_moments<double, 2> by_range, by_value;
  by_range.add(doubles);
  for (const double x : doubles) by_value.add(x);
  for (const auto& m : {by_range, by_value}) {
    CHECK(m.weight() == double(s.n));
    const statistics found = of(m, doubles);
    // exactly as good as the doubles are: an ulp of the mean, two of the others
    CHECK(abs(found.mean - of_doubles.mean) <= 2 * u * abs(of_doubles.mean));
    CHECK(abs(found.sd - of_doubles.sd) <= 4 * u * of_doubles.sd);
    // r1 is a quotient of sums; its error is that of sum |y y'| / sum y^2 <= 1
    CHECK(abs(found.r1 - of_doubles.r1) <= 4 * u);
    // and as good as doubles can be against the certified values; 15 digits say no more than 15
    const auto at_best = [&](double best) { return std::min(best - 0.05, 14.3); };
    CHECK(digits(found.mean, certified.mean) >= at_best(s.mean_digits));
    CHECK(digits(found.sd, certified.sd) >= at_best(s.sd_digits));
    CHECK(digits(found.r1, certified.r1) >= at_best(s.r1_digits));
  }
}

}  // namespace

TEST_CASE("nist: mean, standard deviation and autocorrelation to the digits that reading leaves",
          "[moments][value]") {
  const char* folder = std::getenv("CUMULUS_NIST");
  int checked = 0;
  for (const set& s : sets) {
    const auto text = values(s, folder);
    if (folder == nullptr && text.empty()) continue;
    CAPTURE(s.name);
    REQUIRE(text.size() == s.n);
    check_all(s, text);
    ++checked;
  }
  CHECK(checked == (folder == nullptr ? 4 : 9));
}
