// SPDX-License-Identifier: MIT
//
// Whether a cache of keys and values holds numbers only.
// Layer 5 (attention).
#pragma once

#include <cumulus/core/token_rows.hpp>

namespace cumulus {

namespace detail {

/// Refuses the first token that holds a NaN.
template <class T>
void require_no_nan(const char* what, const token_rows<T>& tokens) {
  for (index_t t = 0; t < tokens.size(); ++t) {
    const T* const row = tokens.row(t);
    for (index_t c = 0; c < tokens.width(); ++c) {
      if (is_nan(row[c])) refuse({"validate: ", what, " of token ", t, " has a NaN at ", c});
    }
  }
}

}  // namespace detail

/// Throws std::invalid_argument that names the first token whose key holds a NaN, else the first whose value does.
///
/// Shape   K: [m, d], V: [m, e], matrices or token_rows of one scalar; every head of them.
/// Cost    one read of both.
template <token_matrix K, token_matrix<K> V>
void validate(const K& keys, const V& values) {
  using T = token_scalar_of<K>;
  const auto &k = detail::tokens_in<T>(keys), &v = detail::tokens_in<T>(values);
  detail::require_same_size("validate", "K", k.size(), "V", v.size());
  detail::require_no_nan("the key", k);
  detail::require_no_nan("the value", v);
}

}  // namespace cumulus
