// SPDX-License-Identifier: MIT
//
// Scores of the blocks of a cache of 131072 float keys in blocks of 64, from their summaries: the loop a
// reader would write, cumulus, and a plain sum over as many bytes as the summaries hold. Then the
// summaries' own cost, selection, and how well each score selects on four synthetic laws of keys.
#include <cumulus/blocks.hpp>

#include "support/enrol.hpp"
#include "support/inputs.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using cumulus::block_score;
using cumulus::block_summary_options;
using cumulus::covariance_kind;
using cumulus::index_t;
using summaries = cumulus::block_summaries<float>;

constexpr index_t tokens = 131072, block = 64;

struct contender {
  const char* name;
  block_summary_options parts;
  block_score score;
};

const contender contenders[] = {
    {"mean", {}, block_score::mean},
    {"taylor2_diagonal", {.covariance = covariance_kind::diagonal}, block_score::taylor2},
    {"taylor2_rank4", {.covariance = covariance_kind::low_rank, .rank = 4}, block_score::taylor2},
    {"frozen2_rank4", {.covariance = covariance_kind::low_rank, .rank = 4}, block_score::frozen2},
    {"smooth2_rank4", {.covariance = covariance_kind::low_rank, .rank = 4}, block_score::smooth2},
    {"taylor2_full", {.covariance = covariance_kind::full}, block_score::taylor2},
    {"box", {.box = true}, block_score::box},
};

/// Of keys of width d.
block_summary_options of_width(block_summary_options parts, index_t d) {
  parts.key_width = d;
  parts.block = block;
  return parts;
}

std::span<const float> keys(index_t d) {
  return bench::normal<float>(std::size_t(tokens * d), 0.0, 1.0);
}

std::span<const float> query(index_t d) { return bench::normal<float>(std::size_t(d), 0.0, 0.125); }

const summaries& summaries_of(const contender& c, index_t d) {
  static std::map<std::pair<std::string, index_t>, std::unique_ptr<summaries>> made;
  auto& place = made[{c.name, d}];
  if (!place) {
    place = std::make_unique<summaries>(of_width(c.parts, d));
    place->append_rows(cumulus::token_rows<float>(keys(d).data(), tokens, d, d));
  }
  return *place;
}

void count_bytes(benchmark::State& state, const summaries& m) {
  state.SetItemsProcessed(state.iterations() * m.blocks());
  state.SetBytesProcessed(state.iterations() * m.blocks() * m.bytes_per_block());
  state.counters["bytes_per_block"] = double(m.bytes_per_block());
}

/// log b + q . mean + q^T (diag + F^T F) q / 2 over the same rows.
void naive_rank4(benchmark::State& state) {
  const index_t d = state.range(0);
  const summaries& m = summaries_of(contenders[2], d);
  const auto q = query(d);
  std::vector<float> out(std::size_t(m.blocks()));
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> diagonals(m.blocks(), d);
  for (index_t B = 0; B < m.blocks(); ++B)
    diagonals.row(B) =
        m.covariance(B).diagonal().transpose() - m.factors(B).cwiseAbs2().colwise().sum();
  for (auto _ : state) {
    for (index_t B = 0; B < m.blocks(); ++B) {
      const auto mean = m.mean(B);
      const auto factors = m.factors(B);
      const float* const rest = diagonals.data() + B * d;
      float score = std::log(float(block)), variance = 0;
      for (index_t i = 0; i < d; ++i) {
        score += q[std::size_t(i)] * mean[i];
        variance += q[std::size_t(i)] * q[std::size_t(i)] * rest[i];
      }
      for (index_t k = 0; k < factors.rows(); ++k) {
        float along = 0;
        for (index_t i = 0; i < d; ++i) along += q[std::size_t(i)] * factors(k, i);
        variance += along * along;
      }
      out[std::size_t(B)] = score + variance / 2;
    }
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, m);
}

void enrol_scoring() {
  const auto enter = [](const std::string& path, auto run) {
    benchmark::RegisterBenchmark(path.c_str(), run)->ArgName("d")->Arg(64)->Arg(128);
  };
  enter("block_scores/naive/taylor2_rank4", naive_rank4);
  for (const contender& c : contenders) {
    enter(std::string("block_scores/cumulus/") + c.name, [&c](benchmark::State& state) {
      const summaries& m = summaries_of(c, state.range(0));
      std::vector<float> out(std::size_t(m.blocks()));
      for (auto _ : state) {
        cumulus::block_scores(m, query(state.range(0)), cumulus::into(out),
                              {.scale = 1, .score = c.score});
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
      }
      count_bytes(state, m);
    });
    enter(std::string("block_scores/cumulus_intervals/") + c.name, [&c](benchmark::State& state) {
      const summaries& m = summaries_of(c, state.range(0));
      for (auto _ : state) {
        const auto scores =
            cumulus::block_scores(m, query(state.range(0)), {.scale = 1, .score = c.score});
        benchmark::DoNotOptimize(scores.data());
      }
      count_bytes(state, m);
    });
    enter(std::string("block_scores/floor_sum/") + c.name, [&c](benchmark::State& state) {
      const summaries& m = summaries_of(c, state.range(0));
      const auto n = std::size_t(m.blocks() * m.bytes_per_block()) / sizeof(float);
      std::vector<float> x(n, 1.0f);
      for (auto _ : state) benchmark::DoNotOptimize(bench::floors().sum_float(x.data(), n));
      count_bytes(state, m);
    });
    enter(std::string("block_summaries/cumulus/") + c.name, [&c](benchmark::State& state) {
      const index_t d = state.range(0), n = 4096;
      for (auto _ : state) {
        summaries m(of_width(c.parts, d));
        m.append_rows(cumulus::token_rows<float>(keys(d).data(), n, d, d));
        benchmark::DoNotOptimize(m.blocks());
      }
      state.SetItemsProcessed(state.iterations() * n);
    });
  }
}

void enrol_selection() {
  benchmark::RegisterBenchmark(
      "select_blocks/cumulus/top",
      [](benchmark::State& state) {
        const auto scores = bench::normal<float>(2048, 0.0, 3.0);
        for (auto _ : state)
          benchmark::DoNotOptimize(cumulus::select_blocks(scores, {.top = state.range(0)}));
      })
      ->ArgName("top")
      ->Arg(8)
      ->Arg(204);
  benchmark::RegisterBenchmark(
      "certified_top/cumulus",
      [](benchmark::State& state) {
        const index_t d = 64;
        static const summaries m = [] {
          summaries made(of_width({.covariance = covariance_kind::full, .box = true}, d));
          made.append_rows(cumulus::token_rows<float>(keys(d).data(), tokens, d, d));
          return made;
        }();
        const cumulus::token_rows<float> rows(keys(d).data(), tokens, d, d);
        const double scale = 1.0 / double(state.range(0));
        std::size_t read = 0;
        for (auto _ : state) {
          const auto scores = cumulus::block_scores(m, query(d), {.scale = scale});
          const auto found = cumulus::certified_top(scores, 8, [&](index_t B) {
            return cumulus::exact_block_score(rows, query(d), B * block, block, {.scale = scale});
          });
          read = found.evaluated.size();
          benchmark::DoNotOptimize(found.blocks.data());
        }
        state.counters["blocks_read"] = double(read);
      })
      ->ArgName("cooling")
      ->Arg(1)
      ->Arg(4)
      ->Arg(16);
}

/// 64 blocks of 64 keys in 64 dimensions; the best 8 sought. Units: scores of standard deviation about 1.
using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
struct trial {
  matrix keys;
  Eigen::VectorXd query;
};

class draw {
 public:
  double normal() {
    const auto x = bench::normal<double>(bench::period, 0.0, 1.0);
    return x[at_++ % bench::period];
  }
  /// iid: N(0, I), scores of deviation 1.5. means: a mean of deviation 1 and axes of spread e^(1.2 N), a block each.
  /// needle: a query that has one key's direction. heteroscedastic: a spread e^(0.55 N) a block.
  trial operator()(const std::string& law) {
    constexpr index_t d = 64;
    trial t{matrix(64 * 64, d), Eigen::VectorXd(d)};
    const double size = law == "iid" ? 1.5 : law == "means" ? 0.7 : law == "needle" ? 0.4 : 1.0;
    for (index_t i = 0; i < d; ++i) t.query[i] = size / 8 * normal();
    for (index_t B = 0; B < 64; ++B) {
      auto k = t.keys.middleRows(64 * B, 64);
      for (index_t i = 0; i < k.size(); ++i) k(i / d, i % d) = normal();
      if (law == "heteroscedastic") k *= std::exp(0.55 * normal());
      if (law != "means") continue;
      for (index_t i = 0; i < d; ++i) {
        const double mean = normal(), spread = std::exp(1.2 * normal());
        k.col(i) = mean + spread * k.col(i).array();
      }
    }
    if (law == "needle") t.query += 1.2 * t.keys.row(777).transpose().normalized();
    return t;
  }

 private:
  std::size_t at_ = 0;
};

void enrol_table() {
  struct row {
    const char* name;
    block_summary_options parts;
    block_score score;
  };
  static const row rows[] = {
      {"mean", {}, block_score::mean},
      {"taylor2_full", {.covariance = covariance_kind::full}, block_score::taylor2},
      {"taylor2_diagonal", {.covariance = covariance_kind::diagonal}, block_score::taylor2},
      {"taylor2_rank4", {.covariance = covariance_kind::low_rank}, block_score::taylor2},
      {"moment2_full", {.covariance = covariance_kind::full}, block_score::moment2},
      {"frozen2_full", {.covariance = covariance_kind::full}, block_score::frozen2},
      {"smooth2_full", {.covariance = covariance_kind::full}, block_score::smooth2},
      {"box", {.box = true}, block_score::box},
      {"submeans4", {.submeans = 4}, block_score::submeans},
  };
  for (const char* law : {"iid", "means", "needle", "heteroscedastic"}) {
    for (const row& r : rows) {
      const auto run = [law, &r](benchmark::State& state) {
        double mass = 0, overlap = 0;
        index_t trials = 0;
        draw next;
        for (auto _ : state) {
          state.PauseTiming();
          const trial t = next(law);
          cumulus::block_summaries<double> m(of_width(r.parts, 64));
          m.append_rows(t.keys);
          const auto exact = cumulus::exact_block_scores(t.keys, 64, t.query, {.scale = 1});
          const auto best = cumulus::select_blocks(exact, {.top = 8});
          state.ResumeTiming();
          const auto chosen = cumulus::select_blocks(
              cumulus::block_scores(m, t.query, {.scale = 1, .score = r.score}), {.top = 8});
          state.PauseTiming();
          double held = 0, most = 0;
          for (const index_t B : best)
            most += std::exp(exact[std::size_t(B)] - exact[std::size_t(best[0])]);
          for (const index_t B : chosen) {
            held += std::exp(exact[std::size_t(B)] - exact[std::size_t(best[0])]);
            overlap += double(std::count(best.begin(), best.end(), B)) / 8;
          }
          mass += held / most;
          ++trials;
          state.ResumeTiming();
        }
        state.counters["mass"] = mass / double(trials);
        state.counters["overlap"] = overlap / double(trials);
      };
      benchmark::RegisterBenchmark((std::string("selection/") + law + "/" + r.name).c_str(), run)
          ->Iterations(200);
    }
  }
}

[[maybe_unused]] const bool enrolled = (enrol_scoring(), enrol_selection(), enrol_table(), true);

}  // namespace
