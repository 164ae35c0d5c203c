// SPDX-License-Identifier: MIT
//
// Attention with any options against sums in long double, summaries of blocks and what they promise of the exact masses, and
// attention to some blocks within its bounds.
#include "bytes.hpp"

#include <cumulus/attention.hpp>
#include <cumulus/blocks.hpp>

#include <algorithm>

namespace {

using namespace cumulus;
using namespace cumulus::detail;
using namespace fuzz;
using wide = long double;
template <class T>
using rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
rows<T> draw_rows(bytes& in, index_t n, index_t width, family f, double scale = 1) {
  rows<T> x(n, width);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = T(scale) * draw<T>(in, f);
  return x;
}
template <class T>
rows<T> columns_of(const rows<T>& x, index_t first, index_t count) {
  rows<T> out(x.rows(), count);  // of no rows too, whose memory is nowhere
  for (index_t i = 0; i < out.size(); ++i) out.data()[i] = x(i / count, first + i % count);
  return out;
}
template <class T>
std::vector<wide> scores_of(const rows<T>& q, index_t i, const rows<T>& k, wide scale) {
  std::vector<wide> s(std::size_t(k.rows()), 0);
  for (index_t j = 0; j < k.rows(); ++j) {
    for (index_t c = 0; c < k.cols(); ++c) s[std::size_t(j)] += wide(q(i, c)) * wide(k(j, c));
    s[std::size_t(j)] *= scale;
  }
  return s;
}
/// max_j sum_c |q_c k_jc|
template <class T>
wide largest_product(const rows<T>& q, index_t i, const rows<T>& k) {
  wide most = 0;
  for (index_t j = 0; j < k.rows(); ++j) {
    wide sum = 0;
    for (index_t c = 0; c < k.cols(); ++c) sum += std::fabs(wide(q(i, c)) * wide(k(j, c)));
    most = std::max(most, sum);
  }
  return most;
}

/// The mean of the values of keys with a finite score, its size sum p |v|, and the log-sum-exp.
struct mean_of {
  template <class T>
  mean_of(const std::vector<wide>& score, const rows<T>& v, wide sink = -infinity<wide>)
      : output(std::size_t(v.cols()), 0), size(output) {
    wide top = sink, sum = 0;
    for (const wide s : score) top = std::max(top, s);
    if (!(top > -infinity<wide>)) return;
    if (sink > -infinity<wide>) sum = std::exp(sink - top);
    for (const wide s : score) sum += std::exp(s - top);
    for (std::size_t j = 0; j < score.size(); ++j) {
      const wide p = std::exp(score[j] - top) / sum;
      for (std::size_t c = 0; c < output.size() && p > 0; ++c) {
        output[c] += p * wide(v(index_t(j), index_t(c)));
        size[c] += p * std::fabs(wide(v(index_t(j), index_t(c))));
      }
    }
    log_sum = top + std::log(sum);
  }
  std::vector<wide> output, size;
  wide log_sum = -infinity<wide>;
};

/// Dense attention with the options of attention_options.
template <class T>
void check_dense(bytes& in) {
  const int kinds = in.byte(), more = in.byte();
  const index_t heads = 1 + in.below(2), group = 1 + in.below(2), d = in.below(6), e = in.below(5),
                n = in.below(6), m = in.below(40);
  const family f = (kinds & 1) != 0 ? family::small : draw_family(in);
  const double size = (kinds & 2) != 0 ? 1 : 0.25;
  const auto q = draw_rows<T>(in, n, heads * group * d, f, size),
             k = draw_rows<T>(in, m, heads * d, f, size),
             v = draw_rows<T>(in, m, heads * e, (kinds & 4) != 0 ? family::small : f);
  const rows<T> bias = draw_rows<T>(in, (more & 1) != 0 ? n : 1, m, family::small);
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> mask(n, m);
  for (index_t i = 0; i < mask.size(); ++i) mask.data()[i] = (in.byte() & 3) != 0;
  const double sink = draw<double>(in, family::special),
               cap = (kinds & 8) != 0 ? double(in.byte()) / 8 : 0;
  const double scales[] = {1, 0.5, -1, 2, 0, 0.1};
  const std::optional<double> scale =
      (kinds & 16) != 0 ? std::optional<double>(scales[in.below(6)]) : std::nullopt;
  std::optional<cumulus::window> window;
  if ((more & 2) != 0) {
    const index_t before = 1 + in.below(8);
    window = cumulus::window(before, (more & 128) != 0 ? in.below(8) : before - 1);
  }
  const std::optional<index_t> first =
      (more & 4) != 0 ? std::optional<index_t>(in.below(64) - 16) : std::nullopt;
  const bool causal = (more & 8) != 0, with_bias = (more & 16) != 0, with_mask = (more & 32) != 0,
             with_sink = (more & 64) != 0;

  // keys and values in the pages of a cache, backwards
  const index_t page = 1 + in.below(5), pages = (m + page - 1) / page;
  rows<T> key_pool = rows<T>::Constant(pages * page, k.cols(), quiet_nan<T>),
          value_pool = rows<T>::Constant(pages * page, v.cols(), quiet_nan<T>);
  std::vector<index_t> table;
  for (index_t p = 0; p < pages; ++p) table.push_back(pages - 1 - p);
  for (index_t t = 0; t < m; ++t) {
    const index_t at = table[std::size_t(t / page)] * page + t % page;
    for (index_t c = 0; c < k.cols(); ++c) key_pool(at, c) = k(t, c);
    for (index_t c = 0; c < v.cols(); ++c) value_pool(at, c) = v(t, c);
  }
  const token_rows<T> query_rows(q), key_rows(key_pool.data(), page, table, m, k.cols(), k.cols()),
      value_rows(value_pool.data(), page, table, m, v.cols(), v.cols());

  const auto run = [&](const token_rows<T>& keys, const token_rows<T>& values) {
    const auto call = [&](const multi_head_options<T>& o) {
      return multi_head_attention(query_rows, keys, values, o);
    };
    const cumulus::heads both{heads * group, heads};
    const double no_sink = -infinity<double>;
    const double used_sink = with_sink ? sink : no_sink;
    if (with_bias && with_mask)
      return call({.mask = mask,
                   .scale = scale,
                   .sink = used_sink,
                   .heads = both,
                   .causal = causal,
                   .window = window,
                   .first_query = first,
                   .bias = bias,
                   .softcap = cap});
    if (with_bias)
      return call({.scale = scale,
                   .sink = used_sink,
                   .heads = both,
                   .causal = causal,
                   .window = window,
                   .first_query = first,
                   .bias = bias,
                   .softcap = cap});
    if (with_mask)
      return call({.mask = mask,
                   .scale = scale,
                   .sink = used_sink,
                   .heads = both,
                   .causal = causal,
                   .window = window,
                   .first_query = first,
                   .softcap = cap});
    return call({.scale = scale,
                 .sink = used_sink,
                 .heads = both,
                 .causal = causal,
                 .window = window,
                 .first_query = first,
                 .softcap = cap});
  };
  const token_rows<T> whole_keys(k), whole_values(v);
  multi_head_result<T> result;
  const bool fits = !with_bias || bias.rows() == n;
  if (refused([&] { result = run(whole_keys, whole_values); }))
    return expect(!fits, "arguments that fit are not refused", n, m, d, e);
  expect(fits || (n == 1), "a bias of another shape is refused", bias.rows(), n);
  const auto paged = run(key_rows, value_rows);
  expect(all_same(paged.output, result.output) && all_same(paged.logsumexp, result.logsumexp),
         "pages are one piece", page);
  if (!certainly_finite(f) || f == family::offset || ((kinds & 4) == 0 && f == family::wide))
    return;
  if (with_sink && !(std::fabs(sink) < 1e4)) return;

  const wide u = std::numeric_limits<T>::epsilon() / 2, factor = scale   ? wide(*scale)
                                                                 : d > 0 ? 1 / std::sqrt(wide(d))
                                                                         : 1;
  for (index_t head = 0; head < heads * group; ++head) {
    const rows<T> own_q = columns_of(q, head * d, d), own_k = columns_of(k, head / group * d, d),
                  own_v = columns_of(v, head / group * e, e);
    for (index_t i = 0; i < n; ++i) {
      const index_t position = first.value_or(m - n) + i;
      auto score = scores_of(own_q, i, own_k, factor);
      wide off = wide(d + 3) * u * std::fabs(factor) * largest_product(own_q, i, own_k),
           largest = 0;
      for (index_t j = 0; j < m; ++j) {
        wide& s = score[std::size_t(j)];
        largest = std::max(largest, std::fabs(s));
        if (cap > 0) s = wide(cap) * std::tanh(s / wide(cap));
        if (with_bias) s += wide(bias(n == 1 ? 0 : i, j));
        const bool seen =
            (!causal || j <= position) &&
            (!window || (j > position - window->before && j <= position + window->after)) &&
            (!with_mask || mask(i, j));
        if (!seen) s = -infinity<wide>;
      }
      off += (cap > 0 ? 4 * u * largest : 0) + (with_bias ? 2 * u * (8 + largest) : 0);
      const mean_of exact(score, own_v, with_sink ? wide(sink) : -infinity<wide>);
      if (largest > 1e4L) continue;  // a score too large for a vector exponential
      const T log_sum = result.logsumexp(i, head);
      expect(within(log_sum, exact.log_sum, off + 4 * u * std::max(1.0L, std::fabs(exact.log_sum))),
             "attention's log-sum-exp", log_sum, exact.log_sum, off);
      for (index_t c = 0; c < e; ++c) {
        const wide allowed =
            exact.size[std::size_t(c)] * (2 * off + attention_max_roundings * u) + 8 * 0x1p-120L;
        expect(within(result.output(i, head * e + c), exact.output[std::size_t(c)], allowed),
               "attention's output", result.output(i, head * e + c), exact.output[std::size_t(c)],
               allowed);
      }
    }
  }
  // keys in two parts
  if (with_bias || with_mask || with_sink || causal || window || heads * group > 1 || m < 2) return;
  const index_t cut = in.below(m + 1);
  const rows<T> k1 = k.topRows(cut), v1 = v.topRows(cut), k2 = k.bottomRows(m - cut),
                v2 = v.bottomRows(m - cut);
  auto front = attention(q, k1, v1, {.scale = scale, .softcap = cap});
  const auto back = attention(q, k2, v2, {.scale = scale, .softcap = cap});
  merge(front, back);
  for (index_t i = 0; i < n; ++i) {
    const wide off = (wide(d + 3) * std::fabs(factor) * largest_product(q, i, k) * 8 + 700 +
                      4 * std::fabs(wide(result.logsumexp(i, 0)))) *
                     u;
    expect(within(front.logsumexp[i], wide(result.logsumexp(i, 0)), off), "merged log-sum-exp",
           front.logsumexp[i], result.logsumexp(i, 0));
    for (index_t c = 0; c < e; ++c)
      expect(within(front.output(i, c), wide(result.output(i, c)), 8 * off), "merged output",
             front.output(i, c), result.output(i, c));
  }
}

block_summary_options draw_parts(bytes& in, index_t d, index_t e, index_t b) {
  block_summary_options p{.key_width = d, .value_width = e, .block = b};
  const int bits = in.byte();
  p.covariance = static_cast<covariance_kind>(in.below(4));
  p.rank = 1 + int(in.below(4));
  p.order = (bits & 1) != 0 ? 3 + int(in.below(2)) : 0;
  p.box = (bits & 2) != 0;
  p.landmark = (bits & 4) != 0;
  p.landmark_covariance = (bits & 8) != 0;
  p.submeans = (bits & 16) != 0 ? 1 + int(in.below(3)) : 0;
  p.calibration = (bits & 32) != 0;
  p.value_mean = (bits & 64) != 0;
  p.value_covariance = (bits & 128) != 0;
  return p;
}

/// An index, often just within or just outside [0, end).
index_t draw_index(bytes& in, index_t end) {
  const index_t any[] = {end - 1,
                         end,
                         end + 1,
                         -1,
                         std::numeric_limits<index_t>::max(),
                         std::numeric_limits<index_t>::min(),
                         index_t(1) << 62};
  const index_t b = in.byte();
  return b < 7 ? any[b] : b % 16 - 2;
}

/// Every member that takes a block refuses one that there is not, and no other.
void check_block_indices(bytes& in, const block_summaries<double>& blocks) {
  const index_t B = draw_index(in, blocks.blocks());
  const bool is_block = 0 <= B && B < blocks.blocks();
  const block_summary_options& kept = blocks.options();
  const auto check = [&](const char* member, bool has, auto f) {
    expect(refused([&] { static_cast<void>(f()); }) != (has && is_block), member, B,
           blocks.blocks());
  };
  check("count", true, [&] { return blocks.count(B); });
  check("mean", true, [&] { return blocks.mean(B); });
  check("radius", true, [&] { return blocks.radius(B); });
  check("reach", true, [&] { return blocks.reach(B); });
  check("value_reach", blocks.value_width() > 0, [&] { return blocks.value_reach(B); });
  check("covariance", kept.covariance != covariance_kind::none,
        [&] { return blocks.covariance(B); });
  check("high", kept.box, [&] { return blocks.high(B); });
  check("low", kept.box, [&] { return blocks.low(B); });
  check("landmark", kept.landmark, [&] { return blocks.landmark(B); });
  check("entropy", kept.landmark, [&] { return blocks.entropy(B); });
  check("value_mean", kept.value_mean, [&] { return blocks.value_mean(B); });
  check("value_covariance", kept.value_covariance, [&] { return blocks.value_covariance(B); });
}

/// Blocks of tokens in one piece or in pages: those within are found, others are refused.
void check_token_indices(bytes& in) {
  const index_t n = in.below(20), page = 1 + in.below(6), block = 1 + in.below(6),
                tokens = in.below(12);
  const bool paged = in.flag();
  rows<double> pool(24, 1);
  for (index_t i = 0; i < 24; ++i) pool(i, 0) = double(i);
  std::vector<index_t> table, chosen;
  for (index_t i = 0; i * page < n; ++i) table.push_back(in.below(24 / page));
  for (index_t i = in.below(6); i > 0; --i) chosen.push_back(draw_index(in, n / block + 1));
  const token_rows<double> all = paged ? token_rows<double>(pool.data(), page, table, n, 1, 1)
                                       : token_rows<double>(pool.data(), n, 1, 1);
  bool fits = tokens <= index_t(chosen.size()) * block;
  for (index_t t = 0; fits && t < tokens; ++t) {
    const index_t B = chosen[std::size_t(t / block)];
    fits = 0 <= B && B <= n && B * block + t % block < n;
  }
  const bool is_refused = refused([&] {
    const token_rows<double> some(all, block, chosen, tokens);
    for (index_t t = 0; t < tokens; ++t)
      expect(same(*some.row(t), *all.row(chosen[std::size_t(t / block)] * block + t % block)),
             "a token of a block", t);
  });
  expect(is_refused != fits, "blocks within the tokens, and no others", n, block, tokens);
}

/// Summaries token by token and at once, intervals of all scores, and what is chosen by them.
void check_blocks(bytes& in) {
  const index_t d = 1 + in.below(5), b = 1 + in.below(7), n = in.below(48), e = in.below(3);
  block_summary_options parts = draw_parts(in, d, e, b);
  const family f = draw_family(in);
  const double sizes[] = {1, 0.125, 8, 1e-3};
  const double size = sizes[in.below(4)];
  const auto k = draw_rows<double>(in, n, d, f, size),
             v = draw_rows<double>(in, n, e, family::small),
             q = draw_rows<double>(in, 1, d, in.flag() ? f : family::small);
  const rows<double> references = draw_rows<double>(in, in.below(3), d, family::small);
  std::optional<block_summaries<double>> maker;
  if (refused([&] { maker.emplace(parts); })) {
    return expect((parts.landmark_covariance &&
                   (!parts.landmark || parts.covariance == covariance_kind::none)) ||
                      ((parts.value_mean || parts.value_covariance) && e == 0),
                  "parts that fit are not refused");
  }
  block_summaries<double>& blocks = *maker;
  block_summaries<double> one_by_one = blocks;
  blocks.set_references(references);
  one_by_one.set_references(references);
  blocks.append_rows(k, v);
  for (index_t t = 0; t < n; ++t) {
    one_by_one.append(k.row(t), v.row(t));
    if (t % 5 == 2) one_by_one.summarise_tail();
  }
  blocks.summarise_tail();
  one_by_one.summarise_tail();
  expect(blocks.blocks() == (n + b - 1) / b && blocks.tokens() == n, "blocks are counted",
         blocks.blocks(), n, b);
  check_block_indices(in, blocks);

  const double scales[] = {1, 0.5, -1, 0, 2};
  const auto score_drawn = static_cast<block_score>(in.below(13));  // drawn first
  const double factor = scales[in.below(5)];
  const block_score_options o{.scale = factor, .score = score_drawn};
  const Eigen::VectorXd query = q.row(0);
  std::vector<scored_block<double>> scores;
  if (refused([&] { scores = block_scores(blocks, query, o); })) return;
  const auto again = block_scores(one_by_one, query, o);
  Eigen::VectorXd values(blocks.blocks());
  block_scores(blocks, query, into(values), o);
  const std::vector<double> masses = exact_block_scores(k, b, query, {.scale = factor});
  for (std::size_t B = 0; B < scores.size(); ++B) {
    const auto& s = scores[B];
    expect(same(s.value, again[B].value) && same(s.lower, again[B].lower) &&
               same(s.upper, again[B].upper),
           "token by token as at once", s.value, again[B].value);
    expect(same(s.value, values[index_t(B)]), "scores alone are those with intervals", s.value,
           values[index_t(B)]);
    if (is_nan(s.lower)) continue;
    const index_t at = index_t(B) * b, count = std::min(b, n - at);
    const rows<double> own = k.middleRows(at, count);
    const auto score = scores_of(q, 0, own, wide(factor));
    wide top = -infinity<wide>, sum = 0;
    for (const wide x : score) top = std::max(top, x);
    for (const wide x : score) sum += std::exp(x - top);
    const wide exact = top + std::log(sum);
    if (std::isnan(exact) || std::isinf(exact)) continue;
    const wide slack =
        0x1p-60L * (std::fabs(exact) + wide(std::fabs(factor)) * largest_product(q, 0, own) + 1);
    expect(wide(s.lower) <= exact + slack && exact - slack <= wide(s.upper),
           "a block's mass is in its interval", s.lower, exact, s.upper, int(o.score));
    if (certainly_finite(f))
      expect(std::isfinite(s.lower) && std::isfinite(s.upper),
             "intervals of small numbers are finite", s.lower, s.upper);
    const wide rounding =
        wide(d + 16) * 0x1p-54L * largest_product(q, 0, own) * (1 + wide(std::fabs(factor))) * 2 +
        0x1p-50L * std::max(1.0L, std::fabs(exact));
    expect(!certainly_finite(f) || within(masses[B], exact, rounding), "exact_block_score",
           masses[B], exact);
  }

  // the selection, and the one that is certain. The exact scores are points within the intervals but for their rounding.
  selection_options pick{.top = 1 + in.below(6), .mass = in.flag() ? 1.0 : 0.7};
  pick.own = in.below(8) - 1;
  pick.first_blocks = in.below(3);
  pick.usable = in.below(12);
  const auto chosen = select_blocks(scores, pick);
  expect(std::is_sorted(chosen.begin(), chosen.end()) &&
             std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end(),
         "chosen blocks ascend");
  const index_t forced =
      std::min({pick.first_blocks, pick.usable, blocks.blocks()}) + (pick.own >= 0 ? 1 : 0);
  expect(index_t(chosen.size()) <= std::max(pick.top, forced), "no more blocks than asked",
         chosen.size(), pick.top);
  for (const index_t B : chosen)
    expect(B == pick.own || (0 <= B && B < std::min(pick.usable, blocks.blocks())),
           "chosen blocks are usable", B);
  std::vector<scored_block<double>> points;
  for (std::size_t B = 0; B < masses.size(); ++B) {
    const double off = double(in.byte()) / 64;
    points.push_back({masses[B], masses[B] - off, masses[B] + double(in.byte()) / 64});
  }
  const auto certain = certified_top(
      points, pick.top, [&](index_t B) { return masses[std::size_t(B)]; }, pick.usable);
  expect(certain.blocks == select_blocks(masses, {.top = pick.top, .usable = pick.usable}),
         "a certified selection is that of exact scores", pick.top, pick.usable);
  expect(is_nan(certain.least_inside) || certain.largest_outside <= certain.least_inside ||
             !certainly_finite(f),
         "the proof of a certified selection", certain.least_inside, certain.largest_outside);

  rows<double> table(2, index_t(masses.size()));
  for (std::size_t B = 0; B < masses.size(); ++B) {
    table(0, index_t(B)) = masses[B];
    table(1, index_t(B)) = values[index_t(B)];
  }
  const auto shared = group_scores(table);
  double total = 0;
  for (const double s : shared) total += std::exp(s);
  if (certainly_finite(f) && !masses.empty() && table.allFinite())
    expect(std::fabs(total - 1) < 1e-9 + 0x1p-48 * table.cwiseAbs().maxCoeff(),
           "shares of a group are those of all", total);
}

/// Attention to some blocks: error_bound, kept_low and kept_high.
void check_sparse(bytes& in) {
  const index_t d = 1 + in.below(4), b = 1 + in.below(5), n = 1 + in.below(30), e = 1 + in.below(2),
                queries = 1 + in.below(std::min<index_t>(n, 6));
  const int kinds = in.byte();
  const double sharp[] = {1, 0.25, 4, 0};
  const auto q = draw_rows<double>(in, queries, d, family::small, sharp[in.below(4)] / 4),
             k = draw_rows<double>(in, n, d, family::small, 0.25),
             v = draw_rows<double>(in, n, e, family::small);
  block_summary_options parts = draw_parts(in, d, e, b);
  parts.value_mean = parts.value_covariance = true;
  parts.landmark_covariance = false;
  block_summaries<double> blocks(parts);
  blocks.append_rows(k, v);
  block_sparse_options o{.score = static_cast<block_score>(in.below(13)), .top = 1 + in.below(5)};
  o.first_blocks = in.below(2);
  o.own_counts = (kinds & 1) != 0;
  if (const index_t last = (kinds & 2) != 0 ? in.below(9) : 0; last > 0) o.window = last;
  o.left_out = static_cast<left_out>(in.below(4));
  o.kernel = (kinds & 4) != 0 ? residual_kernel::softmax_pair : residual_kernel::taylor2;
  o.surrogate_mass = (kinds & 8) != 0;
  o.scale = (kinds & 16) != 0 ? 1.0 : 0.25;
  if ((kinds & 32) != 0) o.mass_score = static_cast<block_score>(in.below(13));
  block_sparse_result<double> result;
  if (refused([&] { result = block_sparse_attention(q, k, v, blocks, o); })) return;
  for (index_t i = 0; i < queries; ++i) {
    const index_t position = n - queries + i;
    // the own block and the window, in whole blocks
    const index_t past = std::max(position + 1 - (o.window ? o.window->before : 1), index_t(0)) / b;
    const auto& chosen = result.selected[std::size_t(i)];
    const rows<double> seen_k = k.topRows(position + 1), seen_v = v.topRows(position + 1);
    const auto score = scores_of(q, i, seen_k, wide(*o.scale));
    const mean_of exact(score, seen_v);
    wide kept = 0, square = 0;
    for (index_t t = 0; t <= position; ++t) {
      const bool read =
          t / b >= past || std::find(chosen.begin(), chosen.end(), t / b) != chosen.end();
      if (read) kept += std::exp(score[std::size_t(t)] - exact.log_sum);
    }
    for (index_t c = 0; c < e; ++c) {
      const wide by = exact.output[std::size_t(c)] - wide(result.output(i, c));
      square += by * by;
    }
    const double low = result.kept_low(i, 0), high = result.kept_high(i, 0);
    expect(wide(low) <= kept + 1e-17L && kept - 1e-17L <= wide(high),
           "the share that was read is between its bounds", low, kept, high);
    expect(!is_nan(result.error_bound(i, 0)), "an error bound is a number",
           result.error_bound(i, 0));
    expect(is_nan(result.output(i, 0))
               ? !(result.error_bound(i, 0) < infinity<double>)
               : std::sqrt(square) <= wide(result.error_bound(i, 0)) + 1e-17L,
           "sparse attention within its error bound", std::sqrt(square), result.error_bound(i, 0),
           int(o.left_out), int(o.score));
  }
}

/// Linear attention: a merged state is the whole, its bound holds; and gradients of exact attention add up.
void check_linear(bytes& in) {
  const index_t d = 1 + in.below(4), e = 1 + in.below(3), n = 1 + in.below(24),
                cut = in.below(n + 1);
  const int kinds = in.byte();
  const family f = (kinds & 1) != 0 ? family::small : draw_family(in);
  const auto k = draw_rows<double>(in, n, d, f, 0.25),
             v = draw_rows<double>(in, n, e, family::small),
             q = draw_rows<double>(in, 1, d, family::small, 0.25);
  const linear_state_options o{.order = int(in.below(5)),
                               .form = (kinds & 2) != 0 ? form::taylor : form::moment,
                               .centred = (kinds & 4) != 0,
                               .chunk = in.below(4)};
  linear_attention_state<double> whole(d, e, o), front(d, e, o), back(d, e, o);
  const token_rows<double> keys(k), values(v);
  whole.add_rows(keys, values);
  for (index_t t = 0; t < n; ++t) (t < cut ? front : back).add(k.row(t), v.row(t));
  front += back;
  if ((kinds & 8) != 0) front.fold();
  const Eigen::VectorXd query = q.row(0);
  const auto a = whole.read(query), c = front.read(query);
  expect(whole.size() == n && front.size() == n, "tokens are counted", front.size(), n);
  const auto estimate = whole.logsumexp(query);
  if (f != family::small) return;
  const wide scale = 1 / std::sqrt(wide(d));
  const mean_of exact(scores_of(q, 0, k, scale), v);
  if (!is_nan(estimate.value))
    expect(std::fabs(wide(estimate.value) - exact.log_sum) <=
               wide(estimate.bound) + 1e-15L * (1 + std::fabs(exact.log_sum)),
           "a state's log-sum-exp within its bound", estimate.value, exact.log_sum, estimate.bound);
  const double size = double(largest_product(q, 0, k)) * double(scale);
  double power = 1;
  for (int j = 0; j < o.order; ++j) power *= 1 + 2 * size;
  const double mass = a.status == linear_status::positive ? std::exp(a.logsumexp) / double(n) : 0;
  if (mass > 1e-6 * power && power < 1e9) {
    expect(c.status == linear_status::positive &&
               std::fabs(a.logsumexp - c.logsumexp) < 1e-12 * (1 + power / mass),
           "a merged state has the mass of the whole", a.logsumexp, c.logsumexp, mass);
    for (index_t j = 0; j < e; ++j)
      expect(std::fabs(a.output[j] - c.output[j]) <
                 1e-11 * (1 + std::fabs(a.output[j])) * (1 + power / mass),
             "a merged state reads as the whole", a.output[j], c.output[j], mass);
  }
  const auto dense =
      linear_attention(q, k, v, {.first_tokens = n, .order = o.order, .form = o.form});
  for (index_t j = 0; j < e; ++j)
    expect(within(dense.output(0, j), exact.output[std::size_t(j)], 1e-12L * (8 + wide(size))),
           "all first tokens are exact attention", dense.output(0, j),
           exact.output[std::size_t(j)]);

  const rows<double> g = draw_rows<double>(in, 1, e, family::small);
  const auto gradient = attention_vjp(q, k, v, g, {.causal = (kinds & 16) != 0});
  for (index_t j = 0; j < e; ++j) {
    double total = 0;
    for (index_t t = 0; t < n; ++t) total += gradient.values(t, j);
    expect(std::fabs(total - g(0, j)) < 1e-12 * (1 + std::fabs(g(0, j))),
           "gradients in values add up to that of the output", total, g(0, j));
  }
  expect(gradient.queries.allFinite() && gradient.keys.allFinite(),
         "gradients of small numbers are finite");

  // a key that scores -inf, whatever its value, changes no gradient of the others
  const index_t at = in.below(n + 1), axis = in.below(d);
  if (same(q(0, axis), 0.0)) return;
  rows<double> more_k(n + 1, d), more_v(n + 1, e);
  for (index_t t = 0; t <= n; ++t) {
    more_k.row(t).setZero();
    more_v.row(t).setConstant(std::numeric_limits<double>::quiet_NaN());
    if (t == at) {
      more_k(t, axis) = q(0, axis) > 0 ? -infinity<double> : infinity<double>;
    } else {
      more_k.row(t) = k.row(t < at ? t : t - 1);
      more_v.row(t) = v.row(t < at ? t : t - 1);
    }
  }
  const auto with = attention_vjp(q, more_k, more_v, g, {.causal = (kinds & 16) != 0});
  expect(all_same(with.queries, gradient.queries), "a key of score -inf moves no query");
  for (index_t t = 0; t <= n; ++t) {
    const index_t from = t < at ? t : t - 1;
    const rows<double> key = with.keys.row(t), value = with.values.row(t);
    expect(t == at ? key.isZero(0) && value.isZero(0)
                   : all_same(key, rows<double>(gradient.keys.row(from))) &&
                         all_same(value, rows<double>(gradient.values.row(from))),
           "a key of score -inf has no part", t, at);
  }
}

/// A first key at any distance, and others: in float each path is within rounding of the definition.
void check_far_keys(bytes& in) {
  const index_t d = 1 + in.below(6), n = 1 + in.below(60), e = 1 + in.below(2);
  rows<float> k = draw_rows<float>(in, n, d, family::small, 0.25),
              v = draw_rows<float>(in, n, e, family::small),
              q = draw_rows<float>(in, 1, d, family::small, 0.25);
  const float distances[] = {0, 300, -300, 3000, -3e4F, 1e6F};
  for (index_t far = in.below(4); far > 0; --far) {
    const index_t t = far == 1 ? 0 : in.below(n);
    for (index_t c = 0; c < d; ++c) k(t, c) += in.flag() ? distances[in.below(6)] : 0;
  }
  const int kinds = in.byte();
  linear_attention_options o{.order = 2, .centred = (kinds & 1) != 0};
  o.causal = true;
  if ((kinds & 2) != 0) o.window = 1 + in.below(9);
  o.first_tokens = (kinds & 4) != 0 ? in.below(4) : 0;
  o.decay = (kinds & 8) != 0 ? 0.9375 : 1.0;
  // the definition: e^u for exact keys, else e^m (1 + y + y^2 / 2) with y = u - m
  const auto u = scores_of(q, 0, k, 1 / std::sqrt(wide(d)));
  std::vector<wide> w(u.size()), age(u.size());
  const auto is_exact = [&](index_t t) {
    return t < o.first_tokens || (o.window && t + o.window->before >= n);
  };
  wide total = 0, mean = 0, top = -infinity<wide>;
  for (index_t t = 0; t < n; ++t) {
    const std::size_t i = std::size_t(t);
    age[i] = std::pow(wide(o.decay), wide(n - 1 - t));
    if (is_exact(t)) {
      top = std::max(top, u[i]);
    } else {
      total += age[i];
      mean += age[i] * u[i];
    }
  }
  mean = total > 0 && o.centred ? mean / total : 0;
  if (total > 0) top = std::max(top, mean);
  wide sum = 0, longest = 1;
  for (index_t t = 0; t < n; ++t) {
    const std::size_t i = std::size_t(t);
    const wide y = u[i] - mean;
    w[i] =
        age[i] * (is_exact(t) ? std::exp(u[i] - top) : std::exp(mean - top) * (1 + y + y * y / 2));
    sum += w[i];
    for (index_t c = 0; c < e; ++c) longest = std::max(longest, std::fabs(wide(v(t, c))));
  }
  // scores beside an exponential are of float; a power forgives their relative error
  const wide most = largest_product(q, 0, k) / std::sqrt(wide(d));
  const bool has_exact = o.window || o.first_tokens > 0;
  const wide allowed = longest * (5e-6L + (has_exact ? 4e-7L * most : 0));
  const auto check = [&](const auto& output, linear_status status, const char* path) {
    expect(status == linear_status::positive, path, most);
    for (index_t c = 0; c < e; ++c) {
      wide exact = 0;
      for (index_t t = 0; t < n; ++t) exact += w[std::size_t(t)] / sum * wide(v(t, c));
      expect(std::fabs(wide(output[c]) - exact) <= allowed, path, output[c], exact, allowed);
    }
  };
  rows<float> queries(n, d);
  for (index_t t = 0; t < n; ++t) queries.row(t) = q.row(0);
  for (const linear_method method : {linear_method::features, linear_method::scores}) {
    o.method = method;
    const auto all = linear_attention(queries, k, v, o);
    check(all.output.row(n - 1), all.status(n - 1, 0),
          method == linear_method::features ? "prefill by features" : "prefill by scores");
  }
  o.method = linear_method::features;
  linear_state_options state = o.for_state();
  state.chunk = in.below(9);
  const index_t cut = in.below(n + 1);
  linear_attention_state<float> whole(d, e, state), front(whole), back(whole);
  for (index_t t = 0; t < n; ++t) {
    whole.add(k.row(t), v.row(t));
    (t < cut ? front : back).add(k.row(t), v.row(t));
  }
  const auto single = whole.read(q.row(0));
  check(single.output, single.status, "a token at a time");
  front += back;
  const auto merged = front.read(q.row(0));
  check(merged.output, merged.status, "a merged state");
}

/// A bias that lies in the result, or in its log-sum-exp, is read before they are written.
void check_bias_in_result(bytes& in) {
  const index_t d = 1 + in.below(4), e = 1 + in.below(4), n = 1 + in.below(5), m = 1 + in.below(9);
  const auto q = draw_rows<double>(in, n, d, family::small),
             k = draw_rows<double>(in, m, d, family::small),
             v = draw_rows<double>(in, m, e, family::small);
  const rows<double> bias = draw_rows<double>(in, n, m, family::small);
  const auto apart = attention(q, k, v, {.bias = bias});
  std::vector<double> memory(std::size_t(n * (m + e + 1)) + 256, 0.0);
  const index_t at = in.below(n * m + 1), sums_at = in.below(2) == 0 ? in.below(n * m + 1) : n * m;
  Eigen::Map<rows<double>> inside(memory.data(), n, m), out(memory.data() + at, n, e);
  inside = bias;
  const bool sums_inside = sums_at + n <= at || at + n * e <= sums_at;
  std::vector<double> beside(static_cast<std::size_t>(n));
  Eigen::Map<Eigen::VectorXd> sums(sums_inside ? memory.data() + sums_at : beside.data(), n);
  attention(q, k, v, into(out), into(sums), {.bias = inside});
  expect(all_same(rows<double>(out), apart.output), "a bias in the result", at, n, m);
  expect(all_same(Eigen::VectorXd(sums), Eigen::VectorXd(apart.logsumexp)),
         "a bias in the log-sum-exp", at, sums_at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  switch (in.below(8)) {
    case 0:
      check_dense<double>(in);
      break;
    case 1:
      check_dense<float>(in);
      break;
    case 2:
      check_blocks(in);
      break;
    case 3:
      check_sparse(in);
      break;
    case 4:
      check_token_indices(in);
      break;
    case 5:
      check_far_keys(in);
      break;
    case 6:
      check_bias_in_result(in);
      break;
    default:
      check_linear(in);
      break;
  }
  return 0;
}
