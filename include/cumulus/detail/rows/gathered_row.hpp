// SPDX-License-Identifier: MIT
//
// Which rows the vector kernels take, and copies of those that do not lie as they read them.
// Layer 1 (rows): noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#include <cumulus/detail/simd/isa.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Whether the vector kernels take these terms, but for weights and a sink: x, a mask, a scale.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool is_vector_row(const terms<S>& t) noexcept {
  if constexpr (vector_scalar<S>) {
    if (t.size() == 0 || t.zero_scale || t.infinite_scale) return false;
    return !t.scaled || takes_scale(double(t.scale));
  } else {
    return false;
  }
}

/// Whether the kernels can read x where it lies.
template <class S>
[[nodiscard]] bool lies_ready(const terms<S>& t) noexcept {
  return std::same_as<S, row_scalar<S>> && (t.x.stride == 1 || t.size() == 1) &&
         t.mask.data == nullptr && !t.negative;
}

/// Whether there is more to a sum than the terms of x.
template <class S>
[[nodiscard]] bool is_composed(const terms<S>& t) noexcept {
  return t.weights.data != nullptr || t.has_sink;
}

/// The elements that are kept, in order: to them the same kernels give the same results.
template <class S>
class gathered_row {
  using F = row_scalar<S>;

 public:
  explicit gathered_row(const terms<S>& t) noexcept {
    constexpr index_t room = index_t(sizeof here_ / sizeof(F));
    if (t.size() > room) away_.allocate(t.size());
    data_ = t.size() > room ? away_.get() : here_;
    if (data_ == nullptr) return;
    for (index_t i = 0; i < t.size(); ++i) {
      if (t.mask.data != nullptr && !t.mask[i]) continue;
      const F value = static_cast<F>(t.x[i]);
      data_[size_++] = t.negative ? F(-value) : value;
    }
  }
  [[nodiscard]] F* data() noexcept { return data_; }
  /// 0 where nothing is kept, or there was no memory.
  [[nodiscard]] index_t size() const noexcept { return size_; }

  void scatter(const terms<S>& t, const strided<S>& out, const S& masked) const noexcept {
    index_t next = 0;
    for (index_t i = 0; i < t.size(); ++i)
      out[i] = t.mask.data == nullptr || t.mask[i] ? static_cast<S>(data_[next++]) : masked;
  }

 private:
  F here_[16384 / sizeof(F)];
  scratch_array<F> away_;
  F* data_;
  index_t size_ = 0;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
