// SPDX-License-Identifier: MIT
//
// Summaries of a cache of keys cut in blocks, token by token.
// Layer 4 (blocks): uses core and moments; block_scores reads it.
#pragma once

#include <cumulus/core/scaled_rows.hpp>
#include <cumulus/detail/blocks/summary_rows.hpp>

namespace cumulus {

/// The most numbers a block that the tensors of one order may take.
inline constexpr index_t block_tensor_max_size = index_t(1) << 24;

template <class T>
class block_summaries;

namespace detail {
template <class T>
[[nodiscard]] const summary_rows<T>& rows_of(const block_summaries<T>& blocks) noexcept;
}  // namespace detail

/// Count, mean and the other parts that block_summary_options name, for each block of a cache.
///
/// Shape   keys of width d >= 1, values of width e >= 0, blocks of b >= 1 tokens; the last block may be shorter.
///         T: float or double, the scalar of what is kept; keys and values of any real scalar.
/// Law     appending token by token, in any pieces, and building at once give the same bits: a block's tokens are
///         held in double until it is full and summarised then, together.
/// Edges   a NaN key makes the summary of its block NaN, and an infinite key makes it infinite or
///         NaN; the summaries of other blocks stay.
/// Cost    of a full block of b tokens: b d for the mean; b d^2 for a full covariance, 16 (rank + 4) b d + b d^2 + d^3
///         for low_rank, b C(d + p - 1, p) for a tensor of order p. A token that fills no block costs d + e.
template <class T>
class block_summaries {
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "cumulus: summaries are kept in float or double; keys may be of any scalar");

 public:
  /// The scalar of what is kept.
  using scalar = T;
  /// Views rows of one block, or of all.
  using rows = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  /// Views the numbers of one block.
  using row = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  /// Makes summaries without tokens. Refuses options that do not fit, by name.
  explicit block_summaries(const block_summary_options& options)
      : block_(options.block), rows_(checked(options)) {}

  /// Sets the queries, already scaled, about which later blocks are expanded and calibrated, [r,
  /// d]; no rows for the query 0.
  /// HiLS takes the query at the end of each block.
  template <token_matrix R>
  void set_references(const R& references) {
    const auto& r = detail::tokens_in<token_scalar_of<R>>(references);
    if (r.size() > 0)
      detail::require_same_size("block_summaries::set_references", "a key", width(), "a reference",
                                r.width());
    references_.clear();
    for (index_t t = 0; t < r.size(); ++t) put(references_, r.row(t), width());
  }

  /// Appends one key, [d], where no values are kept.
  template <real_vector K>
  void append(const K& key) {
    require_token(detail::size_of(key), 0);
    const double* const none = nullptr;
    take_elements(detail::operand<double>(key).view(), none);
  }
  /// Appends one key, [d], and its value, [e].
  template <real_vector K, real_vector V>
  void append(const K& key, const V& value) {
    require_token(detail::size_of(key), detail::size_of(value));
    take_elements(detail::operand<double>(key).view(), detail::operand<double>(value).view());
  }
  /// Appends a token for each row. A last block that stays shorter has no summary before
  /// summarise_tail().
  template <token_matrix K>
  void append_rows(const K& keys) {
    const auto& k = detail::cache_in(keys);
    if (k.size() > 0) require_token(k.width(), 0);
    const double* const none = nullptr;
    for (index_t t = 0; t < k.size(); ++t) take_elements(detail::elements_of(k, t), none);
  }
  /// Appends keys, [n, d], and their values, [n, e], a token a row.
  template <token_matrix K, token_matrix V>
  void append_rows(const K& keys, const V& values) {
    const auto& k = detail::cache_in(keys);
    const auto& v = detail::cache_in(values);
    detail::require_same_size("block_summaries::append_rows", "keys", k.size(), "values", v.size());
    if (k.size() > 0) require_token(k.width(), v.width());
    for (index_t t = 0; t < k.size(); ++t)
      take_elements(detail::elements_of(k, t), detail::elements_of(v, t));
  }

  /// Removes the last `count` tokens, such as those of a rejected draft; what follows is as if they had never come.
  ///
  /// Edges   refused: more than reversible() tokens.
  void take_back(index_t count) {
    if (count < 0 || reversible() < count)
      detail::refuse({"block_summaries::take_back: ", count, " tokens, but the last ", reversible(),
                      " are held; give 0 or more, at most that"});
    if (count == 0) return;
    if (tail_summarised_) rows_.drop_last();
    tail_summarised_ = false;
    if (count > open()) rows_.drop_last();
    tokens_ -= count;
    held_ -= count;
    keys_.resize(std::size_t(held_ * width()));
    values_.resize(std::size_t(held_ * value_width()));
  }
  /// How many tokens take_back can remove: those of the open block and of the full one before it, unless they were removed before or
  /// dropped.
  [[nodiscard]] index_t reversible() const noexcept { return held_; }

  /// Forgets the oldest `count` blocks; the others move up, block `count` becomes block 0, and positions count from its first token.
  ///
  /// Edges   refused: more blocks than are full.
  void drop_oldest(index_t count) {
    const index_t full = tokens_ / block_;
    if (count < 0 || full < count)
      detail::refuse({"block_summaries::drop_oldest: ", count, " blocks, but ", full,
                      " are full; give 0 or more, at most that"});
    rows_.drop_first(count);
    tokens_ -= count * block_;
    if (held_ <= tokens_) return;
    keys_.erase(keys_.begin(), keys_.begin() + std::ptrdiff_t((held_ - tokens_) * width()));
    values_.erase(values_.begin(),
                  values_.begin() + std::ptrdiff_t((held_ - tokens_) * value_width()));
    held_ = tokens_;
  }

  /// Summarises the last block by the tokens it has; more may follow, and end that summary until it is asked for again.
  void summarise_tail() {
    if (open() == 0 || tail_summarised_) return;
    rows_.append(keys_.data() + (held_ - open()) * width(),
                 values_.data() + (held_ - open()) * value_width(), open(), references_);
    tail_summarised_ = true;
  }

  /// The numbers of a key, d.
  [[nodiscard]] index_t width() const noexcept { return rows_.width; }
  /// The numbers of a value, e.
  [[nodiscard]] index_t value_width() const noexcept { return rows_.value_width; }
  /// The tokens of a full block, b.
  [[nodiscard]] index_t block_size() const noexcept { return block_; }
  /// The options that the summaries were made of.
  [[nodiscard]] const block_summary_options& options() const noexcept { return rows_.kept; }
  /// The tokens appended, less those taken back or dropped.
  [[nodiscard]] index_t tokens() const noexcept { return tokens_; }
  /// How many blocks have a summary; the scores are of these.
  [[nodiscard]] index_t blocks() const noexcept { return rows_.blocks(); }
  /// How many of them a query at this position may use: those of tokens all before it.
  [[nodiscard]] index_t usable(index_t position) const noexcept {
    if (position >= tokens_) return blocks();
    return position < 0 ? 0 : std::min(position / block_, blocks());
  }
  /// The first token of block B. Each member that takes a block refuses one outside 0 .. blocks() - 1; begin takes blocks()
  /// as well.
  [[nodiscard]] index_t begin(index_t B) const {
    if (B != blocks()) require_block("begin", B);
    return B * block_;
  }
  /// The tokens of block B.
  [[nodiscard]] index_t count(index_t B) const {
    require_block("count", B);
    return rows_.count[std::size_t(B)];
  }
  /// The bytes that a block's summary takes.
  [[nodiscard]] index_t bytes_per_block() const noexcept {
    return rows_.numbers_per_block() * index_t(sizeof(T));
  }

  /// The mean keys of all blocks, [blocks(), d].
  [[nodiscard]] rows means() const { return matrix(rows_.mean, 0, blocks(), width()); }
  /// The mean key of block B, [d].
  [[nodiscard]] row mean(index_t B) const {
    require_block("mean", B);
    return vector(rows_.mean, B, width());
  }
  /// The largest distance of a key of block B from its mean, rounded up.
  [[nodiscard]] T radius(index_t B) const {
    require_block("radius", B);
    return rows_.radius[std::size_t(B)];
  }
  /// The largest norm of a key of block B, rounded up.
  [[nodiscard]] T reach(index_t B) const {
    require_block("reach", B);
    return rows_.reach[std::size_t(B)];
  }
  /// The largest norm of a value: an upper end. Requires values, e > 0.
  [[nodiscard]] T value_reach(index_t B) const {
    require_part("value", ".value_width", value_width() > 0);
    require_block("value_reach", B);
    return rows_.value_reach[std::size_t(B)];
  }
  /// Sigma as it is kept, [d, d]: factors and diagonal multiplied out.
  [[nodiscard]] Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> covariance(index_t B) const {
    require_part("covariance", ".covariance", rows_.kept.covariance != covariance_kind::none);
    require_block("covariance", B);
    return rows_.covariance.matrix(B);
  }
  /// [rank, d] of covariance_kind::low_rank.
  [[nodiscard]] rows factors(index_t B) const {
    require_part("low-rank covariance", ".covariance = covariance_kind::low_rank",
                 rows_.covariance.rank() > 0);
    require_block("factors", B);
    return {rows_.covariance.factors(B), rows_.covariance.rank(), width()};
  }
  /// The largest number of each coordinate of block B's keys, [d].
  [[nodiscard]] row high(index_t B) const {
    require_part("box", ".box", rows_.kept.box);
    require_block("high", B);
    return {rows_.box.data() + 2 * B * width(), width()};
  }
  /// The least number of each coordinate of block B's keys, [d].
  [[nodiscard]] row low(index_t B) const {
    require_part("box", ".box", rows_.kept.box);
    require_block("low", B);
    return {rows_.box.data() + (2 * B + 1) * width(), width()};
  }
  /// The mean of block B's keys under the softmax of the reference query's scores, [d].
  [[nodiscard]] row landmark(index_t B) const {
    require_part("landmark", ".landmark", rows_.kept.landmark);
    require_block("landmark", B);
    return vector(rows_.landmark, B, width());
  }
  /// The entropy of that softmax, in nats.
  [[nodiscard]] T entropy(index_t B) const {
    require_part("landmark", ".landmark", rows_.kept.landmark);
    require_block("entropy", B);
    return rows_.entropy[std::size_t(B)];
  }
  /// The mean value of block B, [e].
  [[nodiscard]] row value_mean(index_t B) const {
    require_part("value_mean", ".value_mean", rows_.kept.value_mean);
    require_block("value_mean", B);
    return vector(rows_.value_mean, B, value_width());
  }
  /// Cov(value, key), [e, d]: the first order of a block's output is value_mean + value_covariance q.
  [[nodiscard]] rows value_covariance(index_t B) const {
    require_part("value_covariance", ".value_covariance", rows_.kept.value_covariance);
    require_block("value_covariance", B);
    return matrix(rows_.value_covariance, B, value_width(), width());
  }

 private:
  friend const detail::summary_rows<T>& detail::rows_of<T>(const block_summaries& blocks) noexcept;

  static const block_summary_options& checked(const block_summary_options& o) {
    const char* const name = "block_summaries";
    const auto at_least = [name](const char* member, index_t value, index_t least) {
      if (value < least)
        detail::refuse({name, ": ", member, " is ", value, "; give ", least, " or more"});
    };
    at_least(".key_width", o.key_width, 1);
    at_least(".value_width", o.value_width, 0);
    at_least(".block", o.block, 1);
    at_least(".submeans", o.submeans, 0);
    if (o.covariance == covariance_kind::low_rank && (o.rank < 1 || o.rank > 256))
      detail::refuse({name, ": .rank is ", o.rank, "; give 1 to 256"});
    if (o.order < 0 || o.order == 1 || o.order == 2 || o.order > 8)
      detail::refuse(
          {name, ": tensors of order ", o.order, "; give .order 3 to 8, or 0 for no tensor"});
    if (o.order > 0 && detail::packed_count(o.key_width, o.order) > block_tensor_max_size)
      detail::refuse({name, ": a tensor of order ", o.order, " in ", o.key_width,
                      " dimensions has more than ", block_tensor_max_size,
                      " numbers; give a lower .order"});
    if (o.landmark_covariance && !o.landmark)
      detail::refuse({name, ": .landmark_covariance needs a landmark; give .landmark = true"});
    if (o.landmark_covariance && o.covariance == covariance_kind::none)
      detail::refuse(
          {name,
           ": .landmark_covariance has the form of .covariance, which is none; give another"});
    if ((o.value_mean || o.value_covariance) && o.value_width == 0)
      detail::refuse(
          {name, ": .value_mean and .value_covariance need values, but .value_width is 0"});
    return o;
  }

  void require_token(index_t d, index_t e) const {
    detail::require_same_size("block_summaries::append", "a key of the summaries", width(),
                              "the key", d);
    detail::require_same_size("block_summaries::append", "a value of the summaries", value_width(),
                              "the value", e);
  }
  static void require_part(const char* part, const char* remedy, bool kept) {
    if (!kept)
      detail::refuse(
          {"block_summaries: no ", part, " is kept; give block_summary_options ", remedy});
  }

  void require_block(const char* member, index_t B) const {
    if (B < 0 || B >= blocks())
      detail::refuse({"block_summaries::", member, ": block ", B, ", but there are ", blocks(),
                      "; give 0 or more, below that"});
  }

  [[nodiscard]] index_t open() const noexcept { return tokens_ % block_; }

  template <class Elements>
  static void put(std::vector<double>& to, const Elements& elements, index_t n) {
    const std::size_t before = to.size();
    to.resize(before + std::size_t(n));
    double* const at = to.data() + before;
    for (index_t i = 0; i < n; ++i) at[i] = static_cast<double>(elements[i]);
  }
  template <class Key, class Value>
  void take_elements(const Key& key, const Value& value) {
    if (tail_summarised_) rows_.drop_last();
    tail_summarised_ = false;
    put(keys_, key, width());
    put(values_, value, value_width());
    ++tokens_;
    ++held_;
    if (open() != 0) return;
    const index_t older = held_ - block_;  // than this block: they go
    keys_.erase(keys_.begin(), keys_.begin() + std::ptrdiff_t(older * width()));
    values_.erase(values_.begin(), values_.begin() + std::ptrdiff_t(older * value_width()));
    held_ = block_;
    rows_.append(keys_.data(), values_.data(), block_, references_);
  }

  [[nodiscard]] static rows matrix(const std::vector<T>& from, index_t B, index_t n,
                                   index_t width) {
    return {from.data() + B * n * width, n, width};
  }
  [[nodiscard]] static row vector(const std::vector<T>& from, index_t B, index_t width) {
    return {from.data() + B * width, width};
  }

  index_t block_, tokens_ = 0;
  index_t held_ = 0;  // tokens of the open block and of the full one before it
  bool tail_summarised_ = false;
  std::vector<double> keys_, values_, references_;  // of those tokens
  detail::summary_rows<T> rows_;
};

namespace detail {

/// What block_summaries keep, for the kernels.
template <class T>
[[nodiscard]] const summary_rows<T>& rows_of(const block_summaries<T>& blocks) noexcept {
  return blocks.rows_;
}

}  // namespace detail

}  // namespace cumulus
