// SPDX-License-Identifier: MIT
//
// One query against the summaries of all blocks: its powers, and what each part says of a run of blocks.
// Layer 4 (blocks): uses core, moments and series; block_scores builds on it.
#pragma once

#include <cumulus/blocks/block_score.hpp>
#include <cumulus/blocks/block_summaries.hpp>
#include <cumulus/detail/series/power_series.hpp>
#include <array>

namespace cumulus::detail {

/// The query, scaled, and the vectors that rows of a summary are multiplied by. Blocks are taken `run` at a time.
template <class T>
class scored_query {
 public:
  static constexpr index_t run = 512;
  using buffer = std::array<double, std::size_t(run)>;

  /// Requires q of the width of the keys, and the parts that the score needs.
  template <class Q>
  scored_query(const summary_rows<T>& rows, const strided<const Q>& q, block_score score,
               double scale, bool interval)
      : rows_(rows), score_(score) {
    for (index_t i = 0; i < q.size; ++i) {
      q_.push_back(T(scale * static_cast<double>(q[i])));
      norm2_ += double(q_.back()) * double(q_.back());
    }
    if (needs_of(score).variance || score == block_score::landmark2 || interval)
      form_ = rows.covariance.form(q_.data());
    if ((score == block_score::box || interval) && rows.kept.box) {
      for (const T& x : q_) highest_.push_back(x < T(0) ? T(0) : x);
      for (const T& x : q_) highest_.push_back(x < T(0) ? x : is_nan(x) ? x : T(0));
      lowest_.assign(highest_.begin() + rows.width, highest_.end());
      lowest_.insert(lowest_.end(), highest_.begin(), highest_.begin() + rows.width);
    }
    if (score != block_score::taylor3 && score != block_score::taylor) return;
    const int top = score == block_score::taylor3 ? 3 : rows.kept.order;
    const packed_symmetric layout("block_scores", rows.width, top);
    const packed_tensors<double> terms(layout);
    layout.exponential(std::vector<double>(q_.begin(), q_.end()).data(), top, terms.orders());
    for (int p = 3; p <= top; ++p) terms_.emplace_back(terms[p], terms[p] + layout.count(p));
  }

  [[nodiscard]] double norm2() const noexcept { return norm2_; }

  void means(index_t first, index_t count, double* out) const {
    dots(rows_.mean, q_, first, count, out);
  }
  void variances(index_t first, index_t count, double* out) const {
    rows_.covariance.variances(form_, first, count, out);
  }
  void box_ends(index_t first, index_t count, double* low, double* high) const {
    dots(rows_.box, highest_, first, count, high);
    dots(rows_.box, lowest_, first, count, low);
  }
  void landmarks(index_t first, index_t count, double* out) const {
    dots(rows_.landmark, q_, first, count, out);
    for (index_t i = 0; i < count; ++i) out[i] += double(rows_.entropy[std::size_t(first + i)]);
  }
  /// By submeans: log sum_j n_j e^(q . mean_j).
  void submeans(index_t first, index_t count, double* out) const {
    const index_t parts = rows_.kept.submeans;
    buffer some;
    for (index_t i = 0; i < count; ++i) {
      const index_t B = first + i, n = rows_.count[std::size_t(B)];
      double top = -infinity<double>, sum = 0;
      for (index_t j = 0; j < parts; j += run) {
        const index_t size = std::min(run, parts - j);
        dots(rows_.submeans, q_, B * parts + j, size, some.data());
        for (index_t k = 0; k < size; ++k) {
          const double tokens =
              double(rows_.submean_begin(n, j + k + 1) - rows_.submean_begin(n, j + k));
          if (tokens == 0) continue;
          const double x = some[std::size_t(k)];
          if (x > top) {
            sum = sum * std::exp(top - x) + tokens;
            top = x;
          } else {
            sum += tokens * std::exp(x - top);
          }
        }
      }
      out[i] = top + std::log(sum);
    }
  }

  /// put(i, score) for each block first + i of a run, from their means and variances where it uses them.
  template <class Put>
  void scores(index_t first, index_t count, const double* m, const double* v, Put put) const {
    const T* const log_count = rows_.log_count.data() + first;
    const auto each = [&](auto f) {
      const double log_b = double(log_count[0]);
      if (log_count[0] == log_count[count - 1]) {  // only the last block of all can differ
        for (index_t i = 0; i < count; ++i) put(i, f(i, log_b));
      } else {
        for (index_t i = 0; i < count; ++i) put(i, f(i, double(log_count[i])));
      }
    };
    buffer out, other;
    const auto smooth = [&](auto correction) {
      auto law = smooth_mass(double(log_count[0]));
      each([&](index_t i, double log_n) {
        if (law.log_count() != log_n) law = smooth_mass(log_n);
        return log_n + m[i] + law(v[i]) + correction(i);
      });
    };
    switch (score_) {
      case block_score::pooled:
        return each([&](index_t i, double) { return m[i]; });
      case block_score::mean:
        return each([&](index_t i, double log_n) { return log_n + m[i]; });
      case block_score::taylor2:
        return each([&](index_t i, double log_n) { return log_n + m[i] + v[i] / 2; });
      case block_score::moment2:
        return each([&](index_t i, double log_n) { return log_n + m[i] + std::log1p(v[i] / 2); });
      case block_score::frozen2:
        return each(
            [&](index_t i, double log_n) { return log_n + m[i] + frozen_mass(v[i], log_n); });
      case block_score::smooth2:
        return smooth([](index_t) { return 0.0; });
      case block_score::calibrated:
        return smooth([&](index_t i) { return double(rows_.correction[std::size_t(first + i)]); });
      case block_score::taylor3:
      case block_score::taylor:
        cumulants(first, count, m, v, out.data());
        break;
      case block_score::landmark:
        landmarks(first, count, out.data());
        break;
      case block_score::landmark2:
        dots(rows_.tangent, q_, first, count, out.data());
        rows_.tilted_covariance.variances(form_, first, count, other.data());
        return each([&](index_t i, double) {
          return out[std::size_t(i)] + other[std::size_t(i)] / 2 +
                 double(rows_.constant[std::size_t(first + i)]);
        });
      case block_score::box:
        dots(rows_.box, highest_, first, count, out.data());
        return each([&](index_t i, double log_n) { return log_n + out[std::size_t(i)]; });
      case block_score::submeans:
        submeans(first, count, out.data());
        break;
    }
    for (index_t i = 0; i < count; ++i) put(i, out[std::size_t(i)]);
  }

 private:
  void dots(const std::vector<T>& from, const std::vector<T>& with, index_t first, index_t count,
            double* out) const {
    const index_t width = index_t(with.size());
    kernels::dot_rows<T>(from.data() + first * width, width, width, count, with.data(), out);
  }

  /// log b + m and the cumulant series: log sum_p m_p t^p at t = 1. m_p = E y^p / p! is the dot product of the tensor of order p
  /// with the terms q^a / a! of that order in e^(q y).
  void cumulants(index_t first, index_t count, const double* m, const double* v,
                 double* out) const {
    const std::size_t top = terms_.size() + 2;
    std::array<buffer, 6> moment;  // orders 3..8
    for (std::size_t p = 3; p <= top; ++p)
      dots(rows_.tensors[p - 3], terms_[p - 3], first, count, moment[p - 3].data());
    std::array<double, 9> a{1}, c{};
    for (index_t i = 0; i < count; ++i) {
      a[2] = v[i] / 2;
      for (std::size_t p = 3; p <= top; ++p) a[p] = moment[p - 3][std::size_t(i)];
      series_logarithm(std::span<const double>(a.data(), top + 1),
                       std::span<double>(c.data(), top + 1));
      double sum = 0;
      for (std::size_t p = 2; p <= top; ++p) sum += c[p];
      out[i] = double(rows_.log_count[std::size_t(first + i)]) + m[i] + sum;
    }
  }

  const summary_rows<T>& rows_;
  block_score score_;
  std::vector<T> q_, form_, highest_, lowest_;
  std::vector<std::vector<T>> terms_;
  double norm2_ = 0;
};

}  // namespace cumulus::detail
