// SPDX-License-Identifier: MIT
//
// How a contender enters: under its path, at the common sizes, with the common counters.
#pragma once

#include <benchmark/benchmark.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

template <std::floating_point T>
inline constexpr const char* scalar_name = std::same_as<T, float> ? "float" : "double";

/// Runs as `path/n:64` and so on to 16M.
template <class Run>
void enrol_vectors(const std::string& path, Run run, std::int64_t longest = std::int64_t{1} << 24) {
  auto* entry = benchmark::RegisterBenchmark(path.c_str(), run)->ArgName("n");
  for (const std::int64_t n : {6, 10, 12, 16, 20, 24}) {
    if ((std::int64_t{1} << n) <= longest) entry->Arg(std::int64_t{1} << n);
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

}  // namespace bench
