// SPDX-License-Identifier: MIT
//
// Linear attention: prefill against the multiply-adds that it needs, decoding against reading its state once, and the
// context from which it is faster than exact attention.
#include <cumulus/attention.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/enrol.hpp"

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using cumulus::index_t;

constexpr index_t value_width = 64;

/// Normal numbers; the rows repeat after 4096.
matrix tokens(index_t n, index_t width, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> draw;
  matrix x(n, width);
  const index_t period = std::min(n, index_t(4096)) * width;
  for (index_t i = 0; i < x.size(); ++i)
    x.data()[i] = i < period ? draw(engine) : x.data()[i - period];
  return x;
}

std::string path(const std::string& what, const std::string& who, int order, index_t d) {
  return "linear_attention/" + what + "/" + who + "/float/order:" + std::to_string(order) +
         "/d:" + std::to_string(d);
}

/// The relative distance from exact attention.
double error_of(const matrix& q, const matrix& k, const matrix& v, const matrix& output,
                bool causal) {
  const auto exact = cumulus::attention(q, k, v, {.causal = causal});
  return double((output - exact.output).norm() / exact.output.norm());
}

/// Operations as counted here: those of taking a token into the state and of reading it, and for causal queries of meeting
/// half a chunk of keys; 2 for a multiply-add.
void prefill(benchmark::State& state, int order, index_t d, bool causal) {
  const auto n = index_t(state.range(0));
  const matrix q = tokens(n, d, 1u) * 0.5f, k = tokens(n, d, 2u), v = tokens(n, value_width, 3u);
  const cumulus::linear_attention_options o{
      .causal = causal, .order = order, .method = cumulus::linear_method::features};
  matrix output;
  for (auto _ : state) {
    auto result = cumulus::linear_attention(q, k, v, o);
    benchmark::DoNotOptimize(result.output.data());
    output.swap(result.output);
  }
  const double features = double(cumulus::detail::feature_count(d, order));
  const double chunk = features < 128 ? 96 : 192;
  const double each =
      4 * features * double(value_width + 1) + (causal ? (chunk + 1) * double(d + value_width) : 0);
  state.SetItemsProcessed(state.iterations() * n);
  state.counters["flops"] = benchmark::Counter(each * double(n) * double(state.iterations()),
                                               benchmark::Counter::kIsRate);
  if (n <= 4096) state.counters["rel_error"] = error_of(q, k, v, output, causal);
}

/// One state of so many, in turn; a step is a token and a query.
void decode(benchmark::State& state, int order, index_t d, bool adds) {
  const auto count = std::size_t(state.range(0));
  constexpr index_t n = 512;
  const matrix q = tokens(n, d, 1u), k = tokens(n, d, 2u), v = tokens(n, value_width, 3u);
  const cumulus::token_rows<float> keys(k), values(v);
  cumulus::linear_attention_state<float> one(d, value_width, {.order = order});
  one.add_rows(keys, values);
  one.add(k.row(0), v.row(0));
  std::vector<cumulus::linear_attention_state<float>> states(count, one);
  std::vector<float> out(std::size_t(value_width), 0.f);
  index_t t = 0;
  std::size_t i = 0;
  for (auto _ : state) {
    if (adds) states[i].add(k.row(t), v.row(t));
    const auto mass = states[i].read(q.row(t), cumulus::into(out));
    benchmark::DoNotOptimize(mass.logsumexp);
    benchmark::DoNotOptimize(out.data());
    t = t + 1 < n ? t + 1 : 0;
    i = i + 1 < count ? i + 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * std::int64_t(one.read_bytes()));
}

/// Sums what a read takes from such states: the floor of decoding.
void floor_of(benchmark::State& state, int order, index_t d) {
  const auto count = std::size_t(state.range(0));
  const cumulus::linear_attention_state<float> one(d, value_width, {.order = order});
  using room = cumulus::detail::aligned_vector<float>;
  std::vector<room> states(count, room(one.bytes() / sizeof(float), 1.f));
  std::size_t i = 0;
  for (auto _ : state) {
    float total = bench::floors().sum_float(states[i].data(), one.read_bytes() / sizeof(float));
    benchmark::DoNotOptimize(total);
    i = i + 1 < count ? i + 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * std::int64_t(one.read_bytes()));
}

template <class Call>
double shortest(const Call& call) {
  double best = 1e300;
  for (int trial = 0; trial < 400; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i) call();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 8);
  }
  return best;
}

/// The context at which one query takes exact attention as long as a read of the state, and what the bytes would have it be.
void crossover(benchmark::State& state, int order, index_t d) {
  const index_t longest = 1 << 14;
  const matrix q = tokens(1, d, 1u), k = tokens(longest, d, 2u),
               v = tokens(longest, value_width, 3u);
  double measured = 0, by_key = 0;
  const double predicted = cumulus::linear_attention_state<float>::crossover(d, value_width, order);
  for (auto _ : state) {
    cumulus::linear_attention_state<float> linear(d, value_width, {.order = order});
    linear.add_rows(cumulus::token_rows<float>(k), cumulus::token_rows<float>(v));
    linear.add(k.row(0), v.row(0));
    std::vector<float> out(std::size_t(value_width), 0.f);
    const double target = shortest([&] {
      const auto mass = linear.read(q.row(0), cumulus::into(out));
      benchmark::DoNotOptimize(mass.logsumexp);
      benchmark::DoNotOptimize(out.data());
    });
    const auto exact_time = [&](index_t keys) {
      const cumulus::token_rows<float> kr(k.data(), keys, d, d),
          vr(v.data(), keys, value_width, value_width), qr(q.data(), 1, d, d);
      matrix exact(1, value_width);
      Eigen::VectorXf sums(1);
      return shortest([&] {
        cumulus::attention(qr, kr, vr, cumulus::into(exact), cumulus::into(sums));
        benchmark::DoNotOptimize(exact.data());
      });
    };
    const auto some = std::max(index_t(predicted), index_t(64));
    by_key = target * 3.0 * double(some) / (exact_time(4 * some) - exact_time(some));
    double before = 0, last = 0;
    for (double m = predicted / 8; m <= predicted * 16; m *= std::sqrt(2.0)) {
      const auto keys = std::max(index_t(m), index_t(1));
      const double time = exact_time(keys);
      if (time >= target) {
        measured = last > 0 ? before + (double(keys) - before) * (target - last) / (time - last)
                            : double(keys);
        break;
      }
      before = double(keys);
      last = time;
    }
  }
  // the same without what a call costs whatever the number of keys
  state.counters["by_key"] = by_key;
  state.counters["measured"] = measured;
  state.counters["by_bytes"] = predicted;
  state.counters["ratio"] = measured / predicted;
}

/// By the state and by the scores, at as many tokens as are computed to make no difference: the ratio of the times.
void changeover(benchmark::State& state, int order, index_t d, bool causal) {
  const auto n = index_t(cumulus::detail::switch_length(d, value_width, order, causal));
  const matrix q = tokens(n, d, 1u), k = tokens(n, d, 2u), v = tokens(n, value_width, 3u);
  const auto time = [&](cumulus::linear_method method) {
    double best = 1e300;
    for (int trial = 0; trial < 7; ++trial) {
      const auto start = std::chrono::steady_clock::now();
      auto result =
          cumulus::linear_attention(q, k, v, {.causal = causal, .order = order, .method = method});
      benchmark::DoNotOptimize(result.output.data());
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  double ratio = 0;
  for (auto _ : state)
    ratio = time(cumulus::linear_method::features) / time(cumulus::linear_method::scores);
  state.counters["tokens"] = double(n);
  state.counters["ratio"] = ratio;
}

[[maybe_unused]] const bool enrolled = [] {
  for (const auto& [order, d] : {std::pair(1, index_t(64)), std::pair(2, index_t(16)),
                                 std::pair(2, index_t(64)), std::pair(3, index_t(16))}) {
    const int p = order;
    const index_t width = d;
    for (const bool causal : {true, false}) {
      auto* entry = benchmark::RegisterBenchmark(
          path(causal ? "causal_prefill" : "prefill", "cumulus", p, width).c_str(),
          [=](benchmark::State& s) { prefill(s, p, width, causal); });
      entry->ArgName("n")->Arg(4096)->Arg(65536);
    }
    // one state that the caches hold, and states of 64 MB together
    const auto many = std::int64_t(std::max(
        std::size_t(64000000) / cumulus::linear_attention_state<float>::bytes(width, 64, p),
        std::size_t(1)));
    for (const bool adds : {true, false}) {
      benchmark::RegisterBenchmark(path(adds ? "step" : "read", "cumulus", p, width).c_str(),
                                   [=](benchmark::State& s) { decode(s, p, width, adds); })
          ->ArgName("states")
          ->Arg(1)
          ->Arg(many);
    }
    benchmark::RegisterBenchmark(path("read", "floor", p, width).c_str(),
                                 [=](benchmark::State& s) { floor_of(s, p, width); })
        ->ArgName("states")
        ->Arg(1)
        ->Arg(many);
    benchmark::RegisterBenchmark(path("crossover", "cumulus", p, width).c_str(),
                                 [=](benchmark::State& s) { crossover(s, p, width); })
        ->Iterations(1);
    for (const bool causal : {true, false}) {
      benchmark::RegisterBenchmark(
          path(causal ? "causal_switch" : "switch", "cumulus", p, width).c_str(),
          [=](benchmark::State& s) { changeover(s, p, width, causal); })
          ->Iterations(1);
    }
  }
  bench::enrol_floors<float>();
  return true;
}();

}  // namespace
