// SPDX-License-Identifier: MIT
//
// Which summary of a block of keys finds the blocks that hold a query's attention, and at what price.
//
//   block_scores                          two heads of a trained transformer, 256 tokens
//   block_scores --q q.npy --k k.npy --v v.npy --causal --block 64 --top 8 --plot mass.svg
//   block_scores --help
#include <algorithm>
#include <string>
#include <vector>

#include "support/block_report.hpp"
#include "support/draw.hpp"
#include "support/print.hpp"
#include "support/program.hpp"
#include "support/table.hpp"

namespace {

constexpr const char* help_head =
    R"(Scores the blocks of a head's keys for each query by all that can be kept of a block, and compares
with the exact log-sum-exp of its scores. Reads queries, keys and values from .npy files of
[tokens, width], scaled so that a score is q k; without files it takes two causal heads of a
trained transformer.
)";

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
  block_scores --q q.npy --k k.npy --v v.npy --block 32 --top 16 --format csv

Bad input ends the program with status 2 and one line that says where, what and how to mend it.)";

struct settings {
  std::string q, k, v, format = "table", plot;
  support::block_report_settings trial{};
  int block = 0, top = 0, queries = 256;
  bool causal = false;

  std::string answer;  ///< to print instead of all else: the help or the version
};

settings parse_command_line(int argc, const char* const* argv) {
  settings s;
  CLI::App app(help_head, "block_scores");
  app.footer(help_foot);
  app.add_option("--q", s.q, "Queries, .npy")->type_name("FILE")->check(support::nonempty());
  app.add_option("--k", s.k, "Keys, .npy")->type_name("FILE")->check(support::nonempty());
  app.add_option("--v", s.v, "Values, .npy")->type_name("FILE")->check(support::nonempty());
  app.add_flag("--causal", s.causal, "A query sees no later key");
  app.add_option("--block", s.block, "Tokens a block, by default 64 (16 without files)")
      ->type_name("B")
      ->transform(support::whole_number(1, 1 << 20));
  app.add_option("--top", s.top, "Blocks to choose, by default 8 (4 without files)")
      ->type_name("K")
      ->transform(support::whole_number(1, 1 << 20));
  app.add_option("--queries", s.queries, "Queries to try at most, by default 256")
      ->type_name("N")
      ->transform(support::whole_number(1, 1 << 20));
  app.add_option("--format", s.format, "table (default) or csv")
      ->type_name("FORMAT")
      ->check(support::one_of({"table", "csv"}));
  app.add_option("--plot", s.plot, "Also draw mass against bytes into a .svg or .png, by gnuplot")
      ->type_name("FILE")
      ->check(support::nonempty());
  s.answer = support::parse(app, argc, argv, [&] {
    const int files = !s.q.empty() + !s.k.empty() + !s.v.empty();
    if (files != 0 && files != 3) throw CLI::ValidationError("--q, --k, --v", "come together");
    const bool own = files == 0;
    s.trial = {s.block != 0 ? s.block
               : own        ? 16
                            : 64,
               s.top != 0 ? s.top
               : own      ? 4
                          : 8,
               s.queries, s.causal || own};
  });
  if (!s.plot.empty()) support::plot_terminal(s.plot);  // refuses the name before any work
  return s;
}

/// The heads to try, each of tokens enough. Throws input_error.
std::vector<support::attention_head> load(const settings& s) {
  if (s.q.empty()) {
    std::vector<support::attention_head> heads = support::sample_heads();
    for (auto& head : heads) head.name += ", 256 tokens of a trained transformer";
    if (support::block_trial::first_position(s.trial) >= heads[0].q.rows())
      throw std::runtime_error(
          "command line: the heads without files have 256 tokens, too few for " +
          std::to_string(s.trial.top) + " of the past blocks of " + std::to_string(s.trial.block) +
          "; choose a smaller --block or --top");
    return heads;
  }
  support::attention_head head{s.q, support::read_npy_matrix(s.q), support::read_npy_matrix(s.k),
                               support::read_npy_matrix(s.v)};
  const auto fail = [](const std::string& file, const std::string& wrong, const std::string& mend) {
    throw support::input_error(file, {}, wrong, mend);
  };
  const auto text = [](Eigen::Index n) { return std::to_string(n); };
  if (head.k.cols() != head.q.cols())
    fail(s.k,
         "keys of width " + text(head.k.cols()) + " for queries of width " + text(head.q.cols()),
         "take both from one head");
  if (head.v.rows() != head.k.rows())
    fail(s.v, text(head.v.rows()) + " values for " + text(head.k.rows()) + " keys",
         "take both from one head");
  if (s.trial.causal && head.q.rows() > head.k.rows())
    fail(s.q, text(head.q.rows()) + " causal queries for " + text(head.k.rows()) + " keys",
         "leave --causal out, or give each query its key");
  const auto first = support::block_trial::first_position(s.trial);
  if (s.trial.causal ? first >= head.q.rows() : s.trial.top >= head.k.rows() / s.trial.block)
    fail(s.q,
         text(head.q.rows()) + " queries of " + text(head.k.rows()) + " keys are too few for " +
             text(s.trial.top) + " past blocks of " + text(s.trial.block) +
             (s.trial.causal ? " (a query needs 12 and more than --top)" : ""),
         "choose a smaller --block or --top");
  return {head};
}

std::string table(const support::block_report& r, const settings& s) {
  std::vector<std::vector<std::string>> rows = {
      {"score", "of", "bytes", "recall", "mass", "error", "time"}};
  for (const auto& row : r.rows)
    rows.push_back({row.score, row.summary, std::to_string(row.bytes),
                    support::number(row.recall, "%.3f"), support::number(row.mass, "%.3f"),
                    support::number(row.error, "%.3f"),
                    row.score == "exact" ? "-" : support::number(row.microseconds, "%.3g us")});
  return support::one_line(r.name) + "\n" + std::to_string(r.queries) + " queries" +
         (s.trial.causal ? " from token " + std::to_string(r.first) + " on" : "") + ", " +
         std::to_string(r.tokens) + " keys of width " + std::to_string(r.width) + ", " +
         std::to_string(r.blocks) + " blocks of " + std::to_string(s.trial.block) + ", the best " +
         std::to_string(s.trial.top) +
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
        out += "," + support::shortest(value);
      out += "\n";
    }
  }
  return out;
}

/// gnuplot's instructions: a colour for each score, a point for each head.
std::string plot_script(const std::vector<support::block_report>& reports) {
  std::string script = R"(set title 'attention on the chosen blocks, by what is kept of a block'
set logscale x 2
set xlabel 'bytes a block, float'
set ylabel 'share of what the exact best blocks hold'
set key outside right center Left reverse samplen 1
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
)";
  std::vector<std::string> scores;
  for (const auto& row : reports.front().rows) {
    if (std::find(scores.begin(), scores.end(), row.score) == scores.end() && row.score != "exact")
      scores.push_back(row.score);
  }
  std::string curves;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    script += "$" + scores[i] + " << EOD\n";
    for (const auto& r : reports) {
      for (const auto& row : r.rows) {
        if (row.score == scores[i])
          script += std::to_string(row.bytes) + " " +
                    support::shortest(row.mass / r.rows.back().mass) + "\n";
      }
    }
    script += "EOD\n";
    curves += (i == 0 ? "plot $" : ", $") + scores[i] + " with points ps 1.3 pt " +
              std::to_string(4 + i) + " lc " + std::to_string(1 + i) + " title '" + scores[i] + "'";
  }
  return script + curves + "\n";
}

std::string run(const settings& s) {
  if (!s.answer.empty()) return s.answer;
  std::vector<support::block_report> reports;
  for (const auto& head : load(s)) reports.push_back(support::block_trial(head, s.trial).report());
  if (!s.plot.empty()) support::draw(plot_script(reports), s.plot);
  if (s.format == "csv") return csv(reports);
  std::string out;
  for (const auto& r : reports) out += (out.empty() ? "" : "\n") + table(r, s);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  return support::finish("block_scores", [&] { return run(parse_command_line(argc, argv)); });
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
