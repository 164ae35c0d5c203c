// SPDX-License-Identifier: MIT
//
// log_product: the entries one by one, and as a product of exponentials where that loses nothing.
// Layer 2 (exact): uses core, loops, rows and simd.
#pragma once

#include <cumulus/core/executor.hpp>
#include <cumulus/detail/core/array_of.hpp>
#include <cumulus/detail/core/compensated.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/rows/logsumexp.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/simd/matrix_product.hpp>
#include <algorithm>
#include <limits>

namespace cumulus::detail {

/// The rows of m in the scalar that results are computed in, each contiguous: where they lie, or in a copy.
template <class W>
class contiguous_rows {
 public:
  /// `copies` even what could be read where it lies.
  template <class S>
  contiguous_rows(const strided_matrix<const S>& m, bool copies) : count_(m.rows), size_(m.cols) {
    if constexpr (std::same_as<S, W>) {
      if (!copies && m.col_stride == 1) {
        first_ = m.data;
        stride_ = m.row_stride;
        return;
      }
    }
    own_ = array_of<W>(m.rows * m.cols);
    first_ = own_.data();
    stride_ = m.cols;
    constexpr index_t tile = 32;  // of both, so that neither order of storage misses the cache
    for (index_t i0 = 0; i0 < m.rows; i0 += tile) {
      for (index_t j0 = 0; j0 < m.cols; j0 += tile) {
        for (index_t i = i0; i < m.rows && i < i0 + tile; ++i) {
          for (index_t j = j0; j < m.cols && j < j0 + tile; ++j)
            own_[i * m.cols + j] = W(m.data[i * m.row_stride + j * m.col_stride]);
        }
      }
    }
  }
  contiguous_rows(const contiguous_rows&) = delete;
  contiguous_rows& operator=(const contiguous_rows&) = delete;

  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] const W* operator[](index_t i) const noexcept { return first_ + i * stride_; }

 private:
  index_t count_, size_, stride_ = 0;
  const W* first_ = nullptr;
  array_of<W> own_;
};

/// Which rows are finite throughout.
template <class W>
[[nodiscard]] array_of<bool> finite_rows(const contiguous_rows<W>& rows) {
  array_of<bool> out(rows.count());
  for (index_t i = 0; i < rows.count(); ++i) {
    const W* const row = rows[i];
    out[i] = true;
    for (index_t k = 0; k < rows.size() && out[i]; ++k) out[i] = is_finite(row[k]);
  }
  return out;
}

/// The rounding errors of the terms a_k + b_k, weighted by their shares in e^c.
template <class W>
[[nodiscard]] W lost_in_terms(const W* a, const W* b, index_t n, const W& c) {
  using std::exp;
  W lost(0);
  for (index_t k = 0; k < n; ++k) {
    if (!is_finite(a[k]) || !is_finite(b[k])) continue;
    const compensated<W> term = two_sum(a[k], b[k]);
    if (is_finite(term.high)) lost += exp(W(term.high - c)) * term.low;
  }
  return lost;
}

/// Without a comparison of NaN, which would raise FE_INVALID.
template <class W>
[[nodiscard]] bool is_minus_infinity(const W& x) noexcept {
  return !is_nan(x) && !(-infinity<W> < x);
}

#if CUMULUS_VECTORS
/// Moves the terms that matter to the front, and returns their number: those dropped, below the largest - 50 - log n, add up to less
/// than e^-50 of the sum.
[[nodiscard]] inline index_t keep_near_terms(double* term, index_t n) noexcept {
  const double largest = kernels::best::row_largest<double>(term, n);
  if (!is_finite(largest)) return n;
  const double least = largest - 50 - std::log(double(n));
  index_t count = 0;
  for (index_t k = 0; k < n; ++k) {
    const double x = term[k];
    term[count] = x;
    count += least <= x ? 1 : 0;
  }
  return count;
}
#endif

/// A line of a or b, and whether all of it is finite.
template <class W>
struct log_line {
  const W* at;
  bool finite;
};

/// log sum_k e^{a_k + b_k}; `term` is room for n numbers. `Exact`: the terms' roundings stay within the bar at every n.
template <bool Exact, class W>
[[nodiscard]] W log_dot(const log_line<W>& left, const log_line<W>& right, index_t n, W* term) {
  const W *const a = left.at, *const b = right.at;
  if (left.finite && right.finite) {
    for (index_t k = 0; k < n; ++k) term[k] = a[k] + b[k];
  } else {
    for (index_t k = 0; k < n; ++k) {
      const bool none = is_minus_infinity(a[k]) || is_minus_infinity(b[k]);
      term[k] = none ? W(-infinity<W>) : W(a[k] + b[k]);
    }
  }
  index_t count = n;
#if CUMULUS_VECTORS
  if constexpr (std::same_as<W, double>) {
    if (n >= 16 && left.finite && right.finite) count = keep_near_terms(term, n);
  }
#endif
  const W c = kernels::logsumexp(strided<const W>{term, count, 1});
  if constexpr (Exact) {
    // A term t errs by u |t|: those of at least -2 size by u 2 size, those below together by n 2 size e^(-2 size - c) u at most.
    using std::exp;
    if (n < 8 || !is_finite(c)) return c;
    W size = absolute(c) < W(1) ? W(1) : absolute(c);
    const auto may_lose = [&] { return W(0.5) < W(double(n)) * 2 * size * exp(W(-2 * size - c)); };
    if (!may_lose()) return c;
    index_t largest = 0;
    for (index_t k = 1; k < n; ++k) largest = a[largest] + b[largest] < a[k] + b[k] ? k : largest;
    const W sizes = absolute(a[largest]) + absolute(b[largest]);
    if (size < sizes) size = sizes;
    if (may_lose()) return c + lost_in_terms(a, b, n, c);
  }
  return c;
}

/// Room for n numbers: on the stack where they are few.
template <class W>
class line_room {
 public:
  explicit line_room(index_t n) : many_(n > few ? n : 0), data_(n > few ? many_.data() : few_) {}
  line_room(const line_room&) = delete;
  line_room& operator=(const line_room&) = delete;
  [[nodiscard]] W* data() noexcept { return data_; }

 private:
  static constexpr index_t few = 1024;
  W few_[few];
  array_of<W> many_;
  W* data_;
};

#if CUMULUS_VECTORS

/// The exponentials of lines, each e^x 2^-power with 2^lift where x is its largest.
class raised_lines {
 public:
  static constexpr int lift = kernels::exp_constants<double>::lift;
  static constexpr index_t unusable = std::numeric_limits<index_t>::min();

  explicit raised_lines(index_t lines) : powers_(lines) {}

  /// Line i; false, and out of no use, where it has no number or is out of reach of the exponential.
  bool raise(index_t i, const double* x, index_t n, double* out) noexcept {
    const kernels::quiet_flags flags;
    kernels::row_sums<double> row;
    row.has_fma = active_isa_level() > 0;
    row.known = kernels::best::row_largest<double>(x, n);
    powers_[i] = unusable;
    if (is_finite(row.known)) {
      kernels::best::sum_row<double, true, true>(x, out, n, row);
      const bool whole = row.stretch_count == 1 && row.stretches[0].first == 0;
      if (row.usable && whole) powers_[i] = row.power;
    }
    if (powers_[i] != unusable) return true;
    flags.restore();
    return false;
  }
  [[nodiscard]] index_t operator[](index_t i) const noexcept { return powers_[i]; }

 private:
  array_of<index_t> powers_;
};

/// The product of exponentials: a by rows, b by columns, both in double and contiguous.
class log_product_by_blocks {
  static constexpr index_t panel = 32, tall = 48;
  // Terms of a line below 2^-1021 are 0: each takes less than 2^(lift - 1021) from a sum of at least `least`.
  static constexpr double least = 0x1p-600, raised_to_one = 0x1p-400;
  static_assert(raised_lines::lift == 200);

 public:
  static constexpr index_t grain = tall;

  log_product_by_blocks(const contiguous_rows<double>& a, const contiguous_rows<double>& b,
                        int threads, const executor& on)
      : inner_(a.size()),
        cols_(b.count()),
        a_stride_(inner_ + 8),  // rows a power of two apart share cache sets
        a_power_(a.count()),
        b_power_(cols_),
        a_(a.count() * a_stride_),
        b_((cols_ + panel - 1) / panel * panel * inner_) {
    const index_t inner = inner_;
    run_ranges(a.count(), tall, threads, on, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        double* const to = a_.data() + i * a_stride_;
        if (!a_power_.raise(i, a[i], inner, to)) std::fill(to, to + inner, 0.0);
      }
    });
    run_ranges(cols_, panel, threads, on, [&](index_t first, index_t end) {
      line_room<double> room(inner);
      for (index_t j = first; j < end; ++j) {
        if (!b_power_.raise(j, b[j], inner, room.data())) continue;
        double* const to = b_.data() + j / panel * panel * inner + j % panel;
        for (index_t k = 0; k < inner; ++k) to[k * panel] = room.data()[k];
      }
    });
  }

  /// Entries of rows first to end: give(i, j, value), or one_by_one(i, j) where the sum may have lost terms.
  template <class Give, class OneByOne>
  void entries(index_t first, index_t end, const Give& give, const OneByOne& one_by_one) const {
    double sum[tall * panel], log[panel];
    for (index_t i0 = first; i0 < end; i0 += tall) {
      const index_t count = end - i0 < tall ? end - i0 : tall;
      for (index_t j0 = 0; j0 < cols_; j0 += panel) {
        const index_t width = cols_ - j0 < panel ? cols_ - j0 : panel;
        std::fill(sum, sum + count * panel, 0.0);
        kernels::add_product<double>(a_.data() + i0 * a_stride_, a_stride_, 1,
                                     b_.data() + j0 * inner_, panel, sum, panel, count, inner_,
                                     panel);
        for (index_t r = 0; r < count; ++r)
          row_entries(i0 + r, j0, width, sum + r * panel, log, give, one_by_one);
      }
    }
  }

 private:
  template <class Give, class OneByOne>
  void row_entries(index_t i, index_t j0, index_t width, double* sum, double* log, const Give& give,
                   const OneByOne& one_by_one) const {
    constexpr double log_two = 0x1.62e43p-1, log_two_rest = -0x1.05c610ca86c39p-29;
    bool sure[panel];
    for (index_t j = 0; j < width; ++j) {
      sure[j] = least <= sum[j] && sum[j] < infinity<double>;
      sum[j] = sure[j] ? sum[j] * raised_to_one : 1.0;
    }
    kernels::best::log_row<double>(sum, width, 0.0, log);
    for (index_t j = 0; j < width; ++j) {
      const index_t a = a_power_[i], b = b_power_[j0 + j];
      if (!sure[j] || a == raised_lines::unusable || b == raised_lines::unusable) {
        one_by_one(i, j0 + j);
        continue;
      }
      const index_t power = a + b + 2 * raised_lines::lift;
      if (-8 < log[j]) {
        const double n = double(power);
        const compensated<double> value = two_sum(n * log_two, log[j]);
        give(i, j0 + j, value.high + (value.low + n * log_two_rest));
      } else {
        give(i, j0 + j, kernels::logarithm_of<double>({sum[j], 0.0}, power).value());
      }
    }
  }

  index_t inner_, cols_, a_stride_;
  raised_lines a_power_, b_power_;
  array_of<double> a_, b_;
};

#endif

/// out_ij = log sum_k e^{a_ik + b_kj}. Requires shapes that fit. out may overlap a and b.
template <class S>
void log_product_into(const strided_matrix<const S>& a, const strided_matrix<const S>& b,
                      const strided_matrix<S>& out, int threads, const executor& on) {
  using W = compute_scalar<S>;
  const index_t rows = a.rows, inner = a.cols, cols = b.cols;
  if (rows == 0 || cols == 0) return;
  const contiguous_rows<W> left(a, memory_of(a).meets(memory_of(out))),
      right(b.transposed(), memory_of(b).meets(memory_of(out)));
  const auto give = [&](index_t i, index_t j, const W& value) {
    out.data[i * out.row_stride + j * out.col_stride] = S(value);
  };
  const array_of<bool> left_finite = finite_rows(left), right_finite = finite_rows(right);
  // where S is not W, its one rounding hides those of the terms
  const auto sum_at = [&](index_t i, index_t j, W* room) {
    const log_line<W> row{left[i], left_finite[i]}, column{right[j], right_finite[j]};
    give(i, j, log_dot<std::same_as<S, W>>(row, column, inner, room));
  };
#if CUMULUS_VECTORS
  if constexpr (std::same_as<W, double>) {
    constexpr index_t few = 4, many = index_t(1) << 32;
    if (rows >= few && cols >= few && inner >= few && inner < many) {
      const log_product_by_blocks product(left, right, threads, on);
      run_ranges(rows, product.grain, threads, on, [&](index_t first, index_t end) {
        line_room<W> room(inner);
        product.entries(first, end, give, [&](index_t i, index_t j) { sum_at(i, j, room.data()); });
      });
      return;
    }
  }
#endif
  run_ranges(rows, 1, threads, on, [&](index_t first, index_t end) {
    line_room<W> room(inner);
    for (index_t i = first; i < end; ++i) {
      for (index_t j = 0; j < cols; ++j) sum_at(i, j, room.data());
    }
  });
}

}  // namespace cumulus::detail
