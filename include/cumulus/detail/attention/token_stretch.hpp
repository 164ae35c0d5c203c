// SPDX-License-Identifier: MIT
//
// The keys or values of one head as the vector kernels take them: in runs where they lie, those of the half types as floats;
// or side by side.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/core/token_rows.hpp>
#include <cumulus/detail/simd/attention_kernels.hpp>
#include <algorithm>

#if CUMULUS_VECTORS

namespace cumulus::detail {

template <class T>
class token_stretch {
  using W = score_of<T>;

 public:
  static constexpr bool converted = !std::same_as<T, W>;
  static constexpr index_t side_by_side = 64;

  /// Heads of `width` numbers.
  token_stretch(const token_rows<T>& tokens, index_t width) noexcept
      : tokens_(tokens), width_(width) {}

  /// Where loaded tokens are kept if they are converted.
  void keep_in(W* room) noexcept { room_ = room; }
  void choose(index_t head) noexcept { at_ = head * width_; }
  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] const T* row(index_t t) const noexcept { return tokens_.row(t) + at_; }

  /// Makes the tokens t .. t + size - 1 those of in_runs.
  void load(index_t t, index_t size) noexcept {
    first_ = t;
    if constexpr (converted) widen(t, size, room_);
  }

  /// `each(j, run, rows, stride)` for tokens first + j .. of the stretch, `run` of them that lie `stride` apart.
  template <class Each>
  void in_runs(index_t first, index_t size, Each each) const {
    if constexpr (converted) {
      each(first, size, room_ + first * width_, width_);
    } else {
      for (index_t j = first, run = 0; j < first + size; j += run) {
        run = std::min(tokens_.run(first_ + j), first + size - j);
        each(j, run, row(first_ + j), tokens_.row_stride());
      }
    }
  }

  /// Token t + j at column j % 64 of matrix j / 64 of `to`, which has a row for each number of a token. `wide`: room for 64
  /// of them where they are converted.
  void lay_side_by_side(index_t t, index_t size, W* to, [[maybe_unused]] W* wide) const noexcept {
    const auto place = [&](index_t j) {
      return to + j / side_by_side * side_by_side * width_ + j % side_by_side;
    };
    for (index_t j = 0, run = 0; j < size; j += run) {
      run = std::min({tokens_.run(t + j), size - j, side_by_side - j % side_by_side});
      if constexpr (converted) {
        widen(t + j, run, wide);
        kernels::best::pack_keys<W>(wide, width_, run, width_, place(j), side_by_side);
      } else {
        kernels::best::pack_keys<W>(row(t + j), tokens_.row_stride(), run, width_, place(j),
                                    side_by_side);
      }
    }
    for (index_t j = size; j % side_by_side != 0; ++j) {  // beyond the tokens, numbers of no use
      for (index_t c = 0; c < width_; ++c) place(j)[c * side_by_side] = W(0);
    }
  }

 private:
  void widen(index_t t, index_t size, float* to) const noexcept {
    constexpr bool brain = std::same_as<T, Eigen::bfloat16>;
    const bool close = tokens_.row_stride() == width_;  // rows of a run are one piece
    for (index_t j = 0, run = 0; j < size; j += run) {
      run = close ? std::min(tokens_.run(t + j), size - j) : 1;
      kernels::best::widen<brain>(row(t + j), run * width_, to + j * width_);
    }
  }

  const token_rows<T>& tokens_;
  index_t width_;
  W* room_ = nullptr;
  index_t at_ = 0, first_ = 0;
};

}  // namespace cumulus::detail

#endif  // CUMULUS_VECTORS
