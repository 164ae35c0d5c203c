// SPDX-License-Identifier: MIT
//
// Queries, keys or values as the layers above read them: each token is a row. The rows lie in one
// piece of memory or in the pages of a cache.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/array_of.hpp>
#include <cumulus/detail/core/require.hpp>
#include <cumulus/detail/core/view.hpp>
#include <numeric>
#include <span>

namespace cumulus {

/// A view of n rows of d numbers each; the numbers of a row are contiguous. A view of a matrix
/// whose rows are not contiguous in memory holds a copy. Copies and moves see the same rows. Requires
/// that the memory outlives the view and its copies.
template <class T>
class token_rows {
 public:
  /// The scalar of the numbers.
  using scalar = T;

  token_rows() = default;
  /// Views the same rows; a copied matrix is copied again.
  token_rows(const token_rows& other)
      : owned_(copy_of(other.owned_)),
        blocks_(copy_of(other.blocks_)),
        data_(owned_.size() > 0 ? owned_.data() : other.data_),
        table_(blocks_.size() > 0 ? blocks_.data() : other.table_),
        size_(other.size_),
        width_(other.width_),
        stride_(other.stride_),
        page_(other.page_) {}
  /// Leaves `other` without tokens.
  token_rows(token_rows&& other) noexcept { swap(other); }
  /// Views what `other` views.
  token_rows& operator=(token_rows other) noexcept {
    swap(other);
    return *this;
  }
  ~token_rows() = default;

  /// Views the rows of a matrix, [n, d]; copies a matrix of another scalar to T.
  template <real_matrix X>
  token_rows(const X& x) : size_(index_t(x.rows())), width_(index_t(x.cols())), stride_(width_) {
    if constexpr (detail::strided_dense<X> && std::same_as<scalar_of<X>, T>) {
      const auto v = detail::strided_matrix_view(x);
      if (v.col_stride == 1 || v.cols <= 1) {
        data_ = v.data;
        stride_ = v.row_stride;
        return;
      }
    }
    copy(x.derived().eval());
  }

  /// Copies tokens of another scalar to T.
  template <class U>
    requires(!std::same_as<U, T>)
  explicit token_rows(const token_rows<U>& x)
      : owned_(x.size() * x.width()),
        data_(owned_.data()),
        size_(x.size()),
        width_(x.width()),
        stride_(width_) {
    for (index_t t = 0; t < size_; ++t) {
      for (index_t c = 0; c < width_; ++c) owned_[t * width_ + c] = static_cast<T>(x.row(t)[c]);
    }
  }

  /// Views rows that lie `row_stride` numbers apart.
  token_rows(const T* data, index_t tokens, index_t width, index_t row_stride)
      : data_(data), size_(tokens), width_(width), stride_(row_stride) {
    require_counts();
  }

  /// Views a paged cache: token t is row table[t / page] * page + t % page of the pool.
  token_rows(const T* pool, index_t page, std::span<const index_t> table, index_t tokens,
             index_t width, index_t row_stride)
      : data_(pool),
        table_(table.data()),
        size_(tokens),
        width_(width),
        stride_(row_stride),
        page_(page) {
    require_counts();
    if (page < 1) detail::refuse({"token_rows: a page of ", page, " tokens; give 1 or more"});
    if (tokens > 0 && (tokens - 1) / page >= index_t(table.size()))
      detail::refuse({"token_rows: ", tokens, " tokens in pages of ", page, " need a table of ",
                      (tokens - 1) / page + 1, ", the table has ", table.size()});
    for (index_t i = 0; i * page < tokens; ++i) {
      if (table_[i] < 0)
        detail::refuse({"token_rows: entry ", i, " of the table is page ", table_[i],
                        "; give 0 or more for each page that has tokens"});
    }
  }

  /// Views some blocks of `all`, each of `block` tokens, one block after the other. The view has `tokens` tokens, so that the last
  /// block may end early. A block may be longer or shorter than a page.
  token_rows(const token_rows& all, index_t block, std::span<const index_t> blocks, index_t tokens)
      : token_rows(all.data_, block, blocks, tokens, all.width_, all.stride_) {
    const index_t used = tokens > 0 ? (tokens - 1) / block + 1 : 0;
    for (index_t i = 0; i < used; ++i) {
      const index_t B = blocks[std::size_t(i)], left = tokens - i * block,
                    last = left < block ? left : block;
      if (B > all.size_ / block || last > all.size_ - B * block)
        detail::refuse({"token_rows: ", last, " tokens of block ", B, " of ", block,
                        ", but there are ", all.size_, " tokens in all; give blocks within them"});
    }
    if (all.table_ == nullptr) return;
    // in parts that lie in one page and in one block each
    page_ = std::gcd(all.page_, block);
    const index_t parts = tokens > 0 ? (tokens - 1) / page_ + 1 : 0, in_block = block / page_;
    blocks_ = detail::array_of<index_t>(parts);
    for (index_t i = 0; i < parts; ++i) {
      const index_t t = blocks[std::size_t(i / in_block)] * block + i % in_block * page_;
      blocks_[i] = (all.table_[t / all.page_] * all.page_ + t % all.page_) / page_;
    }
    table_ = blocks_.data();
  }

  /// The number of tokens.
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// The number of elements of a token.
  [[nodiscard]] index_t width() const noexcept { return width_; }
  /// The distance between neighbouring rows of a page, in elements.
  [[nodiscard]] index_t row_stride() const noexcept { return stride_; }
  /// The number of rows of a page; 0 where the rows lie in one piece.
  [[nodiscard]] index_t page() const noexcept { return page_; }

  /// Token t. Requires 0 <= t < size(), unchecked, since kernels read every row by this function.
  [[nodiscard]] const T* row(index_t t) const noexcept {
    if (table_ == nullptr) return data_ + t * stride_;
    return data_ + (table_[t / page_] * page_ + t % page_) * stride_;
  }
  /// The number of rows from t on that lie row_stride() apart. Requires 0 <= t < size(), unchecked.
  [[nodiscard]] index_t run(index_t t) const noexcept {
    const index_t left = size_ - t;
    if (table_ == nullptr) return left;
    const index_t rest = page_ - t % page_;
    return rest < left ? rest : left;
  }

 private:
  template <class E>
  [[nodiscard]] static detail::array_of<E> copy_of(const detail::array_of<E>& x) {
    if (x.size() == 0) return {};
    detail::array_of<E> copy(x.size());
    for (index_t i = 0; i < x.size(); ++i) copy[i] = x[i];
    return copy;
  }
  void swap(token_rows& other) noexcept {  // memory on the heap stays where it is
    std::swap(owned_, other.owned_);
    std::swap(blocks_, other.blocks_);
    std::swap(data_, other.data_);
    std::swap(table_, other.table_);
    std::swap(size_, other.size_);
    std::swap(width_, other.width_);
    std::swap(stride_, other.stride_);
    std::swap(page_, other.page_);
  }
  void require_counts() const {
    if (size_ < 0 || width_ < 0)
      detail::refuse(
          {"token_rows: ", size_, " tokens of width ", width_, "; give 0 or more of each"});
  }

  template <class Values>
  void copy(const Values& values) {
    owned_ = detail::array_of<T>(size_ * width_);
    for (index_t i = 0; i < size_; ++i) {
      for (index_t j = 0; j < width_; ++j)
        owned_[i * width_ + j] = static_cast<T>(values.coeff(i, j));
    }
    data_ = owned_.data();
  }

  detail::array_of<T> owned_;
  detail::array_of<index_t> blocks_;
  const T* data_ = nullptr;
  const index_t* table_ = nullptr;
  index_t size_ = 0, width_ = 0, stride_ = 0, page_ = 0;
};

namespace detail {

template <class X>
struct token_scalar {};
template <real_matrix X>
struct token_scalar<X> {
  using type = result_of<X>;
};
template <class T>
struct token_scalar<token_rows<T>> {
  using type = T;
};

}  // namespace detail

/// The scalar of tokens: the scalar of token_rows; for a matrix the scalar of its results (double
/// for integers).
template <class X>
using token_scalar_of = typename detail::token_scalar<std::remove_cvref_t<X>>::type;

/// Queries, keys or values, a token a row: an Eigen matrix, or token_rows over a cache. `token_matrix<Q> K` asks for the scalar
/// of Q as well.
template <class X, class Like = X>
concept token_matrix = requires { typename token_scalar_of<X>; } &&
                       std::same_as<token_scalar_of<X>, token_scalar_of<Like>>;

namespace detail {

/// The tokens themselves, or a view of a matrix: with the scalar T, converted where theirs is another.
template <class T>
[[nodiscard]] const token_rows<T>& tokens_in(const token_rows<T>& x) noexcept {
  return x;
}
template <class T, class U>
  requires(!std::same_as<T, U>)
[[nodiscard]] token_rows<T> tokens_in(const token_rows<U>& x) {
  return token_rows<T>(x);
}
template <class T, real_matrix X>
[[nodiscard]] token_rows<T> tokens_in(const X& x) {
  return token_rows<T>(x);
}

}  // namespace detail

}  // namespace cumulus
