// SPDX-License-Identifier: MIT
//
// logsumexp of a vector and of 4096 rows: the loop a reader would write, cumulus (also on inputs whose maximum moves), the
// Eigen expression, the peers.
#include <cumulus/exact/logsumexp.hpp>

#include "support/eigen.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace {

template <class T>
T naive(std::span<const T> x) {
  const T max = *std::max_element(x.begin(), x.end());
  T sum = 0;
  for (const T& v : x) sum += std::exp(v - max);
  return max + std::log(sum);
}

template <class T>
T ours(std::span<const T> x) {
  return cumulus::logsumexp(x);
}

template <class T>
T eigen(std::span<const T> x) {
  const bench::const_array<T> a(x.data(), std::ssize(x));
  const T max = a.maxCoeff();
  return max + std::log((a - max).exp().sum());
}

template <class T, T row(std::span<const T>)>
void each_row(const bench::const_rows<T>& x, std::span<T> out) {
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    out[static_cast<std::size_t>(i)] =
        row({x.data() + i * x.cols(), static_cast<std::size_t>(x.cols())});
  }
}

template <class T>
void our_rows(const bench::const_rows<T>& x, std::span<T> out) {
  bench::array<T>(out.data(), std::ssize(out)) = cumulus::logsumexp(x, cumulus::rowwise);
}

/// `vector` gives the result for a span; `rows` writes those of a matrix.
template <class T, class Vector, class Rows>
void enrol(const std::string& path, Vector vector, Rows rows, bench::kind kind = {},
           std::int64_t longest = 1 << 24, std::int64_t shortest = 64) {
  bench::enrol_vectors(
      path,
      [=](benchmark::State& state) {
        const auto x = bench::input<T>(kind, static_cast<std::size_t>(state.range(0)));
        T result{};
        for (auto _ : state) {
          result = vector(x);
          benchmark::DoNotOptimize(result);
        }
        bench::count(state, x.size(), sizeof(T));
        state.counters["rel_error"] = bench::relative_error(result, bench::reference::logsumexp(x));
      },
      longest, shortest);
  if (kind != bench::kind::scores) return;
  bench::enrol_rows(path, [=](benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(1));
    const auto out = bench::room<T>(static_cast<std::size_t>(state.range(0)));
    const auto x = bench::scores<T>(out.size() * n);
    const bench::const_rows<T> matrix(x.data(), state.range(0), state.range(1));
    for (auto _ : state) {
      rows(matrix, out);
      benchmark::ClobberMemory();
    }
    bench::count(state, x.size(), sizeof(T));
    double error = 0;
    for (std::size_t i = 0; i < out.size(); i += 16) {
      const long double exact = bench::reference::logsumexp(x.subspan(i * n, n));
      error = std::max(error, bench::relative_error(out[i], exact));
    }
    state.counters["rel_error"] = error;
  });
}

template <class T>
void enrol_all() {
  const auto path = [](const std::string& who) {
    return "logsumexp/" + who + "/" + bench::scalar_name<T>;
  };
  enrol<T>(path("naive"), naive<T>, each_row<T, naive<T>>);
  enrol<T>(path("cumulus"), ours<T>, our_rows<T>);
  for (const auto kind : {bench::kind::wide, bench::kind::ramp, bench::kind::spiked}) {
    enrol<T>(path("cumulus") + "/" + bench::name_of(kind), ours<T>, our_rows<T>, kind, 1 << 20,
             kind == bench::kind::spiked ? 4096 : 64);
  }
  enrol<T>(path("eigen"), eigen<T>, each_row<T, eigen<T>>);
  for (const bench::peer* peer : bench::peers()) {
    const auto call = peer->calls<T>().logsumexp;
    if (call == nullptr) continue;
    enrol<T>(
        path(peer->name), [=](std::span<const T> x) { return call(x.data(), x.size()); },
        [=](const bench::const_rows<T>& x, std::span<T> out) {
          const auto n = static_cast<std::size_t>(x.cols());
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = call(x.data() + i * n, n);
        });
  }
  bench::enrol_floors<T>();
}

[[maybe_unused]] const bool enrolled = (enrol_all<float>(), enrol_all<double>(), true);

}  // namespace
