// SPDX-License-Identifier: MIT
//
// Queries, keys and values of two heads of a trained transformer: what the attention programs take where no file is named.
//
// A small decoder (4 layers of 3 heads, 64 wide, rotary positions; ours) read the King James Genesis; these are the first
// 256 tokens it met, each value rounded to 8 bits by a power of two for each column, an error of 1 % of the column. q is
// scaled so that a score is the inner product q k; k and q are as they stand after the rotary step; the head is causal.
// l0h1 is flat: the scores of a query have a standard deviation near 0.7. l2h0 is peaked: near 5.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "support/npy_matrix.hpp"

namespace support {

/// Queries [n, d], keys [m, d] and values [m, e] of one head, a token a row.
struct attention_head {
  std::string name;
  token_matrix q, k, v;
};

/// A matrix of sample_qkv.ipp.
struct packed_matrix {
  const char* head;
  char part;  ///< q, k or v
  std::array<signed char, 64> exponents;
  const char* base64;
};

inline constexpr packed_matrix sample_qkv[] = {
#include "support/sample_qkv.ipp"
};

[[nodiscard]] inline token_matrix unpack(const packed_matrix& packed) {
  constexpr std::size_t tokens = 256, width = 64;
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  token_matrix x(static_cast<Eigen::Index>(tokens), static_cast<Eigen::Index>(width));
  const char* next = packed.base64;
  unsigned held = 0, bits = 0;
  for (std::size_t i = 0; i < tokens * width; ++i) {
    while (bits < 8) {
      held = held << 6 | static_cast<unsigned>(std::strchr(alphabet, *next++) - alphabet);
      bits += 6;
    }
    bits -= 8;
    const int byte = static_cast<int>(held >> bits & 0xFF);
    x.data()[i] = std::ldexp(static_cast<float>(byte - 128), packed.exponents[i % width]);
  }
  return x;
}

/// The heads that come with the programs: l0h1 (flat) and l2h0 (peaked), 256 tokens of 64 each.
[[nodiscard]] inline std::vector<attention_head> sample_heads() {
  std::vector<attention_head> heads;
  for (const packed_matrix& packed : sample_qkv) {
    if (heads.empty() || heads.back().name != packed.head)
      heads.push_back({packed.head, {}, {}, {}});
    attention_head& head = heads.back();
    (packed.part == 'q' ? head.q : packed.part == 'k' ? head.k : head.v) = unpack(packed);
  }
  return heads;
}

}  // namespace support
