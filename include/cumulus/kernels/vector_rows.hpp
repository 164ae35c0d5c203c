// SPDX-License-Identifier: MIT
//
// logsumexp, softmax and log_softmax of a row by the vector kernels.
// Layer 1 (kernels): unchecked, noexcept; allocates for strided rows of more than 16 KB only.
//
// Each returns false, its out of no use and x as it was, for a row that it leaves to the portable loops: one whose sum is no
// finite positive number, or whose elements are so large that the scheme does not hold.
#pragma once

#include <cumulus/kernels/terms.hpp>
#include <cumulus/kernels/vectors.hpp>
#include <memory>
#include <new>

namespace cumulus::kernels {

/// Whether the vector kernels take a scale other than 1: where there is no fused multiply-add, a power of two.
[[nodiscard]] inline bool takes_scale(double scale) noexcept {
  if (!(0x1p-60 < scale && scale < 0x1p60)) return false;
  int exponent = 0;
  return active_isa() != isa::baseline || std::frexp(scale, &exponent) <= 0.5;
}

namespace detail {

/// The scalar whose kernels take rows of S: the half types are read as float, and rounded once from its results.
template <class S>
struct row_scalar_of {
  using type = S;
};
template <>
struct row_scalar_of<Eigen::half> {
  using type = float;
};
template <>
struct row_scalar_of<Eigen::bfloat16> {
  using type = float;
};
template <class S>
using row_scalar = typename row_scalar_of<S>::type;

#if CUMULUS_VECTORS
template <class S>
concept vector_scalar = std::same_as < row_scalar<S>,
float > || std::same_as<row_scalar<S>, double>;
#else
template <class S>
concept vector_scalar = false;
#endif

/// Whether the vector kernels take these terms: x, a mask, a scale.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool is_vector_row(const terms<S>& t) noexcept {
  if constexpr (vector_scalar<S>) {
    if (t.size() == 0 || t.weights.data != nullptr || t.has_sink || t.zero_scale ||
        t.infinite_scale) {
      return false;
    }
    return !t.scaled || takes_scale(double(t.scale));
  } else {
    return false;
  }
}

#if CUMULUS_VECTORS

/// Whether the kernels can read x where it lies.
template <class S>
[[nodiscard]] bool lies_ready(const terms<S>& t) noexcept {
  return std::same_as<S, row_scalar<S>> && (t.x.stride == 1 || t.size() == 1) &&
         t.mask.data == nullptr && !t.negative;
}

/// The elements that are kept, in order: to them the same kernels give the same results.
template <class S>
class gathered_row {
  using F = row_scalar<S>;

 public:
  explicit gathered_row(const terms<S>& t) noexcept {
    constexpr index_t room = index_t(sizeof here_ / sizeof(F));
    if (t.size() > room) away_.reset(new (std::nothrow) F[std::size_t(t.size())]);
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
  std::unique_ptr<F[]> away_;
  F* data_;
  index_t size_ = 0;
};

/// The sums of a row of elements too large for the scheme: relative to the largest, from which those that matter have exact
/// differences.
template <bool Keep, class T>
void sum_far_row(const T* x, T* out, index_t n, row_sums<T>& row) noexcept {
  const T largest = best::row_largest<T>(x, n);
  row_sums<T> far;
  far.scale = row.scale;
  far.has_fma = row.has_fma;
  far.known = far.shift = largest;
  far.raised = true;
  row = far;
  const double exponent = double(largest) * row.scale;
  if (-0x1p1000 < exponent && exponent < 0x1p1000) best::sum_row<T, false, Keep>(x, out, n, row);
}

/// The sums of a row and, where `Keep`, its terms; in place x must stay readable until no rise can ask for it again,
/// so its largest element is looked for first.
template <bool Keep, class T>
[[nodiscard, gnu::always_inline]] inline row_sums<T> sum_row(const T* x, T* out, index_t n,
                                                             double scale) noexcept {
  row_sums<T> row;
  row.scale = scale;
  row.has_fma = active_isa() != isa::baseline;
  if (Keep && x == out) {
    row.known = best::row_largest<T>(x, n);
    if (!is_finite(row.known)) return row;
  }
  if (scale < 1 || 1 < scale) {
    best::sum_row<T, false, Keep>(x, out, n, row);
  } else {
    best::sum_row<T, true, Keep>(x, out, n, row);
  }
  if (row.out_of_reach) sum_far_row<Keep>(x, out, n, row);
  return row;
}

/// log(x 2^power). Requires a normal x > 0, and |power| < 2^29: then the first part of power log 2 is exact.
template <class T>
[[nodiscard]] compensated<double> logarithm_of(const compensated<double>& x,
                                               index_t power) noexcept {
  if constexpr (std::same_as<T, float>) {
    return {double(power) * exp_constants<T>::log_two + std::log(x.high), 0.0};
  } else {
    constexpr double first = 0x1.62e43p-1, second = -0x1.05c610ca86c39p-29;  // of log 2
    constexpr std::uint64_t half = std::bit_cast<std::uint64_t>(0x1.6a09e6p-1);
    const auto bits = std::bit_cast<std::uint64_t>(x.high);
    const auto shift =
        static_cast<std::int64_t>(bits - half) >> 52;  // x 2^-shift is 0.707 to 1.414
    const double fraction = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(shift) << 52));
    const double n = double(power + index_t(shift));
    const compensated<double> sum = two_sum(n * first, std::log(fraction));
    return {sum.high, sum.low + (n * second + x.low / x.high)};
  }
}

/// The log of a row's sum, and of the sum over its largest term.
struct row_logarithm {
  compensated<double> sum;
  double over_largest;
  bool usable = true;  ///< terms too small for the scheme cannot add up to an answer
};

/// Where the log of the sum over the largest term is less than `apart`, it keeps its digits: by the sum of the other terms.
template <class T>
[[nodiscard]] row_logarithm logarithm_of(const T* x, index_t n, const row_sums<T>& row,
                                         double apart) noexcept {
  const bool shifted = row.shift < T(0) || T(0) < row.shift;
  const bool plain = !shifted && !(row.scale < 1 || 1 < row.scale);
  const auto scaled = [&](T v) {
    return plain ? compensated<double>{double(v), 0.0} : two_product(double(v), row.scale);
  };
  const compensated<double> exponent = scaled(row.largest - row.shift);
  compensated<double> log = logarithm_of<T>(row.total(), row.power);
  const double over_largest = (log.high - exponent.high) + (log.low - exponent.low);
  if (!(over_largest < apart)) {
    if (shifted) log += scaled(row.shift);
    return {log, over_largest};
  }
  const compensated<double> above = exponent - cumulus::times_log_two(double(row.power));
  compensated<double> term{std::exp(above.high), 0.0};
  term.low = term.high * above.low;
  compensated<double> others = row.others;
  others +=
      plain ? best::sum_but_largest<T, true>(x, row) : best::sum_but_largest<T, false>(x, row);
  const double rest = others.high / term.high;
  const double lost =
      (std::fma(-rest, term.high, others.high) + (others.low - rest * term.low)) / term.high;
  const bool usable = n == 1 || times_power_of_two(1.0, exp_constants<T>::lowest + 25) < rest;
  const double logarithm = log_one_plus(rest) + lost / (1 + rest);
  return {scaled(row.largest) + compensated<double>{logarithm, 0.0}, logarithm, usable};
}

/// out_i = out_i / sum. Exactly for double, and where a term may be nearly all of the sum.
template <class T>
void divide(T* out, index_t n, const row_sums<T>& row, const compensated<double>& total) noexcept {
  if (std::same_as<T, double> || row.may_dominate(total.high)) {
    best::divide_row<T, true>(out, n, total);
  } else {
    best::divide_row<T, false>(out, n, total);
  }
}

/// The same where stretches of out have powers of their own.
template <class T>
void divide_stretches(T* out, index_t n, const row_sums<T>& row) noexcept {
  const compensated<double> total = row.total();
  index_t begin = row.stretches[0].first;
  for (index_t i = 0; i < begin; ++i) out[i] = T(0);
  for (int k = 0; k < row.stretch_count; ++k) {
    const index_t end = k + 1 < row.stretch_count ? row.stretches[k + 1].first : n;
    divide(out + begin, end - begin, row, total);
    if (const int fall = int(row.stretches[k].power - row.power); fall < 0) {
      // in two factors: one alone may be less than the least number
      for (const int part : {fall / 2, fall - fall / 2})
        best::divide_row<T, true>(out + begin, end - begin, {times_power_of_two(1.0, -part), 0.0});
    }
    begin = end;
  }
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_logsumexp(
    const S* x, index_t n, double scale, compute_scalar<S>& result) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable) {
    const double exponent = double(row.largest) * row.scale;
    const double apart = -1 < exponent && exponent < 1 ? 0.7 : -infinity<double>;
    const row_logarithm log = logarithm_of(x, n, row, apart);
    result = compute_scalar<S>(log.sum.value());
    if (log.usable) return true;
  }
  flags.restore();
  return false;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_softmax(const S* x, S* out, index_t n,
                                                                 double scale) noexcept {
  const quiet_flags flags;
  const row_sums<S> row = sum_row<true>(x, out, n, scale);
  if (row.raised) flags.restore();
  if (!row.usable) {
    flags.restore();
    if (x != out || !row.started()) return false;
    for (index_t i = 0; i < n; ++i) out[i] = quiet_nan<S>;  // of a finite largest, NaN spoils it
    return true;
  }
  if (row.stretch_count > 1 || row.stretches[0].first > 0) {
    divide_stretches(out, n, row);
  } else {
    divide(out, n, row, row.total());
  }
  return true;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_log_softmax(const S* x, S* out, index_t n,
                                                                     double scale) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable) {
    // of terms to 1 ulp each, the log of a sum is as good where it is large enough
    const row_logarithm log = logarithm_of(x, n, row, std::same_as<S, float> ? 1.0 : 2.0);
    constexpr double most = std::same_as<S, float> ? 0x1p100 : 0x1p1000;  // that a difference fits
    if (log.usable && -most < double(row.largest) && double(row.largest) < most) {
      best::subtract_row<S>(x, out, n, row.largest, row.scale, S(log.over_largest));
      return true;
    }
  }
  flags.restore();
  return false;
}

#endif

}  // namespace detail

/// log of the sum of the row's terms.
/// Error   float: 1 ulp of max(1, |result|); double: 2 ulp of max(1, |result|) and half an ulp of max |x|. Where the largest
///         term is more than half of the sum and within e^-1..e, relative to the result.
/// Cost    one read of x.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool logsumexp_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] compute_scalar<S>& result) noexcept {
  if constexpr (detail::vector_scalar<S>) {
    if (!detail::is_vector_row(t)) return false;
    const double scale = double(t.scale);
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t))
        return detail::contiguous_logsumexp(t.x.data, t.size(), scale, result);
    }
    detail::gathered_row<S> row(t);
    return row.size() > 0 &&
           detail::contiguous_logsumexp(static_cast<const detail::row_scalar<S>*>(row.data()),
                                        row.size(), scale, result);
  } else {
    return false;
  }
}

/// out_i = e^{s x_i} / sum. Requires out of x's size: x itself, or memory apart from it.
/// Error   4 ulp of each entry, subnormal ones included.
/// Cost    a read of x and a write of out, then a read and a write of out; where out is x, a read more.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool softmax_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] strided<S> out) noexcept {
  if constexpr (detail::vector_scalar<S>) {
    if (!detail::is_vector_row(t)) return false;
    const double scale = double(t.scale);
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t) && (out.stride == 1 || out.size == 1))
        return detail::contiguous_softmax(t.x.data, out.data, t.size(), scale);
    }
    detail::gathered_row<S> row(t);
    const detail::row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !detail::contiguous_softmax(x, row.data(), row.size(), scale))
      return false;
    row.scatter(t, out, S(0));
    return true;
  } else {
    return false;
  }
}

/// out_i = s x_i - log sum. Requires as softmax_row.
/// Error   3 ulp of each entry, that of the largest x too.
/// Cost    two reads of x and a write of out.
template <class S>
[[nodiscard, gnu::always_inline]] inline bool log_softmax_row(
    [[maybe_unused]] const terms<S>& t, [[maybe_unused]] strided<S> out) noexcept {
  if constexpr (detail::vector_scalar<S>) {
    if (!detail::is_vector_row(t)) return false;
    const double scale = double(t.scale);
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t) && (out.stride == 1 || out.size == 1))
        return detail::contiguous_log_softmax(t.x.data, out.data, t.size(), scale);
    }
    detail::gathered_row<S> row(t);
    const detail::row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !detail::contiguous_log_softmax(x, row.data(), row.size(), scale))
      return false;
    row.scatter(t, out, -infinity<S>);
    return true;
  } else {
    return false;
  }
}

}  // namespace cumulus::kernels
