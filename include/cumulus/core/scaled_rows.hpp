// SPDX-License-Identifier: MIT
//
// Keys or values kept in 8 bits, with a scale for each token or for each block of tokens.
// Layer 0 (core).
#pragma once

#include <cumulus/core/token_rows.hpp>
#include <cstdint>

namespace cumulus {

/// How scaled_rows reads its scales.
struct scaled_rows_options {
  index_t block = 1;  ///< tokens that share a scale: token t has scale t / block
};

/// n rows of d numbers: entry c of token t is scales[t / block] times the integer there. A view, as token_rows; scales that are no
/// contiguous floats are copied.
///
/// Shape    tokens: [n, d] of int8_t, a matrix or token_rows, which may lie in pages; scales: at least n / block, rounded up, numbers,
///          in the order of the tokens, whatever the pages are.
/// Edges    refused: too few scales, a block below 1. A scale that is not finite shows in each result that its tokens reach.
/// Requires that neither it nor a copy outlives what it was made from.
class scaled_rows {
 public:
  /// The scalar of the integers.
  using scalar = std::int8_t;

  /// `scaled_rows(K8, scales, {.block = 16})`
  template <class Tokens, real_vector Scales>
    requires(std::same_as<token_scalar_of<Tokens>, std::int8_t> ||
             (real_matrix<Tokens> && std::same_as<scalar_of<Tokens>, std::int8_t>))
  scaled_rows(const Tokens& tokens, const Scales& scales, const scaled_rows_options& o = {})
      : rows_(tokens), block_(o.block) {
    if (block_ < 1) detail::refuse({"scaled_rows: .block is ", block_, "; give 1 or more"});
    const index_t count = detail::size_of(scales),
                  used = size() > 0 ? (size() - 1) / block_ + 1 : 0;
    if (count < used)
      detail::refuse({"scaled_rows: ", size(), " tokens in blocks of ", block_, " need ", used,
                      " scales, there are ", count});
    if constexpr (std::same_as<scalar_of<Scales>, float> &&
                  (detail::contiguous_sequence<Scales> || detail::strided_dense<Scales>)) {
      const auto view = detail::strided_view(scales);
      if (view.stride == 1 || view.size <= 1) {
        scales_ = view.data;
        return;
      }
    }
    const detail::operand<scalar_of<Scales>> values(scales);
    owned_ = detail::array_of<float>(used);
    for (index_t i = 0; i < used; ++i) owned_[i] = static_cast<float>(values.view()[i]);
    scales_ = owned_.data();
  }
  /// Of `all` the tokens of some blocks of `block`, as token_rows has them. A scale for each token is copied.
  scaled_rows(const scaled_rows& all, index_t block, std::span<const index_t> blocks,
              index_t tokens)
      : rows_(all.rows_, block, blocks, tokens), owned_(tokens) {
    for (index_t t = 0; t < tokens; ++t)
      owned_[t] = all.scale(blocks[std::size_t(t / block)] * block + t % block);
    scales_ = owned_.data();
  }
  /// Views the same rows; copied scales are copied again.
  scaled_rows(const scaled_rows& other)
      : rows_(other.rows_), block_(other.block_), scales_(other.scales_) {
    if (other.owned_.size() == 0) return;
    owned_ = detail::array_of<float>(other.owned_.size());
    for (index_t i = 0; i < owned_.size(); ++i) owned_[i] = other.owned_[i];
    scales_ = owned_.data();
  }
  /// Leaves the other in a state that can only be assigned to.
  scaled_rows(scaled_rows&&) noexcept = default;
  /// As the copy.
  scaled_rows& operator=(const scaled_rows& other) { return *this = scaled_rows(other); }
  /// As the move.
  scaled_rows& operator=(scaled_rows&&) noexcept = default;
  ~scaled_rows() = default;

  /// Tokens.
  [[nodiscard]] index_t size() const noexcept { return rows_.size(); }
  /// Numbers of a token.
  [[nodiscard]] index_t width() const noexcept { return rows_.width(); }
  /// From one row of a run to the next, in numbers.
  [[nodiscard]] index_t row_stride() const noexcept { return rows_.row_stride(); }
  /// Rows of a page; 0 in one piece.
  [[nodiscard]] index_t page() const noexcept { return rows_.page(); }
  /// The integers of token t. Requires 0 <= t < size(), unchecked, as scale.
  [[nodiscard]] const std::int8_t* row(index_t t) const noexcept { return rows_.row(t); }
  /// How many rows from t on lie row_stride() apart.
  [[nodiscard]] index_t run(index_t t) const noexcept { return rows_.run(t); }
  /// The scale of token t.
  [[nodiscard]] float scale(index_t t) const noexcept { return scales_[t / block_]; }

 private:
  token_rows<std::int8_t> rows_;
  index_t block_ = 1;
  const float* scales_ = nullptr;
  detail::array_of<float> owned_;
};

namespace detail {

/// The numbers of one token of scaled_rows.
struct scaled_elements {
  const std::int8_t* integers;
  float scale;
  [[nodiscard]] float operator[](index_t i) const noexcept { return scale * float(integers[i]); }
};

/// The numbers of token t.
template <class T>
[[nodiscard]] const T* elements_of(const token_rows<T>& rows, index_t t) noexcept {
  return rows.row(t);
}
[[nodiscard]] inline scaled_elements elements_of(const scaled_rows& rows, index_t t) noexcept {
  return {rows.row(t), rows.scale(t)};
}

/// Its own scalar: an integer beside its scale is no number of C++.
template <>
struct token_scalar<scaled_rows> {
  using type = scaled_rows;
};

/// The rows of keys or values as they are kept.
template <class T>
[[nodiscard]] const token_rows<T>& cache_in(const token_rows<T>& x) noexcept {
  return x;
}
[[nodiscard]] inline const scaled_rows& cache_in(const scaled_rows& x) noexcept { return x; }
template <real_matrix X>
[[nodiscard]] token_rows<result_of<X>> cache_in(const X& x) {
  return token_rows<result_of<X>>(x);
}

}  // namespace detail

}  // namespace cumulus
