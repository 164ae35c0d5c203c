// SPDX-License-Identifier: MIT
//
// Derivatives of logsumexp, softmax and log_softmax, from the shifted exponentials: never from e^(x - logsumexp), which loses
// its digits with the size of x.
// Layer 1 (rows): portable loops, vector kernels for plain rows; unchecked, noexcept; allocates for rows of more than 16 KB only.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/rows/softmax.hpp>
#if CUMULUS_BODIES
#include <cumulus/detail/rows/row_plan.hpp>
#include <cumulus/detail/simd/product_kernels.hpp>
#endif

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

#if CUMULUS_VECTORS && CUMULUS_BODIES

/// Whether the vector kernels take the products of these terms: no weights, mask or sink, and a factor whose square fits.
template <class S>
[[nodiscard]] bool takes_products(const terms<S>& t, double factor) noexcept {
  const double size = absolute(factor);
  return t.size() > 1 && is_vector_row(t) && t.weights.data == nullptr && !t.has_sink &&
         t.mask.data == nullptr && 0x1p-30 < size && size < 0x1p30;
}

/// The shares of a row, and a direction beside them. Not ready for what the loops keep: rows that the kernels leave to them,
/// directions so large that a product might not fit, and shares that might be below the normal range, since a large direction
/// would show their rounding.
template <class S>
class row_and_direction {
  using F = row_scalar<S>;

 public:
  row_and_direction(const terms<S>& t, const strided<const S>& v) noexcept : plan_(t) {
    p_ = plan_.ready() ? shares_.take(t.size()) : nullptr;
    d_ = side_by_side(v, direction_);
    ready_ = p_ != nullptr && d_ != nullptr && fits() && divide_row();
  }

  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] index_t size() const noexcept { return plan_.size(); }
  [[nodiscard]] const F* shares() const noexcept { return p_; }
  [[nodiscard]] const F* direction() const noexcept { return d_; }
  /// Where the first of the largest terms is.
  [[nodiscard]] index_t peak() const noexcept { return peak_; }

  /// Calls write(memory of size() numbers) and brings it to out; the shares may be that memory.
  template <class Write>
  void give(const strided<S>& out, Write write) noexcept {
    F* const to = place_for(out, p_);
    write(to);
    if (to == p_) copy_row(static_cast<const F*>(p_), out);
  }

 private:
  [[nodiscard]] bool fits() noexcept {
    const index_t n = size();
    const F* const x = plan_.x();
    const F largest = best::row_largest<F>(x, n), smallest = best::row_smallest<F>(x, n);
    const F most = max_of(best::row_largest<F>(d_, n), F(-best::row_smallest<F>(d_, n)));
    const double normal = std::same_as<F, float> ? 87 : 708,
                 room = std::same_as<F, float> ? 0x1p60 : 0x1p500;
    const double spread = (double(largest) - double(smallest)) * plan_.scale();
    if (!(spread + std::log(double(n)) < normal && double(most) < room)) return false;
    peak_ = best::position_of<F>(x, n, largest);
    return peak_ < n;
  }
  [[nodiscard]] bool divide_row() noexcept {
    return contiguous_softmax(plan_.x(), p_, size(), plan_.scale(), {}) && !is_nan(p_[peak_]);
  }

  const row_plan<S> plan_;
  row_room<F> shares_, direction_;
  F* p_ = nullptr;
  const F* d_ = nullptr;
  index_t peak_ = 0;
  bool ready_ = false;
};

#endif

/// The Jacobian product by the vector kernels; false, and nothing written, for what they leave to the loops.
template <class S>
[[nodiscard]] bool vector_jacobian_product([[maybe_unused]] const terms<S>& t,
                                           [[maybe_unused]] const strided<const S>& v,
                                           [[maybe_unused]] const strided<S>& out,
                                           [[maybe_unused]] double factor,
                                           [[maybe_unused]] bool twice) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    if (!takes_products(t, factor)) return false;
    const quiet_flags flags;
    row_and_direction<S> row(t, v);
    if (row.ready()) {
      const F* const d = row.direction();
      const F origin = d[row.peak()];
      const double mean = best::dot_row<F>(row.shares(), d, row.size(), origin).value();
      if (is_finite(mean)) {  // else the direction holds a NaN
        row.give(out, [&](F* to) {
          best::jacobian_row<F>(row.shares(), d, to, row.size(), origin, F(mean),
                                F(twice ? factor * factor : factor));
        });
        return true;
      }
    }
    flags.restore();
  }
#endif
  return false;
}

/// log_softmax_transposed_product by the vector kernels; false, and nothing written, for what they leave to the loops, and where one
/// share is more than a half, so that its entry has digits to lose.
template <class S>
[[nodiscard]] bool vector_log_softmax_product([[maybe_unused]] const terms<S>& t,
                                              [[maybe_unused]] const strided<const S>& g,
                                              [[maybe_unused]] const strided<S>& out,
                                              [[maybe_unused]] double factor) noexcept {
#if CUMULUS_VECTORS && CUMULUS_BODIES
  if constexpr (vector_scalar<S>) {
    using F = row_scalar<S>;
    if (!takes_products(t, factor)) return false;
    const quiet_flags flags;
    row_and_direction<S> row(t, g);
    if (row.ready() && row.shares()[row.peak()] <= F(0.5)) {
      const F* const d = row.direction();
      const double all = best::dot_row<F>(nullptr, d, row.size(), F(0)).value();
      if (is_finite(all)) {
        row.give(out, [&](F* to) {
          best::subtract_shares<F>(row.shares(), d, to, row.size(), F(all), F(factor));
        });
        return true;
      }
    }
    flags.restore();
  }
#endif
  return false;
}

/// By which power of two the loops below divide a direction, so that no difference and no sum of its elements overflows where the
/// product does not; 0 for all but the largest numbers.
template <class S>
[[nodiscard]] int direction_power(const terms<S>& t, const strided<const S>& v,
                                  const compute_scalar<S>& factor) noexcept {
  using T = compute_scalar<S>;
  if constexpr (std::floating_point<T>) {
    T largest(0);
    for (index_t i = 0; i < t.size(); ++i) {
      const T size = absolute(T(v[i]));
      if (largest < size && is_finite(size) && t.takes_part(i)) largest = size;
    }
    const int gain = binary_exponent(T(double(t.size()))) +
                     (T(1) < absolute(factor) && is_finite(factor) ? binary_exponent(factor) : 0) +
                     4;
    if (T(0) < largest && binary_exponent(largest) + gain > std::numeric_limits<T>::max_exponent)
      return gain;
  }
  return 0;
}

/// out_i = factor p_i (v_i - sum_j p_j v_j), p the softmax: its Jacobian, which is symmetric, times v;
/// the sink counts as an outcome with v = 0. `twice` multiplies by the factor once more. Requires out
/// apart from x, or x itself.
///
/// v is taken relative to its value at the largest term, so that a constant v gives exactly 0.
/// Edges   where p_i is 0 because x_i is -inf or left out, 0 whatever v_i; a row without a positive
///         finite sum gives 0 where its softmax is a number.
/// Cost    as softmax_row on copies for the rows vector_jacobian_product takes; others four reads of x, two of v, 3n exp.
template <class S>
void softmax_jacobian_product(const terms<S>& t, const strided<const S>& v, const strided<S>& out,
                              degenerate policy, const compute_scalar<S>& factor,
                              bool twice) noexcept {
  using T = compute_scalar<S>;
  if (vector_jacobian_product(t, v, out, t.given_scale, twice)) return;
  exp_sum_result<T> sum = exp_sum(t);
  if (sum.position >= 0 && sum.finite() && !sum.positive()) sum.invalid = true;
  if (!sum.positive()) {
    degenerate_softmax(t, sum, out, policy, false);
    for (index_t i = 0; i < t.size(); ++i) out[i] = is_nan(out[i]) ? out[i] : S(0);
    return;
  }
  const T total = sum.relative();
  const int power = direction_power(t, v, factor);
  const auto element = [&](index_t i) {
    return power == 0 ? T(v[i]) : times_power_of_two(T(v[i]), -power);
  };
  const T reference = sum.peak.is_sink ? T(0) : element(sum.position);
  const auto has_share = [&](index_t i) { return t.takes_part(i) && -infinity<T> < t.exponent(i); };
  compensated<T> moment;
  for (index_t i = 0; i < t.count(); ++i) {
    if (i == sum.position || !has_share(i)) continue;
    const T value = i == t.size() ? T(0) : element(i);
    moment += share_times(t, i, sum, total, T(value - reference));
  }
  const T mean = moment.value();
  for (index_t i = 0; i < t.size(); ++i) {
    if (!has_share(i)) {
      out[i] = S(0);
      continue;
    }
    const bool at_peak = i == sum.position && !is_nan(reference);
    const T change = T(at_peak ? T(0) : T(element(i) - reference)) - mean;
    const bool none = !(change < T(0) || T(0) < change || is_nan(change));  // 0 at any scale
    const T product = none ? T(0) : T(share_times(t, i, sum, total, T(change * factor)));
    const T result = twice && !none ? T(product * factor) : product;
    out[i] = S(power == 0 ? result : times_power_of_two(result, power));
  }
}

/// out_i = factor (g_i - p_i sum_j g_j): the transposed Jacobian of log_softmax times g; the mask leaves
/// its g out. At the largest term, where p_i is near 1, as (g_i rest - the other g) / (1 + rest).
/// Edges   entries left out: 0; x_i = -inf: g_i.
/// Cost    four reads of x, two of g, 2n exp.
template <class S>
void log_softmax_transposed_product(const terms<S>& t, const strided<const S>& g,
                                    const strided<S>& out, degenerate policy,
                                    const compute_scalar<S>& factor) noexcept {
  using T = compute_scalar<S>;
  if (vector_log_softmax_product(t, g, out, t.given_scale)) return;
  exp_sum_result<T> sum = exp_sum(t);
  if (sum.position >= 0 && sum.finite() && !sum.positive()) sum.invalid = true;
  const int power = direction_power(t, g, factor);
  const auto element = [&](index_t i) {
    return power == 0 ? T(g[i]) : times_power_of_two(T(g[i]), -power);
  };
  const auto give = [&](index_t i, const T& product) {
    const T result = product * factor;
    out[i] = S(power == 0 ? result : times_power_of_two(result, power));
  };
  compensated<T> others;  // of the largest term
  for (index_t i = 0; i < t.size(); ++i) {
    if (i != sum.position && t.takes_part(i)) others += element(i);
  }
  if (!sum.positive()) {
    if (sum.position >= 0 && sum.position < t.size()) others += element(sum.position);
    const T all = others.value();
    degenerate_softmax(t, sum, out, policy, false);
    for (index_t i = 0; i < t.size(); ++i) {
      const T p = T(out[i]);
      if (!t.takes_part(i)) continue;
      give(i, is_nan(p) ? p : !(T(0) < p) ? element(i) : T(element(i) - p * all));
    }
    return;
  }
  const T total = sum.relative();
  const T peak_g = sum.position < t.size() ? element(sum.position) : T(0);
  compensated<T> everything = others;
  const T all = (everything += peak_g).value();
  for (index_t i = 0; i < t.size(); ++i) {
    T product(0);
    if (!t.takes_part(i)) {
      out[i] = S(0);
      continue;
    }
    if (i == sum.position) {
      product = T(T(peak_g * sum.rest.value()) - others.value()) / total;
    } else if (!(-infinity<T> < t.exponent(i))) {
      product = element(i);
    } else {
      product = element(i) - share_times(t, i, sum, total, all);
    }
    give(i, product);
  }
}

/// out_i = d logsumexp / d w_i = e^{s x_i} / sum, for terms of weight 0 too; masked entries 0, and
/// all where there is no finite positive sum to divide by and no limit either: NaN, or 0 for
/// nothing but -inf.
template <class S>
void logsumexp_weight_gradient(const terms<S>& t, const strided<S>& out) noexcept {
  using T = compute_scalar<S>;
  const exp_sum_result<T> sum = exp_sum(t);
  const T total = sum.relative();
  for (index_t i = 0; i < t.size(); ++i) {
    const T x = t.exponent(i);
    if (t.mask.data != nullptr && !t.mask[i]) {
      out[i] = S(0);
    } else if (!sum.finite()) {
      out[i] = sum.infinite > 0 && !sum.invalid && x < infinity<T> ? S(0) : quiet_nan<S>;
    } else if (is_nan(x) || sum.position < 0) {
      out[i] = is_nan(x) || -infinity<T> < x ? quiet_nan<S> : S(0);
    } else {
      const compensated<T> gap = exponent_gap(t, i, sum.peak);
      const T half = exponential(compensated<T>{gap.high / 2, gap.low / 2});
      out[i] = S(half / sum.peak.weight * half / total);
    }
  }
}

#define CUMULUS_DERIVATIVE_INSTANCES(Word, S)                                                 \
  Word template void softmax_jacobian_product(const terms<S>&, const strided<const S>&,       \
                                              const strided<S>&, degenerate,                  \
                                              const compute_scalar<S>&, bool) noexcept;       \
  Word template void log_softmax_transposed_product(const terms<S>&, const strided<const S>&, \
                                                    const strided<S>&, degenerate,            \
                                                    const compute_scalar<S>&) noexcept;       \
  Word template void logsumexp_weight_gradient(const terms<S>&, const strided<S>&) noexcept;
#if !CUMULUS_BODIES
CUMULUS_ROW_SCALARS(CUMULUS_DERIVATIVE_INSTANCES, extern)
#endif

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
