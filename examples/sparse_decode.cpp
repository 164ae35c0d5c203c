// SPDX-License-Identifier: MIT
//
// Decoding over a growing cache: all keys, or the blocks that hold the attention, at an error that the user names.
//
//   sparse_decode                         up to 16384 tokens of drifting topics
//   sparse_decode --tokens 131072 --error 1e-3 --score mean
//   sparse_decode --help
#include <chrono>
#include <string>
#include <vector>

#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>
#include "support/print.hpp"
#include "support/program.hpp"
#include "support/random_cache.hpp"
#include "support/table.hpp"

namespace {

using cumulus::index_t;

constexpr const char* help_head =
    R"(Decodes a token at a time over a cache that grows, by dense attention and by attention to the best
blocks, and compares tokens per second. The number of blocks is the least, of 1, 2, 4, ..., whose
mean output error stays within --error.)";

constexpr const char* help_foot =
    R"(The cache is made up: keys wander between topics, as those of a text do, and each query asks for
one of them. What the table shows
  tokens  in the cache
  blocks  read for each token, of those there are
  error   of the output, relative, the mean over the queries
  bound   the largest error that could not be ruled out, relative, the mean over the queries
  dense, sparse, faster
          tokens per second, and their ratio; scoring and choosing count

Examples
  sparse_decode --tokens 65536 --width 128
  sparse_decode --error 1e-2 --score taylor2 --rank 8)";

struct settings {
  int tokens = 16384, width = 64, block = 64, rank = 4, queries = 32;
  double error = 1e-2;
  std::string score = "smooth2";
};

support::options command_line(settings& s) {
  support::options o("sparse_decode", help_head, help_foot);
  o.whole("--tokens", s.tokens, 1024, 1 << 22, "N", "Tokens at the end");
  o.whole("--width", s.width, 1, 1024, "D", "Width of keys and values");
  o.whole("--block", s.block, 1, 512, "B", "Tokens a block");
  o.whole("--queries", s.queries, 1, 100000, "Q", "Tokens to decode at each length");
  o.positive("--error", s.error, "E", "Relative error of the output to stay within");
  o.choice("--score", s.score, {"mean", "taylor2", "smooth2", "box"}, "SCORE");
  o.whole("--rank", s.rank, 1, 64, "R", "Directions kept of a block's covariance");
  return o;
}

struct trial {
  index_t top = 0;
  double error = 0, bound = 0, dense = 0, sparse = 0;  ///< the latter tokens per second
};

class decoder {
 public:
  explicit decoder(const settings& s) : s_(s), cache_(s.tokens, s.width, 7), blocks_(parts()) {
    if (s.score == "mean") score_ = cumulus::block_score::mean;
    if (s.score == "taylor2") score_ = cumulus::block_score::taylor2;
    if (s.score == "box") score_ = cumulus::block_score::box;
  }

  /// With the first n tokens in the cache.
  [[nodiscard]] trial at(index_t n) {
    const index_t from = blocks_.tokens();
    blocks_.append_rows(cache_.keys().middleRows(from, n - from),
                        cache_.values().middleRows(from, n - from));
    const auto exact = timed([&](const auto& q) {
      return cumulus::attention(q, cache_.keys().topRows(n), cache_.values().topRows(n),
                                {.scale = 1.0})
          .output;
    });
    trial best;
    best.dense = exact.tokens_per_second;
    for (best.top = 1;; best.top *= 2) {
      best.error = best.bound = 0;
      for (index_t i = 0; i < s_.queries; ++i) {
        const auto sparse = decode(cache_.query(n, i), n, best.top, true);
        const auto& output = exact.outputs[std::size_t(i)];
        best.error += double((sparse.output.row(0) - output).norm() / output.norm()) / s_.queries;
        best.bound += sparse.error_bound(0, 0) / double(output.norm()) / s_.queries;
      }
      if (best.error <= s_.error || best.top >= blocks_.blocks()) break;
    }
    best.top = std::min(best.top, blocks_.blocks());
    best.sparse = timed([&](const auto& q) {
                    return decode(q, n, best.top, false).output;
                  }).tokens_per_second;
    return best;
  }
  [[nodiscard]] index_t blocks() const { return blocks_.blocks(); }

 private:
  struct timing {
    std::vector<Eigen::RowVectorXf> outputs;
    double tokens_per_second;
  };

  [[nodiscard]] cumulus::block_summary_options parts() const {
    cumulus::block_summary_options p{
        .key_width = s_.width, .value_width = s_.width, .block = s_.block, .rank = s_.rank};
    p.box = s_.score == "box";
    if (s_.score == "taylor2" || s_.score == "smooth2")
      p.covariance = cumulus::covariance_kind::low_rank;
    return p;
  }

  [[nodiscard]] cumulus::block_sparse_result<float> decode(const Eigen::RowVectorXf& q, index_t n,
                                                           index_t top, bool bounds) const {
    return cumulus::block_sparse_attention(
        q, cache_.keys().topRows(n), cache_.values().topRows(n), blocks_,
        {.scale = 1, .score = score_, .top = top, .own_counts = false, .bounds = bounds});
  }

  template <class Step>
  [[nodiscard]] timing timed(Step step) const {
    timing t{{}, 0};
    const index_t n = blocks_.tokens();
    std::chrono::duration<double> time{};
    for (index_t i = 0; i < s_.queries; ++i) {
      const Eigen::RowVectorXf q = cache_.query(n, i);
      const auto start = std::chrono::steady_clock::now();
      t.outputs.push_back(step(q));
      time += std::chrono::steady_clock::now() - start;
    }
    t.tokens_per_second = double(s_.queries) / time.count();
    return t;
  }

  settings s_;
  support::random_cache cache_;
  cumulus::block_summaries<float> blocks_;
  cumulus::block_score score_ = cumulus::block_score::smooth2;
};

std::string run(const settings& s) {
  decoder decode(s);
  std::vector<std::vector<std::string>> rows = {
      {"tokens", "blocks", "of", "error", "bound", "dense", "sparse", "faster"}};
  for (index_t n = 1024;; n = std::min<index_t>(4 * n, s.tokens)) {
    const trial t = decode.at(n);
    rows.push_back({std::to_string(n), std::to_string(t.top), std::to_string(decode.blocks()),
                    support::number(t.error, "%.1e"), support::number(t.bound, "%.1e"),
                    support::number(t.dense, "%.3g tokens/s"),
                    support::number(t.sparse, "%.3g tokens/s"),
                    support::number(t.sparse / t.dense, "%.3g x")});
    if (n == s.tokens) break;
  }
  return "A cache of keys and values of width " + std::to_string(s.width) + " in blocks of " +
         std::to_string(s.block) + ", chosen by " + s.score + ", to an error of " +
         support::number(s.error, "%g") + "\n" + support::columns(rows);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// A cache of keys and values of width 64 in blocks of 64, chosen by smooth2, to an error of 0.01
//   tokens  blocks   of    error    bound              dense             sparse  faster
//     1024       4   16  2.3e-03  1.5e+00   1.4e+05 tokens/s  1.94e+05 tokens/s  1.38 x
//     4096       4   64  7.5e-03  2.1e+00  2.93e+04 tokens/s  1.17e+05 tokens/s  3.97 x
//    16384       4  256  9.0e-03  2.3e+00  3.92e+03 tokens/s  4.24e+04 tokens/s  10.8 x
