// SPDX-License-Identifier: MIT
//
// Softmax attention by positive random features (the Performer): unbiased in every weight, at no order.
// Layer 5 (attention): uses linear attention's result.
#pragma once

#include <cumulus/attention/linear.hpp>
#include <cumulus/detail/attention/positive_random_features.hpp>

namespace cumulus::presets {

/// The options of performer.
struct performer_options {
  std::optional<double> scale{};  ///< of q.k, finite and at least 0; 1 / sqrt(d) if not given
  bool causal = false;            ///< query i sees the keys 0 .. m - n + i
  index_t features = 0;           ///< 0: the published d log d
  /// The seed of the random directions.
  std::uint64_t seed = 1;
  bool orthogonal = true;  ///< directions in groups of d that are orthogonal
};

/// Attention with the weights of positive random features.
///
/// Shape   queries [n, d], keys [m, d], values [m, e]: one head.
/// Edges   a query that sees no key: zeros, log-sum-exp -inf. Refused: shapes that do not fit, a width of 0, features below 0, a
///         scale below 0 or not finite. Where all weights of a query underflow its mass is 0, and status says so.
/// Error   of a weight, relative and in the mean square: sqrt((e^{|q + k|^2} - 1) / features) for independent directions,
///         q and k times the root of the scale; orthogonal ones do better. Centred keys, k less their mean, make it smaller and
///         leave softmax as it is.
/// Cost    2 features (d + e) operations a token, and for causal queries those of 64 keys by their features.
/// Source  K. Choromanski et al., "Rethinking Attention with Performers", arXiv 2009.14794.
template <real_matrix Q, real_matrix K, real_matrix V>
[[nodiscard]] linear_attention_result<score_of<result_of<Q>>> performer(
    const Q& queries, const K& keys, const V& values, const performer_options& o = {}) {
  using T = score_of<result_of<Q>>;
  using C = detail::compute_scalar<T>;
  const char* const name = "presets::performer";
  const token_rows<T> q(queries), k(keys), v(values);
  const index_t n = q.size(), m = k.size(), d = q.width(), e = v.width();
  detail::require_same_size(name, "a query", d, "a key", k.width());
  detail::require_same_size(name, "K", m, "V", v.size());
  if (d < 1 || o.features < 0)
    detail::refuse({name, ": ", o.features, " features of keys of width ", d,
                    "; give .features 0 or more, and a width of 1 or more"});
  detail::require_scale(name, o.scale);
  if (o.scale && *o.scale < 0)
    detail::refuse({name, ": .scale is ", *o.scale,
                    ", but its root multiplies queries and keys; give 0 or more"});
  const index_t count =
      o.features > 0 ? o.features : std::max(index_t(double(d) * std::log(double(d))), index_t(1));
  detail::positive_random_features<T> map(d, count, o.seed, o.orthogonal);
  const T root = T(std::sqrt(detail::score_scale(o.scale, d)));

  linear_attention_result<T> result;
  result.output = decltype(result.output)::Zero(n, e);
  result.logsumexp.setConstant(n, 1, -detail::infinity<T>);
  result.status.setConstant(n, 1, linear_status::empty);  // until a key is seen
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
    detail::kernels::add_product(features.data(), index_t(1), count, open.data(), e, tile.data(), e,
                                 count, size, e);
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
    detail::kernels::add_product(one.data(), index_t(0), index_t(1), totals.data(), e, out, e,
                                 index_t(1), count, e);
    detail::kernels::dot_rows(features.data(), count, count, visible, one.data(), dots.data());
    for (index_t j = 0; j < visible; ++j) {
      weight[std::size_t(j)] = T(dots[std::size_t(j)]);
      mass += dots[std::size_t(j)];
    }
    detail::kernels::add_product(weight.data(), index_t(0), index_t(1), open.data(), e, out, e,
                                 index_t(1), visible, e);
    detail::kernels::scale_row(out, T(C(1) / mass), out, e);
    result.logsumexp(i, 0) = T(detail::logarithm(mass) + top - detail::logarithm(C(double(count))));
    result.status(i, 0) = linear_status::positive;
    bool finite = detail::is_finite(result.logsumexp(i, 0));
    for (index_t j = 0; j < e; ++j) finite = finite && detail::is_finite(out[j]);
    if (mass == C(0)) {
      result.logsumexp(i, 0) = detail::quiet_nan<T>;
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
  for (index_t i = 0; i < n && m > 0 && !o.causal; ++i) answer(i, 0);
  return result;
}

}  // namespace cumulus::presets
