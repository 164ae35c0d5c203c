// SPDX-License-Identifier: MIT
//
// Weighted rows in cache, about their own mean: what products of blocks are made of.
// Layer 2 (moments): uses core and kernels.
#pragma once

#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/moments/zero_weight.hpp>
#include <cumulus/detail/simd/matrix_product.hpp>
#include <algorithm>
#include <vector>

namespace cumulus::detail {

/// Rows of x and v, converted and moved to the mean of all of them: x first, then v from a whole vector on, zeros between.
///
/// The mean is the first row plus the mean of what the others differ from it, so that equal rows have it exactly.
template <class S>
class centred_rows {
 public:
  /// So many rows are added plainly, and rows of products are a multiple of `lanes`.
  static constexpr index_t tile = 16, lanes = 8;
  [[nodiscard]] static index_t whole(index_t n) noexcept { return (n + lanes - 1) / lanes * lanes; }

  centred_rows(index_t d, index_t e, index_t capacity, bool weighted)
      : d_(d),
        e_(e),
        v_place_(whole(d)),
        width_(v_place_ + whole(e)),
        capacity_(capacity),
        weighted_(weighted),
        numbers_(static_cast<std::size_t>((capacity * (weighted ? 2 : 1) + tile + 3) * width_ +
                                          2 * capacity)) {
    S* next = numbers_.data();
    const auto take = [&next](index_t n) {
      S* const taken = next;
      next += n;
      return taken;
    };
    z_ = take(capacity * width_);
    scaled_ = weighted ? take(capacity * width_) : z_;
    work_ = take(tile * width_);
    origin_ = take(width_);
    pivot_ = take(width_);
    mean_ = take(width_);
    weights_ = take(capacity);
    ones_ = take(capacity);
    std::fill(ones_, ones_ + capacity, S(1));
  }
  centred_rows(const centred_rows&) = delete;
  centred_rows& operator=(const centred_rows&) = delete;
  ~centred_rows() = default;

  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] index_t v_place() const noexcept { return v_place_; }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] const compensated<S>& weight() const noexcept { return weight_; }
  /// Row i about the pivot, and times its weight; the pivot; and the mean less the pivot, which rounding leaves.
  [[nodiscard]] const S* row(index_t i) const noexcept { return z_ + i * width_; }
  [[nodiscard]] const S* weighted_row(index_t i) const noexcept { return scaled_ + i * width_; }
  [[nodiscard]] const S* pivot() const noexcept { return pivot_; }
  [[nodiscard]] const S* mean() const noexcept { return mean_; }
  [[nodiscard]] const S* ones() const noexcept { return ones_; }

  /// Takes rows from `next` on of a weight other than 0, as many as there is room for, and moves them to their mean; false
  /// where a number or a distance is not finite or a weight is none.
  template <class X, class V, class W>
  [[nodiscard]] bool take(const strided_matrix<const X>& x, const strided_matrix<const V>& v,
                          const strided<const W>& weights, index_t& next) {
    count_ = 0;
    bool plain = true;
    for (; next < x.rows && count_ < capacity_; ++next) {
      S w(1);
      if (weighted_) {
        w = static_cast<S>(weights[next]);
        if (is_zero(w)) continue;
        plain = plain && S(0) < w && is_finite(w);
      }
      weights_[count_] = w;
      S* const row = z_ + count_ * width_;
      convert(x, next, row);
      if (e_ > 0) convert(v, next, row + v_place_);
      ++count_;
    }
    return plain && (count_ == 0 || centre());
  }

 private:
  template <class X>
  static void convert(const strided_matrix<const X>& x, index_t i, S* out) noexcept {
    const X* const row = x.data + i * x.row_stride;
    if (x.col_stride == 1) {
      for (index_t j = 0; j < x.cols; ++j) out[j] = static_cast<S>(row[j]);
    } else {
      for (index_t j = 0; j < x.cols; ++j) out[j] = static_cast<S>(row[j * x.col_stride]);
    }
  }

  [[nodiscard]] bool centre() noexcept {
    weight_ = {};
    for (index_t i = 0; i < count_; ++i) weight_ += weights_[i];
    for (index_t j = 0; j < width_; ++j) origin_[j] = -z_[j];
    std::fill(mean_, mean_ + width_, S(0));
    for (index_t i = 0; i < count_; i += tile) {
      const index_t n = std::min(tile, count_ - i);
      std::copy(z_ + i * width_, z_ + (i + n) * width_, work_);
      kernels::add_product(ones_, 1, 1, origin_, width_, work_, width_, n, 1, width_);
      kernels::add_product(weights_ + i, 1, 1, work_, width_, mean_, width_, 1, n, width_);
    }
    bool finite = is_finite(weight_.high);
    for (index_t j = 0; j < width_; ++j) {
      pivot_[j] = z_[j] + mean_[j] / weight_.value();
      finite = finite && is_finite(pivot_[j]);
      origin_[j] = -pivot_[j];
    }
    if (!finite) return false;
    std::fill(mean_, mean_ + width_, S(0));
    for (index_t i = 0; i < count_; i += tile) {
      const index_t n = std::min(tile, count_ - i);
      S* const z = z_ + i * width_;
      kernels::add_product(ones_, 1, 1, origin_, width_, z, width_, n, 1, width_);
      kernels::add_product(weights_ + i, 1, 1, z, width_, mean_, width_, 1, n, width_);
    }
    for (index_t j = 0; j < width_; ++j) {
      mean_[j] /= weight_.value();
      finite = finite && is_finite(mean_[j]);
    }
    if (!finite) return false;
    for (index_t k = 0; k < count_ && weighted_; ++k) {
      const S w = weights_[k];
      for (index_t j = k * width_; j < (k + 1) * width_; ++j) scaled_[j] = w * z_[j];
    }
    return true;
  }

  index_t d_, e_, v_place_, width_, capacity_;
  bool weighted_;
  std::vector<S> numbers_;
  S *z_, *scaled_, *work_, *origin_, *pivot_, *mean_, *weights_, *ones_;
  compensated<S> weight_;
  index_t count_ = 0;
};

}  // namespace cumulus::detail
