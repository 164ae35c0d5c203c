// SPDX-License-Identifier: MIT
//
// Attention of any number of heads after its options are read: the checks, and the loops of threads.
// Layer 5 (attention): uses core and exact.
#pragma once

#include <cumulus/detail/attention/attention_call.hpp>
#include <cumulus/detail/attention/require_window.hpp>
#include <cumulus/detail/blocks/score_scale.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/require_options.hpp>
#include <cumulus/detail/simd/isa.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/attention/attention_stream.hpp>
#endif

namespace cumulus::detail {

/// Refuses arguments that do not fit, by the name of the function called.
template <class T, class Rows>
void require_attention(const char* name, const token_rows<T>& q, const Rows& k, const Rows& v,
                       const heads& h, const attention_settings<T>& o) {
  if (h.keys < 1 || h.queries < 1 || h.queries % h.keys != 0)
    refuse({name, ": ", h.queries, " heads of queries can't share ", h.keys,
            " heads of keys; give .heads.queries as a multiple of .heads.keys"});
  const auto require_heads = [name](const char* what, index_t width, index_t count) {
    if (width % count != 0)
      refuse({name, ": ", what, " of width ", width, " can't be split into ", count,
              " heads; give a multiple of the heads"});
  };
  require_heads("queries", q.width(), h.queries);
  require_heads("keys", k.width(), h.keys);
  require_heads("values", v.width(), h.keys);
  if (q.width() / h.queries != k.width() / h.keys)
    refuse({name, ": a query has width ", q.width() / h.queries, ", a key ", k.width() / h.keys,
            q.width() == 1 && q.size() == k.width() ? "; one query is a row: give q.transpose()"
                                                    : "; give both one width"});
  require_same_size(name, "K", k.size(), "V", v.size());
  o.bias.require_shape(name, "bias", q.size(), k.size(), false);
  o.mask.require_shape(name, "mask", q.size(), k.size(), false);
  o.sink.require_count(name, "sink", h.queries);
  require_scale(name, o.scale);
  if (!(o.softcap >= 0)) refuse({name, ": .softcap is ", o.softcap, "; give 0 or more"});
  require_window(name, o.sight);
  require_threads(name, o.threads);
}

#if CUMULUS_VECTORS && CUMULUS_BODIES

/// Few rows over many keys, such as a query of decoding: the keys in parts of a fixed size, so that threads share them and change no
/// bit.
template <class Stream, class Call>
void attend_in_parts(const Call& call, index_t key_heads, const kernels::quiet_flags& flags) {
  const auto& o = call.options;
  const index_t rows = call.queries() * call.group;
  key_range seen{call.keys(), 0};
  for (index_t i = 0; i < call.queries(); ++i) {
    const key_range one = call.sight(i);
    if (one.low < one.high) seen = {std::min(seen.low, one.low), std::max(seen.high, one.high)};
  }
  const index_t begin = seen.low / Stream::keys_a_part,
                end = (seen.high + Stream::keys_a_part - 1) / Stream::keys_a_part,
                count = std::max(end - begin, index_t(0));
  std::vector<typename Stream::part_sums> parts(std::size_t(count * key_heads));
  run_ranges(count * key_heads, 1, o.threads, o.on, [&](index_t first, index_t last) {
    Stream part(call, rows);
    for (index_t i = first; i < last; ++i)
      part.pass_part(i / count, rows, begin + i % count, parts[std::size_t(i)]);
    flags.restore();
  });
  Stream whole(call, rows);
  for (index_t head = 0; head < key_heads; ++head)
    whole.finish_parts(head, rows, parts.data() + head * count, count);
  flags.restore();
}

#endif

template <class T, class Rows>
void attend(const token_rows<T>& q, const Rows& k, const Rows& v, const heads& h,
            const attention_settings<T>& o, const strided_matrix<T>& out,
            const strided_matrix<T>& log_sums) {
  const attention_call<T, Rows> call{q,
                                     k,
                                     v,
                                     o,
                                     h.queries,
                                     h.queries / h.keys,
                                     k.width() / h.keys,
                                     v.width() / h.keys,
                                     o.first_query.value_or(k.size() - q.size()),
                                     out,
                                     log_sums};
  const kernels::quiet_flags flags;  // masked keys may hold anything
#if CUMULUS_VECTORS && CUMULUS_BODIES
  using W = score_of<T>;
  if constexpr (std::same_as<W, float> || std::same_as<W, double>) {
    using stream = attention_stream<T, Rows>;
    const index_t rows = call.queries() * call.group, all = rows * h.keys;
    if (all == 0) return;
    if (stream::in_parts(call)) return attend_in_parts<stream>(call, h.keys, flags);
    const index_t fair = (all + o.threads - 1) / o.threads;
    const index_t most = std::min({rows, stream::rows_a_pass(call), (fair + 11) / 12 * 12});
    const index_t passes = (rows + most - 1) / most;
    run_ranges(passes * h.keys, 1, o.threads, o.on, [&](index_t first, index_t end) {
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
  run_ranges(call.queries(), 1, o.threads, o.on, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      for (index_t head = 0; head < h.queries; ++head) attend_by_terms(call, i, head);
    }
    flags.restore();
  });
}

/// Of queries of S, and keys and values of Rows.
#define CUMULUS_ATTEND_INSTANCE(Word, S, Rows)                                                   \
  Word template void require_attention(const char*, const token_rows<S>&, const Rows&,           \
                                       const Rows&, const heads&, const attention_settings<S>&); \
  Word template void attend(const token_rows<S>&, const Rows&, const Rows&, const heads&,        \
                            const attention_settings<S>&, const strided_matrix<S>&,              \
                            const strided_matrix<S>&);
#define CUMULUS_ATTEND_INSTANCES(Word, S) CUMULUS_ATTEND_INSTANCE(Word, S, token_rows<S>)
#define CUMULUS_CACHE_INSTANCES(Word)                               \
  CUMULUS_ATTEND_INSTANCE(Word, float, token_rows<Eigen::half>)     \
  CUMULUS_ATTEND_INSTANCE(Word, float, token_rows<Eigen::bfloat16>) \
  CUMULUS_ATTEND_INSTANCE(Word, float, scaled_rows)
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_ATTEND_INSTANCES, extern)
CUMULUS_CACHE_INSTANCES(extern)
#endif

}  // namespace cumulus::detail
