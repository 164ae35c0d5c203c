// SPDX-License-Identifier: MIT
//
// softmax and log_softmax of a vector and of 4096 rows: the loop a reader would write, cumulus (also on inputs whose maximum
// moves), the Eigen expression, the peers.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/softmax.hpp>

#include "support/eigen.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace {

// softmax

template <class T>
void naive_softmax(std::span<const T> x, std::span<T> out) {
  const T max = *std::max_element(x.begin(), x.end());
  T sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += out[i] = std::exp(x[i] - max);
  for (T& p : out) p /= sum;
}

template <class T>
void our_softmax(std::span<const T> x, std::span<T> out) {
  cumulus::softmax(x, cumulus::into(out));
}

template <class T>
void eigen_softmax(std::span<const T> x, std::span<T> out) {
  const bench::const_array<T> a(x.data(), std::ssize(x));
  bench::array<T> p(out.data(), std::ssize(out));
  p = (a - a.maxCoeff()).exp();
  p /= p.sum();
}

template <class T>
void our_softmax_rows(const bench::const_rows<T>& x, bench::rows<T>& out) {
  cumulus::softmax(x, cumulus::into(out), cumulus::rowwise);
}

// log_softmax

template <class T>
void naive_log_softmax(std::span<const T> x, std::span<T> out) {
  const T max = *std::max_element(x.begin(), x.end());
  T sum = 0;
  for (const T& v : x) sum += std::exp(v - max);
  const T log_sum_exp = max + std::log(sum);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] - log_sum_exp;
}

template <class T>
void our_log_softmax(std::span<const T> x, std::span<T> out) {
  cumulus::log_softmax(x, cumulus::into(out));
}

template <class T>
void eigen_log_softmax(std::span<const T> x, std::span<T> out) {
  const bench::const_array<T> a(x.data(), std::ssize(x));
  const T max = a.maxCoeff();
  bench::array<T>(out.data(), std::ssize(out)) = a - (max + std::log((a - max).exp().sum()));
}

template <class T>
void our_log_softmax_rows(const bench::const_rows<T>& x, bench::rows<T>& out) {
  cumulus::log_softmax(x, cumulus::into(out), cumulus::rowwise);
}

// both

template <class T, void row(std::span<const T>, std::span<T>)>
void each_row(const bench::const_rows<T>& x, bench::rows<T>& out) {
  const auto n = static_cast<std::size_t>(x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    row({x.data() + i * x.cols(), n}, {out.data() + i * x.cols(), n});
  }
}

/// The largest error of a row; `exact(log softmax_i)` is what an entry should be.
template <class T>
double error_of(std::span<const T> x, std::span<const T> result,
                long double (*exact)(long double)) {
  const auto s = bench::reference::shifted(x);
  return bench::largest_relative_error(
      x, result, [=](long double v) { return exact((v - s.max) - s.excess); });
}

/// `vector(x, out)` and `rows(matrix, result)`.
template <class T, class Vector, class Rows>
void enrol(const std::string& path, Vector vector, Rows rows, long double (*exact)(long double),
           bench::kind kind = {}, std::int64_t longest = 1 << 24, std::int64_t shortest = 64) {
  bench::enrol_vectors(
      path,
      [=](benchmark::State& state) {
        const auto x = bench::input<T>(kind, static_cast<std::size_t>(state.range(0)));
        const auto out = bench::room<T>(x.size());
        for (auto _ : state) {
          vector(x, out);
          benchmark::ClobberMemory();
        }
        bench::count(state, x.size(), 2 * sizeof(T));
        state.counters["rel_error"] = error_of<T>(x, out, exact);
      },
      longest, shortest);
  if (kind != bench::kind::scores && kind != bench::kind::wide) return;
  bench::enrol_rows(path, [=](benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const auto n = static_cast<std::size_t>(state.range(1));
    const auto x = bench::input<T>(kind, count * n);
    const auto out = bench::room<T>(count * n);
    const bench::const_rows<T> matrix(x.data(), state.range(0), state.range(1));
    bench::rows<T> result(out.data(), state.range(0), state.range(1));
    for (auto _ : state) {
      rows(matrix, result);
      benchmark::ClobberMemory();
    }
    bench::count(state, x.size(), 2 * sizeof(T));
    double error = 0;
    for (std::size_t i = 0; i < count; i += 64) {
      error = std::max(error, error_of<T>(x.subspan(i * n, n), out.subspan(i * n, n), exact));
    }
    state.counters["rel_error"] = error;
  });
}

template <class T>
void enrol_peer(const std::string& path, void (*vector)(const T*, T*, std::size_t),
                void (*rows)(const T*, T*, std::size_t, std::size_t),
                long double (*exact)(long double)) {
  if (vector == nullptr) return;
  enrol<T>(
      path, [=](std::span<const T> x, std::span<T> out) { vector(x.data(), out.data(), x.size()); },
      [=](const bench::const_rows<T>& x, bench::rows<T>& out) {
        const auto count = static_cast<std::size_t>(x.rows());
        const auto n = static_cast<std::size_t>(x.cols());
        if (rows != nullptr) return rows(x.data(), out.data(), count, n);
        for (std::size_t i = 0; i < count * n; i += n) vector(x.data() + i, out.data() + i, n);
      },
      exact);
}

template <class T>
void enrol_all() {
  const auto path = [](const std::string& function, const std::string& who) {
    return function + "/" + who + "/" + bench::scalar_name<T>;
  };
  const auto power = [](long double v) { return std::exp(v); };
  const auto same = [](long double v) { return v; };
  enrol<T>(path("softmax", "naive"), naive_softmax<T>, each_row<T, naive_softmax<T>>, power);
  enrol<T>(path("softmax", "cumulus"), our_softmax<T>, our_softmax_rows<T>, power);
  enrol<T>(path("softmax", "eigen"), eigen_softmax<T>, each_row<T, eigen_softmax<T>>, power);
  enrol<T>(path("log_softmax", "naive"), naive_log_softmax<T>, each_row<T, naive_log_softmax<T>>,
           same);
  enrol<T>(path("log_softmax", "cumulus"), our_log_softmax<T>, our_log_softmax_rows<T>, same);
  enrol<T>(path("log_softmax", "eigen"), eigen_log_softmax<T>, each_row<T, eigen_log_softmax<T>>,
           same);
  for (const auto kind : {bench::kind::wide, bench::kind::ramp, bench::kind::spiked}) {
    const std::int64_t shortest = kind == bench::kind::spiked ? 4096 : 64;
    enrol<T>(path("softmax", "cumulus") + "/" + bench::name_of(kind), our_softmax<T>,
             our_softmax_rows<T>, power, kind, 1 << 20, shortest);
    enrol<T>(path("log_softmax", "cumulus") + "/" + bench::name_of(kind), our_log_softmax<T>,
             our_log_softmax_rows<T>, same, kind, 1 << 20, shortest);
  }
  for (const bench::peer* peer : bench::peers()) {
    const bench::peer_calls<T>& c = peer->calls<T>();
    enrol_peer<T>(path("softmax", peer->name), c.softmax, c.softmax_rows, power);
    enrol_peer<T>(path("log_softmax", peer->name), c.log_softmax, c.log_softmax_rows, same);
  }
  bench::enrol_floors<T>();
}

[[maybe_unused]] const bool enrolled = (enrol_all<float>(), enrol_all<double>(), true);

}  // namespace
