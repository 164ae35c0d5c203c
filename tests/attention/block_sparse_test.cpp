// SPDX-License-Identifier: MIT
#include "attention/naive_moba.hpp"
#include "catch.hpp"
#include "families.hpp"
#include "refusal.hpp"

#include <cumulus/attention/block_sparse.hpp>
#include <cumulus/attention/sparse_presets.hpp>
#include <cumulus/exact/softmax.hpp>

namespace {

using namespace cumulus;
using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int d = 6, e = 3, b = 8;

rows normal_rows(int n, int width, double mean, double sigma, unsigned seed) {
  const auto x = families::normal<double>(std::size_t(n * width), mean, sigma, seed);
  return Eigen::Map<const rows>(x.data(), n, width);
}

block_summary_options everything() {
  block_summary_options parts{.key_width = d, .value_width = e, .block = b};
  parts.covariance = covariance_kind::full;
  parts.box = parts.landmark = parts.value_mean = parts.value_covariance = true;
  return parts;
}

/// n tokens whose blocks differ in mean and spread.
struct sample {
  explicit sample(int n, double sharp = 1, unsigned seed = 1)
      : q(normal_rows(n, d, 0, sharp, seed)),
        k(normal_rows(n, d, 0.2, 1, seed + 1)),
        v(normal_rows(n, e, 0.5, 1, seed + 2)),
        blocks(everything()) {
    families::random r(seed + 3);
    for (int t = 0; t < n; t += b) {
      const Eigen::RowVectorXd shift = normal_rows(1, d, 0, 0.7, unsigned(r.bits() % 1000));
      const auto height = std::min(b, n - t);
      k.middleRows(t, height) *= r.uniform(0.3, 1.5);
      k.middleRows(t, height).rowwise() += shift;
    }
    blocks.append_rows(k, v);
  }
  rows q, k, v;
  block_summaries<double> blocks;
};

/// The exact average over the tokens that `keep` says.
template <class Keep>
attention_result<double> masked(const sample& s, Keep keep) {
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> mask(s.q.rows(), s.k.rows());
  for (int i = 0; i < mask.rows(); ++i) {
    for (int j = 0; j < mask.cols(); ++j) mask(i, j) = j <= i && keep(i, j);
  }
  return attention(s.q, s.k, s.v, {.mask = mask});
}

bool is_selected(const block_sparse_result<double>& r, int i, int j) {
  const auto& chosen = r.selected[std::size_t(i)];
  return j / b == i / b || std::find(chosen.begin(), chosen.end(), j / b) != chosen.end();
}

double distance(const block_sparse_result<double>& x, const attention_result<double>& y) {
  return std::max((x.output - y.output).cwiseAbs().maxCoeff(),
                  (x.logsumexp.col(0) - y.logsumexp).cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("block_sparse_attention: with every block it is dense attention", "[attention][value]") {
  const int n = GENERATE(1, 8, 9, 61);
  const auto rest =
      GENERATE(left_out::none, left_out::value_mean, left_out::first_order, left_out::residual);
  const auto surrogate = GENERATE(false, true);
  if (surrogate && rest != left_out::none) return;
  const sample s(n);
  const auto dense = attention(s.q, s.k, s.v, {.causal = true});
  block_sparse_options o{.top = 99, .left_out = rest};
  const auto sparse = block_sparse_attention(s.q, s.k, s.v, s.blocks, o);
  CHECK(distance(sparse, dense) <= 1e-14);
  CHECK(sparse.error_bound.maxCoeff() <= 1e-12);
  CHECK(sparse.kept_low.minCoeff() == 1);

  const Eigen::MatrixXf q = s.q.cast<float>(), k = s.k.cast<float>(), v = s.v.cast<float>();
  block_summaries<float> blocks(everything());
  blocks.append_rows(k, v);
  const auto narrow = block_sparse_attention(q, k, v, blocks, o);
  CHECK((narrow.output.cast<double>() - dense.output).cwiseAbs().maxCoeff() <= 3e-6);
}

TEST_CASE("block_sparse_attention: reads the chosen blocks, its own and the window, and no other",
          "[attention][value]") {
  sample s(70);
  const auto r = block_sparse_attention(s.q, s.k, s.v, s.blocks, {.top = 3});
  CHECK(distance(r, masked(s, [&](int i, int j) { return is_selected(r, i, j); })) <= 1e-14);
  for (int i = 0; i < 70; ++i) CHECK(int(r.selected[std::size_t(i)].size()) == std::min(2, i / b));

  const auto w = block_sparse_attention(s.q, s.k, s.v, s.blocks,
                                        {.window = 20, .top = 2, .own_counts = false});
  CHECK(distance(w, masked(s, [&](int i, int j) {
                   return j >= (i + 1 - std::min(20, i + 1)) / b * b || is_selected(w, i, j);
                 })) <= 1e-14);
  for (int i = 40; i < 70; ++i) CHECK(w.selected[std::size_t(i)].size() == 2);
}

TEST_CASE("block_sparse_attention: every query alone, and in any part, is what it is among all",
          "[attention][property]") {
  const sample s(50, 2);
  const auto rest = GENERATE(left_out::none, left_out::first_order, left_out::residual);
  const block_sparse_options o{.top = 3, .left_out = rest};
  const auto all = block_sparse_attention(s.q, s.k, s.v, s.blocks, o);
  for (const int n : {1, 17, 32, 50}) {
    block_summaries<double> blocks(everything());
    blocks.append_rows(s.k.topRows(n), s.v.topRows(n));
    const auto one =
        block_sparse_attention(s.q.middleRows(n - 1, 1), s.k.topRows(n), s.v.topRows(n), blocks, o);
    CHECK((one.output.row(0) - all.output.row(n - 1)).norm() <= 1e-14);
    CHECK(one.logsumexp(0, 0) == Approx(all.logsumexp(n - 1, 0)).epsilon(1e-14));
    CHECK(one.selected[0] == all.selected[std::size_t(n - 1)]);
  }
  // what comes later is not looked at
  sample changed = s;
  changed.k.bottomRows(10).setConstant(1e9);
  changed.v.bottomRows(10).setConstant(std::nan(""));
  changed.blocks = block_summaries<double>(everything());
  changed.blocks.append_rows(changed.k, changed.v);
  const auto later = block_sparse_attention(changed.q, changed.k, changed.v, changed.blocks, o);
  CHECK(later.output.topRows(40) == all.output.topRows(40));
}

TEST_CASE("block_sparse_attention: error_bound and the kept share hold", "[attention][property]") {
  const auto rest =
      GENERATE(left_out::none, left_out::value_mean, left_out::first_order, left_out::residual);
  const auto sharp = GENERATE(0.1, 1.0, 4.0);
  const auto score = GENERATE(block_score::smooth2, block_score::mean, block_score::box);
  const sample s(90, sharp, 100);
  const auto dense = attention(s.q, s.k, s.v, {.causal = true});
  const auto r =
      block_sparse_attention(s.q, s.k, s.v, s.blocks,
                             {.score = score,
                              .mass_score = score == block_score::box ? block_score::mean : score,
                              .top = 4,
                              .left_out = rest});
  const auto read = masked(s, [&](int i, int j) { return is_selected(r, i, j); });
  double worst = 0;
  for (int i = 0; i < 90; ++i) {
    CAPTURE(i);
    const double kept = std::exp(read.logsumexp[i] - dense.logsumexp[i]);
    CHECK(r.kept_low(i, 0) <= kept * (1 + 1e-13));
    CHECK(kept * (1 - 1e-13) <= r.kept_high(i, 0));
    CHECK((r.output.row(i) - dense.output.row(i)).norm() <= r.error_bound(i, 0));
    worst = std::max(worst, r.error_bound(i, 0));
  }
  CHECK(worst < 2 * s.v.rowwise().norm().maxCoeff() * 2);
}

TEST_CASE("block_sparse_attention: what is left out stands in as its definition says",
          "[attention][value]") {
  const sample s(61, 1, 7);
  const auto rest = GENERATE(left_out::value_mean, left_out::first_order);
  const bool apart = GENERATE(false, true);
  block_sparse_options o{.scale = 0.4, .score = block_score::taylor2, .top = 3, .left_out = rest};
  if (apart) {  // chosen by an upper end, which is no mass
    o.score = block_score::box;
    o.mass_score = block_score::taylor2;
  }
  const auto r = block_sparse_attention(s.q, s.k, s.v, s.blocks, o);
  for (const int i : {5, 17, 60}) {
    double total = 0;
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(e);
    for (int j = 0; j <= i; ++j) {
      if (!is_selected(r, i, j)) continue;
      const double w = std::exp(0.4 * s.q.row(i).dot(s.k.row(j)));
      total += w;
      sum += w * s.v.row(j);
    }
    for (int B = 0; B < i / b; ++B) {
      if (is_selected(r, i, B * b)) continue;
      const rows k = s.k.middleRows(B * b, b), v = s.v.middleRows(B * b, b);
      const Eigen::RowVectorXd k_mean = k.colwise().mean(), v_mean = v.colwise().mean();
      const Eigen::VectorXd y = 0.4 * (k.rowwise() - k_mean) * s.q.row(i).transpose();
      const double w = b * std::exp(0.4 * k_mean.dot(s.q.row(i)) + y.squaredNorm() / b / 2);
      Eigen::RowVectorXd value = v_mean;
      if (rest == left_out::first_order) value += y.transpose() * (v.rowwise() - v_mean) / b;
      total += w;
      sum += w * value;
    }
    CHECK((r.output.row(i) - sum / total).norm() <= 1e-13);
    CHECK(r.logsumexp(i, 0) == Approx(std::log(total)).epsilon(1e-13));
  }
}

TEST_CASE("block_sparse_attention: a query's blocks weighted by their scores",
          "[attention][value]") {
  const sample s(40, 1, 9);
  const auto preset = presets::hils(2, b, 1);
  block_summaries<double> blocks(preset.summary_of(d, e));
  blocks.append_rows(s.k, s.v);
  const auto r = block_sparse_attention(s.q, s.k, s.v, blocks, preset.options);
  const int i = 39;
  const double scale = 1 / std::sqrt(double(d));
  std::vector<double> mass;
  rows parts(0, e);
  const auto part = [&](double log_mass, int first, int count) {
    mass.push_back(log_mass);
    parts.conservativeResize(parts.rows() + 1, e);
    parts.bottomRows(1) =
        attention(s.q.middleRows(i, 1), s.k.middleRows(first, count), s.v.middleRows(first, count))
            .output;
  };
  for (const auto B : r.selected[i])
    part(std::log(double(b)) + scale * s.q.row(i).dot(s.k.middleRows(B * b, b).colwise().mean()),
         int(B) * b, b);
  part(attention(s.q.middleRows(i, 1), s.k.middleRows(32, 8), s.v.middleRows(32, 8)).logsumexp[0],
       32, 8);
  CHECK(mass.size() == 3);
  const auto p = softmax(mass);
  const auto share = Eigen::Map<const Eigen::VectorXd>(p.data(), 3);
  CHECK((r.output.row(i) - share.transpose() * parts).norm() <= 1e-13);
}

TEST_CASE("block_sparse_attention: heads that share keys share their blocks",
          "[attention][property]") {
  const sample s(60, 2, 13);
  const rows q = normal_rows(20, 2 * d, 0, 2, 17);  // two heads at each of the last 20 positions
  const auto r = block_sparse_attention(q, s.k, s.v, s.blocks, {.heads = {.queries = 2}, .top = 3});
  CHECK(r.selected.size() == 20);
  CHECK(r.output.cols() == 2 * e);
  CHECK(r.logsumexp.cols() == 2);
  for (const int i : {0, 11, 19}) {
    const int at = 40 + i, past = at / b;
    Eigen::MatrixXd scores(2, past);
    for (int h = 0; h < 2; ++h) {
      const auto all = block_scores(s.blocks, q.row(i).segment(h * d, d));
      for (int B = 0; B < past; ++B) scores(h, B) = all[std::size_t(B)].value;
    }
    CHECK(r.selected[std::size_t(i)] == select_blocks(group_scores(scores), {.top = 2}));
    const auto alone = block_sparse_attention(q.row(i), s.k.topRows(at + 1), s.v.topRows(at + 1),
                                              s.blocks, {.heads = {.queries = 2}, .top = 3});
    CHECK((alone.output - r.output.row(i)).norm() <= 1e-14);
    for (int h = 0; h < 2; ++h) {  // each head's softmax is its own
      const auto dense =
          attention(q.row(i).segment(h * d, d), s.k.topRows(at + 1), s.v.topRows(at + 1));
      CHECK((r.output.row(i).segment(h * e, e) - dense.output.row(0)).norm() <=
            r.error_bound(i, h));
    }
  }
}

TEST_CASE("block_sparse_attention: the presets are what was published", "[attention][value]") {
  const sample s(200, 2, 21);
  const auto run = [&](const presets::block_sparse_preset& p) {
    block_summaries<double> blocks(p.summary_of(d, e));
    blocks.append_rows(s.k, s.v);
    return block_sparse_attention(s.q, s.k, s.v, blocks, p.options);
  };
  const auto moba = run(presets::moba(16, 3));
  CHECK(distance(moba, naive_moba::attend(s.q, s.k, s.v, {.block = 16, .top = 3})) <= 1e-13);

  const auto quest = run(presets::quest(64));  // 4 pages of 16, and the last
  const int i = 199;
  std::vector<std::pair<double, index_t>> upper;
  for (int B = 0; B < i / 16; ++B) {
    const rows k = s.k.middleRows(16 * B, 16);
    double sum = 0;
    for (int c = 0; c < d; ++c)
      sum += std::max(s.q(i, c) * k.col(c).minCoeff(), s.q(i, c) * k.col(c).maxCoeff());
    upper.push_back({-sum, B});
  }
  std::sort(upper.begin(), upper.end());
  std::vector<index_t> pages;
  for (int j = 0; j < 4; ++j) pages.push_back(upper[std::size_t(j)].second);
  std::sort(pages.begin(), pages.end());
  CHECK(quest.selected[i] == pages);
  CHECK(presets::quest(16).options.top == 3);

  CHECK(run(presets::cobs(4, 2, 16, 40)).selected[i].size() == 2);
  CHECK(run(presets::hils(2, 16, 40)).selected[i].size() == 2);
  CHECK(run(presets::spla(200, 0.5, 16)).selected[i].size() ==
        5);  // half of 12, its own among them
}

TEST_CASE("block_sparse_attention: keeps the residual sums of a decoder", "[attention][property]") {
  const sample s(45, 1, 31);
  block_sparse_options o{.top = 2, .left_out = left_out::residual};
  const Eigen::VectorXd centre = s.blocks.mean(0);
  residual_sums sums(d, e, {.kernel = o.kernel, .centre = {centre.begin(), centre.end()}});
  sums.add(token_rows<double>(s.k), token_rows<double>(s.v), 0, 40);
  const auto anew = block_sparse_attention(s.q.bottomRows(1), s.k, s.v, s.blocks, o);
  o.past_sums = &sums;
  const auto kept = block_sparse_attention(s.q.bottomRows(1), s.k, s.v, s.blocks, o);
  CHECK(kept.output == anew.output);
  const residual_sums fewer(d, e, {.kernel = o.kernel});
  o.past_sums = &fewer;
  CHECK(refusal([&] { (void)block_sparse_attention(s.q.bottomRows(1), s.k, s.v, s.blocks, o); }) ==
        "cumulus: block_sparse_attention: the past of the query has 40 elements, past_sums has 0");
  CHECK(refusal([&] { (void)block_sparse_attention(s.q.bottomRows(2), s.k, s.v, s.blocks, o); }) ==
        "cumulus: block_sparse_attention: .past_sums are those of one position, but there are 2; "
        "leave them out");
}

TEST_CASE("block_sparse_attention: refuses what does not fit", "[attention][edge]") {
  const sample s(20);
  const auto call = [&](const block_sparse_options& o) {
    return refusal([&] { (void)block_sparse_attention(s.q, s.k, s.v, s.blocks, o); });
  };
  const std::string name = "cumulus: block_sparse_attention: ";
  CHECK(call({.top = 0}) == name + ".top is 0; give 1 or more");
  CHECK(call({.heads = {.queries = 4}}) ==
        name + "queries of width 6 can't be split into 4 heads; give a multiple of .heads.queries");
  CHECK(call({.heads = {.queries = 0}}) == name + ".heads.queries is 0; give 1 or more");
  CHECK(call({.heads = {.queries = 3}}) == name + "a key has 6 elements, a query has 2");
  CHECK(call({.heads = {.queries = 2, .keys = 2}}) ==
        name +
            ".heads.keys is 2, but summaries are those of one head of keys; call it for each of "
            "them");
  CHECK(call({.first_query = 5}) ==
        name + "20 positions from 5 on, but there are 20 keys; give each position its own key");
  CHECK(call({.window = 0}) ==
        name + "a window of 0 keys; give 1 or more: the query's own position counts");
  CHECK(call({.window = window(4, 2)}) == name +
                                              "a window that ends 2 keys after the query, but its "
                                              "queries see no later key; give .after 0");
  CHECK(call({.scale = HUGE_VAL}) == name + ".scale is inf; give a finite number");
  CHECK(call({.score = block_score::submeans}) ==
        name + "submeans needs summaries with submeans; give block_summary_options .submeans");
  block_summaries<double> bare({.key_width = d, .block = b}),
      wider({.key_width = d + 1, .block = b}), few({.key_width = d, .block = b});
  CHECK(refusal([&] { (void)block_sparse_attention(s.q, s.k, s.v, wider); }) ==
        name + "a key of the summaries has 7 elements, a key has 6");
  CHECK(refusal([&] {
          (void)block_sparse_attention(s.q, s.k, s.v, few, {.score = block_score::mean});
        }) == name +
                  "0 blocks are summarised, but the last query has 2 past ones; append their keys "
                  "to the summaries");
  bare.append_rows(s.k);
  CHECK(refusal([&] {
          (void)block_sparse_attention(
              s.q, s.k, s.v, bare, {.score = block_score::mean, .left_out = left_out::value_mean});
        }) == name +
                  "left_out::value_mean needs summaries with a value_mean; give "
                  "block_summary_options .value_mean");
  // a score that is no mass, where one is needed
  for (const left_out by : {left_out::value_mean, left_out::first_order}) {
    CHECK(call({.score = block_score::box, .left_out = by}) ==
          name +
              ".left_out takes block_score::box for a mass, but that is an upper end of it; give "
              ".mass_score = block_score::mean or another estimate");
    CHECK(call({.mass_score = block_score::pooled, .left_out = by}) ==
          name +
              ".left_out takes block_score::pooled for a mass, but that leaves out how many keys a "
              "block has; give .mass_score = block_score::mean or another estimate");
    CHECK(call({.score = block_score::box, .mass_score = block_score::mean, .left_out = by}) == "");
  }
  CHECK(
      call({.score = block_score::box, .surrogate_mass = true}) ==
      name +
          ".surrogate_mass takes block_score::box for a mass, but that is an upper end of it; give "
          ".mass_score = block_score::mean or another estimate");
  CHECK(call({.mass_score = block_score::submeans, .surrogate_mass = true}) ==
        name + "submeans needs summaries with submeans; give block_summary_options .submeans");
  CHECK(call({.score = block_score::box}) == "");
  CHECK(call({.score = block_score::pooled, .left_out = left_out::residual}) == "");
  const auto unbounded =
      block_sparse_attention(s.q, s.k, s.v, bare, {.score = block_score::mean, .top = 1});
  CHECK(unbounded.error_bound(19, 0) == HUGE_VAL);
}
