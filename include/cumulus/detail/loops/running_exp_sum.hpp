// SPDX-License-Identifier: MIT
//
// The sum of w e^x as its terms come, one by one or in sums of their own: a monoid.
// Layer 1 (loops): portable; unchecked, noexcept, no allocation.
#pragma once

#include <cumulus/detail/core/mode.hpp>
#include <cumulus/detail/loops/exp_reference.hpp>

namespace cumulus::detail::kernels::inline CUMULUS_BUILD {

/// How many powers of two the largest term of a running sum may rise before the reference does.
template <class T>
inline constexpr int exp_sum_span = exp_room<T> / 16;

/// Onto a sum whose high and low part are plain sums each: the low one is not brought below an ulp of
/// the high one, which would take four times as long. Requires that the sum does not overflow.
template <class T>
void gather(compensated<T>& sum, const compensated<T>& x) noexcept {
  const compensated<T> exact = two_sum(sum.high, x.high);
  sum.high = exact.high;
  sum.low += exact.low + x.low;
}

/// a / b, nearly always correctly rounded. Requires finite b > 0.
template <class T>
[[nodiscard]] T quotient(const compensated<T>& a, const compensated<T>& b) noexcept {
  const T first = a.high / b.high;
  if (!is_finite(first)) return first;
  T rest;
  if constexpr (std::floating_point<T>) {
    rest = std::fma(-first, b.high, a.high);
  } else {
    rest = a.high - first * b.high;
  }
  rest += a.low - first * b.low;
  return first + rest / b.high;
}

/// The largest term, and the sum of the others without it, both relative to one reference.
///
/// Leaving the largest term out keeps log1p(rest / largest) accurate where the others are all there
/// is to the answer. To merge, one of two largest terms joins the rest. The reference only rises: the
/// largest term lies between about 2^Lowest and exp_sum_span powers of two above. A high place keeps
/// small terms from underflow, a low one leaves room for what they multiply.
/// Edges   terms of e^-inf and of weight 0 change nothing; +inf and NaN stay.
template <class T, int Lowest>
class running_exp_sum {
 public:
  /// Takes in w e^x; returns it relative to reference(), 0 for what is no finite term.
  compensated<T> add(const compensated<T>& x, const T& w) noexcept {
    const T& e = x.high;
    if (!(w < T(0) || T(0) < w || is_nan(w))) return {};
    const bool heavy = !(w < infinity<T>);
    if (is_nan(e) || !(T(0) < w) || (heavy && !(-infinity<T> < e))) {
      return spoil(quiet_nan<T>);
    }
    if (!(-infinity<T> < e)) return {};
    if (heavy || !(e < infinity<T>)) return spoil(infinity<T>);
    if (!is_finite(log_largest_) && !empty()) return {};

    compensated<T> log_term = x;
    if (!is_one(w)) log_term += logarithm(w);
    if (empty() || !fits(log_term)) move(exp_reference<T>(log_term, Lowest));
    const compensated<T> term = reference_.term(x, w);
    take(log_term.high, term);
    return term;
  }

  void merge(const running_exp_sum& other) noexcept {
    if (other.empty() || is_nan(log_largest_)) return;
    if (!is_finite(other.log_largest_)) {
      spoil(other.log_largest_);
    } else if (empty()) {
      *this = other;
    } else if (is_finite(log_largest_)) {
      if (reference_ < other.reference_) move(other.reference_);
      const compensated<T> rest = reference_.moved(other.rest_, other.reference_);
      const compensated<T> largest = reference_.moved(other.largest_, other.reference_);
      gather(rest_, rest);
      take(other.log_largest_, largest);
    }
  }

  /// True until a term other than e^-inf comes.
  [[nodiscard]] bool empty() const noexcept { return log_largest_ <= -infinity<T>; }

  /// The largest of x + log w: -inf where empty, +inf or NaN if there is one.
  [[nodiscard]] const T& log_largest() const noexcept { return log_largest_; }

  [[nodiscard]] T log_sum() const noexcept {
    if (!is_finite(log_largest_)) return log_largest_;
    if constexpr (std::floating_point<T>) {
      if (reference_.whole() && largest_.high < 2 * rest_.high) return reference_.plus_log(sum());
    }
    return log_largest_ + log_one_plus(quotient(rest_, largest_));
  }

  /// The whole sum. Requires that it is finite.
  [[nodiscard]] compensated<T> sum() const noexcept {
    return largest_ + two_sum(rest_.high, rest_.low);
  }
  [[nodiscard]] const exp_reference<T>& reference() const noexcept { return reference_; }

  [[nodiscard]] friend bool operator==(const running_exp_sum&, const running_exp_sum&) = default;

  /// Shows f the numbers of `self`, a running sum.
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    exp_reference<T>::visit(self.reference_, f);
    f(self.log_largest_);
    f(self.largest_.high), f(self.largest_.low);
    f(self.rest_.high), f(self.rest_.low);
  }

 private:
  [[nodiscard]] bool fits(const compensated<T>& log_term) const noexcept {
    constexpr double highest = 0.6931471805599453 * (Lowest + exp_sum_span<T>);
    return !(T(highest) < reference_.distance(log_term));
  }

  void move(const exp_reference<T>& to) noexcept {
    rest_ = to.moved(rest_, reference_);
    largest_ = to.moved(largest_, reference_);
    reference_ = to;
  }

  /// A term becomes the largest, or joins the rest.
  void take(const T& log_term, const compensated<T>& term) noexcept {
    const bool larger =
        log_largest_ < log_term || (log_largest_ <= log_term && largest_.high < term.high);
    if (larger) {
      gather(rest_, largest_);
      log_largest_ = log_term;
      largest_ = term;
    } else {
      gather(rest_, term);
    }
  }

  compensated<T> spoil(T what) noexcept {
    if (is_nan(log_largest_)) return {};
    *this = {};
    log_largest_ = what;
    return {};
  }

  exp_reference<T> reference_{};
  T log_largest_ = -infinity<T>;
  compensated<T> largest_{};
  compensated<T> rest_{};
};

/// For logarithms: a high place, since the answer may be as small as the least number, and a sum of
/// terms that are smaller yet.
template <class T>
using running_log_sum = running_exp_sum<T, std::floating_point<T> ? exp_room<T> / 2 : 0>;

/// s x, to be an exponent: the limits of logsumexp where it is no finite product.
template <class T>
[[nodiscard]] compensated<T> scaled_exponent(const T& x, const T& scale) noexcept {
  if (is_one(scale)) return {x, T(0)};
  const auto is_zero = [](const T& v) { return !(v < T(0)) && !(T(0) < v) && !is_nan(v); };
  if (is_zero(scale)) return {is_nan(x) ? x : T(0), T(0)};
  if (is_zero(x)) return {is_nan(scale) ? scale : T(0), T(0)};
  const T product = scale * x;
  return is_finite(product) ? two_product(scale, x) : compensated<T>{product, T(0)};
}

/// Adds term i under a scale of its own; one that takes no part changes nothing. Requires i <
/// t.size().
template <class S>
void add_term(running_log_sum<compute_scalar<S>>& sum, const terms<S>& t, index_t i,
              const compute_scalar<S>& scale) noexcept {
  if (t.takes_part(i)) sum.add(scaled_exponent(t.exponent(i), scale), t.weight(i));
}

/// out_i = log of the sum and of the terms up to i. Requires out of x's size, x itself or memory
/// apart from it.
template <class S>
void cumulative_log_sum(running_log_sum<compute_scalar<S>> sum, const terms<S>& t,
                        const compute_scalar<S>& scale, strided<S> out) noexcept {
  for (index_t i = 0; i < t.size(); ++i) {
    add_term(sum, t, i, scale);
    out[i] = S(sum.log_sum());
  }
}

}  // namespace cumulus::detail::kernels::inline CUMULUS_BUILD
