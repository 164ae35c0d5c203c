// SPDX-License-Identifier: MIT
//
// Header-only and compiled, in one program: the same bits of every result.
#include "results.hpp"

#include <cstdio>

int main() {
  const auto a = header_only_results(), b = compiled_results();
  if (a.size() != b.size() || a.empty()) {
    std::printf("header-only %zu results, compiled %zu\n", a.size(), b.size());
    return 1;
  }
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (++different <= 5)
      std::printf("result %zu: header-only %016llx, compiled %016llx\n", i,
                  static_cast<unsigned long long>(a[i]), static_cast<unsigned long long>(b[i]));
  }
  std::printf("%zu results, %zu different\n", a.size(), different);
  return different == 0 ? 0 : 1;
}
