// SPDX-License-Identifier: MIT
//
// The covariance of each block, by kind, contiguous, and the variance that a query sees through it.
// Layer 4 (blocks): uses core.
#pragma once

#include <cumulus/blocks/block_summary_options.hpp>
#include <cumulus/detail/blocks/outward.hpp>
#include <cumulus/detail/blocks/principal_factors.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <Eigen/Core>
#include <algorithm>

namespace cumulus::detail {

/// Sigma of one block after the other. T: float or double.
template <class T>
class covariance_rows {
 public:
  covariance_rows(covariance_kind kind, index_t d, index_t rank)
      : kind_(kind), d_(d), rank_(kind == covariance_kind::low_rank ? rank : 0) {}

  [[nodiscard]] covariance_kind kind() const noexcept { return kind_; }
  [[nodiscard]] index_t rank() const noexcept { return rank_; }

  /// Numbers a block, the trace and the bound of the rest among them.
  [[nodiscard]] index_t size() const noexcept { return row_width() + rank_ * d_ + 1 + (rank_ > 0); }

  /// Sigma = Y^T Y of the rows y [n, d], centred and scaled by the root of their weights.
  void append(const double* y, index_t n) {
    const std::size_t d = std::size_t(d_);
    std::vector<double> variance(d, 0.0);
    for (index_t t = 0; t < n; ++t) {
      for (std::size_t i = 0; i < d; ++i) {
        const double value = y[std::size_t(t) * d + i];
        variance[i] += value * value;
      }
    }
    double trace = 0;
    for (const double v : variance) trace += v;
    trace *= 1 + double(n + d_) * 0x1p-52;
    if (!is_nan(trace) && trace < 1e-280 &&
        std::any_of(y, y + n * d_, [](double x) { return x != 0; }))
      trace += double(n * d_) * std::numeric_limits<double>::denorm_min();  // squares that vanished
    trace_.push_back(rounded_up<T>(trace));
    if (kind_ == covariance_kind::diagonal) {
      for (const double v : variance) rows_.push_back(T(v));
    } else if (kind_ == covariance_kind::full) {
      const std::vector<double> sigma = product(y, n);
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j <= i; ++j) rows_.push_back(T(sigma[i * d + j]));
      }
    } else if (kind_ == covariance_kind::low_rank) {
      append_factors(y, n);
    }
  }

  /// Removes the numbers of some blocks: shorten(vector, numbers a block).
  template <class Shorten>
  void drop(Shorten shorten) {
    shorten(trace_, 1);
    shorten(rows_, row_width());
    shorten(factors_, rank_ * d_);
    if (rank_ > 0) shorten(unseen_, 1);
  }

  /// What variances() multiplies by: the powers of q that this kind needs, twice those that Sigma has twice.
  [[nodiscard]] std::vector<T> form(const T* q) const {
    std::vector<T> f;
    if (kind_ == covariance_kind::none) return f;
    for (index_t i = 0; i < d_; ++i) {
      for (index_t j = first_of(i); j <= i; ++j)
        f.push_back(T((i == j ? 1.0 : 2.0) * double(q[i]) * double(q[j])));
    }
    f.insert(f.end(), q, q + d_);
    return f;
  }

  /// out_i = q^T Sigma q of block first + i, never negative; 0 where no covariance is kept. Inf or NaN where it overflows.
  void variances(const std::vector<T>& form, index_t first, index_t count, double* out) const {
    if (kind_ == covariance_kind::none) return static_cast<void>(std::fill_n(out, count, 0.0));
    const index_t width = row_width();
    kernels::dot_rows<T>(rows_.data() + first * width, width, width, count, form.data(), out);
    if (kind_ == covariance_kind::full) {
      for (index_t i = 0; i < count; ++i) {
        if (out[i] < 0) out[i] = is_finite(out[i]) ? 0 : quiet_nan<double>;
      }
    }
    if (rank_ == 0) return;
    constexpr index_t room = 1024;
    double along[room];
    const index_t step = room / rank_;
    for (index_t i = 0; i < count; i += step) {
      const index_t some = std::min(step, count - i);
      kernels::dot_rows<T>(factors_.data() + (first + i) * rank_ * d_, d_, d_, some * rank_,
                           form.data() + width, along);
      const double* a = along;
      for (index_t k = 0; k < some; ++k, a += rank_) {
        double even = 0, odd = 0;
        index_t j = 0;
        for (; j + 1 < rank_; j += 2) {
          even += a[j] * a[j];
          odd += a[j + 1] * a[j + 1];
        }
        if (j < rank_) even += a[j] * a[j];
        out[i + k] += even + odd;
      }
    }
  }

  /// The ends between which the true q^T Sigma q of block B lies, from v = variances(..), |q|^2 and the
  /// error that the keys' rounding may have left in Sigma, all directions. Where v overflowed, those without it.
  void variance_range(index_t B, double v, double norm2, double error, double& low,
                      double& high) const {
    const double trace = double(trace_[std::size_t(B)]);
    // two dot products of this width, their factors rounded to T as well
    error += norm2 * trace * unit_roundoff<double> * 8;
    error += norm2 * trace * double(unit_roundoff<T>) *
             double(2 * kernels::dot_rows_max_roundings(std::max(row_width(), d_)) + 8);
    const double vanished = vanished_at_most(norm2, trace);
    const covariance_kind kind = is_finite(v) ? kind_ : covariance_kind::none;
    low = 0;
    high = norm2 * trace;
    if (kind == covariance_kind::full) {
      low = v - vanished - error;
      high = std::min(high, v + vanished);
    } else if (kind == covariance_kind::diagonal) {
      high = std::min(high, double(d_) * (v + vanished));  // (sum |q_i| s_i)^2 <= d sum q_i^2 s_i^2
    } else if (kind == covariance_kind::low_rank) {
      const double unseen = norm2 * double(unseen_[std::size_t(B)]);
      low = v - unseen - vanished - error;  // the diagonal of the rest, in v, is at most unseen
      high = std::min(high, v + unseen + vanished);
    }
    high += error;
    if (is_nan(high)) high = infinity<double>;
    low = low > 0 ? low : 0.0;
  }

  /// Sigma of block B as it is kept, [d, d]; zeros where it is not.
  [[nodiscard]] Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix(index_t B) const {
    using dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    dense sigma = dense::Zero(d_, d_);
    if (kind_ == covariance_kind::none) return sigma;
    const T* row = rows_.data() + B * row_width();
    for (index_t i = 0; i < d_; ++i) {
      for (index_t j = first_of(i); j <= i; ++j) sigma(i, j) = sigma(j, i) = *row++;
    }
    for (index_t k = 0; k < rank_; ++k) {
      const T* const f = factors(B) + k * d_;
      for (index_t j = 0; j < d_; ++j) {
        for (index_t i = 0; i < d_; ++i) sigma(i, j) += f[i] * f[j];
      }
    }
    return sigma;
  }

  /// The variances [d] of the kinds that keep a diagonal, that of the rest for low_rank.
  [[nodiscard]] const T* diagonal(index_t B) const noexcept {
    return rows_.data() + B * row_width();
  }
  [[nodiscard]] const T* factors(index_t B) const noexcept {
    return factors_.data() + B * rank_ * d_;
  }

 private:
  /// What v may lack where numbers or products of T lost digits below the least normal one. Of Sigma as kept, of the form
  /// and of products, in turn: (sum |q_i|)^2 <= d |q|^2, sum |Sigma_ij| <= d tr Sigma, and d^2 numbers. A factor f leaves a
  /// in q . f and so 2 |q . f| a + a^2, where sum (q . f)^2 <= |q|^2 tr Sigma.
  [[nodiscard]] double vanished_at_most(double norm2, double trace) const noexcept {
    const double d = double(d_), least = lost_below_normal<T>;
    double lost = least * d * (norm2 + trace + d);
    if (rank_ > 0) {
      const double a = least * (std::sqrt(d * norm2) + d) * std::sqrt(double(rank_));
      lost += a * (2 * std::sqrt(norm2) * std::sqrt(trace) + a);
    }
    return lost;
  }

  /// The lower triangle row by row where the whole is kept, as packed_symmetric has order 2, or its diagonal: where row i begins.
  [[nodiscard]] index_t first_of(index_t i) const noexcept {
    return kind_ == covariance_kind::full ? 0 : i;
  }
  [[nodiscard]] index_t row_width() const noexcept {
    return kind_ == covariance_kind::none   ? 0
           : kind_ == covariance_kind::full ? d_ * (d_ + 1) / 2
                                            : d_;
  }

  [[nodiscard]] std::vector<double> product(const double* y, index_t n) const {
    std::vector<double> sigma(std::size_t(d_ * d_), 0.0);
    kernels::add_product<double>(y, 1, d_, y, d_, sigma.data(), d_, d_, n, d_);
    return sigma;
  }

  void append_factors(const double* rows, index_t n) {
    const std::size_t d = std::size_t(d_);
    double top = 0;
    for (index_t i = 0; i < n * d_; ++i) top = max_of(top, absolute(rows[i]));
    // near 1, so that fourth powers neither vanish nor overflow
    const int exponent =
        is_finite(top) && top > 0 ? std::clamp(binary_exponent(top), -1022, 1022) : 0;
    const double factor = times_power_of_two(1.0, -exponent);
    std::vector<double> scaled(rows, rows + n * d_);
    for (double& value : scaled) value *= factor;
    const double* const y = scaled.data();
    std::vector<double> f(std::size_t(rank_) * d), minus(f.size());
    principal_factors(y, n, d_, rank_, f.data());
    std::vector<double> rest = product(y, n), square(d * d, 0.0);
    double trace = 0;
    for (std::size_t i = 0; i < d; ++i) trace += rest[i * d + i];
    for (std::size_t k = 0; k < f.size(); ++k) {
      factors_.push_back(T(times_power_of_two(f[k], exponent)));
      minus[k] = -f[k];
    }
    kernels::add_product<double>(minus.data(), 1, d_, f.data(), d_, rest.data(), d_, d_, rank_, d_);
    for (std::size_t i = 0; i < d; ++i) {
      const double left = rest[i * d + i];
      rows_.push_back(T(left < 0 ? 0.0 : times_power_of_two(left, 2 * exponent)));
    }
    // the largest eigenvalue of the rest R is at most (tr R^4)^(1/4)
    kernels::add_product<double>(rest.data(), d_, 1, rest.data(), d_, square.data(), d_, d_, d_,
                                 d_);
    double sum = 0;
    for (const double x : square) sum += x * x;
    const double largest = std::sqrt(std::sqrt(sum)) * (1 + double(n + d_) * 0x1p-50) +
                           trace * double(n + d_) * 0x1p-50;
    // the least number more, for what scaling back may round off
    unseen_.push_back(rounded_up<T>(times_power_of_two(largest, 2 * exponent) +
                                    (largest > 0 ? std::numeric_limits<double>::denorm_min() : 0)));
  }

  covariance_kind kind_;
  index_t d_, rank_;
  std::vector<T> trace_, rows_, factors_, unseen_;
};

}  // namespace cumulus::detail
