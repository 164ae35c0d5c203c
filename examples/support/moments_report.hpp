// SPDX-License-Identifier: MIT
//
// What `moments` reports of a sample that it has seen once: moments, cumulants, shape, and the series of its logsumexp.
#pragma once

#include <cumulus/cumulus.hpp>
#include <cumulus/moments.hpp>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/forms.hpp"
#include "support/print.hpp"
#include "support/table.hpp"

namespace support {

/// What is kept of a sample, however long it is: a monoid.
struct running_sample {
  explicit running_sample(int order) : moments(order) {}

  cumulus::central_moments<double> moments;
  cumulus::logsumexp_accumulator<double> exp_sum;
  double count = 0;  ///< of numbers, of weight 0 too

  /// Weights of x's size, or none for ones.
  void add(std::span<const double> x, std::span<const double> w) {
    count += static_cast<double>(x.size());
    if (w.empty()) {
      moments.add(x);
      exp_sum.add(x);
    } else {
      moments.add(x, w);
      exp_sum.add(x, w);
    }
  }

  running_sample& operator+=(const running_sample& other) {
    moments += other.moments;
    exp_sum += other.exp_sum;
    count += other.count;
    return *this;
  }

  /// For core/serialise.hpp: those of its parts, and the count.
  static constexpr const char* state_name = "running_sample";
  [[nodiscard]] auto sizes() const { return moments.sizes(); }
  [[nodiscard]] static running_sample of_sizes(const std::array<cumulus::index_t, 1>& sizes) {
    return running_sample(static_cast<int>(sizes[0]));
  }
  template <class F>
  void for_each_number(F f) {
    moments.for_each_number(f);
    exp_sum.for_each_number(f);
    f(count);
  }
  template <class F>
  void for_each_number(F f) const {
    moments.for_each_number(f);
    exp_sum.for_each_number(f);
    f(count);
  }
};

/// The adjusted Fisher-Pearson coefficients of a sample of n from mu_3 / mu_2^(3/2) and mu_4 / mu_2^2 - 3: unbiased for a
/// normal population (D. Joanes, C. Gill, J. Roy. Stat. Soc. D 47 (1998) 183-189). NaN below n = 3 and n = 4.
inline double unbiased_skewness(double g1, double n) {
  return n < 3 ? std::nan("") : g1 * std::sqrt(n * (n - 1)) / (n - 2);
}
inline double unbiased_kurtosis(double g2, double n) {
  return n < 4 ? std::nan("") : (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * g2 + 6);
}

struct moments_report {
  std::string source;
  running_sample sample{0};
  bool weighted = false;
  int order = 8;
  std::string form = "taylor";
};

inline std::vector<cumulus::estimate<double>> series(const moments_report& r) {
  std::vector<cumulus::estimate<double>> out;
  for (const auto& [name, form] : forms()) {
    if (name != r.form) continue;
    for (int order = 0; order <= r.order; ++order)
      out.push_back(cumulus::logsumexp_series(r.sample.moments, {.order = order, .form = form}));
  }
  return out;
}

inline std::string as_table(const moments_report& r) {
  const auto& m = r.sample.moments;
  const double n = m.weight(), exact = r.sample.exp_sum.value(), range = m.max() - m.min();
  std::string out = r.source + "\n\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(22, ' ');
    out += name + value + "\n";
  };
  line("n", number(r.sample.count, "%.17g"));
  if (r.weighted) line("total weight", number(n, "%.10g"));
  line("mean", number(m.mean(), "%.10g"));
  line("variance",
       number(m.moment(2), "%.10g") + ", divided by " + (r.weighted ? "the weight" : "n"));
  if (!r.weighted) line("", number(m.moment(2) * (n / (n - 1)), "%.10g") + ", divided by n - 1");
  line("range", number(range, "%.10g") + ", from " + number(m.min(), "%.10g") + " to " +
                    number(m.max(), "%.10g"));
  const double g1 = m.standardized_moment(3), g2 = m.standardized_moment(4) - 3;
  line("skewness", number(g1, "%.8g") + ", biased: g1 = mu_3 / mu_2^1.5");
  if (!r.weighted)
    line("", number(unbiased_skewness(g1, n), "%.8g") +
                 ", unbiased: G1 = g1 sqrt(n (n - 1)) / (n - 2)");
  line("excess kurtosis", number(g2, "%.8g") + ", biased: g2 = mu_4 / mu_2^2 - 3");
  if (!r.weighted)
    line("", number(unbiased_kurtosis(g2, n), "%.8g") +
                 ", unbiased: G2 = ((n + 1) g2 + 6) (n - 1) / ((n - 2) (n - 3))");
  line("logsumexp", number(exact, "%.12g") + ", exact");
  line("Taylor series", cumulus::convergence_radius(range) > 1
                            ? "converges: the range is below pi"
                            : "may not converge: the range is not below pi");

  const auto kappa = cumulus::cumulants(m);
  std::vector<std::vector<std::string>> rows = {
      {"order", "central moment", "standardized", "cumulant"}};
  for (int k = 1; k <= r.order; ++k)
    rows.push_back({std::to_string(k), number(m.moment(k), "%.8g"),
                    k < 2 ? "0" : number(m.standardized_moment(k), "%.8g"),
                    number(kappa[k], "%.8g")});
  out += "\nmoments\n" + columns(rows);

  rows = {{"order", "partial sum", "error", "bound"}};
  int order = 0;
  for (const auto& sum : series(r))
    rows.push_back({std::to_string(order++), number(sum.value, "%#.12g"),
                    number(sum.value - exact, "%+.2e"), number(sum.bound, "%.2e")});
  return out + "\nlogsumexp, " + r.form + "\n" + columns(rows);
}

inline std::string as_csv(const moments_report& r) {
  const auto& m = r.sample.moments;
  const auto kappa = cumulus::cumulants(m);
  const auto sums = series(r);
  const double exact = r.sample.exp_sum.value();
  std::vector<std::vector<std::string>> rows = {{"order", "central_moment", "standardized_moment",
                                                 "cumulant", "partial_sum", "error", "bound"}};
  for (int k = 0; k <= r.order; ++k) {
    const auto at = static_cast<std::size_t>(k);
    rows.push_back({std::to_string(k), shortest(m.moment(k)),
                    shortest(k < 2 ? 1.0 - k : m.standardized_moment(k)), shortest(kappa[k]),
                    shortest(sums[at].value), shortest(sums[at].value - exact),
                    shortest(sums[at].bound)});
  }
  return csv(rows);
}

}  // namespace support
