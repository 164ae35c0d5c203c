// SPDX-License-Identifier: MIT
//
// The keys or values of one head as the vector kernels take them: in runs where they lie; as numbers of W, those of the half types
// and of 8 bits converted; or side by side.
// Layer 5 (attention).
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/core/scaled_rows.hpp>
#include <cumulus/detail/simd/attention_kernels.hpp>
#include <algorithm>

#if CUMULUS_VECTORS

namespace cumulus::detail {

/// How the kernels read numbers of a scalar.
template <class S>
struct stored_number {
  using type = S;
};
template <>
struct stored_number<Eigen::half> {
  using type = kernels::half_bits;
};
template <>
struct stored_number<Eigen::bfloat16> {
  using type = kernels::brain_bits;
};

/// W: the scalar of scores. Rows: token_rows or scaled_rows.
template <class W, class Rows>
class token_stretch {
  using S = typename Rows::scalar;

 public:
  using number = typename stored_number<S>::type;
  static constexpr bool converted = !std::same_as<S, W>;
  static constexpr bool has_scales = std::same_as<Rows, scaled_rows>;
  static constexpr index_t side_by_side = 64;

  /// Heads of `width` numbers.
  token_stretch(const Rows& tokens, index_t width) noexcept : tokens_(tokens), width_(width) {}

  /// Where `load` keeps converted tokens, and `begin` their scales: of as many tokens as those are asked for.
  void keep_in(W* room) noexcept { room_ = room; }
  void choose(index_t head) noexcept { at_ = head * width_; }
  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] const S* row(index_t t) const noexcept { return tokens_.row(t) + at_; }
  [[nodiscard]] W scale(index_t t) const noexcept {
    if constexpr (has_scales) {
      return tokens_.scale(t);
    } else {
      return W(1);
    }
  }

  /// Makes the tokens t .. t + size - 1 those of in_runs and of scale_by.
  void begin(index_t t, [[maybe_unused]] index_t size) noexcept {
    first_ = t;
    if constexpr (has_scales) {
      for (index_t j = 0; j < size; ++j) room_[j] = tokens_.scale(t + j);
    }
  }
  /// Multiplies x_j by the scale of token j of the stretch, if tokens have scales.
  void scale_by([[maybe_unused]] W* x, [[maybe_unused]] index_t size) const noexcept {
    if constexpr (has_scales)
      Eigen::Map<Eigen::Array<W, Eigen::Dynamic, 1>>(x, size) *=
          Eigen::Map<const Eigen::Array<W, Eigen::Dynamic, 1>>(room_, size);
  }
  /// Makes the tokens t .. t + size - 1 those of in_converted_runs.
  void load(index_t t, index_t size) noexcept {
    first_ = t;
    if constexpr (converted) convert(t, size, room_);
  }

  /// `each(j, run, rows, stride)` for tokens first + j .. of the stretch, `run` of them that lie `stride` apart, as they are kept.
  template <class Each>
  void in_runs(index_t first, index_t size, Each each) const {
    for (index_t j = first, run = 0; j < first + size; j += run) {
      run = std::min(tokens_.run(first_ + j), first + size - j);
      each(j, run, reinterpret_cast<const number*>(row(first_ + j)), tokens_.row_stride());
    }
  }
  /// The same as numbers of W, with their scales.
  template <class Each>
  void in_converted_runs(index_t first, index_t size, Each each) const {
    if constexpr (converted) {
      each(first, size, static_cast<const W*>(room_ + first * width_), width_);
    } else {
      in_runs(first, size, each);
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
        convert(t + j, run, wide);
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
  void convert(index_t t, index_t size, float* to) const noexcept {
    const bool close = tokens_.row_stride() == width_;  // rows of a run are one piece
    for (index_t j = 0, run = 0; j < size; j += run) {
      run = close ? std::min(tokens_.run(t + j), size - j) : 1;
      kernels::best::convert<number>(reinterpret_cast<const number*>(row(t + j)), run * width_,
                                     to + j * width_);
    }
    if constexpr (has_scales) {
      for (index_t j = 0; j < size; ++j)
        Eigen::Map<Eigen::Array<W, Eigen::Dynamic, 1>>(to + j * width_, width_) *= scale(t + j);
    }
  }

  const Rows& tokens_;
  index_t width_;
  W* room_ = nullptr;
  index_t at_ = 0, first_ = 0;
};

}  // namespace cumulus::detail

#endif  // CUMULUS_VECTORS
