// SPDX-License-Identifier: MIT
//
// Softmax attention by positive random features (the Performer): unbiased in every weight, at no order.
// Layer 5 (attention): uses core, kernels and moments.
//
//     e^{q k} = E_w e^{w q - |q|^2/2} e^{w k - |k|^2/2},  w of independent N(0, 1) entries
#pragma once

#include <cumulus/attention/linear.hpp>
#include <cumulus/detail/simd/dot_rows.hpp>
#include <cumulus/detail/moments/orthonormal_rows.hpp>
#include <random>

namespace cumulus {

/// A sample of directions w, and the features of queries and keys in them.
///
/// The factor e^{|w|^2/2} of each direction is moved from the key, e^{-|w - k|^2/2}, which so cannot overflow, to the query,
/// whose features are relative to their largest.
template <class T>
class positive_random_features {
 public:
  /// `count` directions of width d. Orthogonal: in groups of d that are so, each as long as a normal vector, which lowers the
  /// variance. The same seed gives the same directions.
  positive_random_features(index_t d, index_t count, std::uint64_t seed, bool orthogonal)
      : d_(d), count_(count) {
    if (d < 1 || count < 1)
      detail::refuse({"positive_random_features: ", count, " features of width ", d, "; at least 1"});
    std::mt19937_64 engine(seed);
    const auto uniform = [&] { return (double(engine() >> 11) + 0.5) * 0x1p-53; };
    const auto normal = [&] {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      return radius * std::cos(2 * 3.14159265358979323846 * uniform());
    };
    std::vector<double> w(std::size_t(count * d));
    for (double& x : w) x = normal();
    const auto row = [&](index_t r) { return w.data() + r * d; };
    for (index_t r = 0; r < count && orthogonal; r += d)
      detail::orthonormalise_rows(row(r), std::min(d, count - r), d);
    for (index_t r = 0; r < count && orthogonal; ++r) {
      double square = 0;
      for (index_t i = 0; i < d; ++i) {
        const double x = normal();
        square += x * x;
      }
      const double length = std::sqrt(square);
      for (index_t i = 0; i < d; ++i) row(r)[i] *= length;
    }
    for (index_t r = 0; r < count; ++r)
      half_squares_.push_back(detail::sum_of_products(row(r), row(r), d) / 2);
    directions_.assign(w.begin(), w.end());
    dots_.resize(std::size_t(count));
  }

  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t width() const noexcept { return d_; }
  [[nodiscard]] std::span<const T> direction(index_t r) const noexcept {
    return {directions_.data() + r * d_, std::size_t(d_)};
  }

  /// e^{-|w - k|^2/2} for every direction w.
  void of_key(const T* k, T* out) { features(k, C(-1), out); }
  /// e^{w q - |q|^2/2 + |w|^2/2} / the largest of them; returns the logarithm of the largest.
  detail::compute_scalar<T> of_query(const T* q, T* out) { return features(q, C(1), out); }

 private:
  using C = detail::compute_scalar<T>;

  C features(const T* x, C sign, T* out) {
    const C half = C(detail::kernels::dot_product(x, x, d_)) / C(2);
    detail::kernels::dot_rows(directions_.data(), d_, d_, count_, x, dots_.data());
    C top = C(0);
    for (index_t r = 0; r < count_; ++r) {
      C& exponent = dots_[std::size_t(r)];
      exponent += sign * C(half_squares_[std::size_t(r)]) - half;
      if (sign > C(0) && (r == 0 || top < exponent)) top = exponent;
    }
    for (index_t r = 0; r < count_; ++r) out[r] = T(detail::exponential(C(dots_[std::size_t(r)] - top)));
    return top;
  }

  index_t d_, count_;
  std::vector<T> directions_;
  std::vector<double> half_squares_;
  std::vector<C> dots_;
};

struct performer_options {
  index_t features = 0;  ///< 0: the published d log d
  std::uint64_t seed = 1;
  bool orthogonal = true;
  bool causal = false;            ///< query i sees the keys 0 .. m - n + i
  std::optional<double> scale{};  ///< at least 0; 1 / sqrt(d) if not given
};

/// Attention with the weights of positive random features.
///
/// Shape   queries [n, d], keys [m, d], values [m, e]: one head.
/// Edges   refused: shapes that do not fit, a query without a key, a width of 0, features below 0, a scale below 0 or not
///         finite. Where all weights of a query underflow its mass is 0, and status says so.
/// Error   of a weight, relative and in the mean square: sqrt((e^{|q + k|^2} - 1) / features) for independent directions,
///         q and k times the root of the scale; orthogonal ones do better. Centred keys, k less their mean, make it smaller and
///         leave softmax as it is.
/// Cost    2 features (d + e) operations a token, and for causal queries those of 64 keys by their features.
/// Source  K. Choromanski et al., "Rethinking Attention with Performers", arXiv 2009.14794.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] auto performer_attention(const Q& queries, const K& keys, const V& values,
                                       const performer_options& o = {}) {
  using T = detail::attention_scalar<result_of<Q>>;
  using C = detail::compute_scalar<T>;
  const char* const name = "performer_attention";
  const token_rows<T> q(queries), k(keys), v(values);
  const index_t n = q.size(), m = k.size(), d = q.width(), e = v.width();
  detail::require_same_size(name, "a query", d, "a key", k.width());
  detail::require_same_size(name, "keys", m, "values", v.size());
  if (n > 0 && (m == 0 || (o.causal && n > m)))
    detail::refuse({name, ": ", n, " queries, but ", m, " keys; each needs one"});
  if (d < 1 || o.features < 0)
    detail::refuse({name, ": ", o.features, " features of width ", d, "; at least 0, of width 1"});
  if (o.scale && !(*o.scale >= 0 && detail::is_finite(*o.scale)))
    detail::refuse({name, ": a scale of ", *o.scale, "; its root multiplies queries and keys"});
  const index_t count =
      o.features > 0 ? o.features : std::max(index_t(double(d) * std::log(double(d))), index_t(1));
  positive_random_features<T> map(d, count, o.seed, o.orthogonal);
  const T root = T(std::sqrt(o.scale ? *o.scale : 1 / std::sqrt(double(d))));

  linear_attention_result<T> result;
  result.output = decltype(result.output)::Zero(n, e);
  result.log_sum_exp.resize(n, 1);
  result.status.setConstant(n, 1, linear_status::positive);
  constexpr index_t chunk = 64;
  const auto room = [](index_t size) { return detail::aligned_vector<T>(std::size_t(size), T(0)); };
  auto sums = room(count), sums_low = room(count), one = room(count);
  auto totals = room(count * e), totals_low = room(count * e), tile = room(count * e);
  auto features = room(chunk * count), open = room(chunk * e);  // of the keys that wait
  auto scaled = room(d), weight = room(chunk);
  std::vector<C> dots(static_cast<std::size_t>(chunk));

  const auto take = [&](index_t t, index_t size) {
    for (index_t j = 0; j < size; ++j) {
      detail::kernels::scale_row(k.row(t + j), root, scaled.data(), d);
      map.of_key(scaled.data(), features.data() + j * count);
      std::copy_n(v.row(t + j), e, open.data() + j * e);
    }
  };
  const auto fold = [&](index_t size) {
    std::fill(tile.begin(), tile.end(), T(0));
    detail::kernels::add_product(features.data(), index_t(1), count, open.data(), e, tile.data(), e, count,
                         size, e);
    detail::kernels::fold_row(tile.data(), T(1), totals.data(), totals_low.data(), count * e);
    std::fill(one.begin(), one.end(), T(0));
    for (index_t j = 0; j < size; ++j)
      detail::kernels::add_row(features.data() + j * count, T(1), one.data(), count);
    detail::kernels::fold_row(one.data(), T(1), sums.data(), sums_low.data(), count);
  };
  const auto answer = [&](index_t i, index_t visible) {
    detail::kernels::scale_row(q.row(i), root, scaled.data(), d);
    const C top = map.of_query(scaled.data(), one.data());
    C mass(detail::kernels::dot_product(one.data(), sums.data(), count));
    T* const out = result.output.data() + i * e;
    detail::kernels::add_product(one.data(), index_t(0), index_t(1), totals.data(), e, out, e, index_t(1),
                         count, e);
    detail::kernels::dot_rows(features.data(), count, count, visible, one.data(), dots.data());
    for (index_t j = 0; j < visible; ++j) {
      weight[std::size_t(j)] = T(dots[std::size_t(j)]);
      mass += dots[std::size_t(j)];
    }
    detail::kernels::add_product(weight.data(), index_t(0), index_t(1), open.data(), e, out, e, index_t(1),
                         visible, e);
    detail::kernels::scale_row(out, T(C(1) / mass), out, e);
    result.log_sum_exp(i, 0) = T(detail::logarithm(mass) + top - detail::logarithm(C(double(count))));
    bool finite = detail::is_finite(result.log_sum_exp(i, 0));
    for (index_t j = 0; j < e; ++j) finite = finite && detail::is_finite(out[j]);
    if (mass == C(0)) {
      result.log_sum_exp(i, 0) = detail::quiet_nan<T>;
      result.status(i, 0) = linear_status::nonpositive;
    } else if (!finite) {
      result.status(i, 0) = linear_status::invalid;
    }
  };
  for (index_t t = 0; t < m;) {
    const index_t before = o.causal ? m - n : m;
    const index_t size = std::min(chunk, (t < before ? before : m) - t);
    take(t, size);
    for (index_t j = 0; j < size && t >= before; ++j) answer(t + j - before, j + 1);
    fold(size);
    t += size;
  }
  for (index_t i = 0; i < n && !o.causal; ++i) answer(i, 0);
  return result;
}

}  // namespace cumulus
