// SPDX-License-Identifier: MIT
//
// Exact attention: the mean of the values under the softmax of each query's scores, and its log-sum-exp.
// Layer 5 (attention): uses core and exact.
#pragma once

#include <cumulus/core/into.hpp>
#include <cumulus/detail/attention/attend.hpp>
#include <cumulus/detail/core/apart.hpp>

namespace cumulus {

/// What attention's Error line promises beyond the rounding of scores, in u sum p_j |v_j|; its test asserts it.
inline constexpr int attention_max_roundings = 300;

/// o_i = sum_j p_ij v_j with p_i = softmax_j(scale q_i . k_j ...), and log sum_j e^score.
///
/// One code for decoding (n = 1) and for prefill: the keys pass by in blocks, and no matrix of scores is made. Results do not
/// depend on threads, nor on how queries are dealt to calls of 12 and more; fewer add up their scores in another order.
///
/// Shape    Q: [n, d], K: [m, d], V: [m, e] of one scalar: Eigen matrices, or token_rows over a cache, with strides and pages. With
///          queries of float, K and V may be kept as half, bfloat16 or scaled_rows; they are read as they are kept.
///          out: [n, e], logsumexp: n numbers. Options: attention_options.
/// Requires out and logsumexp apart from each other and from Q, K and V; options may lie in them. A finite scale.
/// Edges    no key to see: zeros, log-sum-exp -inf. A score of -inf is nothing; one of +inf takes all, several leave a mean of NaN;
///          a NaN leaves NaN in both. An infinite value makes its entry infinite, opposite ones and NaN make it NaN; a weight
///          below 2^-160 of the largest may count as none. A d of 0 has scores of 0.
/// Error    |o - exact| <= sum_j p_j |v_j| (2 s + attention_max_roundings u), |logsumexp - exact| <= s + 4 u max(1, |exact|) with
///          s = (d + 3) u |scale| max_j sum_c |q_c k_jc|, the rounding of the scores in T (float for the half types, whose
///          results are rounded to them once); plus 4 u |score| where there is a cap, 2 u for a bias. Whatever m is: of the
///          roundings, 256 are those of the sum over a block of keys; 40 were not seen in 10^5 keys. And the least number of T;
///          that of softmax_mean where a score is too large for a vector exponential, or scale q or products of doubles overflow.
/// Cost     n m (2 d + 2 e operations and an exp), one read of K and V for every 252 queries and all heads that share them;
///          two allocations for each thread, cache-sized. CUMULUS_VECTORS 0 and other scalars: as softmax_mean, term by term.
/// Source   M. Milakov, N. Gimelshein, arXiv 1805.02867; T. Dao et al., arXiv 2205.14135 (blocks); powers of two here.
template <token_matrix Q, cache_for<token_scalar_of<Q>> K, token_matrix<K> V>
[[nodiscard]] attention_result<token_scalar_of<Q>> attention(
    const Q& q, const K& k, const V& v, const attention_options<token_scalar_of<Q>>& options = {}) {
  return attention<token_scalar_of<Q>>(q, k, v, options);
}

/// With results of the scalar T: `attention<float>(q, k, v)` of queries, keys and values of 16 bits, whose parts then merge to the
/// rounding of float.
template <class T, query_for<T> Q, cache_for<T> K, token_matrix<K> V>
[[nodiscard]] attention_result<T> attention(
    const Q& q, const K& k, const V& v,
    const std::type_identity_t<attention_options<T>>& options = {}) {
  const auto& qs = detail::tokens_in<T>(q);
  const auto& vs = detail::cache_in(v);
  auto result = attention_result<T>::none(qs.size(), vs.width());
  attention(qs, k, vs, into(result.output), into(result.logsumexp), options);
  return result;
}

/// Written to out and logsumexp: `attention(q, k, v, into(out), into(logsumexp))`.
template <token_matrix Q, token_matrix K, token_matrix<K> V, real_matrix Out,
          out_vector<scalar_of<Out>> L>
  requires(out_matrix<Out, scalar_of<Out>> && query_for<Q, scalar_of<Out>> &&
           cache_for<K, scalar_of<Out>>)
void attention(const Q& q, const K& k, const V& v, destination<Out> out, destination<L> logsumexp,
               const attention_options<scalar_of<Out>>& options = {}) {
  using T = scalar_of<Out>;
  const char* const name = "attention";
  const auto& qs = detail::tokens_in<T>(q);
  const auto &ks = detail::cache_in(k), &vs = detail::cache_in(v);
  const detail::line_number sink =
      options.sink ? detail::line_number(*options.sink) : detail::line_number();
  const detail::attention_settings<T> settings(options, sink);
  detail::require_attention(name, qs, ks, vs, {}, settings);
  detail::require_same_shape(name, "the result", qs.size(), vs.width(), "out",
                             index_t((*out).rows()), index_t((*out).cols()));
  detail::require_same_size(name, "the result", qs.size(), "logsumexp",
                            detail::size_of(*logsumexp));
  const auto sums = detail::strided_view(*logsumexp);
  detail::write_apart(
      options,
      [&](const auto& to, const auto& log_sums) {
        detail::attend(qs, ks, vs, {}, settings, to, log_sums);
      },
      detail::strided_matrix_view(*out),
      detail::strided_matrix<T>{sums.data, sums.size, 1, sums.stride, 1});
}

/// Of heads that lie side by side: query head h attends to head h heads.keys / heads.queries of K and V, which is read once for
/// all that share it.
///
/// Shape    Q: [n, heads.queries d], K: [m, heads.keys d], V: [m, heads.keys e]; out: [n, heads.queries e],
///          logsumexp: [n, heads.queries]. bias and mask are those of all heads.
template <token_matrix Q, cache_for<token_scalar_of<Q>> K, token_matrix<K> V>
[[nodiscard]] multi_head_result<token_scalar_of<Q>> multi_head_attention(
    const Q& q, const K& k, const V& v,
    const multi_head_options<token_scalar_of<Q>>& options = {}) {
  return multi_head_attention<token_scalar_of<Q>>(q, k, v, options);
}

/// With results of the scalar T: `multi_head_attention<float>(q, k, v, {.heads = ...})`.
template <class T, query_for<T> Q, cache_for<T> K, token_matrix<K> V>
[[nodiscard]] multi_head_result<T> multi_head_attention(
    const Q& q, const K& k, const V& v,
    const std::type_identity_t<multi_head_options<T>>& options = {}) {
  const auto& qs = detail::tokens_in<T>(q);
  const auto &ks = detail::cache_in(k), &vs = detail::cache_in(v);
  const heads& h = options.heads;
  detail::require_attention("multi_head_attention", qs, ks, vs, h,
                            detail::attention_settings<T>(options, options.sink));
  multi_head_result<T> result;
  result.output.resize(qs.size(), vs.width() / h.keys * h.queries);
  result.logsumexp.resize(qs.size(), h.queries);
  multi_head_attention(qs, ks, vs, into(result.output), into(result.logsumexp), options);
  return result;
}

/// Written to out and logsumexp.
template <token_matrix Q, token_matrix K, token_matrix<K> V, real_matrix Out,
          out_matrix<scalar_of<Out>> L>
  requires(out_matrix<Out, scalar_of<Out>> && query_for<Q, scalar_of<Out>> &&
           cache_for<K, scalar_of<Out>>)
void multi_head_attention(const Q& q, const K& k, const V& v, destination<Out> out,
                          destination<L> logsumexp,
                          const multi_head_options<scalar_of<Out>>& options = {}) {
  using T = scalar_of<Out>;
  const char* const name = "multi_head_attention";
  const auto& qs = detail::tokens_in<T>(q);
  const auto &ks = detail::cache_in(k), &vs = detail::cache_in(v);
  const heads& h = options.heads;
  const detail::attention_settings<T> settings(options, options.sink);
  detail::require_attention(name, qs, ks, vs, h, settings);
  detail::require_same_shape(name, "the result", qs.size(), vs.width() / h.keys * h.queries, "out",
                             index_t((*out).rows()), index_t((*out).cols()));
  detail::require_same_shape(name, "the result", qs.size(), h.queries, "logsumexp",
                             index_t((*logsumexp).rows()), index_t((*logsumexp).cols()));
  detail::write_apart(
      options,
      [&](const auto& to, const auto& log_sums) {
        detail::attend(qs, ks, vs, h, settings, to, log_sums);
      },
      detail::strided_matrix_view(*out), detail::strided_matrix_view(*logsumexp));
}

// clang-format off
// Refused: each line says what to write instead.
template <token_matrix Q, token_matrix K, token_matrix V, class... Rest>
  requires(!token_matrix<V, K>)
void attention(const Q&, const K&, const V&, const Rest&...) = delete;  // cumulus: keys and values must be kept alike, both in one scalar: cast, such as v.cast<float>()
template <token_matrix Q, token_matrix K, token_matrix V, class... Rest>
  requires(!token_matrix<V, K>)
void multi_head_attention(const Q&, const K&, const V&, const Rest&...) = delete;  // cumulus: keys and values must be kept alike, both in one scalar: cast, such as v.cast<float>()
template <token_matrix Q, token_matrix K, token_matrix<K> V, class... Rest>
  requires(!cache_for<K, token_scalar_of<Q>> && !(query_for<Q, float> && cache_for<K, float>))
void attention(const Q&, const K&, const V&, const Rest&...) = delete;  // cumulus: queries, keys and values must have one scalar, or float queries a cache of half, bfloat16 or scaled_rows: cast, such as k.cast<float>()
template <token_matrix Q, token_matrix K, token_matrix<K> V, class... Rest>
  requires(!cache_for<K, token_scalar_of<Q>> && !(query_for<Q, float> && cache_for<K, float>))
void multi_head_attention(const Q&, const K&, const V&, const Rest&...) = delete;  // cumulus: queries, keys and values must have one scalar, or float queries a cache of half, bfloat16 or scaled_rows: cast, such as k.cast<float>()
template <token_matrix Q, token_matrix K, token_matrix<K> V>
  requires(!cache_for<K, token_scalar_of<Q>> && query_for<Q, float> && cache_for<K, float>)
void attention(const Q&, const K&, const V&) = delete;  // cumulus: queries of 16 bits and a cache of another kind give results of float: attention<float>(q, k, v)
template <token_matrix Q, token_matrix K, token_matrix<K> V>
  requires(!cache_for<K, token_scalar_of<Q>> && query_for<Q, float> && cache_for<K, float>)
void multi_head_attention(const Q&, const K&, const V&) = delete;  // cumulus: queries of 16 bits and a cache of another kind give results of float: multi_head_attention<float>(q, k, v)
template <token_matrix Q, token_matrix K, token_matrix<K> V, real_matrix Out, class... Rest>
void attention(const Q&, const K&, const V&, const Out&, const Rest&...) = delete;  // cumulus: mark where results are written: attention(q, k, v, into(out), into(logsumexp))
template <token_matrix Q, token_matrix K, token_matrix<K> V, real_matrix Out, class... Rest>
void multi_head_attention(const Q&, const K&, const V&, const Out&, const Rest&...) = delete;  // cumulus: mark where results are written: multi_head_attention(q, k, v, into(out), into(logsumexp), {.heads = ...})
template <token_matrix Q, token_matrix K, token_matrix<K> V, class Out>
void attention(const Q&, const K&, const V&, destination<Out>) = delete;  // cumulus: the log-sum-exps need memory too: attention(q, k, v, into(out), into(logsumexp))
// clang-format on

}  // namespace cumulus
