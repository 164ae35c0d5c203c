// SPDX-License-Identifier: MIT
//
// Which summary of a block of keys finds the blocks that hold a query's attention, and at what price.
//
//   block_scores                          two heads of a trained transformer, 256 tokens
//   block_scores --q q.npy --k k.npy --v v.npy --causal --block 64 --top 8 --plot mass.svg
//   block_scores --help
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/block_plot.hpp"
#include "support/block_report.hpp"
#include "support/draw.hpp"
#include "support/print.hpp"
#include "support/program.hpp"
#include "support/shared_options.hpp"
#include "support/table.hpp"

namespace {

constexpr const char* help_head =
    R"(Scores the blocks of a head's keys for each query by all that can be kept of a block, and compares
with the exact log-sum-exp of its scores. Reads queries, keys and values from .npy files of
[tokens, width], scaled so that a score is q k; without files it takes two causal heads of a
trained transformer.)";

constexpr const char* help_foot =
    R"(What the table shows, as means over the queries
  bytes   kept of a block, in float
  recall  of the exact best blocks, as many as --top
  mass    the share of the query's attention to past blocks that lies on the chosen ones
  error   of the output, relative: exact attention to the chosen blocks and to the keys that no past
          block holds, against attention to all
  time    to score all blocks for one query
With --causal a query sees the keys up to its own position, and its past blocks are those that end
before it; at most --queries of those with 12 past blocks and more than --top are taken, seeded.

Examples
  block_scores --q l1h1_q.npy --k l1h1_k.npy --v l1h1_v.npy --causal
  block_scores --q q.npy --k k.npy --v v.npy --block 32 --top 16 --format csv)";

struct settings {
  support::head_files files;
  std::optional<int> block, top;
  int queries = 256;
  std::string format = "table", plot;

  [[nodiscard]] support::block_report_settings trial() const {
    const bool own = !files.given();
    return {block.value_or(own ? 16 : 64), top.value_or(own ? 4 : 8), queries, files.is_causal()};
  }
};

support::options command_line(settings& s) {
  support::options o("block_scores", help_head, help_foot);
  support::attention_files(o, s.files);
  o.whole("--block", s.block, 1, 1 << 20, "B", "Tokens a block", "64 (16 without files)");
  o.whole("--top", s.top, 1, 1 << 20, "K", "Blocks to choose", "8 (4 without files)");
  o.whole("--queries", s.queries, 1, 1 << 20, "N", "Queries to try at most");
  o.choice("--format", s.format, {"table", "csv"}, "FORMAT");
  support::plot_file(o, s.plot, "mass against bytes");
  return o;
}

/// The heads to try, each of tokens enough. Throws input_error.
std::vector<support::attention_head> load(const support::head_files& files,
                                          const support::block_report_settings& trial) {
  if (!files.given()) {
    std::vector<support::attention_head> heads = support::sample_heads();
    for (auto& head : heads) head.name += ", 256 tokens of a trained transformer";
    if (support::block_trial::first_position(trial) >= heads[0].q.rows())
      throw std::runtime_error(
          "command line: the heads without files have 256 tokens, too few for " +
          std::to_string(trial.top) + " of the past blocks of " + std::to_string(trial.block) +
          "; choose a smaller --block or --top");
    return heads;
  }
  support::attention_head head{files.q, support::read_npy_matrix(files.q),
                               support::read_npy_matrix(files.k),
                               support::read_npy_matrix(files.v)};
  const auto fail = [](const std::string& file, const std::string& wrong, const std::string& mend) {
    throw support::input_error(file, {}, wrong, mend);
  };
  const auto text = [](Eigen::Index n) { return std::to_string(n); };
  if (head.k.cols() != head.q.cols())
    fail(files.k,
         "keys of width " + text(head.k.cols()) + " for queries of width " + text(head.q.cols()),
         "take both from one head");
  if (head.v.rows() != head.k.rows())
    fail(files.v, text(head.v.rows()) + " values for " + text(head.k.rows()) + " keys",
         "take both from one head");
  if (trial.causal && head.q.rows() > head.k.rows())
    fail(files.q, text(head.q.rows()) + " causal queries for " + text(head.k.rows()) + " keys",
         "leave --causal out, or give each query its key");
  const auto first = support::block_trial::first_position(trial);
  if (trial.causal ? first >= head.q.rows() : trial.top >= head.k.rows() / trial.block)
    fail(files.q,
         text(head.q.rows()) + " queries of " + text(head.k.rows()) + " keys are too few for " +
             text(trial.top) + " past blocks of " + text(trial.block) +
             (trial.causal ? " (a query needs 12 and more than --top)" : ""),
         "choose a smaller --block or --top");
  return {head};
}

std::string table(const support::block_report& r, const support::block_report_settings& trial) {
  std::vector<std::vector<std::string>> rows = {
      {"score", "of", "bytes", "recall", "mass", "error", "time"}};
  for (const auto& row : r.rows)
    rows.push_back({row.score, row.summary, std::to_string(row.bytes),
                    support::number(row.recall, "%.3f"), support::number(row.mass, "%.3f"),
                    support::number(row.error, "%.3f"),
                    row.score == "exact" ? "-" : support::number(row.microseconds, "%.3g us")});
  return support::one_line(r.name) + "\n" + std::to_string(r.queries) + " queries" +
         (trial.causal ? " from token " + std::to_string(r.first) + " on" : "") + ", " +
         std::to_string(r.tokens) + " keys of width " + std::to_string(r.width) + ", " +
         std::to_string(r.blocks) + " blocks of " + std::to_string(trial.block) + ", the best " +
         std::to_string(trial.top) +
         " chosen; the scores of a query have a standard deviation of " +
         support::number(r.deviation, "%.2f") + "\n" + support::columns(rows);
}

/// As RFC 4180 has it.
std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv(const std::vector<support::block_report>& reports) {
  std::string out = "head,score,summary,bytes_per_block,recall,mass,output_error,microseconds\n";
  for (const auto& r : reports) {
    for (const auto& row : r.rows) {
      out += csv_field(r.name) + "," + row.score + ",\"" + row.summary + "\"," +
             std::to_string(row.bytes);
      for (const double value : {row.recall, row.mass, row.error, row.microseconds})
        (out += ",") += support::shortest(value);
      out += "\n";
    }
  }
  return out;
}

std::string run(const settings& s) {
  std::vector<support::block_report> reports;
  const support::block_report_settings trial = s.trial();
  for (const auto& head : load(s.files, trial))
    reports.push_back(support::block_trial(head, trial).report());
  if (!s.plot.empty()) support::draw(support::plot_script(reports), s.plot);
  if (s.format == "csv") return csv(reports);
  std::string out;
  for (const auto& r : reports) (out += out.empty() ? "" : "\n") += table(r, trial);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  return support::finish(command_line(s), argc, argv, [&] { return run(s); });
}

// Output:
// l0h1, 256 tokens of a trained transformer
// 64 queries from token 192 on, 256 keys of width 64, 16 blocks of 16, the best 4 chosen; the scores of a query have a standard deviation of 0.74
//        score             of   bytes  recall   mass  error      time
//         mean       mean key     272   0.793  0.369  0.620  0.647 us
//      taylor2       diagonal     528   0.793  0.369  0.623  0.784 us
//      taylor2         rank 4    1556   0.859  0.373  0.617   1.05 us
//      taylor2           full    8592   0.926  0.376  0.612   4.19 us
//      moment2           full    8592   0.902  0.375  0.614   4.28 us
//      frozen2       diagonal     528   0.793  0.369  0.623  0.817 us
//      frozen2           full    8592   0.926  0.376  0.612   4.21 us
//      smooth2       diagonal     528   0.793  0.369  0.623   1.18 us
//      smooth2         rank 4    1556   0.859  0.373  0.617    1.5 us
//      smooth2           full    8592   0.914  0.376  0.615   4.69 us
//      taylor3   full, tensor  191632   0.977  0.377  0.608    217 us
//     landmark       landmark     532   0.805  0.369  0.620  0.493 us
//    landmark2  full landmark   17436   0.922  0.375  0.614   3.98 us
//          box            box     784   0.484  0.333  0.668   1.56 us
//     submeans        4 means    1296   0.816  0.370  0.623   1.47 us
//   calibrated         rank 4    1560   0.684  0.359  0.642   1.54 us
//        exact       all keys    4096   1.000  0.377  0.611         -
//
// l2h0, 256 tokens of a trained transformer
// 64 queries from token 192 on, 256 keys of width 64, 16 blocks of 16, the best 4 chosen; the scores of a query have a standard deviation of 5.86
//        score             of   bytes  recall   mass  error      time
//         mean       mean key     272   0.855  0.946  0.011  0.484 us
//      taylor2       diagonal     528   0.840  0.936  0.012  0.766 us
//      taylor2         rank 4    1556   0.789  0.945  0.006      1 us
//      taylor2           full    8592   0.777  0.940  0.006   68.3 us
//      moment2           full    8592   0.871  0.953  0.011   4.43 us
//      frozen2       diagonal     528   0.844  0.940  0.012  0.812 us
//      frozen2           full    8592   0.848  0.965  0.002   4.31 us
//      smooth2       diagonal     528   0.848  0.944  0.011   1.07 us
//      smooth2         rank 4    1556   0.855  0.958  0.003   1.48 us
//      smooth2           full    8592   0.852  0.965  0.002   4.82 us
//      taylor3   full, tensor  191632   0.785  0.910  0.035    348 us
//     landmark       landmark     532   0.816  0.973  0.003  0.497 us
//    landmark2  full landmark   17436   0.887  0.971  0.003   4.07 us
//          box            box     784   0.711  0.912  0.020   1.51 us
//     submeans        4 means    1296   0.883  0.971  0.004   1.47 us
//   calibrated         rank 4    1560   0.855  0.960  0.002   1.57 us
//        exact       all keys    4096   1.000  0.988  0.001         -
