// SPDX-License-Identifier: MIT
//
// The least element of a vector that is not empty.
#pragma once

#include <algorithm>

template <class X>
auto least(const X& x) {
  return *std::min_element(x.begin(), x.end());
}
