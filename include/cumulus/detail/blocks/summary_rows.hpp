// SPDX-License-Identifier: MIT
//
// The summaries of all blocks, each part contiguous, and how one block's tokens become a row of each.
// Layer 4 (blocks): uses core and moments; block_summaries owns one, block_scores reads it.
#pragma once

#include <cumulus/blocks/block_summary_options.hpp>
#include <cumulus/detail/blocks/covariance_rows.hpp>
#include <cumulus/detail/blocks/gaussian_mass.hpp>
#include <cumulus/detail/blocks/tilted_mean.hpp>
#include <cumulus/detail/core/sum_of_products.hpp>
#include <cumulus/detail/moments/packed_symmetric.hpp>
#include <span>

namespace cumulus::detail {

/// Row B of each part belongs to block B. T: float or double; computed in double, rounded once.
template <class T>
struct summary_rows {
  explicit summary_rows(const block_summary_options& options)
      : width(options.key_width),
        value_width(options.value_width),
        kept(options),
        covariance(options.covariance, width, options.rank),
        tilted_covariance(options.covariance, width, options.rank) {
    if (kept.order < 3) return;
    layout = packed_symmetric("block_summaries", width, kept.order);
    tensors.resize(std::size_t(kept.order - 2));
  }

  index_t width, value_width;
  block_summary_options kept;
  std::vector<index_t> count;
  std::vector<T> log_count;
  std::vector<T> reach;   ///< the largest |k|
  std::vector<T> radius;  ///< the largest |k - mean|
  std::vector<T> mean;
  std::vector<T> value_reach;  ///< the largest |v|, where there are values
  covariance_rows<T> covariance;
  std::vector<T> box;  ///< the largest of each coordinate, then the least
  packed_symmetric layout;
  std::vector<std::vector<T>> tensors;  ///< [p - 3]: E y^p, each component once, as layout has them
  std::vector<T> landmark, entropy;     ///< sum p k and -sum p log p, p = softmax(q0 . k)
  covariance_rows<T> tilted_covariance;
  /// The second order about q0 is constant + q . tangent + q Sigma q / 2.
  std::vector<T> tangent, constant;
  std::vector<T> submeans, correction, value_mean, value_covariance;

  [[nodiscard]] index_t blocks() const noexcept { return index_t(count.size()); }

  [[nodiscard]] index_t numbers_per_block() const noexcept {
    index_t size = width + 3 + (value_width > 0 ? 1 : 0) + covariance.size();
    if (kept.box) size += 2 * width;
    for (int p = 3; p <= kept.order; ++p) size += layout.count(p);
    if (kept.landmark) size += width + 1;
    if (kept.landmark_covariance) size += tilted_covariance.size() + width + 1;
    size += kept.submeans * width + (kept.calibration ? 1 : 0);
    if (kept.value_mean) size += value_width;
    if (kept.value_covariance) size += value_width * width;
    return size;
  }

  /// How many tokens of a block of n the submean j covers, and the first of them.
  [[nodiscard]] index_t submean_begin(index_t n, index_t j) const noexcept {
    return j * n / kept.submeans;
  }

  /// One more block, of the n >= 1 tokens with keys [n, d] and values [n, e].
  void append(const double* keys, const double* values, index_t n,
              std::span<const double> references) {
    const std::size_t d = std::size_t(width);
    const std::vector<double> k_mean = mean_of(keys, n, width);
    std::vector<double> y(keys, keys + n * width);
    double longest = 0, farthest = 0;
    for (index_t t = 0; t < n; ++t) {
      double* const row = y.data() + t * width;
      longest = max_of(longest, sum_of_products(row, row, width));
      for (std::size_t i = 0; i < d; ++i) row[i] -= k_mean[i];
      farthest = max_of(farthest, sum_of_products(row, row, width));
    }
    const double upward = 1 + double(width + 4) * 0x1p-52;
    count.push_back(n);
    log_count.push_back(T(std::log(double(n))));
    reach.push_back(rounded_up<T>(std::sqrt(longest) * upward));
    radius.push_back(
        rounded_up<T>(std::sqrt(farthest) * upward + std::sqrt(longest) * double(n + 4) * 0x1p-52));
    put(mean, k_mean);

    if (kept.order >= 3) append_tensors(y, n);
    const double root = 1 / std::sqrt(double(n));
    std::vector<double> scaled = y;
    for (double& value : scaled) value *= root;
    covariance.append(scaled.data(), n);
    if (kept.box) append_box(keys, n);
    for (index_t j = 0; j < kept.submeans; ++j) {
      const index_t from = submean_begin(n, j), size = submean_begin(n, j + 1) - from;
      put(submeans, mean_of(keys + from * width, size, width));
    }
    if (kept.landmark) append_landmark(keys, n, references);
    if (kept.calibration) append_correction(keys, n, k_mean, references);
    if (value_width > 0) append_value_reach(values, n);
    if (!kept.value_mean && !kept.value_covariance) return;
    const std::vector<double> v_mean = mean_of(values, n, value_width);
    if (kept.value_mean) put(value_mean, v_mean);
    if (!kept.value_covariance) return;
    std::vector<double> v(values, values + n * value_width), c(std::size_t(value_width) * d, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = (v[i] - v_mean[i % std::size_t(value_width)]) / double(n);
    kernels::add_product<double>(v.data(), 1, value_width, y.data(), width, c.data(), width,
                                 value_width, n, width);
    put(value_covariance, c);
  }

  void drop_last() { drop(1, false); }
  void drop_first(index_t blocks) { drop(blocks, true); }

 private:
  /// Removes the rows of the first or last `blocks` blocks.
  void drop(index_t blocks, bool first) {
    const auto shorten = [&](auto& x, index_t numbers) {
      const auto some = std::ptrdiff_t(blocks * numbers);
      first ? x.erase(x.begin(), x.begin() + some) : x.erase(x.end() - some, x.end());
    };
    shorten(count, 1);
    shorten(log_count, 1);
    shorten(reach, 1);
    shorten(radius, 1);
    shorten(mean, width);
    if (value_width > 0) shorten(value_reach, 1);
    covariance.drop(shorten);
    if (kept.box) shorten(box, 2 * width);
    for (int p = 3; p <= kept.order; ++p) shorten(tensors[std::size_t(p - 3)], layout.count(p));
    if (kept.landmark) {
      shorten(landmark, width);
      shorten(entropy, 1);
    }
    if (kept.landmark_covariance) {
      tilted_covariance.drop(shorten);
      shorten(tangent, width);
      shorten(constant, 1);
    }
    shorten(submeans, kept.submeans * width);
    if (kept.calibration) shorten(correction, 1);
    if (kept.value_mean) shorten(value_mean, value_width);
    if (kept.value_covariance) shorten(value_covariance, value_width * width);
  }

  static void put(std::vector<T>& to, const std::vector<double>& values) {
    for (const double v : values) to.push_back(T(v));
  }

  /// Zeros for no rows.
  [[nodiscard]] static std::vector<double> mean_of(const double* x, index_t n, index_t width) {
    std::vector<double> sum(std::size_t(width), 0.0);
    for (index_t t = 0; t < n; ++t) {
      for (index_t i = 0; i < width; ++i) sum[std::size_t(i)] += x[t * width + i];
    }
    for (double& s : sum) s = n > 0 ? s / double(n) : 0.0;
    return sum;
  }

  void append_value_reach(const double* values, index_t n) {
    double longest = 0;
    for (index_t t = 0; t < n; ++t) {
      const double* const v = values + t * value_width;
      longest = max_of(longest, sum_of_products(v, v, value_width));
    }
    const double upward = 1 + double(value_width + 4) * 0x1p-52;
    value_reach.push_back(rounded_up<T>(std::sqrt(longest) * upward));
  }

  void append_tensors(const std::vector<double>& y, index_t n) {
    const packed_tensors<double> products(layout), sum(layout);
    for (index_t t = 0; t < n; ++t) {
      layout.products(y.data() + t * width, kept.order, products.orders());
      for (int p = 3; p <= kept.order; ++p) {
        for (index_t j = 0; j < layout.count(p); ++j) sum[p][j] += products[p][j];
      }
    }
    for (int p = 3; p <= kept.order; ++p) {
      for (index_t j = 0; j < layout.count(p); ++j)
        tensors[std::size_t(p - 3)].push_back(T(sum[p][j] / double(n)));
    }
  }

  void append_box(const double* keys, index_t n) {
    std::vector<double> ends(keys, keys + width);  // the high ones, then the low ones
    ends.insert(ends.end(), keys, keys + width);
    double *const high = ends.data(), *const low = high + width;
    for (index_t t = 1; t < n; ++t) {
      for (index_t i = 0; i < width; ++i) {
        high[i] = max_of(high[i], keys[t * width + i]);
        low[i] = min_of(low[i], keys[t * width + i]);
      }
    }
    for (index_t i = 0; i < width; ++i) box.push_back(rounded_up<T>(high[i]));
    for (index_t i = 0; i < width; ++i) box.push_back(rounded_down<T>(low[i]));
  }

  void append_landmark(const double* keys, index_t n, std::span<const double> references) {
    const std::size_t d = std::size_t(width);
    const std::vector<double> q0 =
        mean_of(references.data(), index_t(references.size() / d), width);
    const auto [mass, p, k, h] = tilted_mean_of(keys, n, width, q0.data());
    put(landmark, k);
    entropy.push_back(T(h));
    if (!kept.landmark_covariance) return;
    std::vector<double> y(keys, keys + n * width);
    for (index_t t = 0; t < n; ++t) {
      for (std::size_t i = 0; i < d; ++i) {
        double& value = y[std::size_t(t) * d + i];
        value = (value - k[i]) * std::sqrt(p[std::size_t(t)]);
      }
    }
    tilted_covariance.append(y.data(), n);
    // k'.q + h + (q - q0) Sigma (q - q0) / 2, with Sigma as it is kept, in powers of q
    const auto sigma = tilted_covariance.matrix(blocks() - 1);
    double whole = h;
    for (std::size_t i = 0; i < d; ++i) {
      double seen = 0;
      for (std::size_t j = 0; j < d; ++j) seen += double(sigma(index_t(i), index_t(j))) * q0[j];
      tangent.push_back(T(k[i] - seen));
      whole += q0[i] * seen / 2;
    }
    constant.push_back(T(whole));
  }

  void append_correction(const double* keys, index_t n, const std::vector<double>& k_mean,
                         std::span<const double> references) {
    const index_t size = index_t(references.size()) / width;
    double sum = 0;
    for (index_t r = 0; r < size; ++r) {
      const double* const q = references.data() + r * width;
      const double m = sum_of_products(q, k_mean.data(), width);
      double v = 0;
      std::vector<T> rounded(q, q + width);
      covariance.variances(covariance.form(rounded.data()), blocks() - 1, 1, &v);
      const double log_n = std::log(double(n));
      sum += tilted_mean_of(keys, n, width, q).mass - (log_n + m + smooth_mass(log_n)(v));
    }
    correction.push_back(T(size > 0 ? sum / double(size) : 0.0));
  }
};

}  // namespace cumulus::detail
