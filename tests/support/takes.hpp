// SPDX-License-Identifier: MIT
//
// Whether a call compiles: a refused one is a deleted overload, so a requires-expression sees it.
#pragma once

#include <type_traits>

/// Whether `...` compiles for a `const TYPE& x`: CUMULUS_TAKES(std::vector<double>, cumulus::softmax(x, {.scale = 2})).
#define CUMULUS_TAKES(TYPE, ...)                                \
  ([]<class X>(std::type_identity<X>) {                         \
    return requires(const X& x, X& mutable_x) { __VA_ARGS__; }; \
  }(std::type_identity<TYPE>{}))
