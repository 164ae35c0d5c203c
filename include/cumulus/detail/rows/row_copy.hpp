// SPDX-License-Identifier: MIT
//
// A row side by side in the scalar of the kernels, for rows that do not lie as they read them.
// Layer 1 (rows): noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/core/view.hpp>
#include <cumulus/detail/rows/row_scalar.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>
#include <cstring>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Whether the kernels can read these numbers where they lie.
template <class S>
[[nodiscard]] bool lies_ready(const strided<const S>& x) noexcept {
  return std::same_as<S, row_scalar<S>> && (x.stride == 1 || x.size == 1);
}

template <class S>
inline constexpr bool two_bytes = std::same_as<S, Eigen::half> || std::same_as<S, Eigen::bfloat16>;

/// Memory for n elements; null where there was none.
template <class E>
class row_room {
 public:
  [[nodiscard]] E* take(index_t n) noexcept {
    if (n <= index_t(sizeof here_ / sizeof(E))) return here_;
    away_.allocate(n);
    return away_.get();
  }

 private:
  E here_[16384 / sizeof(E)];
  scratch_array<E> away_;
};

template <class S, class F>
void copy_row(const strided<const S>& x, F* to) noexcept {
  if constexpr (std::same_as<S, F>) {
    if (x.stride == 1) {
      std::memcpy(to, x.data, sizeof(F) * std::size_t(x.size));
      return;
    }
  }
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (two_bytes<S> && std::same_as<F, float>) {
    if (x.stride == 1) return best::widen_row<std::same_as<S, Eigen::half>>(x.data, x.size, to);
  }
#endif
  for (index_t i = 0; i < x.size; ++i) to[i] = static_cast<F>(x[i]);
}
template <class F, class S>
void copy_row(const F* from, const strided<S>& out) noexcept {
  if constexpr (std::same_as<S, F>) {
    if (out.stride == 1) {
      std::memcpy(out.data, from, sizeof(F) * std::size_t(out.size));
      return;
    }
  }
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (two_bytes<S> && std::same_as<F, float>) {
    if (out.stride == 1)
      return best::narrow_row<std::same_as<S, Eigen::half>>(from, out.size, out.data);
  }
#endif
  for (index_t i = 0; i < out.size; ++i) out[i] = static_cast<S>(from[i]);
}

/// The numbers in the scalar of the kernels, where they lie or as a copy in `room`; null where there was no memory.
template <class S>
[[nodiscard]] const row_scalar<S>* side_by_side(const strided<const S>& x,
                                                row_room<row_scalar<S>>& room) noexcept {
  if constexpr (std::same_as<S, row_scalar<S>>) {
    if (x.stride == 1 || x.size == 1) return x.data;
  }
  row_scalar<S>* const copy = room.take(x.size);
  if (copy != nullptr) copy_row(x, copy);
  return copy;
}

/// Where the kernels can write `out`: there, or in `room`, to be copied.
template <class S>
[[nodiscard]] row_scalar<S>* place_for(const strided<S>& out, row_scalar<S>* room) noexcept {
  if constexpr (std::same_as<S, row_scalar<S>>) {
    if (out.stride == 1) return out.data;
  }
  return room;
}

/// A copy of a row.
template <class S>
class row_copy {
  using F = row_scalar<S>;

 public:
  explicit row_copy(const strided<const S>& x) noexcept : data_(room_.take(x.size)) {
    if (data_ != nullptr) copy_row(x, data_);
  }
  /// Null where there was no memory.
  [[nodiscard]] F* data() noexcept { return data_; }

 private:
  row_room<F> room_;
  F* data_;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
