// SPDX-License-Identifier: MIT
//
// Summaries of a cache of keys cut in blocks, token by token.
// Layer 4 (blocks): uses core, kernels and moments; block_scores reads it.
#pragma once

#include <cumulus/detail/blocks/summary_rows.hpp>
#include <cumulus/core/token_rows.hpp>

namespace cumulus {

/// The most numbers a block that the tensors of one order may take.
inline constexpr index_t block_tensor_max_size = index_t(1) << 24;

/// Count, mean and the other parts of a block_summary for each block of a cache.
///
/// Shape   keys of width d >= 1, values of width e >= 0, blocks of b >= 1 tokens; the last block may be shorter.
///         T: float or double, the scalar of what is kept; keys and values of any real scalar.
/// Law     appending token by token, in any pieces, and building at once give the same bits: a block's tokens are
///         held in double until it is full and summarised then, together.
/// Edges   a NaN key makes its block's summary NaN, an infinite one infinite or NaN; no other's.
/// Cost    of a full block of b tokens: b d for the mean; b d^2 for a full covariance, 16 (rank + 4) b d + b d^2 + d^3
///         for low_rank, b C(d + p - 1, p) for a tensor of order p. A token that fills no block costs d + e.
template <class T>
class block_moments {
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "cumulus: summaries are kept in float or double; keys may be of any scalar");

 public:
  using scalar = T;
  using rows = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  using row = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  block_moments(index_t d, index_t b, const block_summary& parts = {}, index_t e = 0)
      : block_(b), rows_(checked(d, b, parts, e), e, parts) {}

  /// The queries, already scaled, that blocks are expanded and calibrated about from now on, [r, d]; none for the query 0.
  /// HiLS takes the query at the end of each block.
  template <real_matrix R>
  void set_references(const R& references) {
    const token_rows<scalar_of<R>> r(references);
    if (r.size() > 0)
      detail::require_same_size("block_moments", "a key", width(), "a reference query", r.width());
    references_.clear();
    for (index_t t = 0; t < r.size(); ++t) put(references_, r.row(t), width());
  }

  template <real_vector K>
  void append(const K& key) {
    require_token(detail::size_of(key), 0);
    take(detail::operand<double>(key), nullptr);
  }
  template <real_vector K, real_vector V>
  void append(const K& key, const V& value) {
    require_token(detail::size_of(key), detail::size_of(value));
    const detail::operand<double> v(value);
    take(detail::operand<double>(key), &v);
  }
  /// A token a row. The last block, where it stays shorter, has no summary before summarise_tail().
  template <class S>
  void append_rows(const token_rows<S>& keys) {
    if (keys.size() > 0) require_token(keys.width(), 0);
    for (index_t t = 0; t < keys.size(); ++t) take(keys.row(t), static_cast<const S*>(nullptr));
  }
  template <class S, class U>
  void append_rows(const token_rows<S>& keys, const token_rows<U>& values) {
    detail::require_same_size("block_moments", "keys", keys.size(), "values", values.size());
    if (keys.size() > 0) require_token(keys.width(), values.width());
    for (index_t t = 0; t < keys.size(); ++t) take(keys.row(t), values.row(t));
  }
  template <real_matrix K>
  void append_rows(const K& keys) {
    append_rows(token_rows<scalar_of<K>>(keys));
  }
  template <real_matrix K, real_matrix V>
  void append_rows(const K& keys, const V& values) {
    append_rows(token_rows<scalar_of<K>>(keys), token_rows<scalar_of<V>>(values));
  }

  /// Summarises the last block by the tokens it has; more may follow, and end that summary until it is asked for again.
  void summarise_tail() {
    if (open() == 0 || tail_summarised_) return;
    rows_.append(keys_.data(), values_.data(), open(), references_);
    tail_summarised_ = true;
  }

  [[nodiscard]] index_t width() const noexcept { return rows_.width; }
  [[nodiscard]] index_t value_width() const noexcept { return rows_.value_width; }
  [[nodiscard]] index_t block_size() const noexcept { return block_; }
  [[nodiscard]] const block_summary& parts() const noexcept { return rows_.parts; }
  [[nodiscard]] index_t tokens() const noexcept { return tokens_; }
  /// How many blocks have a summary; the scores are of these.
  [[nodiscard]] index_t blocks() const noexcept { return rows_.blocks(); }
  /// How many of them a query at this position may use: those of tokens all before it.
  [[nodiscard]] index_t usable(index_t position) const noexcept {
    if (position >= tokens_) return blocks();
    return position < 0 ? 0 : std::min(position / block_, blocks());
  }
  [[nodiscard]] index_t begin(index_t B) const noexcept { return B * block_; }
  [[nodiscard]] index_t count(index_t B) const noexcept { return rows_.count[std::size_t(B)]; }
  [[nodiscard]] index_t bytes_per_block() const noexcept {
    return rows_.numbers_per_block() * index_t(sizeof(T));
  }

  [[nodiscard]] rows means() const { return matrix(rows_.mean, 0, blocks(), width()); }
  [[nodiscard]] row mean(index_t B) const { return vector(rows_.mean, B, width()); }
  /// The largest distance of a key from the mean, and the largest norm of a key: upper ends.
  [[nodiscard]] T radius(index_t B) const noexcept { return rows_.radius[std::size_t(B)]; }
  [[nodiscard]] T reach(index_t B) const noexcept { return rows_.reach[std::size_t(B)]; }
  /// The largest norm of a value: an upper end. Requires values, e > 0.
  [[nodiscard]] T value_reach(index_t B) const {
    require_part("value", value_width() > 0);
    return rows_.value_reach[std::size_t(B)];
  }
  /// Sigma as it is kept, [d, d]: factors and diagonal multiplied out.
  [[nodiscard]] Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> covariance(index_t B) const {
    require_part("covariance", rows_.parts.covariance != covariance_kind::none);
    return rows_.covariance.matrix(B);
  }
  /// [rank, d] of covariance_kind::low_rank.
  [[nodiscard]] rows factors(index_t B) const {
    require_part("low-rank covariance", rows_.covariance.rank() > 0);
    return {rows_.covariance.factors(B), rows_.covariance.rank(), width()};
  }
  [[nodiscard]] row high(index_t B) const {
    require_part("box", rows_.parts.box);
    return {rows_.box.data() + 2 * B * width(), width()};
  }
  [[nodiscard]] row low(index_t B) const {
    require_part("box", rows_.parts.box);
    return {rows_.box.data() + (2 * B + 1) * width(), width()};
  }
  [[nodiscard]] row landmark(index_t B) const {
    require_part("landmark", rows_.parts.landmark);
    return vector(rows_.landmark, B, width());
  }
  [[nodiscard]] T entropy(index_t B) const {
    require_part("landmark", rows_.parts.landmark);
    return rows_.entropy[std::size_t(B)];
  }
  [[nodiscard]] row value_mean(index_t B) const {
    require_part("value_mean", rows_.parts.value_mean);
    return vector(rows_.value_mean, B, value_width());
  }
  /// Cov(value, key), [e, d]: the first order of a block's output is value_mean + value_covariance q.
  [[nodiscard]] rows value_covariance(index_t B) const {
    require_part("value_covariance", rows_.parts.value_covariance);
    return matrix(rows_.value_covariance, B, value_width(), width());
  }

  /// What is kept, for the kernels.
  [[nodiscard]] const detail::summary_rows<T>& kept() const noexcept { return rows_; }

 private:
  static index_t checked(index_t d, index_t b, const block_summary& parts, index_t e) {
    const auto fail = [](const std::string& what) { detail::refuse({"block_moments: ", what}); };
    if (d < 1) fail("keys of width " + std::to_string(d));
    if (b < 1) fail("blocks of " + std::to_string(b) + " tokens");
    if (e < 0) fail("values of width " + std::to_string(e));
    if (parts.covariance == covariance_kind::low_rank && (parts.rank < 1 || parts.rank > 256))
      fail("rank " + std::to_string(parts.rank) + " is outside 1..256");
    if (parts.order < 0 || parts.order == 1 || parts.order == 2)
      fail("tensors of order " + std::to_string(parts.order) + ", not 0 or 3 and above");
    if (parts.order > 8)
      fail("tensors of order " + std::to_string(parts.order) + "; the highest is 8");
    if (parts.order > 0 && detail::packed_count(d, parts.order) > block_tensor_max_size)
      fail("a tensor of order " + std::to_string(parts.order) + " in " + std::to_string(d) +
           " dimensions is too large");
    if (parts.submeans < 0) fail(std::to_string(parts.submeans) + " submeans");
    if (parts.landmark_covariance && !parts.landmark) fail("landmark_covariance without landmark");
    if (parts.landmark_covariance && parts.covariance == covariance_kind::none)
      fail("landmark_covariance of covariance_kind::none");
    if ((parts.value_mean || parts.value_covariance) && e == 0) fail("a value part, but e is 0");
    return d;
  }

  void require_token(index_t d, index_t e) const {
    detail::require_same_size("block_moments", "a key", width(), "the key given", d);
    detail::require_same_size("block_moments", "a value", value_width(), "the value given", e);
  }
  void require_part(const char* part, bool kept) const {
    if (!kept) detail::refuse({"block_moments: the summary keeps no ", part});
  }

  [[nodiscard]] index_t open() const noexcept { return tokens_ % block_; }

  template <class Elements>
  static void put(std::vector<double>& to, const Elements& elements, index_t n) {
    const std::size_t before = to.size();
    to.resize(before + std::size_t(n));
    double* const at = to.data() + before;
    for (index_t i = 0; i < n; ++i) at[i] = static_cast<double>(elements[i]);
  }
  void take(const detail::operand<double>& key, const detail::operand<double>* value) {
    struct none {
      double operator[](index_t) const noexcept { return 0; }
    };
    if (value == nullptr) {
      take_elements(key.view(), none{});
    } else {
      take_elements(key.view(), value->view());
    }
  }
  template <class S, class U>
  void take(const S* key, const U* value) {
    take_elements(key, value);
  }
  template <class Key, class Value>
  void take_elements(const Key& key, const Value& value) {
    if (tail_summarised_) rows_.drop_last();
    tail_summarised_ = false;
    put(keys_, key, width());
    put(values_, value, value_width());
    ++tokens_;
    if (open() != 0) return;
    rows_.append(keys_.data(), values_.data(), block_, references_);
    keys_.clear();
    values_.clear();
  }

  [[nodiscard]] static rows matrix(const std::vector<T>& from, index_t B, index_t n,
                                   index_t width) {
    return {from.data() + B * n * width, n, width};
  }
  [[nodiscard]] static row vector(const std::vector<T>& from, index_t B, index_t width) {
    return {from.data() + B * width, width};
  }

  index_t block_, tokens_ = 0;
  bool tail_summarised_ = false;
  std::vector<double> keys_, values_, references_;  // the open block's tokens
  detail::summary_rows<T> rows_;
};

}  // namespace cumulus
