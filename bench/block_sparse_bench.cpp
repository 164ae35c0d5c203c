// SPDX-License-Identifier: MIT
//
// Decoding over 131072 keys that come in topics: all of them, and a tenth or a hundredth of the blocks. Error: of the output,
// relative, the largest of 16 queries.
#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>

#include "support/eigen.hpp"
#include "support/enrol.hpp"
#include "support/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

using cumulus::block_score;
using cumulus::index_t;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr index_t tokens = 131072, width = 64, block = 64, queries = 16;

/// Runs of 256 tokens share a topic of length 8; query i asks for that of one of them, at a score of 14.
struct cache {
  matrix q{queries, width}, k{tokens, width}, v{tokens, width};

  cache() {
    const auto noise = bench::normal<float>(std::size_t(tokens * width), 0.0, 0.5);
    const auto topic = bench::normal<float>(std::size_t(tokens / 256 * width), 0.0, 1.0);
    const auto row = [&](index_t t) {
      return bench::const_rows<float>(topic.data() + t / 256 * width, 1, width);
    };
    v = bench::const_rows<float>(noise.data(), tokens, width);
    for (index_t t = 0; t < tokens; ++t) {
      k.row(t) = v.row(tokens - 1 - t) + row(t) * (8 / row(t).norm());
      v.row(t) += row(t);
    }
    for (index_t i = 0; i < queries; ++i) {
      const index_t t = (2 * i + 1) * tokens / (2 * queries);
      q.row(i) = row(t) * (14.0f / 8 / row(t).norm());
    }
  }
};
const cache& data() {
  static const cache made;
  return made;
}

template <class Step>
void decode(benchmark::State& state, Step step) {
  index_t i = 0;
  for (auto _ : state) {
    auto out = step(index_t(i++ % queries));
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
  double worst = 0;
  for (i = 0; i < queries; ++i) {
    const Eigen::VectorXd x = data().k.cast<double>() * data().q.row(i).transpose().cast<double>();
    const Eigen::VectorXd p = (x.array() - x.maxCoeff()).exp();
    const Eigen::RowVectorXd exact = p.transpose() * data().v.cast<double>() / p.sum();
    const Eigen::RowVectorXd out = step(i).row(0).template cast<double>();
    worst = std::max(worst, (out - exact).norm() / exact.norm());
  }
  state.counters["error"] = worst;
}

void enrol_sparse(const std::string& name, block_score score, cumulus::block_summary_options parts,
                  bool bounds = false) {
  parts.key_width = parts.value_width = width;
  parts.block = block;
  const std::string path = "sparse_decode/" + name + "/float/n:131072/d:64/blocks";
  benchmark::RegisterBenchmark(path.c_str(),
                               [=](benchmark::State& state) {
                                 cumulus::block_summaries<float> blocks(parts);
                                 blocks.append_rows(data().k, data().v);
                                 const cumulus::block_sparse_options o{.scale = 1,
                                                                       .score = score,
                                                                       .top = state.range(0),
                                                                       .own_counts = false,
                                                                       .bounds = bounds};
                                 decode(state, [&](index_t i) {
                                   return cumulus::block_sparse_attention(data().q.middleRows(i, 1),
                                                                          data().k, data().v,
                                                                          blocks, o)
                                       .output;
                                 });
                               })
      ->Arg(tokens / block / 10)
      ->Arg(tokens / block / 100)
      ->Unit(benchmark::kMicrosecond);
}

const bool enrolled = [] {
  const cumulus::block_summary_options low_rank{.covariance = cumulus::covariance_kind::low_rank};
  benchmark::RegisterBenchmark("sparse_decode/dense/float/n:131072/d:64", [](benchmark::State&
                                                                                 state) {
    decode(state, [](index_t i) {
      return cumulus::attention(data().q.middleRows(i, 1), data().k, data().v, {.scale = 1.0})
          .output;
    });
  })->Unit(benchmark::kMicrosecond);
  enrol_sparse("mean", block_score::mean, {});
  enrol_sparse("taylor2_rank4", block_score::taylor2, low_rank);
  enrol_sparse("smooth2_rank4", block_score::smooth2, low_rank);
  enrol_sparse("smooth2_rank4_bounds", block_score::smooth2, low_rank, true);
  enrol_sparse("box", block_score::box, {.box = true});

  benchmark::RegisterBenchmark("moba/cumulus/float/n:4096/d:64", [](benchmark::State& state) {
    const matrix q = data().k.bottomRows(4096), k = data().k.topRows(4096),
                 v = data().v.topRows(4096);
    auto preset = cumulus::presets::moba(256, 3);
    preset.options.bounds = false;
    for (auto _ : state) {
      cumulus::block_summaries<float> blocks(preset.summary_of(width, width));
      blocks.append_rows(k, v);
      const auto out = cumulus::block_sparse_attention(q, k, v, blocks, preset.options);
      benchmark::DoNotOptimize(out.output.data());
    }
    state.SetItemsProcessed(state.iterations() * 4096);
  })->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
