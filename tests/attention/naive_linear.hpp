// SPDX-License-Identifier: MIT
//
// Linear attention by its definition, one query at a time, in long double.
#pragma once

#include <cumulus/attention/linear_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace naive {

using real = long double;
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of N(mean, 1) of a fixed seed.
template <class T>
[[nodiscard]] matrix<T> normal(Eigen::Index rows, Eigen::Index cols, unsigned seed,
                               double mean = 0) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw(mean, 1);
  matrix<T> x(rows, cols);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = T(draw(engine));
  return x;
}

/// The scores scale q k_i of one query, of the first `visible` keys.
template <class Q, class K>
[[nodiscard]] std::vector<real> scores(const Q& q, const K& k, Eigen::Index visible, real scale) {
  std::vector<real> u;
  for (Eigen::Index i = 0; i < visible; ++i) {
    real sum = 0;
    for (Eigen::Index j = 0; j < k.cols(); ++j) sum += real(q[j]) * real(k(i, j));
    u.push_back(scale * sum);
  }
  return u;
}

/// The last n keys; no window for 0.
[[nodiscard]] inline std::optional<cumulus::window> window_of(Eigen::Index n) {
  if (n == 0) return std::nullopt;
  return n;
}

/// sum w v / sum w, and log sum w.
struct answer {
  std::vector<real> output;
  real log_sum = 0;
};
template <class V>
[[nodiscard]] answer average(const std::vector<real>& w, const V& v) {
  answer a;
  a.output.assign(std::size_t(v.cols()), 0);
  real total = 0;
  for (const real x : w) total += x;
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < a.output.size(); ++j)
      a.output[j] += w[i] / total * real(v(Eigen::Index(i), Eigen::Index(j)));
  }
  a.log_sum = std::log(total);
  return a;
}

/// y^j / j!
[[nodiscard]] inline real divided_power(real y, int j) {
  real p = 1;
  for (int i = 1; i <= j; ++i) p *= y / i;
  return p;
}

/// The weights that options give the scores of a query, decay^(n - 1 - i) included; where `top` is given, over e^top, so that
/// none overflows.
template <class Options>
[[nodiscard]] std::vector<real> weights(const std::vector<real>& u, const Options& o,
                                        real* top = nullptr) {
  const auto n = u.size(), window = std::size_t(o.window ? o.window->before : 0);
  const auto P = std::size_t(o.order);
  std::vector<real> decay(n);
  std::vector<bool> exact(n);
  real total = 0, mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    decay[i] = std::pow(real(o.decay), real(n - 1 - i));
    exact[i] = i < std::size_t(o.first_tokens) || i + window >= n;
    if (exact[i]) continue;
    total += decay[i];
    mean += decay[i] * u[i];
  }
  const bool taylor = o.form == cumulus::form::taylor;
  const real centre = total > 0 && (o.centred || taylor) ? mean / total : 0;
  // sums of powers, by their definition; 1 / M and log M as power series
  std::vector<real> m(P + 1), r(P + 1), c(P + 1), a(P + 1, 1);
  real lift = centre, series = 0;
  if (taylor && total > 0) {
    for (std::size_t j = 0; j <= P; ++j) {
      for (std::size_t i = 0; i < n; ++i)
        if (!exact[i]) m[j] += decay[i] / total * divided_power(u[i] - centre, int(j));
    }
    for (std::size_t k = 0; k <= P; ++k) {
      r[k] = k == 0 ? 1 : 0;
      c[k] = k == 0 ? 0 : m[k];
      for (std::size_t j = 1; j <= k; ++j) r[k] -= m[j] * r[k - j];
      for (std::size_t j = 1; j < k; ++j) c[k] -= real(j) / real(k) * c[j] * m[k - j];
      series += c[k];
    }
    // beside exact weights: no less than 0, by Jensen, and above 1 on the scale of logarithms
    if (std::find(exact.begin(), exact.end(), true) != exact.end()) {
      real sum = 0;
      for (const real x : m) sum += x;
      if (series > 1)
        series = std::min(1 + std::log(series), std::max({real(1), P > 1 ? 1 + std::log(m[2]) : 1,
                                                          sum > 1 ? std::log(sum) : 1}));
      series = std::max(series, real(0));
    }
    lift += series;
    for (std::size_t j = 0; j <= P; ++j) {
      a[j] = 0;
      for (std::size_t k = 0; k + j <= P; ++k) a[j] += r[k];
    }
  }
  const real none = -std::numeric_limits<real>::infinity();
  real shift = 0;
  if (top != nullptr) {
    shift = total > 0 ? lift : none;
    for (std::size_t i = 0; i < n; ++i)
      if (exact[i]) shift = std::max(shift, u[i]);
    if (!std::isfinite(shift)) shift = 0;
    *top = shift;
  }
  std::vector<real> w(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (exact[i]) {
      w[i] = decay[i] * std::exp(u[i] - shift);
      continue;
    }
    const real y = u[i] - centre;
    real sum = 0;
    for (std::size_t j = 0; j <= P; ++j)
      sum += o.polynomial.empty() ? a[j] * divided_power(y, int(j))
                                  : real(o.polynomial[j]) * std::pow(y, real(j));
    w[i] = decay[i] * std::exp(lift - shift) * sum;
  }
  return w;
}

/// What query q makes of the first `visible` keys and values.
template <class Q, class K, class V, class Options>
[[nodiscard]] answer attend(const Q& q, const K& k, const V& v, Eigen::Index visible,
                            const Options& o) {
  const real scale = o.scale ? real(*o.scale) : 1 / std::sqrt(real(k.cols()));
  real top = 0;
  answer a = average(weights(scores(q, k, visible, scale), o, &top), v);
  a.log_sum += top;
  return a;
}

/// |actual - expected| / max(|expected|, 1): relative, but for outputs near 0 of values near 1.
template <class A>
[[nodiscard]] double distance(const A& actual, const std::vector<real>& expected) {
  real square = 0, size = 0;
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const real gap = real(actual[Eigen::Index(j)]) - expected[j];
    square += gap * gap;
    size += expected[j] * expected[j];
  }
  return double(std::sqrt(square / (size > 1 ? size : 1)));
}

}  // namespace naive
