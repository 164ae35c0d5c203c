// SPDX-License-Identifier: MIT
//
// Blocks of rows into comoments: one matrix product for some rows about their own mean.
// Layer 2 (moments): uses core and kernels.
//
// Rows are moved to the mean of 256 of them, so that no sum cancels whatever the data do from one stretch to the next. 16 rows
// at a time are multiplied with plain sums, which are added to those of the 256; 16 such parts are merged plainly, what comes
// of it with its errors into the state.
#pragma once

#include <cumulus/detail/moments/centred_rows.hpp>
#include <cumulus/detail/moments/comoment_state.hpp>

namespace cumulus::detail {

template <class S>
class comoment_block {
  using part_rows = centred_rows<S>;

 public:
  comoment_block(comoment_state<S>& state, bool weighted)
      : state_(state),
        part_(state.width(), state.second_width(), capacity_for(state), weighted),
        row_at_(static_cast<std::size_t>(state.rows())),
        products_(find_rows()),
        numbers_(static_cast<std::size_t>(4 * part_.width() + 2 * products_)) {
    S* next = numbers_.data();
    const auto take = [&next](index_t n) {
      S* const taken = next;
      next += n;
      return taken;
    };
    anchor_ = take(part_.width());
    offset_ = take(part_.width());
    step_ = take(part_.width());
    factor_ = take(part_.width());
    part_products_ = take(products_);
    batch_products_ = take(products_);
  }
  comoment_block(const comoment_block&) = delete;
  comoment_block& operator=(const comoment_block&) = delete;
  ~comoment_block() = default;

  /// Rows of x, with those of v where the state has v, and their weights, ones where null.
  template <class X, class V, class W>
  void add(const strided_matrix<const X>& x, const strided_matrix<const V>& v,
           const strided<const W>& weights) {
    for (index_t first = 0; first < x.rows;) {
      index_t next = first;
      if (!part_.take(x, v, weights, next)) {
        for (index_t i = first; i < next; ++i) add_one(x, v, weights, i);
      } else if (part_.count() > 0) {
        state_.count_in(part_.count());
        multiply();
        join();
      }
      first = next;
    }
  }

  /// What has been added is in the state only after this.
  void flush() {
    if (parts_ == 0) return;
    for (index_t r = state_.width(); r < state_.rows(); ++r) {  // as the state numbers them
      const index_t place = r - state_.width() + part_.v_place();
      anchor_[r] = anchor_[place];
      offset_[r] = offset_[place];
    }
    state_.merge_sample(
        batch_weight_, anchor_, [this](index_t r) { return compensated<S>{offset_[r], S(0)}; },
        [this](index_t r, index_t c) {
          return compensated<S>{batch_products_[row_at_[std::size_t(r)] + c], S(0)};
        });
    parts_ = 0;
  }

 private:
  static constexpr index_t tile = part_rows::tile, batch = 16, panel = 12;
  [[nodiscard]] static index_t capacity_for(const comoment_state<S>& state) noexcept {
    return state.rows() <= 256 ? 256 : state.rows() <= 1024 ? 64 : 32;
  }

  template <class X, class V, class W>
  void add_one(const strided_matrix<const X>& x, const strided_matrix<const V>& v,
               const strided<const W>& weights, index_t i) {
    const index_t d = state_.width(), e = state_.second_width();
    for (index_t j = 0; j < d; ++j) factor_[j] = static_cast<S>(x.row(i)[j]);
    for (index_t j = 0; j < e; ++j) factor_[d + j] = static_cast<S>(v.row(i)[j]);
    state_.add(factor_, weights.data == nullptr ? S(1) : static_cast<S>(weights[i]));
  }

  static void zero(S* numbers, index_t n) noexcept { std::fill(numbers, numbers + n, S(0)); }
  /// a += b
  void add_to(S* a, const S* b, index_t n) const noexcept {
    kernels::add_product(part_.ones(), 1, 1, b, n, a, n, 1, 1, n);
  }

  /// The products of the rows about their mean, panel by panel, so that its sums stay in the first cache.
  void multiply() noexcept {
    for_each_panel([&](index_t place, index_t rows, index_t columns, index_t start) {
      S* const out = part_products_ + start;
      zero(out, rows * columns);
      for (index_t i = 0; i < part_.count(); i += tile) {
        kernels::add_product(part_.weighted_row(i) + place, 1, part_.width(), part_.row(i),
                             part_.width(), out, columns, rows, std::min(tile, part_.count() - i),
                             columns);
      }
    });
    add_outer(part_products_, part_.mean(), S(-part_.weight().value()));
  }

  /// products += factor h h^T
  void add_outer(S* products, const S* h, const S& factor) noexcept {
    for (index_t j = 0; j < part_.width(); ++j) factor_[j] = factor * h[j];
    for_each_panel([&](index_t place, index_t rows, index_t columns, index_t start) {
      kernels::add_product(factor_ + place, 1, 1, h, columns, products + start, columns, rows, 1,
                           columns);
    });
  }

  /// Rows of products from `place` on that are multiplied together: the columns that one of them needs, in whole vectors.
  template <class F>
  void for_each_panel(F f) const {
    const index_t d = state_.width(), e = state_.second_width();
    index_t start = 0;
    for (index_t r = 0; r < d; r += panel) {
      const index_t rows = std::min(panel, d - r), columns = part_rows::whole(r + rows);
      f(r, rows, columns, start);
      start += rows * columns;
    }
    for (index_t r = 0; r < e && d > 0; r += panel) {
      const index_t rows = std::min(panel, e - r);
      f(part_.v_place() + r, rows, part_.v_place(), start);
      start += rows * part_.v_place();
    }
  }
  /// Where the product of each row of the state and column 0 lies; returns how many products there are.
  [[nodiscard]] index_t find_rows() {
    index_t end = 0, r = 0;
    for_each_panel([&](index_t, index_t rows, index_t columns, index_t start) {
      for (index_t i = 0; i < rows; ++i, ++r) row_at_[std::size_t(r)] = start + i * columns;
      end = start + rows * columns;
    });
    return end;
  }

  void join() {
    bool near = true;
    for (index_t j = 0; j < part_.width() && parts_ > 0; ++j) {
      step_[j] = (part_.pivot()[j] - anchor_[j]) + (part_.mean()[j] - offset_[j]);
      near = near && is_finite(step_[j]);
    }
    if (!near) flush();
    if (parts_ == 0) {
      std::copy(part_.pivot(), part_.pivot() + part_.width(), anchor_);
      std::copy(part_.mean(), part_.mean() + part_.width(), offset_);
      std::swap(part_products_, batch_products_);
      batch_weight_ = part_.weight();
    } else {
      const compensated<S> total = batch_weight_ + part_.weight();
      const S part = part_.weight().value() / total.value();
      for (index_t j = 0; j < part_.width(); ++j) offset_[j] += step_[j] * part;
      add_to(batch_products_, part_products_, products_);
      add_outer(batch_products_, step_, batch_weight_.value() * part);
      batch_weight_ = total;
    }
    if (++parts_ == batch) flush();
  }

  comoment_state<S>& state_;
  part_rows part_;
  std::vector<index_t> row_at_;
  index_t products_;
  std::vector<S> numbers_;
  S *anchor_, *offset_, *step_, *factor_, *part_products_, *batch_products_;
  compensated<S> batch_weight_;
  index_t parts_ = 0;
};

}  // namespace cumulus::detail
