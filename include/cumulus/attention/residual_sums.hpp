// SPDX-License-Identifier: MIT
//
// Linear attention over what a selection left out, by subtraction: the sums of all keys less those of the selected ones.
// Layer 5 (attention): uses core and moments.
//
// For a positive kernel f(q, k) = φ(q)·φ(k) the sums S = Σ φ(k) [v; 1] of all keys are one state, and Σ f(q, k) [v; 1] over the keys
// that were not selected is φ(q)·S less the same sum over those that were, which are read anyway. Numerators and denominators are
// subtracted, never averages.
#pragma once

#include <cumulus/attention/attention_result.hpp>
#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/blocks/score_scale.hpp>
#include <cumulus/detail/moments/packed_symmetric.hpp>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cumulus {

/// f(q, k), a stand-in for e^{s q·k}.
enum class residual_kernel {
  softmax_pair,  ///< φ(x) = [softmax(x), softmax(-x)]: 2d features, as in RAttention, which trains the model with them
  taylor2,  ///< e^{s q·c} (1 + u + u²/2), u = s q·(k - c): (d + 1)(d + 2)/2 features; no learning needed
};

/// The name of an enumerator, as written in the source.
[[nodiscard]] constexpr const char* name_of(residual_kernel kernel) noexcept {
  switch (kernel) {
    case residual_kernel::softmax_pair:
      return "softmax_pair";
    case residual_kernel::taylor2:
      return "taylor2";
  }
  return "?";
}

/// The options of residual_sums.
struct residual_sums_options {
  std::optional<double>
      scale{};  ///< s, finite; 1 / sqrt(d) if not given. softmax_pair does not use it
  /// The kernel f.
  residual_kernel kernel = residual_kernel::taylor2;
  std::vector<double> centre{};  ///< c: [d], zeros if not given; softmax_pair does not use it
};

/// Σ φ(k) [v; 1] over the keys added, about a fixed centre c.
///
/// Shape    keys: width d; values: width e. State: (features)(e + 1) doubles.
/// Edges    a key or value that is not finite leaves NaN. Empty, or where all f(q, k) vanish: log-sum-exp -inf, output zeros.
/// Error    plain double sums: n u relative to the sum over all keys, so that `rest` loses the digits that the selected keys' share
///          takes from 1; where less than a share of 1e-3 is left (1e-5 for keys of float and the half types) it adds the others
///          directly.
/// Cost     a key: features (e + 1) multiply-adds; a query the same, and for each selected key d + e, of softmax_pair 2d + e and
///          2d exponentials; where the others are added directly, as much for each of those.
/// Source   B. Wang et al., arXiv 2601.22379 (SPLA: residual linear attention by subtraction); its parent RAttention for
///          softmax_pair; S. Arora et al., arXiv 2402.18668 (Based) for 1 + u + u²/2.
class residual_sums {
 public:
  /// Empty sums for keys and values of these widths.
  residual_sums(index_t key_width, index_t value_width, const residual_sums_options& options = {})
      : d_(checked("key_width", key_width)),
        e_(checked("value_width", value_width)),
        kernel_(options.kernel),
        layout_("residual_sums", d_, kernel_ == residual_kernel::taylor2 ? 2 : 0),
        scale_(detail::score_scale(options.scale, d_)),
        centre_(options.centre) {
    detail::require_scale("residual_sums", options.scale);
    if (!centre_.empty())
      detail::require_same_size("residual_sums", "a key", d_, "centre", index_t(centre_.size()));
    centre_.resize(std::size_t(d_));
    sums_.resize(std::size_t(features() * (e_ + 1)));
  }

  /// The width d of a key.
  [[nodiscard]] index_t key_width() const noexcept { return d_; }
  /// The width e of a value.
  [[nodiscard]] index_t value_width() const noexcept { return e_; }
  /// The number of features of a key.
  [[nodiscard]] index_t features() const noexcept {
    return kernel_ == residual_kernel::softmax_pair ? 2 * d_ : 1 + d_ + layout_.count(2);
  }
  /// The number of keys added.
  [[nodiscard]] index_t size() const noexcept { return count_; }
  /// The memory of the sums, in bytes.
  [[nodiscard]] index_t bytes() const noexcept { return index_t(sums_.size() * sizeof(double)); }

  /// Rows first .. end-1 of keys and values.
  template <class T>
  void add(const token_rows<T>& keys, const token_rows<T>& values, index_t first, index_t end) {
    require_widths("residual_sums::add", keys, values);
    require_range("residual_sums::add", first, end, keys.size());
    std::vector<double> phi(std::size_t(features()), 0.0);
    for (index_t t = first; t < end; ++t) {
      key_features(keys.row(t), phi.data());
      const T* v = values.row(t);
      for (index_t i = 0; i < features(); ++i) {
        double* sum = &sums_[std::size_t(i * (e_ + 1))];
        const double p = phi[std::size_t(i)];
        for (index_t j = 0; j < e_; ++j) sum[j] += p * static_cast<double>(v[j]);
        sum[e_] += p;
      }
    }
    count_ += end - first;
  }

  /// The keys added that lie in none of the ranges `selected`, which are disjoint, in order, and were all added.
  ///
  /// Requires `keys` and `values` that begin with those added, in the same order; fewer, and ranges that are not as said, are
  /// refused.
  template <real_vector Q, class T>
  [[nodiscard]] attention_result<double> rest(
      const Q& query, const token_rows<T>& keys, const token_rows<T>& values,
      std::span<const std::pair<index_t, index_t>> selected) const {
    const char* const name = "residual_sums::rest";
    const detail::operand<scalar_of<Q>> held(query);
    const auto q = held.view();
    detail::require_same_size(name, "a key of the sums", d_, "the query", q.size);
    const index_t left = require_rest(keys, values, selected);
    std::vector<double> query_phi(std::size_t(features()), 0.0), phi(std::size_t(2 * d_), 0.0),
        sum(std::size_t(e_ + 1), 0.0);
    auto part = attention_result<double>::none(1, e_);
    if (left == 0) return part;
    const double shift = query_features(q, query_phi.data());
    const auto gather = [&](index_t first, index_t end, double sign) {
      for (index_t t = first; t < end; ++t) {
        const double f = kernel_value(keys.row(t), query_phi.data(), phi.data());
        const T* v = values.row(t);
        for (index_t j = 0; j < e_; ++j)
          sum[std::size_t(j)] += sign * f * static_cast<double>(v[j]);
        sum[std::size_t(e_)] += sign * f;
      }
    };
    for (index_t i = 0; i < features(); ++i) {
      const double* s = &sums_[std::size_t(i * (e_ + 1))];
      for (index_t j = 0; j <= e_; ++j) sum[std::size_t(j)] += query_phi[std::size_t(i)] * s[j];
    }
    const double all = sum[std::size_t(e_)];
    for (const auto& [first, end] : selected) gather(first, end, -1);
    if (detail::is_nan(sum[std::size_t(e_)]) || !(sum[std::size_t(e_)] > least_share<T> * all)) {
      std::fill(sum.begin(), sum.end(), 0.0);
      index_t from = 0;
      for (const auto& [first, end] : selected) {
        gather(from, first, 1);
        from = end;
      }
      gather(from, count_, 1);
    }
    const double total = sum[std::size_t(e_)];
    if (!detail::is_nan(total) && !(total > 0)) return part;
    part.logsumexp[0] = std::log(total) + shift;
    for (index_t j = 0; j < e_; ++j) part.output(0, j) = sum[std::size_t(j)] / total;
    return part;
  }

 private:
  /// Where the rest holds less than this share of all sums, it is added directly: the subtraction would cost 3 of a double's 16
  /// digits, or 5 where a float is returned.
  template <class T>
  static constexpr double least_share = std::same_as<T, double> ? 1e-3 : 1e-5;

  static index_t checked(const char* what, index_t width) {
    if (width < 1) detail::refuse({"residual_sums: ", what, " is ", width, "; give 1 or more"});
    return width;
  }
  template <class T>
  void require_widths(const char* function, const token_rows<T>& keys,
                      const token_rows<T>& values) const {
    detail::require_same_size(function, "a key of the sums", d_, "a key", keys.width());
    detail::require_same_size(function, "a value of the sums", e_, "a value", values.width());
    detail::require_same_size(function, "keys", keys.size(), "values", values.size());
  }
  /// How many of the keys added lie in none of the ranges.
  template <class T>
  index_t require_rest(const token_rows<T>& keys, const token_rows<T>& values,
                       std::span<const std::pair<index_t, index_t>> selected) const {
    const char* const name = "residual_sums::rest";
    require_widths(name, keys, values);
    if (keys.size() < count_)
      detail::refuse({name, ": ", keys.size(), " keys, but the sums are of ", count_,
                      "; give the keys that were added"});
    index_t left = count_, before = 0;
    for (const auto& [first, end] : selected) {
      require_range(name, first, end, count_);
      if (first < before)
        detail::refuse({name, ": rows from ", first, " on follow rows up to ", before,
                        "; give ranges in order that do not meet"});
      before = end;
      left -= end - first;
    }
    return left;
  }
  static void require_range(const char* function, index_t first, index_t end, index_t size) {
    if (first < 0 || end < first || size < end)
      detail::refuse({function, ": rows ", first, "..", end, ", but there are ", size,
                      "; give a range within them"});
  }

  template <class Key>
  void key_features(const Key& k, double* phi) const {
    if (kernel_ == residual_kernel::softmax_pair) {
      half_softmax(k, 1, phi);
      half_softmax(k, -1, phi + d_);
      return;
    }
    phi[0] = 1;
    for (index_t i = 0; i < d_; ++i)
      phi[1 + i] = static_cast<double>(k[i]) - centre_[std::size_t(i)];
    double* const orders[]{phi, phi + 1, phi + 1 + d_};
    layout_.products(phi + 1, 2, orders);
  }

  /// φ(q)·φ(k) from φ(q), in 2d numbers of scratch. Of taylor2, ((1 + u)² + 1) / 2: never negative.
  template <class T>
  double kernel_value(const T* k, const double* query, double* scratch) const {
    double f = 0;
    if (kernel_ == residual_kernel::softmax_pair) {
      key_features(k, scratch);
      for (index_t i = 0; i < 2 * d_; ++i) f += query[i] * scratch[i];
      return f;
    }
    for (index_t i = 0; i < d_; ++i)
      f += query[1 + i] * (static_cast<double>(k[i]) - centre_[std::size_t(i)]);
    return 1 + f + f * f / 2;
  }

  /// φ(q), and the logarithm of a factor that is left out of it.
  template <class Query>
  double query_features(const Query& q, double* phi) const {
    if (kernel_ == residual_kernel::softmax_pair) {
      key_features(q, phi);
      return 0;
    }
    double shift = 0;
    for (index_t i = 0; i < d_; ++i) {
      phi[1 + i] = scale_ * static_cast<double>(q[i]);
      shift += phi[1 + i] * centre_[std::size_t(i)];
    }
    double* const orders[]{phi, phi + 1, phi + 1 + d_};
    layout_.exponential(phi + 1, 2, orders);
    return shift;
  }

  template <class X>
  void half_softmax(const X& x, double sign, double* out) const {
    double top = -detail::infinity<double>, total = 0;
    for (index_t i = 0; i < d_; ++i) top = std::max(top, sign * static_cast<double>(x[i]));
    for (index_t i = 0; i < d_; ++i)
      total += out[i] = std::exp(sign * static_cast<double>(x[i]) - top);
    for (index_t i = 0; i < d_; ++i) out[i] /= total;
  }

  index_t d_, e_;
  residual_kernel kernel_;
  detail::packed_symmetric layout_;  // of taylor2
  double scale_;
  std::vector<double> centre_, sums_;
  index_t count_ = 0;
};

}  // namespace cumulus
