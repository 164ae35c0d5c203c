// SPDX-License-Identifier: MIT
//
// Keys, values and queries made up for the decoding example: the same on every machine.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

namespace support {

/// Stretches of 50 to 350 tokens stay near a topic, a random direction; a query asks for one that the cache has, with a score
/// near 14 on its tokens and 0 on others'.
class random_cache {
 public:
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  random_cache(Eigen::Index tokens, Eigen::Index width, std::uint64_t seed)
      : keys_(tokens, width), values_(tokens, width), topics_(tokens, width), state_(seed) {
    Eigen::RowVectorXf topic(width), meaning(width);
    Eigen::Index left = 0;
    for (Eigen::Index t = 0; t < tokens; ++t) {
      if (left-- == 0) {
        left = 49 + static_cast<Eigen::Index>(bits() % 301);
        fill(topic);
        topic *= std::sqrt(static_cast<float>(width)) / topic.norm();
        fill(meaning);
      }
      topics_.row(t) = topic;
      for (Eigen::Index i = 0; i < width; ++i) {
        keys_(t, i) = topic[i] + 0.5f * normal();
        values_(t, i) = meaning[i] + 0.3f * normal();
      }
    }
  }

  [[nodiscard]] const matrix& keys() const { return keys_; }
  [[nodiscard]] const matrix& values() const { return values_; }

  /// Number i of those that stand after n tokens.
  [[nodiscard]] Eigen::RowVectorXf query(Eigen::Index n, Eigen::Index i) const {
    random_cache source(0, 0,
                        static_cast<std::uint64_t>(n) * 1000003u + static_cast<std::uint64_t>(i));
    const Eigen::Index t = static_cast<Eigen::Index>(source.bits() % static_cast<std::uint64_t>(n));
    Eigen::RowVectorXf q = topics_.row(t) * (14.0f / static_cast<float>(topics_.cols()));
    for (float& x : q) x += 0.3f / std::sqrt(static_cast<float>(topics_.cols())) * source.normal();
    return q;
  }

 private:
  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  float normal() {  // the sum of twelve uniform numbers: no library's own rounding
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(bits() >> 40) * 0x1p-24f;
    return sum;
  }
  void fill(Eigen::RowVectorXf& x) {
    for (float& value : x) value = normal();
  }

  matrix keys_, values_, topics_;
  std::uint64_t state_;
};

}  // namespace support
