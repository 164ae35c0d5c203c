// SPDX-License-Identifier: MIT
//
// Exact attention: one query over a cache of m keys (decode), and 1024 queries at once (prefill). Beside them what no decoding
// can beat, a sum of K and V, and for prefill the multiply-adds of floor/fma, which items/s counts here as well.
#include <cumulus/attention.hpp>

#include "support/eigen_attention.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

template <class T>
struct tokens {
  std::span<const T> q, k, v;
  std::size_t n, m, d;
};

template <class T>
tokens<T> tokens_of(std::size_t n, std::size_t m, std::size_t d) {
  return {bench::normal<T>(n * d, 0.0, 1.0),
          bench::normal<T>(m * d, 0.0, 1.5),
          bench::normal<T>(m * d, 0.125, 1.0),
          n,
          m,
          d};
}

template <class T>
void naive(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t n, std::size_t m,
           std::size_t d) {
  const T scale = 1 / std::sqrt(T(d));
  for (std::size_t i = 0; i < n; ++i, q += d, out += d) {
    for (std::size_t j = 0; j < m; ++j) {
      T s = 0;
      for (std::size_t c = 0; c < d; ++c) s += q[c] * k[j * d + c];
      scores[j] = s * scale;
    }
    const T top = *std::max_element(scores, scores + m);
    T sum = 0;
    for (std::size_t j = 0; j < m; ++j) sum += scores[j] = std::exp(scores[j] - top);
    std::fill_n(out, d, T(0));
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t c = 0; c < d; ++c) out[c] += scores[j] / sum * v[j * d + c];
    }
  }
}

template <class T>
void ours(const T* q, const T* k, const T* v, T* out, T*, std::size_t n, std::size_t m,
          std::size_t d, const cumulus::attention_options<T>& options) {
  using index = Eigen::Index;
  static std::vector<T> log_sums;
  log_sums.resize(n);
  bench::rows<T> o(out, index(n), index(d));
  cumulus::attention(bench::const_rows<T>(q, index(n), index(d)),
                     bench::const_rows<T>(k, index(m), index(d)),
                     bench::const_rows<T>(v, index(m), index(d)), cumulus::into(o),
                     cumulus::into(log_sums), options);
}
template <class T>
void ours(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t n, std::size_t m,
          std::size_t d) {
  ours<T>(q, k, v, out, scores, n, m, d, {});
}
template <class T>
void ours_causal(const T* q, const T* k, const T* v, T* out, T* scores, std::size_t n,
                 std::size_t m, std::size_t d) {
  ours<T>(q, k, v, out, scores, n, m, d, {.causal = true});
}
/// 8 heads of queries in a row share the keys of one.
template <class T>
void ours_shared(const T* q, const T* k, const T* v, T* out, T*, std::size_t n, std::size_t m,
                 std::size_t d) {
  using index = Eigen::Index;
  bench::rows<T> o(out, 1, index(n * d));
  Eigen::Matrix<T, 1, Eigen::Dynamic> log_sums{index(n)};
  cumulus::multi_head_attention(
      bench::const_rows<T>(q, 1, index(n * d)), bench::const_rows<T>(k, index(m), index(d)),
      bench::const_rows<T>(v, index(m), index(d)), cumulus::into(o), cumulus::into(log_sums),
      {.heads = {.queries = index(n), .keys = 1}});
}
/// In pages of 16 tokens, the last first.
template <class T>
void ours_paged(const T* q, const T* k, const T* v, T* out, T*, std::size_t n, std::size_t m,
                std::size_t d) {
  using index = Eigen::Index;
  static std::vector<cumulus::index_t> table;
  table.resize(m / 16);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = index(table.size() - 1 - i);
  const cumulus::token_rows<T> keys(k, 16, table, index(m), index(d), index(d));
  const cumulus::token_rows<T> values(v, 16, table, index(m), index(d), index(d));
  bench::rows<T> o(out, index(n), index(d));
  Eigen::Matrix<T, 1, Eigen::Dynamic> log_sums{index(n)};
  cumulus::attention(bench::const_rows<T>(q, index(n), index(d)), keys, values, cumulus::into(o),
                     cumulus::into(log_sums));
}

/// max |o - exact| / sum p |v| of every 256th query, for attention to keys [0, m), or to the first m - n + i + 1 if causal.
template <class T>
double error_of(const tokens<T>& t, const T* out, bool causal) {
  using wide = std::conditional_t<std::same_as<T, float>, double, long double>;
  wide worst = 0;
  std::vector<wide> p(t.m);
  for (std::size_t i = 0; i < t.n; i += 256) {
    const std::size_t seen = causal ? t.m - t.n + i + 1 : t.m;
    wide top = -HUGE_VAL, sum = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      p[j] = 0;
      for (std::size_t c = 0; c < t.d; ++c) p[j] += wide(t.q[i * t.d + c]) * wide(t.k[j * t.d + c]);
      p[j] /= std::sqrt(wide(t.d));
      top = std::max(top, p[j]);
    }
    for (std::size_t j = 0; j < seen; ++j) sum += p[j] = std::exp(p[j] - top);
    for (std::size_t c = 0; c < t.d; ++c) {
      wide mean = 0, size = 0;
      for (std::size_t j = 0; j < seen; ++j) {
        mean += p[j] / sum * wide(t.v[j * t.d + c]);
        size += p[j] / sum * std::abs(wide(t.v[j * t.d + c]));
      }
      worst = std::max(worst, std::abs(mean - wide(out[i * t.d + c])) / size);
    }
  }
  return double(worst);
}

template <class T>
using attend = void (*)(const T*, const T*, const T*, T*, T*, std::size_t, std::size_t,
                        std::size_t);

/// What a decoding must read: K and V once.
template <class T>
void sum_of_cache(const T*, const T* k, const T* v, T* out, T*, std::size_t, std::size_t m,
                  std::size_t d) {
  if constexpr (std::same_as<T, float>) {
    out[0] = bench::floors().sum_float(k, m * d) + bench::floors().sum_float(v, m * d);
  } else {
    out[0] = bench::floors().sum_double(k, m * d) + bench::floors().sum_double(v, m * d);
  }
}

template <class T>
void run(benchmark::State& state, attend<T> f, std::size_t n, std::size_t m, std::size_t d,
         bool causal) {
  const auto t = tokens_of<T>(n, m, d);
  const auto out = bench::room<T>(n * d), scores = bench::room<T>(n * m);
  for (auto _ : state) {
    f(t.q.data(), t.k.data(), t.v.data(), out.data(), scores.data(), n, m, d);
    benchmark::ClobberMemory();
  }
  bench::count(state, 2 * n * m * d, 0);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(2 * m * d * sizeof(T)));
  if (f != sum_of_cache<T>) state.counters["error"] = error_of<T>(t, out.data(), causal);
}

template <class T>
std::string path(const std::string& what, const std::string& who) {
  return "attention_" + what + "/" + who + "/" + bench::scalar_name<T>;
}

template <class T>
void decode(const std::string& what, const std::string& who, attend<T> f, std::size_t n = 1) {
  auto* entry =
      benchmark::RegisterBenchmark(path<T>(what, who).c_str(), [=](benchmark::State& state) {
        run<T>(state, f, n, std::size_t(state.range(0)), std::size_t(state.range(1)), false);
      })->ArgNames({"m", "d"});
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t m : {256, 1024, 4096, 16384, 131072}) entry->Args({m, d});
  }
}

template <class T>
void prefill(const std::string& who, attend<T> f, bool causal = false) {
  benchmark::RegisterBenchmark(path<T>(causal ? "prefill_causal" : "prefill", who).c_str(),
                               [=](benchmark::State& state) {
                                 run<T>(state, f, std::size_t(state.range(0)),
                                        std::size_t(state.range(1)), std::size_t(state.range(2)),
                                        causal);
                               })
      ->ArgNames({"queries", "m", "d"})
      ->Args({1024, 1024, 64})
      ->Args({1024, 4096, 64})
      ->Args({1024, 1024, 128})
      ->Unit(benchmark::kMillisecond);
}

template <class T>
void enrol_all() {
  decode<T>("decode", "naive", naive<T>);
  decode<T>("decode", "cumulus", ours<T>);
  decode<T>("decode", "eigen", bench::eigen_attention<T>);
  decode<T>("decode", "floor-sum", sum_of_cache<T>);
  decode<T>("decode_paged", "cumulus", ours_paged<T>);
  decode<T>("decode_8_heads", "cumulus", ours_shared<T>, 8);
  prefill<T>("cumulus", ours<T>);
  prefill<T>("cumulus", ours_causal<T>, true);
  prefill<T>("eigen", bench::eigen_attention<T>);
  for (const bench::peer* peer : bench::peers()) {
    const attend<T> f = peer->calls<T>().attention;
    if (f == nullptr) continue;
    decode<T>("decode", peer->name, f);
    prefill<T>(peer->name, f);
  }
  bench::enrol_floors<T>();
}

[[maybe_unused]] const bool enrolled = (enrol_all<float>(), enrol_all<double>(), true);

}  // namespace
