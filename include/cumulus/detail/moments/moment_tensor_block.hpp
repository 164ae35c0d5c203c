// SPDX-License-Identifier: MIT
//
// Blocks of rows into moment tensors: products of order p are a matrix product of the rows with their products of order p - 1.
// Layer 2 (moments): uses core and kernels.
//
// Rows are moved to the mean of up to 2048 of them. 16 rows at a time are multiplied with plain sums, which are added to those
// of 256, those to the whole.
#pragma once

#include <cumulus/detail/moments/centred_rows.hpp>
#include <cumulus/detail/moments/moment_tensor_state.hpp>
#include <cumulus/detail/simd/scale_lanes.hpp>

namespace cumulus::detail {

template <class S>
class moment_tensor_block {
  using part_rows = centred_rows<S>;

 public:
  moment_tensor_block(moment_tensor_state<S>& state, bool weighted)
      : state_(state),
        rows_(state.width(), 0, capacity_for(state.width()), weighted),
        powers_(static_cast<std::size_t>(tile * power_count(state.layout()) + part_rows::lanes)),
        low_(static_cast<std::size_t>(rows_.width())),
        high_(low_),
        sums_(state.layout()) {
    find_panels();
    group_sums_.resize(static_cast<std::size_t>(sum_count_));
    block_sums_.resize(static_cast<std::size_t>(sum_count_));
  }

  /// Rows and their weights, ones where null.
  template <class X, class W>
  void add(const strided_matrix<const X>& x, const strided<const W>& weights) {
    std::vector<S> one(static_cast<std::size_t>(x.cols));
    for (index_t first = 0; first < x.rows;) {
      index_t next = first;
      if (!rows_.take(x, strided_matrix<const X>{}, weights, next)) {
        for (index_t i = first; i < next; ++i) {
          for (index_t j = 0; j < x.cols; ++j) one[std::size_t(j)] = static_cast<S>(x.row(i)[j]);
          state_.add(one.data(), weights.data == nullptr ? S(1) : static_cast<S>(weights[i]));
        }
      } else if (rows_.count() > 0) {
        multiply();
        find_box();
        state_.merge_block(rows_.count(), rows_.weight(), rows_.pivot(), rows_.mean(), packed(),
                           low_.data(), high_.data());
      }
      first = next;
    }
  }

 private:
  static constexpr index_t tile = 16, group = 256, panel_height = 6, panel_width = 96;
  [[nodiscard]] static index_t capacity_for(index_t d) noexcept {
    return d <= 32 ? 2048 : d <= 128 ? 256 : 64;
  }
  /// Products of orders 2..order - 1.
  [[nodiscard]] static index_t power_count(const packed_symmetric& layout) noexcept {
    index_t n = 0;
    for (int p = 2; p < layout.order(); ++p) n += layout.count(p);
    return n;
  }

  void add_to(S* a, const S* b, index_t n) const noexcept {
    kernels::add_product(rows_.ones(), 1, 1, b, n, a, n, 1, 1, n);
  }
  static void clear(std::vector<S>& numbers) noexcept {
    std::fill(numbers.begin(), numbers.end(), S(0));
  }

  /// Sums that are made together, from `start` on row by row: of `row` and `height - 1` more times the products of order p - 1
  /// from `column` on. A row needs those up to itself, so that a few at the end are for nothing.
  struct panel {
    int p;
    index_t row, height, column, width, start;
  };
  void find_panels() {
    const packed_symmetric& layout = state_.layout();
    const index_t d = layout.dimensions();
    for (int p = 2; p <= layout.order(); ++p) {
      for (index_t c = 0; c < layout.count(p - 1);
           c += panel_width) {  // which the first cache keeps for all rows
        for (index_t r = 0; r < d; r += panel_height) {
          const index_t height = std::min(panel_height, d - r);
          const index_t width = std::min(panel_width, layout.count(p - 1, r + height) - c);
          if (width <= 0) continue;
          panels_.push_back({p, r, height, c, width, sum_count_});
          sum_count_ += height * width;
        }
      }
    }
  }

  void multiply() {
    clear(block_sums_);
    for (index_t first = 0; first < rows_.count(); first += group) {
      const index_t end = std::min(first + group, rows_.count());
      std::vector<S>& sums = first == 0 ? block_sums_ : group_sums_;
      if (first > 0) clear(sums);
      for (index_t i = first; i < end; i += tile) multiply(i, std::min(tile, end - i), sums.data());
      if (first > 0) add_to(block_sums_.data(), sums.data(), sum_count_);
    }
  }

  /// n rows from the i-th on.
  void multiply(index_t i, index_t n, S* sums) noexcept {
    const packed_symmetric& layout = state_.layout();
    const S* lower = rows_.row(i);
    index_t stride = rows_.width();
    S* next = powers_.data();
    int p = 2;
    for (const panel& at : panels_) {
      if (at.p > p) {
        multiply_lower(p, i, n, lower, stride, next);
        lower = next;
        stride = layout.count(p);
        next += tile * stride;
        ++p;
      }
      kernels::add_product(rows_.weighted_row(i) + at.row, 1, rows_.width(), lower + at.column,
                           stride, sums + at.start, at.width, at.height, n, at.width);
    }
  }

  /// The products of order p of n rows, from those of the order below. In whole lanes: what is too much is overwritten by what
  /// comes next, and after the last there is room.
  void multiply_lower(int p, index_t i, index_t n, const S* lower, index_t stride,
                      S* to) const noexcept {
    const packed_symmetric& layout = state_.layout();
    for (index_t k = 0; k < n; ++k) {
      const S *const y = rows_.row(i + k), *const from = lower + k * stride;
      for (index_t r = 0; r < layout.dimensions(); ++r) {
        const index_t length = layout.count(p - 1, r + 1);
        kernels::scale_lanes(y[r], from, to, length);
        to += length;
      }
    }
  }

  /// The sums as the state has them.
  [[nodiscard]] const packed_tensors<S>& packed() noexcept {
    const packed_symmetric& layout = state_.layout();
    for (const panel& at : panels_) {
      for (index_t k = 0; k < at.height; ++k) {
        const S* const from = block_sums_.data() + at.start + k * at.width;
        const index_t length =
            std::min(at.width, layout.count(at.p - 1, at.row + k + 1) - at.column);
        if (length > 0)
          std::copy(from, from + length, sums_[at.p] + layout.count(at.p, at.row + k) + at.column);
      }
    }
    return sums_;
  }

  /// The smallest and the largest of each coordinate.
  void find_box() {
    constexpr index_t lanes = part_rows::lanes;
    for (index_t j = 0; j < rows_.width(); j += lanes) {
      S low[lanes], high[lanes];
      for (index_t k = 0; k < lanes; ++k) low[k] = high[k] = rows_.row(0)[j + k];
      for (index_t i = 1; i < rows_.count(); ++i) {
        const S* const y = rows_.row(i) + j;
        for (index_t k = 0; k < lanes; ++k) {
          low[k] = y[k] < low[k] ? y[k] : low[k];
          high[k] = high[k] < y[k] ? y[k] : high[k];
        }
      }
      for (index_t k = 0; k < lanes; ++k) {
        low_[std::size_t(j + k)] = rows_.pivot()[j + k] + low[k];
        high_[std::size_t(j + k)] = rows_.pivot()[j + k] + high[k];
      }
    }
  }

  moment_tensor_state<S>& state_;
  part_rows rows_;
  std::vector<S> powers_, low_, high_;
  packed_tensors<S> sums_;
  std::vector<panel> panels_;
  index_t sum_count_ = 0;
  std::vector<S> group_sums_, block_sums_;
};

}  // namespace cumulus::detail
