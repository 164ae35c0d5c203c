// SPDX-License-Identifier: MIT
//
// The Taylor expansions of logsumexp and softmax beside the functions themselves: the loop a reader
// would write, cumulus from data and from moments, the Eigen expression. rel_error is against the
// exact function, so it holds the truncation; bound is what the contender says it can be at most,
// inf where it says nothing. Rows without a size are from moments, or from the range, at hand.
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/series/convergence.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/softmax_series.hpp>
#include <cumulus/series/softmax_series_bound.hpp>

#include "support/eigen.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

/// A spread of 1/4: the range stays below pi, where the series converges.
template <class T>
std::span<const T> block(benchmark::State& state) {
  return bench::normal<T>(static_cast<std::size_t>(state.range(0)), 0.0, 0.25);
}

/// log n + mean + sum_{k=2}^P c_k from mu_2..mu_P:
/// c_k = m_k - (1/k) sum_j j c_j m_{k-j}, m_k = mu_k / k!.
template <class T, int P>
T from_moments(T n, T mean, std::array<T, P + 1> m) {
  std::array<T, P + 1> c{};
  T value = std::log(n) + mean, factorial = 1;
  for (std::size_t k = 2; k <= P; ++k) {
    m[k] /= factorial *= static_cast<T>(k);
    T sum = 0;
    for (std::size_t j = 2; j + 2 <= k; ++j) sum += static_cast<T>(j) * c[j] * m[k - j];
    value += c[k] = m[k] - sum / static_cast<T>(k);
  }
  return value;
}

template <class T, int P>
T naive(std::span<const T> x) {
  const T n = static_cast<T>(x.size());
  T mean = 0;
  for (const T& v : x) mean += v;
  mean /= n;
  std::array<T, P + 1> mu{};
  for (const T& v : x) {
    const T y = v - mean;
    T power = y;
    for (std::size_t k = 2; k <= P; ++k) mu[k] += power *= y;
  }
  for (std::size_t k = 2; k <= P; ++k) mu[k] /= n;
  return from_moments<T, P>(n, mean, mu);
}

template <class T, int P>
T eigen(std::span<const T> x) {
  const bench::const_array<T> a(x.data(), std::ssize(x));
  const T mean = a.mean();
  std::array<T, P + 1> mu{};
  bench::power_means<P>(a - mean, mu);
  return from_moments<T, P>(static_cast<T>(x.size()), mean, mu);
}

/// softmax to degree 4: sum_j (y^j / j!) (r_0 + .. + r_{4-j}) / n, r the coefficients of
/// 1 / sum m_k t^k.
template <class T>
std::array<T, 5> softmax_coefficients(T n, T mu2, T mu3, T mu4) {
  const T r2 = -mu2 / 2, r3 = -mu3 / 6, r4 = mu2 * mu2 / 4 - mu4 / 24;
  return {(1 + r2 + r3 + r4) / n, (1 + r2 + r3) / n, (1 + r2) / (2 * n), 1 / (6 * n), 1 / (24 * n)};
}

template <class T>
void naive_softmax(std::span<const T> x, std::span<T> out) {
  const T n = static_cast<T>(x.size());
  T mean = 0, mu2 = 0, mu3 = 0, mu4 = 0;
  for (const T& v : x) mean += v;
  mean /= n;
  for (const T& v : x) {
    const T y = v - mean;
    mu2 += y * y;
    mu3 += y * y * y;
    mu4 += y * y * y * y;
  }
  const auto a = softmax_coefficients(n, mu2 / n, mu3 / n, mu4 / n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T y = x[i] - mean;
    out[i] = a[0] + y * (a[1] + y * (a[2] + y * (a[3] + y * a[4])));
  }
}

template <class T>
void eigen_softmax(std::span<const T> x, std::span<T> out) {
  const bench::const_array<T> values(x.data(), std::ssize(x));
  const auto y = values - values.mean();
  const auto a = softmax_coefficients(static_cast<T>(x.size()), y.square().mean(), y.cube().mean(),
                                      y.square().square().mean());
  bench::array<T>(out.data(), std::ssize(out)) =
      a[0] + y * (a[1] + y * (a[2] + y * (a[3] + y * a[4])));
}

template <class T>
void compare(benchmark::State& state, const cumulus::estimate<T>& result, long double exact) {
  state.counters["rel_error"] = bench::relative_error(result.value, exact);
  state.counters["bound"] = static_cast<double>(result.bound / std::abs(result.value));
}

/// `run` gives a number, or an estimate of it.
template <class T, class Run>
void enrol_logsumexp(const std::string& path, Run run) {
  auto* entry = benchmark::RegisterBenchmark(path.c_str(), [run](benchmark::State& state) {
    const auto x = block<T>(state);
    decltype(run(x)) result{};
    for (auto _ : state) {
      result = run(x);
      benchmark::DoNotOptimize(result);
    }
    bench::count(state, x.size(), sizeof(T));
    const long double exact = bench::reference::logsumexp(x);
    if constexpr (requires { result.bound; }) {
      compare(state, result, exact);
    } else {
      compare(state, cumulus::estimate<T>{result, std::numeric_limits<T>::infinity()}, exact);
    }
  });
  entry->ArgName("n")->Arg(64)->Arg(1024)->Arg(4096)->Arg(1 << 16);
}

/// From moments at hand the cost does not depend on n.
template <class T, int P>
void enrol_from_moments(const std::string& path) {
  benchmark::RegisterBenchmark(path.c_str(),
                               [](benchmark::State& state) {
                                 const auto x = block<T>(state);
                                 cumulus::central_moments<T, P> m;
                                 m.add(x);
                                 cumulus::estimate<T> result;
                                 for (auto _ : state) {
                                   benchmark::DoNotOptimize(m);
                                   result = cumulus::logsumexp_series(m, P);
                                   benchmark::DoNotOptimize(result);
                                 }
                                 compare(state, result, bench::reference::logsumexp(x));
                               })
      ->ArgName("n")
      ->Arg(1024);
}

template <class T, int P>
void enrol_order() {
  const auto path = [](const std::string& who) {
    return "logsumexp_series/" + who + "/" + bench::scalar_name<T> + "/order:" + std::to_string(P);
  };
  enrol_logsumexp<T>(path("naive"), naive<T, P>);
  enrol_logsumexp<T>(path("cumulus"),
                     [](std::span<const T> x) { return cumulus::logsumexp_series<P>(x); });
  enrol_logsumexp<T>(path("eigen"), eigen<T, P>);
}

template <class T, class Run>
void enrol_softmax(const std::string& path, Run run) {
  auto* entry = benchmark::RegisterBenchmark(path.c_str(), [run](benchmark::State& state) {
    const auto x = block<T>(state);
    const auto out = bench::room<T>(x.size());
    for (auto _ : state) {
      run(x, out);
      benchmark::ClobberMemory();
    }
    bench::count(state, x.size(), 2 * sizeof(T));
    const long double total = bench::reference::logsumexp(x);
    state.counters["rel_error"] = bench::largest_relative_error<T>(
        x, out, [total](long double v) { return std::exp(v - total); });
  });
  entry->ArgName("n")->Arg(64)->Arg(1024)->Arg(4096)->Arg(1 << 16);
}

template <class T>
void enrol_from_moments() {
  const auto path = [](int order) {
    return std::string("logsumexp_series/cumulus_moments/") + bench::scalar_name<T> +
           "/order:" + std::to_string(order);
  };
  enrol_from_moments<T, 2>(path(2));
  enrol_from_moments<T, 4>(path(4));
  enrol_from_moments<T, 8>(path(8));
  enrol_from_moments<T, 16>(path(16));
}

template <class T>
void enrol_all() {
  enrol_order<T, 2>();
  enrol_order<T, 4>();
  enrol_order<T, 8>();
  enrol_order<T, 16>();
  enrol_logsumexp<T>(std::string("logsumexp_series/exact/") + bench::scalar_name<T>,
                     [](std::span<const T> x) { return cumulus::logsumexp(x); });
}

template <class T>
void enrol_softmax_all() {
  const std::string scalar = bench::scalar_name<T>;
  enrol_softmax<T>("softmax_series/naive/" + scalar + "/order:4", naive_softmax<T>);
  enrol_softmax<T>("softmax_series/cumulus/" + scalar + "/order:4",
                   [](std::span<const T> x, std::span<T> out) {
                     cumulus::softmax_series(x, cumulus::into(out), 4);
                   });
  enrol_softmax<T>("softmax_series/eigen/" + scalar + "/order:4", eigen_softmax<T>);
  enrol_softmax<T>("softmax_series/exact/" + scalar, [](std::span<const T> x, std::span<T> out) {
    cumulus::softmax(x, cumulus::into(out));
  });
}

/// One call from what is at hand, by name.
template <class Run>
void enrol_call(const std::string& path, Run run) {
  benchmark::RegisterBenchmark(path.c_str(), [run](benchmark::State& state) {
    for (auto _ : state) {
      auto result = run();
      benchmark::DoNotOptimize(result);
    }
  });
}

/// 1024 normal values stretched to this range.
std::vector<double> of_range(double range) {
  const auto x = bench::normal<double>(1024, 0.0, 0.25);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  std::vector<double> out;
  for (const double v : x) out.push_back((v - *low) / (*high - *low) * range);
  return out;
}

/// The forms and the bounds, at a range where the Taylor series converges well and at one near pi.
void enrol_forms_and_bounds() {
  using cumulus::form;
  for (const auto& [name, range] : {std::pair{"/range:1", 1.0}, std::pair{"/range:3", 3.0}}) {
    for (const int order : {4, 8, 16}) {
      const std::string tail = "/order:" + std::to_string(order) + name;
      cumulus::central_moments<double> m(order);
      m.add(of_range(range));
      for (const form f : {form::taylor, form::moment, form::chebyshev, form::enclosure})
        enrol_call(std::string("form/") + name_of(f) + tail, [m, order, f = f] {
          return cumulus::logsumexp_series(m, {.order = order, .form = f});
        });
      enrol_call("bound/range" + tail, [order, range = range] {
        return cumulus::detail::logsumexp_remainder(order, range);
      });
      enrol_call("bound/range_and_variance" + tail, [m, order, range = range] {
        return cumulus::detail::logsumexp_remainder(order, range, m.moment(2));
      });
      enrol_call("bound/sharp" + tail, [m, order, range = range] {
        return cumulus::detail::logsumexp_sharp_remainder(order, range, m.moment(2));
      });
      enrol_call("bound/softmax_range" + tail, [order, range = range] {
        return cumulus::detail::softmax_remainder(order, range);
      });
      enrol_call("bound/softmax_sharp" + tail, [order, range = range] {
        return cumulus::detail::softmax_sharp_remainder(order, range);
      });
      if (order < 16) continue;
      std::vector<double> mu;
      for (int k = 0; k <= order; ++k) mu.push_back(m.moment(k) / std::tgamma(k + 1));
      enrol_call("coefficients/logarithm" + tail, [mu] {
        std::array<double, 17> c;
        cumulus::detail::series_logarithm(mu, c);
        return c;
      });
      enrol_call("coefficients/reciprocal" + tail, [mu] {
        std::array<double, 17> r;
        cumulus::detail::series_reciprocal(mu, r);
        return r;
      });
      const double low = m.min() - m.mean(), high = m.max() - m.mean();
      enrol_call("coefficients/chebyshev" + tail, [low, high, range = range] {
        return cumulus::detail::economise_exponential(16, low, high, range);
      });
    }
    const auto x = of_range(range);
    enrol_call(std::string("convergence_radius/n:1024") + name,
               [x] { return cumulus::convergence_radius(x); });
  }
}

[[maybe_unused]] const bool enrolled =
    (enrol_all<float>(), enrol_all<double>(), enrol_softmax_all<float>(),
     enrol_softmax_all<double>(), enrol_from_moments<float>(), enrol_from_moments<double>(),
     enrol_forms_and_bounds(), true);

}  // namespace
