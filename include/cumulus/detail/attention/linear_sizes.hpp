// SPDX-License-Identifier: MIT
//
// The sizes that follow from the options of linear attention, and what is refused of those options.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/linear_options.hpp>
#include <cumulus/detail/attention/require_window.hpp>
#include <cumulus/detail/attention/taylor_features.hpp>
#include <cumulus/detail/blocks/score_scale.hpp>
#include <algorithm>
#include <limits>

namespace cumulus::detail {

/// Bytes of a state, without the keys that wait: monomials times (value, 1), each a sum and what it lacks. The greatest size_t
/// where they do not fit.
[[nodiscard]] constexpr std::size_t linear_state_bytes(index_t d, index_t e, int order,
                                                       std::size_t scalar_bytes) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto features = std::size_t(feature_count(d, order));
  if (std::size_t(e) >= most / (2 * scalar_bytes)) return most;
  const std::size_t each = 2 * scalar_bytes * (std::size_t(e) + 1);
  return features > most / each ? most : features * each;
}

/// The number n of tokens, each a query and a key, from which the state takes fewer operations than the scores, 2 n F (e + 1) <
/// n^2 (d + e + 2 order), or half of those where they are causal. What linear_method::automatic goes by; both methods take
/// equally long there within a sixth (bench/linear_attention_bench.cpp, "switch").
[[nodiscard]] constexpr double switch_length(index_t d, index_t e, int order,
                                             bool causal) noexcept {
  return (causal ? 4 : 2) * double(feature_count(d, order)) * double(e + 1) /
         double(d + e + 2 * order);
}

inline void require_linear_options(const char* function, index_t d, index_t e,
                                   const linear_state_options& o, std::size_t scalar_bytes,
                                   bool keeps_state) {
  require_order(function, o.order, 0, linear_attention_max_order, "linear_attention_max_order");
  if (o.form != form::taylor && o.form != form::moment)
    refuse({function, ": form::", name_of(o.form),
            " has no linear attention; give form::taylor or form::moment"});
  if (!(o.decay > 0 && o.decay <= 1))
    refuse({function, ": .decay is ", o.decay, "; give a number in (0, 1]"});
  require_past_window(function, o.window);
  if (o.first_tokens < 0)
    refuse({function, ": .first_tokens is ", o.first_tokens, "; give 0 or more"});
  if (o.chunk < 0) refuse({function, ": .chunk is ", o.chunk, "; give 0 or more"});
  require_scale(function, o.scale);
  if (!o.polynomial.empty()) {
    if (o.form != form::moment)
      refuse({function, ": .polynomial is for form::moment, but .form is ", name_of(o.form),
              ", which has its own"});
    require_same_size(function, "1, y .. y^order", o.order + 1, "polynomial",
                      index_t(o.polynomial.size()));
  }
  if (d < 1 || e < 1)
    refuse({function, ": keys of width ", d, " and values of width ", e,
            "; give widths of 1 or more"});
  if (!keeps_state) return;
  // no vector can have more bytes than an index_t counts
  const std::size_t limit =
      std::min(o.memory_limit, std::size_t(std::numeric_limits<index_t>::max()));
  const bool knows_mean =
      o.centred || o.form == form::taylor;  // for which order 0 has the sums of 1
  const int order = std::max(o.order, knows_mean ? 1 : 0);
  const std::size_t bytes = linear_state_bytes(d, e, order, scalar_bytes);
  if (bytes <= limit) return;
  if (bytes == std::numeric_limits<std::size_t>::max())
    refuse({function, ": order ", o.order, " of keys of width ", d,
            " has a state of more than 2^64 bytes, the limit is ", limit, "; give a lower .order"});
  refuse({function, ": order ", o.order, " of keys of width ", d, " has a state of ", bytes,
          " bytes, the limit is ", limit, "; give a lower .order or a higher .memory_limit"});
}

}  // namespace cumulus::detail
