// SPDX-License-Identifier: MIT
//
// How a row with options reaches the vector kernels: where it lies, or laid in a copy.
// Layer 1 (rows): noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/rows/row_copy.hpp>
#include <cumulus/detail/rows/row_parts.hpp>

#if CUMULUS_VECTORS

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// Whether the vector kernels take the scale of these terms.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool is_vector_row(const terms<S>& t) noexcept {
  if constexpr (vector_scalar<S>) {
    if (t.size() == 0 || t.zero_scale || t.infinite_scale) return false;
    return !t.scaled || takes_scale(double(t.scale));
  } else {
    return false;
  }
}

/// One look at the terms of a row. A term that the mask or a weight of 0 removes is laid as -inf, so that every term keeps its
/// place; a negative scale is laid as -x.
///
/// Not ready are: scales that the kernels don't take, weights that are negative, not finite or too far apart, no memory. There
/// the loops serve.
template <class S>
class row_plan {
  using F = row_scalar<S>;

 public:
  explicit row_plan(const terms<S>& t) noexcept : t_(t) { ready_ = is_vector_row(t) && lay(); }

  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] index_t size() const noexcept { return t_.size(); }
  [[nodiscard]] double scale() const noexcept { return double(t_.scale); }
  [[nodiscard]] row_threads on() const { return {t_.threads, t_.on}; }
  /// The row; a copy of it, which may be written, where laid().
  [[nodiscard]] const F* x() const noexcept { return x_; }
  [[nodiscard]] bool laid() const noexcept { return room_ != nullptr; }
  [[nodiscard]] bool weighted() const noexcept { return weights_.w != nullptr; }
  [[nodiscard]] const row_weights<F>& weights() const noexcept { return weights_; }
  /// The weights were divided by 2^weight_power.
  [[nodiscard]] index_t weight_power() const noexcept { return weight_power_; }

  /// Memory for a result: `out` itself where the kernels can write there, else a copy; null where there was no memory. Where the row
  /// may yet go to the loops, which need x, `keeps_x` leaves it as it is.
  [[nodiscard]] F* room_for(const strided<S>& out, bool keeps_x) noexcept {
    if constexpr (std::same_as<S, F>) {
      if ((out.stride == 1 || out.size == 1) && !(keeps_x && out.data == t_.x.data))
        return out.data;
    }
    return room_ != nullptr ? room_ : x_room_.take(t_.size());
  }

 private:
  [[nodiscard]] bool lay() noexcept {
    const index_t n = t_.size();
    const bool* mask = nullptr;
    if (t_.mask.data != nullptr && (mask = mask_side_by_side()) == nullptr) return false;
    if (t_.weights.data != nullptr && !take_weights(mask)) return false;
    const bool selects = mask != nullptr || removes_;
    if (!selects && !t_.negative && lies_ready(t_.x)) {
      if constexpr (std::same_as<S, F>) x_ = t_.x.data;
      return true;
    }
    room_ = x_room_.take(n);
    if (room_ == nullptr) return false;
    const F* from = room_;
    if (!lies_ready(t_.x)) {
      copy_row(t_.x, room_);
    } else if constexpr (std::same_as<S, F>) {
      from = t_.x.data;
    }
    if (from != room_ || selects || t_.negative)
      best::lay_row<F>(from, n, removes_ ? nullptr : mask, removes_ ? weights_.w : nullptr,
                       t_.negative, room_);
    x_ = room_;
    return true;
  }

  [[nodiscard]] const bool* mask_side_by_side() noexcept {
    if (t_.mask.stride == 1) return t_.mask.data;
    bool* const copy = mask_room_.take(t_.size());
    for (index_t i = 0; copy != nullptr && i < t_.size(); ++i) copy[i] = t_.mask[i];
    return copy;
  }

  /// Weights whose products with terms lose nothing that a share shows: those of float lie within 2^13 of one another, so that a
  /// term below the least number (2^-165 of the largest) has a share below half of the least subnormal one; those of double within
  /// 2^120.
  [[nodiscard]] bool take_weights(const bool* mask) noexcept {
    constexpr double apart = std::same_as<F, float> ? 0x1p13 : 0x1p120;
    if (lies_ready(t_.weights)) {
      if constexpr (std::same_as<S, F>) weights_.w = t_.weights.data;
    }
    F* own = nullptr;  // a copy, where the weights can't be read as they lie
    const auto take_copy = [&] {
      if (own == nullptr) own = w_room_.take(t_.size());
      return own != nullptr;
    };
    // what the mask removes has weight 0, whatever it holds
    if (weights_.w == nullptr || mask != nullptr) {
      if (!take_copy()) return false;
      if (weights_.w == nullptr) copy_row(t_.weights, own);
      if (mask != nullptr)
        best::keep_row<F>(weights_.w == nullptr ? own : weights_.w, t_.size(), mask, own);
      weights_.w = own;
    }
    const weight_ends<F> ends = best::ends_of_weights<F>(weights_.w, t_.size());
    if (ends.invalid || !(double(ends.most) <= double(ends.least) * apart)) return false;
    constexpr int room = std::numeric_limits<F>::max_exponent - 3;
    int exponent = 0;
    std::frexp(double(ends.most), &exponent);
    if (exponent < -room || room < exponent) return false;
    weights_.factor = times_power_of_two(F(1), 1 - exponent);
    weight_power_ = exponent - 1;
    removes_ = ends.has_zero;
    if (removes_ && mask == nullptr) {  // of -0 a share would be -0
      if (!take_copy()) return false;
      best::keep_row<F>(weights_.w, t_.size(), nullptr, own);
      weights_.w = own;
    }
    return true;
  }

  const terms<S>& t_;
  bool ready_ = false, removes_ = false;
  const F* x_ = nullptr;
  F* room_ = nullptr;
  row_weights<F> weights_;
  index_t weight_power_ = 0;
  row_room<F> x_room_, w_room_;
  row_room<bool> mask_room_;
};

/// The sums of a planned row, with the sink; and where `Keep`, its terms in out.
template <bool Keep, class S>
class planned_sums {
  using F = row_scalar<S>;

 public:
  planned_sums(const row_plan<S>& plan, const terms<S>& t, F* out) noexcept
      : plan_(plan), parts_(plan.size(), plan.on()) {
    if (plan.weighted()) {
      row_ = sum<true>(out);
    } else {
      row_ = sum<false>(out);
    }
    usable_ = row_.usable;
    if (!t.has_sink || !usable_) return;
    const bool shifted = row_.shift < F(0) || F(0) < row_.shift;
    const compensated<double> above =
        compensated<double>{double(t.sink), 0.0} -
        cumulus::detail::times_log_two(double(row_.power + plan.weight_power()));
    sink_ = exponential(above);
    // beyond 2^120 a sum's inverse, and with it a share, may leave the range of float
    usable_ = !shifted && sink_ < (std::same_as<F, float> ? 0x1p120 : 0x1p1000);
  }

  [[nodiscard]] bool usable() const noexcept { return usable_; }
  [[nodiscard]] const row_sums<F>& row() const noexcept { return row_; }
  /// The sink's term, over 2^row().power.
  [[nodiscard]] double sink() const noexcept { return sink_; }
  [[nodiscard]] compensated<double> total() const noexcept {
    compensated<double> total = row_.total();
    return total += sink_;
  }
  /// Whether parts of the row were measured from powers of their own.
  [[nodiscard]] bool several_powers() const noexcept {
    return parts_.several() || row_.stretch_count > 1 || row_.stretches[0].first > 0;
  }
  /// out_i = out_i / total()
  void divide_terms(F* out) const noexcept {
    if (plan_.weighted()) {
      divide_by_total<true>(out);
    } else {
      divide_by_total<false>(out);
    }
  }

 private:
  template <bool Weighted>
  [[nodiscard]] row_sums<F> sum(F* out) noexcept {
    const index_t n = plan_.size();
    const F* const x = plan_.x();
    if (n > row_parts<F>::length)
      return parts_.template sum<Keep, Weighted>(x, out, plan_.scale(), plan_.weights());
    return sum_row<Keep, Weighted>(x, out, n, plan_.scale(), -infinity<F>, plan_.weights());
  }
  template <bool Weighted>
  void divide_by_total(F* out) const noexcept {
    if (parts_.several()) {
      parts_.template divide_all<Weighted>(out, row_, total());
    } else {
      divide_stretches<Weighted>(out, plan_.size(), row_, row_, total());
    }
  }

  const row_plan<S>& plan_;
  row_parts<F> parts_;
  row_sums<F> row_;
  double sink_ = 0;
  bool usable_ = false;
};

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD

#endif  // CUMULUS_VECTORS
