// SPDX-License-Identifier: MIT
//
// How a contender enters: under its path, at the common sizes, with the common counters; and the floors.
#pragma once

#include <benchmark/benchmark.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "peers/peer.hpp"
#include "support/inputs.hpp"

namespace bench {

template <std::floating_point T>
inline constexpr const char* scalar_name = std::same_as<T, float> ? "float" : "double";

/// Runs as `path/n:64` and so on to 16M.
template <class Run>
void enrol_vectors(const std::string& path, Run run, std::int64_t longest = std::int64_t{1} << 24,
                   std::int64_t shortest = 64) {
  auto* entry = benchmark::RegisterBenchmark(path.c_str(), run)->ArgName("n");
  for (const std::int64_t n : {6, 8, 10, 12, 14, 16, 20, 24}) {
    const std::int64_t size = std::int64_t{1} << n;
    if (shortest <= size && size <= longest) entry->Arg(size);
  }
}

/// Runs as `path/rows:4096/n:1024`.
template <class Run>
void enrol_rows(const std::string& path, Run run) {
  benchmark::RegisterBenchmark(path.c_str(), run)->ArgNames({"rows", "n"})->Args({4096, 1024});
}

/// Elements and bytes a second, each element counted once and `bytes` for it.
inline void count(benchmark::State& state, std::size_t elements, std::size_t bytes) {
  const auto total = state.iterations() * static_cast<std::int64_t>(elements);
  state.SetItemsProcessed(total);
  state.SetBytesProcessed(total * static_cast<std::int64_t>(bytes));
}

/// floor/memcpy, floor/sum and floor/fma: what the machine does with the same elements.
template <class T>
void enrol_floors() {
  const std::string scalar = scalar_name<T>;
  const auto copy = [](benchmark::State& state, std::size_t n) {
    const auto x = scores<T>(n);
    const auto out = room<T>(n);
    for (auto _ : state) {
      std::memcpy(out.data(), x.data(), n * sizeof(T));
      benchmark::ClobberMemory();
    }
    count(state, n, 2 * sizeof(T));
  };
  const auto sum = [](benchmark::State& state, std::size_t n) {
    const auto x = scores<T>(n);
    for (auto _ : state) {
      T total;
      if constexpr (std::same_as<T, float>) {
        total = floors().sum_float(x.data(), n);
      } else {
        total = floors().sum_double(x.data(), n);
      }
      benchmark::DoNotOptimize(total);
    }
    count(state, n, sizeof(T));
  };
  const auto vectors = [](auto run) {
    return [=](benchmark::State& state) { run(state, std::size_t(state.range(0))); };
  };
  const auto rows = [](auto run) {  // one after the other in memory, so that they are one vector
    return
        [=](benchmark::State& state) { run(state, std::size_t(state.range(0) * state.range(1))); };
  };
  enrol_vectors("floor/memcpy/" + scalar, vectors(copy));
  enrol_rows("floor/memcpy/" + scalar, rows(copy));
  enrol_vectors("floor/sum/" + scalar, vectors(sum));
  enrol_rows("floor/sum/" + scalar, rows(sum));
  benchmark::RegisterBenchmark(("floor/fma/" + scalar).c_str(), [](benchmark::State& state) {
    constexpr std::size_t rounds = 1000;
    std::size_t each = 0;
    T value = 1;
    for (auto _ : state) {
      value = 1;
      if constexpr (std::same_as<T, float>) {
        each = floors().fma_float(rounds, &value);
      } else {
        each = floors().fma_double(rounds, &value);
      }
      benchmark::DoNotOptimize(value);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rounds * each));
  });
}

}  // namespace bench
