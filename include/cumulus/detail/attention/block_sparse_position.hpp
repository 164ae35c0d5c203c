// SPDX-License-Identifier: MIT
//
// Block-sparse attention of the queries that stand at one position.
// Layer 5 (attention): uses blocks and dense.
#pragma once

#include <cumulus/attention/block_sparse_options.hpp>
#include <cumulus/attention/dense.hpp>
#include <cumulus/blocks/block_scores.hpp>
#include <cumulus/blocks/group_scores.hpp>
#include <cumulus/blocks/select_blocks.hpp>
#include <cumulus/detail/attention/attention_mixture.hpp>
#include <cumulus/detail/core/sum_of_products.hpp>

namespace cumulus::detail {

/// Rows: keys and values, token_rows or scaled_rows.
template <class T, class S, class Rows>
struct block_sparse_call {
  const token_rows<T>& q;
  const Rows &k, &v;
  const block_summaries<S>& blocks;
  const block_sparse_options& o;
  double scale;
  index_t first_query;

  [[nodiscard]] index_t positions() const noexcept { return q.size(); }
  [[nodiscard]] index_t rows() const noexcept { return o.heads.queries; }
  /// What counts as the mass of a block.
  [[nodiscard]] block_score mass_score() const noexcept { return o.mass_score.value_or(o.score); }
  /// Whether the output depends on it.
  [[nodiscard]] bool takes_mass() const noexcept {
    return o.left_out == left_out::value_mean || o.left_out == left_out::first_order ||
           o.surrogate_mass;
  }
  /// How many blocks the queries at `position` may leave out: those before their own and the window.
  [[nodiscard]] index_t past(index_t position) const noexcept {
    const index_t read = o.window ? o.window->before : 1;
    return std::max(position + 1 - read, index_t(0)) / blocks.block_size();
  }
};

template <class T, class S, class Rows>
class block_sparse_position {
  using W = score_of<T>;  // half types are widened, so that no log-sum-exp is rounded to them
  using wide_rows = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

 public:
  block_sparse_position(const block_sparse_call<T, S, Rows>& call, index_t index)
      : call_(call),
        index_(index),
        position_(call.first_query + index),
        past_(call.past(position_)),
        queries_(call.rows(), call.k.width()) {
    for (index_t i = 0; i < call.rows(); ++i) {
      for (index_t a = 0; a < call.k.width(); ++a) queries_(i, a) = static_cast<W>(query(i)[a]);
      score(i);
    }
    choose();
  }

  /// Past blocks that are read.
  [[nodiscard]] const std::vector<index_t>& chosen() const noexcept { return chosen_; }
  [[nodiscard]] index_t past() const noexcept { return past_; }

  /// Writes the rows of this position. `sums` holds all past blocks, where they are needed.
  void attend(const residual_sums* sums, block_sparse_result<T>& to) const {
    const index_t b = call_.blocks.block_size(), e = call_.v.width();
    std::vector<index_t> pages = chosen_;
    const index_t open = position_ + 1 - past_ * b;  // tokens that are read without a choice
    for (index_t t = 0; t < open; t += b) pages.push_back(past_ + t / b);
    const index_t tokens = index_t(chosen_.size()) * b + open;
    const attention_result<W> read = read_pages(queries_, pages, tokens);
    for (index_t i = 0; i < call_.rows(); ++i) {
      attention_mixture exact(call_.v.width());
      exact.add(double(read.logsumexp[i]), read.output.row(i));
      attention_mixture all = call_.o.surrogate_mass ? by_scores(i, open) : exact;
      attention_mixture rest(call_.v.width());
      stand_in(i, query(i), sums, rest);
      if (call_.o.left_out != left_out::none) all.add(rest.log_mass(), rest.output());
      to.logsumexp(index_, i) = static_cast<T>(all.log_mass());
      for (index_t j = 0; j < e; ++j)
        to.output(index_, i * e + j) = static_cast<T>(all.output()[std::size_t(j)]);
      if (call_.o.bounds) bound(i, exact, all, rest, to);
    }
  }

 private:
  [[nodiscard]] const T* query(index_t i) const noexcept {
    return call_.q.row(index_) + i * call_.k.width();
  }

  void score(index_t i) {
    const block_score_options options{.scale = call_.scale, .score = call_.o.score};
    if (call_.takes_mass() && call_.mass_score() != call_.o.score) {
      masses_.emplace_back(std::size_t(call_.blocks.blocks()));
      block_scores(call_.blocks, queries_.row(i), into(masses_.back()),
                   {.scale = call_.scale, .score = call_.mass_score()});
    }
    if (call_.o.bounds) {
      scores_.push_back(block_scores(call_.blocks, queries_.row(i), options));
    } else {
      std::vector<S> values(std::size_t(call_.blocks.blocks()));
      block_scores(call_.blocks, queries_.row(i), into(values), options);
      scores_.emplace_back(values.size());
      for (std::size_t B = 0; B < values.size(); ++B) scores_.back()[B].value = values[B];
    }
    scores_.back().resize(std::size_t(past_));
  }

  void choose() {
    const selection_options select{.top = call_.o.top,
                                   .mass = call_.o.mass,
                                   .threshold = call_.o.threshold,
                                   .first_blocks = call_.o.first_blocks,
                                   .own = call_.o.own_counts ? past_ : -1,
                                   .usable = past_};
    if (scores_.size() == 1) {
      chosen_ = select_blocks(scores_[0], select);
    } else {
      Eigen::MatrixXd values(index_t(scores_.size()), past_);
      for (std::size_t i = 0; i < scores_.size(); ++i) {
        for (index_t B = 0; B < past_; ++B)
          values(index_t(i), B) = double(scores_[i][std::size_t(B)].value);
      }
      chosen_ = select_blocks(group_scores(values), select);
    }
    if (!chosen_.empty() && chosen_.back() == past_) chosen_.pop_back();
  }

  template <class Q>
  [[nodiscard]] attention_result<W> read_pages(const Q& q, const std::vector<index_t>& pages,
                                               index_t tokens) const {
    const index_t b = call_.blocks.block_size();
    const Rows k(call_.k, b, pages, tokens), v(call_.v, b, pages, tokens);
    return attention<W>(q, k, v, {.scale = call_.scale});
  }

  /// What is read, block by block, the chosen ones at the mass that mass_score says.
  [[nodiscard]] attention_mixture by_scores(index_t i, index_t open) const {
    const auto q = queries_.middleRows(i, 1);
    const index_t b = call_.blocks.block_size();
    attention_mixture all(call_.v.width());
    for (const index_t B : chosen_) {
      const attention_result<W> part = read_pages(q, {B}, call_.blocks.count(B));
      all.add(mass(i, B), part.output.row(0));
    }
    std::vector<index_t> tail;
    for (index_t t = 0; t < open; t += b) tail.push_back(past_ + t / b);
    const attention_result<W> part = read_pages(q, tail, open);
    all.add(double(part.logsumexp[0]), part.output.row(0));
    return all;
  }

  /// The log-mass that stands for a block's.
  [[nodiscard]] double mass(index_t i, index_t B) const {
    if (!masses_.empty()) return double(masses_[std::size_t(i)][std::size_t(B)]);
    return double(scores_[std::size_t(i)][std::size_t(B)].value);
  }

  template <class F>
  void for_each_left(F f) const {
    auto next = chosen_.begin();
    for (index_t B = 0; B < past_; ++B) {
      if (next != chosen_.end() && *next == B) {
        ++next;
      } else {
        f(B);
      }
    }
  }

  void stand_in(index_t i, const T* q, const residual_sums* sums, attention_mixture& rest) const {
    const left_out by = call_.o.left_out;
    if (by == left_out::none) return;
    if constexpr (!std::same_as<Rows, scaled_rows>) {
      if (by == left_out::residual) {
        std::vector<std::pair<index_t, index_t>> ranges;
        const index_t b = call_.blocks.block_size();
        for (const index_t B : chosen_) ranges.emplace_back(B * b, B * b + b);
        const auto part = sums->rest(std::span<const T>(q, std::size_t(call_.k.width())), call_.k,
                                     call_.v, ranges);
        return rest.add(part.logsumexp[0], part.output);
      }
    }
    const index_t d = call_.k.width(), e = call_.v.width();
    std::vector<double> output(std::size_t(e), 0.0);
    for_each_left([&](index_t B) {
      const auto mean = call_.blocks.value_mean(B);
      for (index_t j = 0; j < e; ++j) output[std::size_t(j)] = double(mean[j]);
      if (by == left_out::first_order) {
        const auto c = call_.blocks.value_covariance(B);
        for (index_t j = 0; j < e; ++j) {
          output[std::size_t(j)] += call_.scale * sum_of_products(c.data() + j * d, q, d);
        }
      }
      rest.add(mass(i, B), output);
    });
  }

  /// With the share s of what was left out somewhere in [low, high], exact output x + s (y - x) of what was read, x, and left out,
  /// y, and the estimate x' + t (y' - x):
  ///   |exact - estimate| <= high |y - x| + |estimate - x|, and <= high |y - y'| + max |s - t| |y' - x| where x' is x.
  /// |y| is at most the longest value.
  void bound(index_t i, const attention_mixture& exact, const attention_mixture& all,
             const attention_mixture& rest, block_sparse_result<T>& to) const {
    const double u = double(unit_roundoff<W>);
    double longest = 0;
    std::vector<double> lows, highs;
    for_each_left([&](index_t B) {
      const auto& s = scores_[std::size_t(i)][std::size_t(B)];
      lows.push_back(double(s.lower));
      highs.push_back(double(s.upper));
      if (call_.blocks.value_width() > 0)
        longest = max_of(longest, double(call_.blocks.value_reach(B)));
    });
    if (call_.blocks.value_width() == 0 && past_ > index_t(chosen_.size()))
      longest = infinity<double>;
    // what the scores' rounding may do to what was read
    double reach = 0, values = 0;
    const auto length = [](const Rows& x, index_t t) {
      return std::sqrt(sum_of_products(x.row(t), x.row(t), x.width())) * token_scale<double>(x, t);
    };
    for (const index_t B : chosen_) {
      reach = max_of(reach, double(call_.blocks.reach(B)));
      if (call_.blocks.value_width() > 0)
        values = max_of(values, double(call_.blocks.value_reach(B)));
    }
    for (index_t t = past_ * call_.blocks.block_size(); t <= position_; ++t) {
      reach = max_of(reach, length(call_.k, t));
      values = max_of(values, length(call_.v, t));
    }
    if (call_.blocks.value_width() == 0 && !chosen_.empty()) values = infinity<double>;
    const double scores = double(call_.k.width() + 3) * u * absolute(call_.scale) *
                          double(queries_.row(i).template cast<double>().norm()) * reach;
    const double slip = scores + 8 * u * max_of(1.0, absolute(exact.log_mass()));
    const auto outward = [](double x) { return 0x1p-50 * max_of(1.0, absolute(x)); };
    double low = logsumexp(lows), high = logsumexp(highs);
    low -= is_finite(low) ? outward(low) : 0.0;
    high += is_finite(high) ? outward(high) : 0.0;
    const double share_low = share_beside(low, exact.log_mass() + slip);
    const double share_high = share_beside(high, exact.log_mass() - slip);
    double error = all.distance(exact.output());
    if (share_high > 0) error += share_high * (longest + exact.norm());
    if (call_.o.left_out != left_out::none && !call_.o.surrogate_mass && share_high > 0) {
      const double t = share_beside(rest.log_mass(), exact.log_mass());
      const double apart = max_of(absolute(share_high - t), absolute(t - share_low));
      error = min_of(error,
                     share_high * (longest + rest.norm()) + apart * rest.distance(exact.output()));
    }
    const double rounding =
        values * (2 * scores + double(attention_max_roundings) * u) +
        4 * static_cast<double>(unit_roundoff<T>) * (all.norm() + exact.norm()) +
        static_cast<double>(std::numeric_limits<T>::denorm_min()) * double(call_.v.width());
    const double sum = (error + rounding) * (1 + 0x1p-46);
    if (is_nan(sum) || is_nan(share_high - share_low)) return;  // nothing is known
    if (!lows.empty()) {
      to.kept_low(index_, i) = max_of(0.0, 1 - share_high * (1 + 0x1p-50) - 0x1p-53);
      to.kept_high(index_, i) = min_of(1.0, 1 - share_low * (1 - 0x1p-50) + 0x1p-53);
    } else {
      to.kept_low(index_, i) = 1;
    }
    bool fits = true;  // in T
    const index_t e = call_.v.width();
    for (index_t j = 0; j < e; ++j)
      fits = fits && is_finite(static_cast<double>(to.output(index_, i * e + j)));
    if (fits) to.error_bound(index_, i) = sum;
  }

  const block_sparse_call<T, S, Rows>& call_;
  index_t index_, position_, past_;
  wide_rows queries_;
  std::vector<std::vector<scored_block<S>>> scores_;  // of each query, past blocks
  std::vector<std::vector<S>> masses_;                // where they are not those
  std::vector<index_t> chosen_;
};

}  // namespace cumulus::detail
