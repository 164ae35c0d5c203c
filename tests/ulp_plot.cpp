// SPDX-License-Identifier: MIT
//
// The pictures of docs/accuracy.md: the largest error in ulp of logsumexp, softmax and log_softmax against the spread of x and
// against n; of cumulus, and of the Eigen expressions with and without the maximum subtracted. `ulp_plot FOLDER` measures, prints
// what it drew, and writes accuracy_spread.svg and accuracy_size.svg (with gnuplot) into the folder.

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

#include "support/draw.hpp"
#include "support/families.hpp"
#include "support/oracle.hpp"
#include "support/ulp.hpp"

namespace {

using Eigen::Index;
using oracle::wide;

constexpr const char* functions[] = {"logsumexp", "softmax", "log_softmax"};
constexpr const char* ways[] = {"cumulus", "Eigen, max subtracted", "Eigen, as it stands"};

/// Largest errors, [function][way].
using errors = std::array<std::array<double, 3>, 3>;

template <class T>
using array = Eigen::Array<T, Eigen::Dynamic, 1>;

/// What each way gives of x: logsumexp, and softmax and log_softmax of each element.
template <class T>
struct answers {
  T log_sum;
  array<T> soft, log_soft;
};
template <class T>
[[nodiscard]] std::array<answers<T>, 3> answers_of(const array<T>& x) {
  const T top = x.maxCoeff();
  const array<T> shifted = (x - top).exp(), plain = x.exp();
  const T log_shifted = std::log(shifted.sum()), log_plain = std::log(plain.sum());
  return {answers<T>{cumulus::logsumexp(x), cumulus::softmax(x), cumulus::log_softmax(x)},
          {T(top + log_shifted), shifted / shifted.sum(), (x - top) - log_shifted},
          {log_plain, plain / plain.sum(), x - log_plain}};
}

/// log of entry i, from the others over it where it is most of the sum: 1 - p has more digits than p.
[[nodiscard]] wide log_share(const std::vector<wide>& e, const wide& sum, std::size_t i) {
  if (2 * e[i] < sum) return log(e[i] / sum);
  wide others = 0;
  for (std::size_t j = 0; j < e.size(); ++j) {
    if (j != i) others += e[j];
  }
  const wide r = others / e[i];
  return r < wide(1e-20) ? wide(-r * (1 - r / 2)) : wide(-log(1 + r));
}

/// Adds what is seen on x. logsumexp: ulp of max(1, |result|); the others: of each entry that is a normal number.
template <class T>
void measure(errors& worst, const std::vector<T>& x) {
  const std::array<answers<T>, 3> got =
      answers_of<T>(Eigen::Map<const array<T>>(x.data(), Index(x.size())));
  std::vector<wide> e;
  wide sum = 0;
  for (const T v : x) sum += e.emplace_back(exp(wide(v)));
  const wide log_sum = log(sum);
  const auto see = [&](int function, int way, double error) {
    double& w = worst[std::size_t(function)][std::size_t(way)];
    w = std::max(w, error);
  };
  for (int way = 0; way < 3; ++way)
    see(0, way, ulps(got[std::size_t(way)].log_sum, log_sum, std::max(T(1), std::abs(T(log_sum)))));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const wide p = e[i] / sum;
    if (T(p) < std::numeric_limits<T>::min()) continue;
    const wide log_p = log_share(e, sum, i);
    for (int way = 0; way < 3; ++way) {
      const answers<T>& a = got[std::size_t(way)];
      see(1, way, ulps(a.soft[Index(i)], p));
      see(2, way, ulps(a.log_soft[Index(i)], log_p));
    }
  }
}

struct point {
  double at;
  errors of_float, of_double;
};

[[nodiscard]] point measure_at(double at, std::size_t n, double spread, int rows) {
  point p{at, {}, {}};
  for (int seed = 1; seed <= rows; ++seed) {
    measure(p.of_float, families::normal<float>(n, 0, spread, std::uint64_t(seed)));
    measure(p.of_double, families::normal<double>(n, 0, spread, std::uint64_t(seed)));
  }
  std::printf("%8g", at);
  for (const errors* e : {&p.of_float, &p.of_double})
    for (const auto& function : *e)
      std::printf("  %7.3g %7.3g %7.3g", function[0], function[1], function[2]);
  std::printf("\n");
  return p;
}

/// Three panels for float above three for double; what is not finite is left out.
[[nodiscard]] std::string picture(const std::vector<point>& points, const std::string& xlabel) {
  const std::string grey = std::string("textcolor rgb '") + support::plot_grey + "' noenhanced";
  std::string script =
      "set multiplot\nset logscale xy\nset xtics format '10^{%T}'\nset ytics format '10^{%T}'\n";
  script += "unset mxtics\nunset mytics\nset key off\nset yrange [0.2:1e7]\nset xrange [" +
            std::to_string(points.front().at / 1.3) + ":" + std::to_string(points.back().at * 1.3) +
            "]\nset xtics 100\nset ytics 100\n";
  for (int type = 0; type < 2; ++type) {
    for (std::size_t f = 0; f < 3; ++f) {
      const auto screen = [](double at) { return " at screen " + std::to_string(at) + "\n"; };
      const double left = 0.1 + 0.305 * double(f), bottom = type == 0 ? 0.56 : 0.19;
      script += "set lmargin" + screen(left) + "set rmargin" + screen(left + 0.275) +
                "set bmargin" + screen(bottom) + "set tmargin" + screen(bottom + 0.31) +
                "unset label\n";
      const auto label = [&](const std::string& what, const std::string& place) {
        script += "set label '" + what + "' at " + place + " " + grey + "\n";
      };
      if (type == 0) label(functions[f], "graph 0.5, graph 1.12 center");
      if (type == 1) label(xlabel, "graph 0.5, graph -0.3 center");
      for (std::size_t way = 0; f == 0 && type == 0 && way < 3; ++way) {
        const double x = 0.17 + 0.2 * double(way) + (way == 2 ? 0.09 : 0.0);
        script += "set label '● " + std::string(ways[way]) + "' at screen " + std::to_string(x) +
                  ", screen 0.035 noenhanced textcolor rgb '" + support::plot_colour(way) + "'\n";
      }
      if (f == 0)
        label(type == 0 ? "float, ulp" : "double, ulp", "screen 0.02, graph 0.5 center rotate");
      script += f == 0 ? "set ytics format '10^{%T}'\n" : "set ytics format ''\n";
      script += type == 1 ? "set xtics format '10^{%T}'\n" : "set xtics format ''\n";
      std::string curves;
      for (std::size_t way = 0; way < 3; ++way) {
        std::string data = "$d" + std::to_string(way) + " << EOD\n";
        for (const point& p : points) {
          const double error = (type == 0 ? p.of_float : p.of_double)[f][way];
          data += std::to_string(p.at) + " " +
                  (std::isfinite(error) ? std::to_string(std::clamp(error, 0.2, 1e7)) : "NaN") +
                  "\n";
        }
        script += data + "EOD\n";
        curves += (way == 0 ? "plot $d" : ", $d") + std::to_string(way) +
                  " with linespoints lw 2 pt 7 ps 0.4 lc rgb '" + support::plot_colour(way) + "'";
      }
      script += curves + "\n";
    }
  }
  return script + "unset multiplot\n";
}

[[nodiscard]] bool holds(const std::vector<point>& points) {
  const double bounds[] = {cumulus::logsumexp_max_ulp, cumulus::softmax_max_ulp,
                           cumulus::log_softmax_max_ulp};
  for (const point& p : points) {
    for (std::size_t f = 0; f < 3; ++f) {
      if (p.of_float[f][0] > bounds[f] || p.of_double[f][0] > bounds[f]) {
        std::fprintf(stderr, "%s exceeds its bound at %g\n", functions[f], p.at);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ulp_plot FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::printf(
      "largest errors in ulp, float then double: logsumexp, softmax, log_softmax, each\n"
      "  of cumulus, of Eigen with the maximum subtracted, of Eigen as it stands\n\n"
      "spread, n = 1000, 4 rows each\n");
  std::vector<point> spread, size;
  for (const double s :
       {1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 20.0, 30.0, 60.0, 100.0, 200.0, 300.0, 1000.0})
    spread.push_back(measure_at(s, 1000, s, 4));
  std::printf("\nn, spread 3, 4 rows each\n");
  for (const std::size_t n : {2u, 5u, 10u, 30u, 100u, 300u, 1000u, 3000u, 10000u, 30000u, 100000u})
    size.push_back(measure_at(double(n), n, 3, 4));
  try {
    support::draw(picture(spread, "standard deviation of x"), folder + "/accuracy_spread.svg");
    support::draw(picture(size, "n"), folder + "/accuracy_size.svg");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ulp_plot: %s\n", error.what());
    return 1;
  }
  return holds(spread) && holds(size) ? 0 : 1;
}
