// SPDX-License-Identifier: MIT
#include <cumulus/detail/core/aligned.hpp>
#include <cstdint>

#include "catch.hpp"

using cumulus::index_t;
using cumulus::detail::aligned_rooms;
using cumulus::detail::aligned_vector;

namespace {

bool begins_a_line(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

}  // namespace

TEST_CASE("aligned: a vector begins a line, also after it grows, moves or is copied",
          "[core][value]") {
  aligned_vector<float> x;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(float(i));
    REQUIRE(begins_a_line(x.data()));
  }
  const aligned_vector<float> copy = x, moved = std::move(x);
  CHECK(begins_a_line(copy.data()));
  CHECK(copy == moved);
  struct alignas(128) wide {
    char at[128];
  };
  const aligned_vector<wide> larger(3);
  CHECK(reinterpret_cast<std::uintptr_t>(larger.data()) % 128 == 0);
}

TEST_CASE("aligned: rooms begin a line, lie apart and end within what was asked for",
          "[core][edge]") {
  // The address sanitizer sees a write past the end.
  for (const index_t n : {0, 1, 7, 8, 9, 64, 100}) {
    aligned_rooms given(aligned_rooms::bytes<float>(n) + aligned_rooms::bytes<double>(n) +
                        aligned_rooms::bytes<char>(n));
    aligned_rooms rooms = std::move(given);
    auto* const a = rooms.take<float>(n);
    auto* const b = rooms.take<double>(n);
    auto* const c = rooms.take<char>(n);
    for (index_t i = 0; i < n; ++i) {
      a[i] = 1;
      b[i] = 2;
      c[i] = 3;
    }
    bool kept = true;
    for (index_t i = 0; i < n; ++i) kept = kept && a[i] == 1 && b[i] == 2 && c[i] == 3;
    CAPTURE(n);
    CHECK(kept);
    CHECK(begins_a_line(a));
    CHECK(begins_a_line(b));
    CHECK(begins_a_line(c));
  }
}
