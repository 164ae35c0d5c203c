// SPDX-License-Identifier: MIT
//
// The sums of contiguous rows, of any size of their elements, and of long rows in parts.
// Layer 1 (rows): unchecked, noexcept; allocates for rows of more than 2^18 elements only.
#pragma once

#include <cumulus/core/executor.hpp>
#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/core/scratch.hpp>
#include <cumulus/detail/simd/row_kernels.hpp>

#if CUMULUS_VECTORS

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// What multiplies the terms of a row: w_i and a power of two, as weighted_sum_row asks; nothing where w is null.
template <class T>
struct row_weights {
  const T* w = nullptr;
  T factor = T(1);

  [[nodiscard]] row_weights from(index_t i) const noexcept { return {w + i, factor}; }
};

template <bool Plain, bool Keep, bool Weighted, class T>
[[gnu::always_inline]] inline void sum_near_row(const T* x, [[maybe_unused]] row_weights<T> weights,
                                                T* out, index_t n, row_sums<T>& row) noexcept {
  if constexpr (Weighted) {
    best::weighted_sum_row<T, Plain, Keep>(x, weights.w, weights.factor, out, n, row);
  } else {
    best::sum_row<T, Plain, Keep>(x, out, n, row);
  }
}

/// The sums of a row of elements too large for the scheme: relative to the largest, from which those that matter have exact
/// differences.
template <bool Keep, bool Weighted, class T>
void sum_far_row(const T* x, row_weights<T> weights, T* out, index_t n, row_sums<T>& row) noexcept {
  const T largest = best::row_largest<T>(x, n);
  row_sums<T> far;
  far.scale = row.scale;
  far.has_fma = row.has_fma;
  far.known = far.shift = largest;
  far.raised = true;
  row = far;
  const double exponent = double(largest) * row.scale;
  if (-0x1p1000 < exponent && exponent < 0x1p1000)
    sum_near_row<false, Keep, Weighted>(x, weights, out, n, row);
}

/// The sums of a row and, where `Keep`, its terms; in place x must stay readable until no rise can ask for it again,
/// so its largest element is looked for first.
template <bool Keep, bool Weighted = false, class T>
[[nodiscard, gnu::always_inline]] inline row_sums<T> sum_row(const T* x, T* out, index_t n,
                                                             double scale, T known = -infinity<T>,
                                                             row_weights<T> weights = {}) noexcept {
  row_sums<T> row;
  row.scale = scale;
  row.has_fma = active_isa_level() > 0;
  row.known = known;
  if (Keep && x == out && !is_finite(known)) {
    row.known = best::row_largest<T>(x, n);
    if (!is_finite(row.known)) return row;
  }
  if (scale < 1 || 1 < scale) {
    sum_near_row<false, Keep, Weighted>(x, weights, out, n, row);
  } else {
    sum_near_row<true, Keep, Weighted>(x, weights, out, n, row);
  }
  if (row.out_of_reach) sum_far_row<Keep, Weighted>(x, weights, out, n, row);
  return row;
}

/// The same out of line, for the parts of long rows.
template <bool Keep, bool Weighted, class T>
[[nodiscard, gnu::noinline]] row_sums<T> sum_part(const T* x, T* out, index_t n, double scale,
                                                  T known, row_weights<T> weights) noexcept {
  return sum_row<Keep, Weighted>(x, out, n, scale, known, weights);
}

/// out_i = out_i / sum. Exactly for double, and where a term may be nearly all of the sum; `Weighted` says that the row does not
/// know its largest term.
template <bool Weighted = false, class T>
void divide(T* out, index_t n, const row_sums<T>& row, const compensated<double>& total) noexcept {
  if (std::same_as<T, double> || Weighted || row.may_dominate(total.high)) {
    best::divide_row<T, true>(out, n, total);
  } else {
    best::divide_row<T, false>(out, n, total);
  }
}

/// The same of a part of a row, whose stretches have powers of their own.
template <bool Weighted = false, class T>
void divide_stretches(T* out, index_t n, const row_sums<T>& part, const row_sums<T>& row,
                      const compensated<double>& total) noexcept {
  index_t begin = part.stretches[0].first;
  for (index_t i = 0; i < begin; ++i) out[i] = T(0);
  for (int k = 0; k < part.stretch_count; ++k) {
    const index_t end = k + 1 < part.stretch_count ? part.stretches[k + 1].first : n;
    divide<Weighted>(out + begin, end - begin, row, total);
    const index_t fall = part.stretches[k].power - row.power;
    if (fall < -4 * row_sums<T>::dead) {
      for (index_t i = begin; i < end; ++i) out[i] = T(0);
    } else if (fall < 0) {
      // in two factors: one alone may be less than the least number
      for (const index_t power : {fall / 2, fall - fall / 2})
        best::divide_row<T, true>(out + begin, end - begin,
                                  {times_power_of_two(1.0, int(-power)), 0.0});
    }
    begin = end;
  }
}

/// What a long row may be spread over.
struct row_threads {
  int threads = 1;
  executor on{};
};

/// A row in parts of a fixed length, so that its sums do not depend on how many threads take them.
template <class T>
class row_parts {
 public:
  static constexpr index_t length = index_t(1) << 18;

  row_parts(index_t n, const row_threads& on) noexcept
      : n_(n), count_((n + length - 1) / length), on_(on) {
    if (count_ > 1) parts_.allocate(count_);
  }
  /// False for a row of one part, or where there was no memory.
  [[nodiscard]] bool several() const noexcept { return parts_.get() != nullptr; }

  /// The sums of all parts together; of the whole row at once where they cannot be added.
  template <bool Keep, bool Weighted = false>
  [[nodiscard, gnu::noinline]] row_sums<T> sum(const T* x, T* out, double scale,
                                               row_weights<T> weights = {}) noexcept {
    row_sums<T> row;
    row.scale = scale;
    row.has_fma = active_isa_level() > 0;
    const bool in_place = Keep && x == out;
    if (!several()) return whole<Keep, Weighted>(x, out, row, weights);
    if (in_place) {
      row.known = best::row_largest<T>(x, n_);
      if (!is_finite(row.known)) return row;
      row_sums<T> probe = row;
      if (!probe.start(row.known)) return whole<Keep, Weighted>(x, out, row, weights);
    }
    cumulus::detail::run_ranges(count_, 1, on_.threads, on_.on, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        parts_[i] = sum_part<Keep, Weighted>(x + i * length, Keep ? out + i * length : out,
                                             size_of_part(i), scale, row.known,
                                             Weighted ? weights.from(i * length) : weights);
      }
    });
    for (index_t i = 0; i < count_; ++i) {
      row_sums<T>& part = parts_[i];
      const bool shifted = part.shift < T(0) || T(0) < part.shift;
      if (!part.started() && !shifted && is_all_nothing(x + i * length, size_of_part(i))) {
        part.stretches[0] = {size_of_part(i), 0};  // all of it zeros
        continue;
      }
      // (in place all have one power, and one whose terms are all 0 adds nothing)
      if (!in_place && (!part.usable || shifted))
        return whole<Keep, Weighted>(x, out, row, weights);
      row.merge(part, i * length);
    }
    row.finish();
    row.stretches[0] = {0, row.power};
    row.stretch_count = 1;
    return row;
  }

  /// out / total, part by part.
  template <bool Weighted = false>
  void divide_all(T* out, const row_sums<T>& row, const compensated<double>& total) const noexcept {
    cumulus::detail::run_ranges(count_, 1, on_.threads, on_.on, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        divide_stretches<Weighted>(out + i * length, size_of_part(i), parts_[i], row, total);
      }
    });
  }

 private:
  template <bool Keep, bool Weighted>
  [[nodiscard]] row_sums<T> whole(const T* x, T* out, const row_sums<T>& row,
                                  row_weights<T> weights) noexcept {
    parts_.release();
    return sum_part<Keep, Weighted>(x, out, n_, row.scale, row.known, weights);
  }
  [[nodiscard]] static bool is_all_nothing(const T* x, index_t n) noexcept {
    index_t i = 0;
    while (i < n && x[i] <= -infinity<T>) ++i;
    return i == n;
  }
  [[nodiscard]] index_t size_of_part(index_t i) const noexcept {
    return i + 1 < count_ ? length : n_ - i * length;
  }

  index_t n_, count_;
  row_threads on_;
  scratch_array<row_sums<T>> parts_;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#endif  // CUMULUS_VECTORS
