// SPDX-License-Identifier: MIT
//
// The sum of the terms w_i e^{s x_i} to any number of digits, for sums that cancel.
// Layer 1 (loops): portable loops; unchecked, noexcept, no allocation.
//
// A number is taken apart into its bits, the weights of equal x are added as integers, and every
// exponential is computed in fixed point with an error bound, relative to the largest term left. By
// the theorem of Lindemann and Weierstrass a sum with distinct x and weights other than 0 is not 0;
// so enough words always tell its sign.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/terms.hpp>
#include <cumulus/detail/loops/words.hpp>
#include <cstdlib>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// A sum of terms, sorted by falling exponent, equal ones merged; relative to e^shift, which may
/// itself be taken off.
template <class S>
class exact_exp_sum {
  using T = compute_scalar<S>;

 public:
  /// Requires the positions of terms that take part, finite and in the order of falling exponents,
  /// and that both outlive the sum.
  exact_exp_sum(const terms<S>& t, std::span<const index_t> order) noexcept : t_(t), order_(order) {
    int lowest = 1, highest = 1;
    for (const index_t i : order) {
      const int e = binary_exponent(t.weight(i));
      lowest = std::min(lowest, e);
      highest = std::max(highest, e);
    }
    unit_ = index_t(std::numeric_limits<T>::digits) - lowest;
    weight_words_ = std::size_t((index_t(highest) + unit_) / word_bits + 4);
  }

  /// Words of scratch memory that a sum with `fraction` words behind the point takes.
  [[nodiscard]] std::size_t scratch_words(std::size_t fraction) const noexcept {
    return 2 * weight_words_ + 12 * (fraction + 2);
  }

  /// The first position, in the order, whose merged weight is not 0, with its sign; sign 0 if there
  /// is none.
  struct leader {
    index_t position;
    int sign;
  };
  [[nodiscard]] leader leading(words scratch) const noexcept {
    leader found{-1, 0};
    each_group(scratch, [&](const group& g) {
      found = {g.position, g.sign};
      return false;
    });
    return found;
  }

  /// About the largest x + log |w|: a good shift. Requires that a merged weight is not 0.
  [[nodiscard]] T largest_exponent(words scratch) const noexcept {
    term<T> best{};
    index_t best_exponent = 0;
    bool any = false;
    each_group(scratch, [&](const group& g) {
      const double ahead = any ? double(exponent_gap(t_, g.position, best).high) +
                                     0.6931471805599453 * double(g.exponent - best_exponent)
                               : 1;
      if (ahead > 0) {
        any = true;
        best = term_at(t_, g.position);
        best_exponent = g.exponent;
      }
      return true;
    });
    return T(t_.scale * best.exponent);
  }

  /// sum_i w_i e^{s x_i - shift} - subtracted, where `subtracted` is -1, 0 or 1, with `fraction`
  /// words behind the point. Requires scratch_words(fraction) words. An error of infinity says that
  /// the terms are out of reach.
  [[nodiscard]] wide_value<T> evaluate(const T& shift, int subtracted, std::size_t fraction,
                                       words scratch) const noexcept;

 private:
  /// Terms of one exponent: their weights add up to sign magnitude 2^-unit, magnitude of `exponent`
  /// - 1 + unit bits.
  struct group {
    index_t position;  ///< of one of them; -1 for what is subtracted
    int sign;
    index_t exponent;
    const_words magnitude;
  };

  /// s x_i - shift = sum of part_j 2^exponent.
  struct gap {
    T part[3];
    int exponent[3];
  };

  [[nodiscard]] gap gap_at(index_t i, const T& shift) const noexcept {
    if (i < 0) return {};
    const T x = t_.exponent(i);
    if (!t_.scaled) {
      const compensated<T> d = difference(x, shift);
      return {{d.high, d.low, T(0)}, {}};
    }
    const int e = binary_exponent(x), scale_e = binary_exponent(t_.scale);
    const compensated<T> product =
        two_product(times_power_of_two(x, -e), times_power_of_two(t_.scale, -scale_e));
    if (e + scale_e < 0)
      return {{product.high, product.low, T(-shift)}, {e + scale_e, e + scale_e, 0}};
    const compensated<T> d = difference(times_power_of_two(product.high, e + scale_e), shift);
    return {{d.high, d.low, product.low}, {0, 0, e + scale_e}};
  }

  [[nodiscard]] bool is_at(index_t i, const T& shift) const noexcept {
    const gap d = gap_at(i, shift);
    return !(d.part[0] < T(0) || T(0) < d.part[0] || d.part[1] < T(0) || T(0) < d.part[1] ||
             d.part[2] < T(0) || T(0) < d.part[2]);
  }

  /// use(group) for every group whose weight is not 0, as long as it says to go on; -subtracted
  /// e^shift joins its equals.
  template <class Use>
  void each_group(words scratch, Use use, const T& shift = T(0),
                  int subtracted = 0) const noexcept {
    const words plus = scratch.first(weight_words_),
                minus = scratch.subspan(weight_words_, weight_words_);
    const auto finish = [&](index_t position) {
      const bool negative = less(plus, minus);
      const words large = negative ? minus : plus;
      subtract(large, negative ? plus : minus);
      const index_t bits = bit_length(large);
      return bits == 0 || use(group{position, negative ? -1 : 1, bits - unit_, large});
    };
    std::size_t i = 0;
    while (i < order_.size() || subtracted != 0) {
      clear(plus);
      clear(minus);
      const index_t position = i < order_.size() ? order_[i] : -1;
      if (subtracted != 0 && (position < 0 || is_at(position, shift))) {
        add_number(subtracted < 0 ? plus : minus, T(1), unit_);
        subtracted = 0;
      }
      for (; i < order_.size(); ++i) {
        if (t_.exponent(order_[i]) < t_.exponent(position)) break;
        const T w = t_.weight(order_[i]);
        add_number(T(0) < w ? plus : minus, absolute(w), unit_);
      }
      if (!finish(position)) return;
    }
  }

  const terms<S>& t_;
  std::span<const index_t> order_;
  index_t unit_ = 0;              ///< weights are integers times 2^-unit
  std::size_t weight_words_ = 0;  ///< that hold any sum of them
};

template <class S>
wide_value<compute_scalar<S>> exact_exp_sum<S>::evaluate(const T& shift, int subtracted,
                                                         std::size_t fraction,
                                                         words scratch) const noexcept {
  constexpr double log2_e = 1.4426950408889634;
  const auto gap_of = [](const gap& d) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) sum += double(times_power_of_two(d.part[j], d.exponent[j]));
    return sum;
  };
  double top = -infinity<double>;
  each_group(
      scratch,
      [&](const group& g) {
        top = std::max(top, double(g.exponent) + log2_e * gap_of(gap_at(g.position, shift)));
        return true;
      },
      shift, subtracted);
  wide_value<T> result;
  if (!(-infinity<double> < top)) return result;
  const double reach = 0x1p30;
  if (!(std::abs(top) < reach)) return {0, T(0), 0, infinity<double>};
  // The terms in units of 2^head: each below 1, and so is their sum.
  const index_t head = index_t(std::floor(top)) + 3 + index_t(std::bit_width(order_.size() + 1));

  const std::size_t n = fraction + 1;
  std::size_t used = 2 * weight_words_;
  const auto take = [&](std::size_t count) {
    used += count;
    return scratch.subspan(used - count, count);
  };
  const words log2 = take(n), plus = take(n), minus = take(n), power = take(n),
              product = take(2 * n), total_plus = take(n), total_minus = take(n),
              extra = take(3 * n + 3);
  log_of_two(log2, extra);
  clear(total_plus);
  clear(total_minus);
  const index_t bits = fraction_bits(log2);
  const double exponential_error = std::ldexp(48.0, exponential_halvings(bits));
  double error = 0;  // in units
  each_group(
      scratch,
      [&](const group& g) {
        const gap d = gap_at(g.position, shift);
        const double distance = gap_of(d);
        error += 1;
        const double place = double(g.exponent) + log2_e * distance - double(head);
        if (!(place >= -double(bits) - 2)) return true;  // NaN, where x - shift overflows
        index_t twos = index_t(std::floor(log2_e * distance));
        clear(plus);
        clear(minus);
        for (int j = 0; j < 3; ++j)
          add_number(d.part[j] < T(0) ? minus : plus, absolute(d.part[j]), bits + d.exponent[j]);
        add_multiple(twos < 0 ? plus : minus, log2, word(std::abs(twos)));
        if (less(plus, minus)) {
          add(plus, log2);
          --twos;
        }
        subtract(plus, minus);
        exponential(plus, product, power);
        shift_right(g.magnitude, g.exponent + unit_ - bits, minus);
        multiply(power, minus, product, power);
        const index_t down = head - g.exponent - twos;
        shift_right(power, down, power);
        add(g.sign > 0 ? total_plus : total_minus, power);
        error += std::ldexp(exponential_error + 8 * double(std::abs(twos)) + 64, -int(down));
        return true;
      },
      shift, subtracted);
  const bool negative = less(total_plus, total_minus);
  const words total = negative ? total_minus : total_plus;
  subtract(total, negative ? total_plus : total_minus);
  result.error_bits = std::log2(error) + double(head - bits);
  const index_t length = bit_length(total);
  if (length == 0) return {1, T(0.5), head - bits, result.error_bits};
  result.sign = negative ? -1 : 1;
  result.fraction = leading_fraction<T>(total);
  result.exponent = length - bits + head;
  return result;
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
