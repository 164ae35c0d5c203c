// SPDX-License-Identifier: MIT
//
// How well the scores of blocks find the attention of one head: against the exact masses, query by query.
#pragma once

#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/sample_heads.hpp"

namespace support {

struct block_report_settings {
  cumulus::index_t block = 64, top = 8, queries = 256;
  bool causal = false;
};

struct block_report_row {
  std::string score, summary;
  cumulus::index_t bytes = 0;  ///< a block
  double recall = 0;           ///< of the exact best blocks
  double mass = 0;             ///< of the attention to all past blocks, on the chosen ones
  double error = 0;  ///< of the output, relative: chosen blocks and what is not in a whole one
  double microseconds = 0;  ///< to score all blocks for a query
};

struct block_report {
  std::string name;
  cumulus::index_t tokens = 0, width = 0, blocks = 0, queries = 0, first = 0;
  double deviation = 0;  ///< of a query's scores, averaged
  std::vector<block_report_row> rows;
};

/// A score and what its summary keeps.
struct scored_summary {
  cumulus::block_score score;
  const char* name;
  cumulus::block_summary_options parts;
};

[[nodiscard]] inline std::vector<scored_summary> all_block_scores() {
  using cumulus::block_score;
  using cumulus::covariance_kind;
  const auto with = [](covariance_kind kind) {
    cumulus::block_summary_options parts;
    parts.covariance = kind;
    return parts;
  };
  const auto bare = with(covariance_kind::none), diagonal = with(covariance_kind::diagonal),
             full = with(covariance_kind::full), low_rank = with(covariance_kind::low_rank);
  auto tensor = full, landmark = bare, landmark2 = full, box = bare, submeans = bare,
       calibrated = low_rank;
  tensor.order = 3;
  landmark.landmark = landmark2.landmark = landmark2.landmark_covariance = true;
  box.box = true;
  submeans.submeans = 4;
  calibrated.calibration = true;
  return {{block_score::mean, "mean key", bare},
          {block_score::taylor2, "diagonal", diagonal},
          {block_score::taylor2, "rank 4", low_rank},
          {block_score::taylor2, "full", full},
          {block_score::moment2, "full", full},
          {block_score::frozen2, "diagonal", diagonal},
          {block_score::frozen2, "full", full},
          {block_score::smooth2, "diagonal", diagonal},
          {block_score::smooth2, "rank 4", low_rank},
          {block_score::smooth2, "full", full},
          {block_score::taylor3, "full, tensor", tensor},
          {block_score::landmark, "landmark", landmark},
          {block_score::landmark2, "full landmark", landmark2},
          {block_score::box, "box", box},
          {block_score::submeans, "4 means", submeans},
          {block_score::calibrated, "rank 4", calibrated}};
}

class block_trial {
 public:
  /// Requires a head with whole blocks for every query; see first_position().
  block_trial(const attention_head& head, const block_report_settings& settings)
      : head_(head), settings_(settings) {
    const cumulus::index_t first = first_position(settings), end = head.q.rows();
    std::vector<cumulus::index_t> positions(static_cast<std::size_t>(end - first));
    std::iota(positions.begin(), positions.end(), first);
    std::uint64_t state = 1;  // splitmix64, so that every machine takes the same queries
    const auto random = [&] {
      std::uint64_t z = state += 0x9E3779B97F4A7C15u;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      return z ^ (z >> 31);
    };
    const std::size_t wanted =
        std::min(positions.size(), static_cast<std::size_t>(settings.queries));
    for (std::size_t i = 0; i < wanted; ++i)
      std::swap(positions[i], positions[i + random() % (positions.size() - i)]);
    positions.resize(wanted);
    std::sort(positions.begin(), positions.end());
    for (const auto t : positions) queries_.push_back(exact(t));
  }

  /// Queries from here on have the blocks to choose from: 12 whole ones and more than --top.
  [[nodiscard]] static cumulus::index_t first_position(const block_report_settings& s) {
    if (!s.causal) return 0;
    return std::max(cumulus::index_t(12), s.top + 1) * s.block;
  }

  [[nodiscard]] block_report report() const {
    block_report r{head_.name,
                   head_.k.rows(),
                   head_.k.cols(),
                   head_.k.rows() / settings_.block,
                   cumulus::index_t(queries_.size()),
                   first_position(settings_),
                   0,
                   {}};
    for (const exact_query& q : queries_)
      r.deviation += q.deviation / static_cast<double>(queries_.size());
    for (const scored_summary& s : all_block_scores()) r.rows.push_back(row(s));
    block_report_row best{"exact", "all keys", head_.k.cols() * settings_.block * 4, 1, 0, 0, 0};
    for (const exact_query& q : queries_) add(q, q.best, best);
    r.rows.push_back(best);
    return r;
  }

 private:
  struct exact_query {
    cumulus::index_t position;
    std::vector<double> mass;  ///< log-mass of each past block
    double all;                ///< log-mass of all of them
    double deviation;
    std::vector<cumulus::index_t> best;
    Eigen::RowVectorXf output;
  };

  [[nodiscard]] cumulus::index_t seen(cumulus::index_t t) const {
    return settings_.causal ? t + 1 : head_.k.rows();
  }
  [[nodiscard]] cumulus::index_t past(cumulus::index_t t) const {
    return (settings_.causal ? t : head_.k.rows()) / settings_.block;
  }
  [[nodiscard]] std::vector<cumulus::index_t> choose(const std::vector<double>& score) const {
    return cumulus::select_blocks(score, {.top = settings_.top});
  }

  [[nodiscard]] exact_query exact(cumulus::index_t t) const {
    const Eigen::VectorXd x =
        head_.k.topRows(seen(t)).cast<double>() * head_.q.row(t).transpose().cast<double>();
    exact_query q{t, {}, 0, 0, {}, {}};
    q.deviation = std::sqrt((x.array() - x.mean()).square().mean());
    for (cumulus::index_t B = 0; B < past(t); ++B)
      q.mass.push_back(cumulus::logsumexp(x.segment(B * settings_.block, settings_.block)));
    q.all = cumulus::logsumexp(q.mass);
    q.best = choose(q.mass);
    q.output = cumulus::attention(head_.q.middleRows(t, 1), head_.k.topRows(seen(t)),
                                  head_.v.topRows(seen(t)), {.scale = 1.0})
                   .output;
    return q;
  }

  void add(const exact_query& q, const std::vector<cumulus::index_t>& chosen,
           block_report_row& row) const {
    const double share = 1 / static_cast<double>(queries_.size());
    std::vector<cumulus::index_t> common;
    std::set_intersection(chosen.begin(), chosen.end(), q.best.begin(), q.best.end(),
                          std::back_inserter(common));
    if (row.score != "exact")
      row.recall += share * static_cast<double>(common.size()) / static_cast<double>(q.best.size());
    for (const auto B : chosen)
      row.mass += share * std::exp(q.mass[static_cast<std::size_t>(B)] - q.all);
    std::vector<cumulus::index_t> pages = chosen;
    const cumulus::index_t b = settings_.block, rest = seen(q.position) - past(q.position) * b;
    for (cumulus::index_t i = 0; i < rest; i += b) pages.push_back(past(q.position) + i / b);
    const cumulus::index_t tokens = static_cast<cumulus::index_t>(chosen.size()) * b + rest;
    const cumulus::token_rows<float> k(head_.k), v(head_.v),
        query(head_.q.middleRows(q.position, 1));
    const auto sparse =
        cumulus::attention(query, cumulus::token_rows<float>(k, b, pages, tokens),
                           cumulus::token_rows<float>(v, b, pages, tokens), {.scale = 1.0});
    row.error +=
        share * static_cast<double>((sparse.output.row(0) - q.output).norm() / q.output.norm());
  }

  /// Landmarks are at the mean of the last 1024 queries up to the block's end, corrections their average.
  [[nodiscard]] cumulus::block_summaries<float> summarise(const scored_summary& s) const {
    const cumulus::index_t b = settings_.block;
    cumulus::block_summary_options parts = s.parts;
    parts.key_width = head_.k.cols();
    parts.block = b;
    cumulus::block_summaries<float> blocks(parts);
    for (cumulus::index_t t = 0; t + b <= head_.k.rows(); t += b) {
      const cumulus::index_t end = std::min(t + b, cumulus::index_t(head_.q.rows()));
      const cumulus::index_t count = std::min(end, cumulus::index_t(1024));
      if (s.parts.landmark || s.parts.calibration)
        blocks.set_references(head_.q.middleRows(end - count, count));
      blocks.append_rows(head_.k.middleRows(t, b));
    }
    return blocks;
  }

  [[nodiscard]] block_report_row row(const scored_summary& s) const {
    const cumulus::block_summaries<float> blocks = summarise(s);
    block_report_row r{cumulus::name_of(s.score), s.name, blocks.bytes_per_block(), 0, 0, 0, 0};
    std::vector<float> scores(static_cast<std::size_t>(blocks.blocks()));
    std::chrono::duration<double, std::micro> time{};
    for (const exact_query& q : queries_) {
      const auto start = std::chrono::steady_clock::now();
      cumulus::block_scores(blocks, head_.q.row(q.position), cumulus::into(scores),
                            {.scale = 1, .score = s.score});
      time += std::chrono::steady_clock::now() - start;
      add(q, choose({scores.begin(), scores.begin() + std::ptrdiff_t(q.mass.size())}), r);
    }
    r.microseconds = time.count() / static_cast<double>(queries_.size());
    return r;
  }

  const attention_head& head_;
  block_report_settings settings_;
  std::vector<exact_query> queries_;
};

}  // namespace support
