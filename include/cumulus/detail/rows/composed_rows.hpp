// SPDX-License-Identifier: MIT
//
// Rows with weights or a sink, by the vector kernels on copies.
// Layer 1 (rows): unchecked, noexcept; allocates for rows of more than 16 KB only.
//
// Each returns false, and has written nothing, for what it leaves to the loops: weights that are none or far from 1, shares
// that may be below the normal range, results near zero, where the loops keep more digits.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/rows/gathered_row.hpp>
#include <cumulus/detail/rows/row_logarithm.hpp>
#include <cumulus/detail/rows/row_parts.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>

#if CUMULUS_VECTORS

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Copies of the elements that have a weight, and of their weights; then their terms, and the sum with the sink's.
template <class S>
class composed_row {
  using F = row_scalar<S>;

 public:
  explicit composed_row(const terms<S>& t) noexcept : t_(t), weighted_(t.weights.data != nullptr) {
    x_ = room(x_here_, x_away_);
    if (weighted_) w_ = room(w_here_, w_away_);
    if (x_ == nullptr || (weighted_ && w_ == nullptr) || (t.has_sink && !is_finite(t.sink))) return;
    F least(1), most(1);
    for (index_t i = 0; i < t.size(); ++i) {
      if (!is_kept(i)) continue;
      const F value = static_cast<F>(t.x[i]);
      x_[size_] = t.negative ? F(-value) : value;
      if (weighted_) {
        const F w = w_[size_] = static_cast<F>(t.weights[i]);
        if (!(F(0x1p-20) < w && w < F(0x1p20))) return;
        least = w < least ? w : least;
        most = most < w ? w : most;
      }
      ++size_;
    }
    if (size_ == 0) return;
    const double scale = double(t.scale);
    const F largest = best::row_largest<F>(x_, size_), smallest = best::row_smallest<F>(x_, size_);
    const double exponent = double(largest) * scale;
    const double sink = t.has_sink ? double(t.sink) : exponent;
    const double top = exponent < sink ? sink : exponent;
    const double spread =
        (top - double(smallest) * scale) + std::log(double(most / least) * double(size_));
    constexpr double normal = std::same_as<F, float> ? 80 : 700;
    if (!(spread < normal)) return;
    largest_ = largest;
    row_ = sum_row<true>(static_cast<const F*>(x_), x_, size_, scale);  // terms in place of x
    if (!row_.usable || row_.shift < F(0) || F(0) < row_.shift) return;
    if (weighted_) {
      best::jacobian_row<F>(x_, w_, x_, size_, F(0), F(0), F(1));
      total_ = best::dot_row<F>(nullptr, x_, size_, F(0));
    } else {
      total_ = row_.total();
    }
    if (t.has_sink) {
      const compensated<double> above = compensated<double>{double(t.sink), 0.0} -
                                        cumulus::detail::times_log_two(double(row_.power));
      total_ += exponential(above);
    }
    usable_ = is_finite(total_.high) && total_.high < 0x1p120;
    if constexpr (std::same_as<F, double>) usable_ = is_finite(total_.high);
  }

  [[nodiscard]] bool usable() const noexcept { return usable_; }
  [[nodiscard]] compensated<double> log_sum() const noexcept {
    return logarithm_of<F>(total_, row_.power);
  }
  [[nodiscard]] F largest() const noexcept { return largest_; }

  /// out_i = term / sum
  void share(const strided<S>& out) noexcept {
    best::divide_row<F, true>(x_, size_, total_);
    index_t next = 0;
    for (index_t i = 0; i < t_.size(); ++i) out[i] = is_kept(i) ? static_cast<S>(x_[next++]) : S(0);
  }

 private:
  static constexpr index_t here = index_t(16384 / sizeof(F));

  [[nodiscard]] F* room(F* near, scratch_array<F>& away) noexcept {
    if (t_.size() <= here) return near;
    away.allocate(t_.size());
    return away.get();
  }
  [[nodiscard]] bool is_kept(index_t i) const noexcept {
    return (t_.mask.data == nullptr || t_.mask[i]) &&
           (!weighted_ || t_.weights[i] < S(0) || S(0) < t_.weights[i] || is_nan(t_.weights[i]));
  }

  const terms<S>& t_;
  bool weighted_, usable_ = false;
  F x_here_[std::size_t(here)], w_here_[std::size_t(here)];
  scratch_array<F> x_away_, w_away_;
  F *x_ = nullptr, *w_ = nullptr;
  index_t size_ = 0;
  F largest_ = F(0);
  row_sums<F> row_;
  compensated<double> total_;
};

template <class S>
[[nodiscard]] bool composed_logsumexp(const terms<S>& t, compute_scalar<S>& result) noexcept {
  const quiet_flags flags;
  const composed_row<S> row(t);
  if (row.usable()) {
    result = compute_scalar<S>(row.log_sum().value());
    if (result < compute_scalar<S>(-1) || compute_scalar<S>(1) < result) return true;
  }
  flags.restore();
  return false;
}

template <class S>
[[nodiscard]] bool composed_softmax(const terms<S>& t, const strided<S>& out) noexcept {
  const quiet_flags flags;
  composed_row<S> row(t);
  if (row.usable()) {
    row.share(out);
    return true;
  }
  flags.restore();
  return false;
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#endif  // CUMULUS_VECTORS
