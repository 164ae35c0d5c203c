// SPDX-License-Identifier: MIT
//
// Refuses a window that holds no position, or one that a function can't serve.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/detail/core/require.hpp>

namespace cumulus::detail {

inline void require_window(const char* function, const std::optional<window>& w) {
  if (w && w->before < 1)
    refuse({function, ": a window of ", w->before,
            " keys; give 1 or more: the query's own position counts"});
  if (w && w->after < 0)
    refuse({function, ": a window that ends ", w->after, " keys after the query; give 0 or more"});
}

/// Of a function whose queries see no key after their own position.
inline void require_past_window(const char* function, const std::optional<window>& w) {
  require_window(function, w);
  if (w && w->after > 0)
    refuse({function, ": a window that ends ", w->after,
            " keys after the query, but its queries see no later key; give .after 0"});
}

}  // namespace cumulus::detail
