// SPDX-License-Identifier: MIT
//
// Exact attention: the mean of the values under the softmax of each query's scores, and its log-sum-exp.
// Layer 5 (attention): uses core, kernels and exact.
#pragma once

#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/attention/attention_stream.hpp>

namespace cumulus {

/// What attention's Error line promises beyond the rounding of scores, in u sum p_j |v_j|; its test asserts it.
inline constexpr int attention_max_roundings = 300;

namespace detail {

/// The scalar of tokens: of a matrix, or of rows in place.
template <class X>
struct token_scalar {};
template <real_matrix X>
struct token_scalar<X> {
  using type = result_of<X>;
};
template <class T>
struct token_scalar<token_rows<T>> {
  using type = T;
};
template <class X>
using token_scalar_of = typename token_scalar<std::remove_cvref_t<X>>::type;

/// The tokens themselves, or a view of a matrix.
template <class T>
[[nodiscard]] const token_rows<T>& tokens_of(const token_rows<T>& x) noexcept {
  return x;
}
template <class T, real_matrix X>
[[nodiscard]] token_rows<T> tokens_of(const X& x) {
  return token_rows<T>(x);
}

template <class T>
void require_attention(const token_rows<T>& q, const token_rows<T>& k, const token_rows<T>& v,
                       const head_counts& heads, const attention_options<T>& o) {
  const char* const name = "attention";
  const auto text = [](index_t n) { return std::to_string(n); };
  const std::string counts =
      text(heads.queries) + " heads of queries, " + text(heads.keys) + " of keys";
  if (heads.keys < 1 || heads.queries < 1 || heads.queries % heads.keys != 0)
    refuse({"attention: ", counts, "; the first must be a multiple of the second"});
  const auto require_heads = [&](const char* what, index_t width, index_t count) {
    if (width % count != 0)
      refuse({"attention: ", what, " of width ", text(width), " for ", text(count), " heads"});
  };
  require_heads("queries", q.width(), heads.queries);
  require_heads("keys", k.width(), heads.keys);
  require_heads("values", v.width(), heads.keys);
  if (q.width() / heads.queries != k.width() / heads.keys)
    refuse({"attention: queries of width ", text(q.width() / heads.queries), ", keys of width ", text(k.width() / heads.keys)});
  if (k.size() != v.size())
    refuse({"attention: ", text(k.size()), " keys, ", text(v.size()), " values"});
  o.bias.require_shape(name, "bias", q.size(), k.size(), false);
  o.mask.require_shape(name, "mask", q.size(), k.size(), false);
  o.sink.require_count(name, "sink", heads.queries);
  if (!(o.softcap >= 0))
    refuse({"attention: a softcap of ", o.softcap, "; at least 0"});
  if (o.window && *o.window < 1)
    refuse({"attention: a window of ", text(*o.window), " tokens; at least 1"});
  require_threads(name, o.threads);
}

template <class T>
void attend(const token_rows<T>& q, const token_rows<T>& k, const token_rows<T>& v,
            const head_counts& heads, const attention_options<T>& o, strided_matrix<T> out,
            strided_matrix<T> log_sums) {
  const attention_call<T> call{q,
                               k,
                               v,
                               o,
                               heads.queries,
                               heads.queries / heads.keys,
                               k.width() / heads.keys,
                               v.width() / heads.keys,
                               o.first_query.value_or(k.size() - q.size()),
                               out,
                               log_sums};
  const kernels::quiet_flags flags;  // masked keys may hold anything
#if CUMULUS_VECTORS
  using W = attention_scalar<T>;
  if constexpr (std::same_as<W, float> || std::same_as<W, double>) {
    using stream = attention_stream<T>;
    const index_t rows = call.queries() * call.group, all = rows * heads.keys;
    if (all == 0) return;
    const index_t fair = (all + o.threads - 1) / o.threads;
    const index_t most = std::min({rows, stream::rows_a_pass(call), (fair + 11) / 12 * 12});
    const index_t passes = (rows + most - 1) / most;
    run_ranges(passes * heads.keys, 1, o.threads, o.executor, [&](index_t first, index_t end) {
      stream part(call, most);
      for (index_t i = first; i < end; ++i) {
        const index_t at = i % passes * most;
        part.pass(i / passes, at, std::min(most, rows - at));
      }
      flags.restore();
    });
    return;
  }
#endif
  run_ranges(call.queries(), 1, o.threads, o.executor, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      for (index_t head = 0; head < heads.queries; ++head) attend_by_terms(call, i, head);
    }
    flags.restore();
  });
}

/// Matrices or token_rows of one scalar.
template <class Q, class K, class V>
concept attention_arguments = requires {
  typename token_scalar_of<Q>;
  requires std::same_as<token_scalar_of<Q>, token_scalar_of<K>>;
  requires std::same_as<token_scalar_of<Q>, token_scalar_of<V>>;
};

}  // namespace detail

/// o_i = sum_j p_ij v_j with p_i = softmax_j(scale q_i . k_j ...), and log sum_j e^score.
///
/// One code for decoding (n = 1) and for prefill: the keys pass by in blocks, and no matrix of scores is made. Results do not
/// depend on threads, nor on how queries are dealt to calls of 12 and more; fewer add up their scores in another order.
///
/// Shape    Q: [n, d], K: [m, d], V: [m, e] of one scalar: Eigen matrices, or token_rows over a cache, with strides and pages.
///          out: [n, e], log_sum_exp: n numbers. Options: attention_options.
/// Requires out and log_sum_exp apart from Q, K and V.
/// Edges    no key to see: zeros, log-sum-exp -inf. A score of -inf is nothing; one of +inf takes all, several leave a mean of NaN;
///          a NaN leaves NaN in both. An infinite value makes its entry infinite, opposite ones and NaN make it NaN; a weight
///          below 2^-160 of the largest may count as none. A d of 0 has scores of 0.
/// Error    |o - exact| <= sum_j p_j |v_j| (2 s + attention_max_roundings u), |log_sum_exp - exact| <= s + 4 u max(1, |exact|) with
///          s = (d + 3) u |scale| max_j sum_c |q_c k_jc|, the rounding of the scores in T (float for the half types, whose
///          results are rounded to them once); plus 4 u |score| where there is a cap, 2 u for a bias. Whatever m is: of the
///          roundings, 256 are those of the sum over a block of keys; 40 were not seen in 10^5 keys. And the least number of T;
///          that of softmax_mean where a score is too large for a vector exponential, or scale q or products of doubles overflow.
/// Cost     n m (2 d + 2 e operations and an exp), one read of K and V for every 252 queries and all heads that share them;
///          two allocations for each thread, cache-sized. CUMULUS_VECTORS 0 and other scalars: as softmax_mean, term by term.
/// Source   M. Milakov, N. Gimelshein, arXiv 1805.02867; T. Dao et al., arXiv 2205.14135 (blocks); powers of two here.
template <class Q, class K, class V, out_matrix<detail::token_scalar_of<Q>> Out,
          out_vector<detail::token_scalar_of<Q>> L>
requires detail::attention_arguments<Q, K, V>
void attention(const Q& q, const K& k, const V& v, Out&& out, L&& log_sum_exp,
               const attention_options<detail::token_scalar_of<Q>>& options = {}) {
  using T = detail::token_scalar_of<Q>;
  const token_rows<T>&qs = detail::tokens_of<T>(q), &ks = detail::tokens_of<T>(k),
        &vs = detail::tokens_of<T>(v);
  detail::require_attention(qs, ks, vs, {}, options);
  detail::require_same_shape("attention", "the result", qs.size(), vs.width(), "out", index_t(out.rows()),
                     index_t(out.cols()));
  detail::require_same_size("attention", "the result", qs.size(), "log_sum_exp", detail::size_of(log_sum_exp));
  const auto sums = detail::strided_view(log_sum_exp);
  detail::attend(qs, ks, vs, {}, options, detail::strided_matrix_view(out),
                 detail::strided_matrix<T>{sums.data, sums.size, 1, sums.stride, 1});
}

template <class Q, class K, class V>
requires detail::attention_arguments<Q, K, V>
[[nodiscard]] auto attention(const Q& q, const K& k, const V& v,
                             const attention_options<detail::token_scalar_of<Q>>& options = {}) {
  using T = detail::token_scalar_of<Q>;
  const token_rows<T>&qs = detail::tokens_of<T>(q), &vs = detail::tokens_of<T>(v);
  attention_result<T> result = no_attention<T>(qs.size(), vs.width());
  attention(qs, k, vs, result.output, result.log_sum_exp, options);
  return result;
}

/// The same for heads that lie side by side: head h of the queries attends to head h heads.keys / heads.queries of K and V,
/// which is read once for all that share it.
///
/// Shape    Q: [n, heads.queries d], K: [m, heads.keys d], V: [m, heads.keys e]; out: [n, heads.queries e],
///          log_sum_exp: [n, heads.queries]. bias and mask are those of all heads.
template <class Q, class K, class V, out_matrix<detail::token_scalar_of<Q>> Out,
          out_matrix<detail::token_scalar_of<Q>> L>
requires detail::attention_arguments<Q, K, V>
void multi_head_attention(const Q& q, const K& k, const V& v, const head_counts& heads, Out&& out,
                          L&& log_sum_exp,
                          const attention_options<detail::token_scalar_of<Q>>& options = {}) {
  using T = detail::token_scalar_of<Q>;
  const token_rows<T>&qs = detail::tokens_of<T>(q), &ks = detail::tokens_of<T>(k),
        &vs = detail::tokens_of<T>(v);
  detail::require_attention(qs, ks, vs, heads, options);
  detail::require_same_shape("multi_head_attention", "the result", qs.size(),
                     vs.width() / heads.keys * heads.queries, "out", index_t(out.rows()),
                     index_t(out.cols()));
  detail::require_same_shape("multi_head_attention", "the result", qs.size(), heads.queries, "log_sum_exp",
                     index_t(log_sum_exp.rows()), index_t(log_sum_exp.cols()));
  detail::attend(qs, ks, vs, heads, options, detail::strided_matrix_view(out),
                 detail::strided_matrix_view(log_sum_exp));
}

template <class Q, class K, class V>
requires detail::attention_arguments<Q, K, V>
[[nodiscard]] auto multi_head_attention(
    const Q& q, const K& k, const V& v, const head_counts& heads,
    const attention_options<detail::token_scalar_of<Q>>& options = {}) {
  using T = detail::token_scalar_of<Q>;
  const token_rows<T>&qs = detail::tokens_of<T>(q), &ks = detail::tokens_of<T>(k),
        &vs = detail::tokens_of<T>(v);
  detail::require_attention(qs, ks, vs, heads, options);
  multi_head_result<T> result;
  result.output.resize(qs.size(), vs.width() / heads.keys * heads.queries);
  result.log_sum_exp.resize(qs.size(), heads.queries);
  multi_head_attention(qs, ks, vs, heads, result.output, result.log_sum_exp, options);
  return result;
}

}  // namespace cumulus
