// SPDX-License-Identifier: MIT
//
// The mean and central moments of a vector: the two loops a reader would write, cumulus (a range,
// and value by value), the Eigen expressions, the peers; at no offset and at 1e6.
#include <cumulus/moments/central_moments.hpp>

#include "support/eigen.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

namespace {

/// [1] the mean, [k] mu_k
template <class T, int P>
using moments = std::array<T, P + 1>;

template <class T, int P>
moments<T, P> naive(std::span<const T> x) {
  const T n = static_cast<T>(x.size());
  moments<T, P> mu{};
  for (const T& v : x) mu[1] += v;
  mu[1] /= n;
  for (const T& v : x) {
    const T y = v - mu[1];
    T power = y;
    for (std::size_t k = 2; k <= P; ++k) mu[k] += power *= y;
  }
  for (std::size_t k = 2; k <= P; ++k) mu[k] /= n;
  return mu;
}

template <class T, int P>
moments<T, P> observed(const cumulus::central_moments<T, P>& m) {
  moments<T, P> mu{};
  mu[1] = m.mean();
  for (int k = 2; k <= P; ++k) mu[static_cast<std::size_t>(k)] = m.moment(k);
  return mu;
}

template <class T, int P>
moments<T, P> ours(std::span<const T> x) {
  cumulus::central_moments<T, P> m;
  m.add(x);
  return observed(m);
}

template <class T, int P>
moments<T, P> ours_streaming(std::span<const T> x) {
  cumulus::central_moments<T, P> m;
  for (const T& v : x) m.add(v);
  return observed(m);
}

template <class T, int P>
moments<T, P> eigen(std::span<const T> x) {
  const bench::const_array<T> a(x.data(), std::ssize(x));
  moments<T, P> mu{};
  mu[1] = a.mean();
  bench::power_means<P>(a - mu[1], mu);
  return mu;
}

/// The largest error of the mean and the moments, each relative to the mean of |x| or |y|^k.
template <class T, int P>
double error_of(std::span<const T> x, const moments<T, P>& mu) {
  const auto& exact = bench::reference::moments(x, P);
  double largest = 0;
  for (std::size_t k = 1; k <= P; ++k) {
    const long double error = std::abs(static_cast<long double>(mu[k]) - exact[k].value);
    const double relative = static_cast<double>(error / exact[k].absolute);
    if (!(relative <= largest)) largest = relative;
  }
  return largest;
}

template <class T, int P, class Run>
void enrol(const std::string& who, Run run, std::int64_t longest) {
  const auto measure = [run](benchmark::State& state, std::span<const T> x) {
    moments<T, P> mu{};
    for (auto _ : state) {
      mu = run(x);
      benchmark::DoNotOptimize(mu);
    }
    bench::count(state, x.size(), sizeof(T));
    state.counters["rel_error"] = error_of<T, P>(x, mu);
  };
  const std::string path =
      "moments/" + who + "/" + bench::scalar_name<T> + "/order:" + std::to_string(P);
  bench::enrol_vectors(
      path,
      [=](benchmark::State& state) {
        measure(state, bench::scores<T>(static_cast<std::size_t>(state.range(0))));
      },
      longest);
  const auto offset = [=](benchmark::State& state) {
    measure(state, bench::normal<T>(static_cast<std::size_t>(state.range(0)), 1e6, 3.0));
  };
  benchmark::RegisterBenchmark((path + "/offset:1e6").c_str(), offset)->ArgName("n")->Arg(1 << 16);
  if (P != 4) return;
  bench::enrol_rows(path, [=](benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(1));
    const auto x = bench::scores<T>(static_cast<std::size_t>(state.range(0)) * n);
    moments<T, P> mu{};
    for (auto _ : state) {
      for (std::size_t i = 0; i < x.size(); i += n) {
        mu = run(x.subspan(i, n));
        benchmark::DoNotOptimize(mu);
      }
    }
    bench::count(state, x.size(), sizeof(T));
    state.counters["rel_error"] = error_of<T, P>(x.last(n), mu);
  });
}

template <class T, int P>
void enrol_all(std::int64_t longest) {
  enrol<T, P>("naive", naive<T, P>, longest);
  enrol<T, P>("cumulus", ours<T, P>, longest);
  enrol<T, P>("cumulus_streaming", ours_streaming<T, P>, std::min<std::int64_t>(longest, 1 << 20));
  enrol<T, P>("eigen", eigen<T, P>, longest);
}

template <class T>
void enrol_peers() {
  for (const bench::peer* peer : bench::peers()) {
    const auto call = peer->calls<T>().moments;
    if (call == nullptr) continue;
    const auto run = [call](std::span<const T> x) {
      moments<T, 4> mu{};
      call(x.data(), x.size(), mu.data());
      return mu;
    };
    enrol<T, 4>(peer->name, run, 1 << 24);
  }
  bench::enrol_floors<T>();
}

[[maybe_unused]] const bool enrolled =
    (enrol_all<float, 4>(1 << 24), enrol_all<double, 4>(1 << 24), enrol_all<float, 8>(1 << 16),
     enrol_all<double, 8>(1 << 16), enrol_peers<float>(), enrol_peers<double>(), true);

}  // namespace
