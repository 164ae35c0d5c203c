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
                                                             double scale,
                                                             T known = -infinity<T>) noexcept {
  row_sums<T> row;
  row.scale = scale;
  row.has_fma = active_isa() != isa::baseline;
  row.known = known;
  if (Keep && x == out && !is_finite(known)) {
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

/// The same of a part of a row, whose stretches have powers of their own.
template <class T>
void divide_stretches(T* out, index_t n, const row_sums<T>& part, const row_sums<T>& row,
                      const compensated<double>& total) noexcept {
  index_t begin = part.stretches[0].first;
  for (index_t i = 0; i < begin; ++i) out[i] = T(0);
  for (int k = 0; k < part.stretch_count; ++k) {
    const index_t end = k + 1 < part.stretch_count ? part.stretches[k + 1].first : n;
    divide(out + begin, end - begin, row, total);
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
    if (count_ > 1) parts_.reset(new (std::nothrow) row_sums<T>[std::size_t(count_)]);
  }
  /// False for a row of one part, or where there was no memory.
  [[nodiscard]] bool several() const noexcept { return parts_ != nullptr; }

  /// The sums of all parts together; of the whole row at once where they cannot be added.
  template <bool Keep>
  [[nodiscard]] row_sums<T> sum(const T* x, T* out, double scale) noexcept {
    row_sums<T> row;
    row.scale = scale;
    row.has_fma = active_isa() != isa::baseline;
    const bool in_place = Keep && x == out;
    if (!several()) return whole<Keep>(x, out, row);
    if (in_place) {
      row.known = best::row_largest<T>(x, n_);
      if (!is_finite(row.known)) return row;
      row_sums<T> probe = row;
      if (!probe.start(row.known)) return whole<Keep>(x, out, row);
    }
    cumulus::detail::run_ranges(count_, 1, on_.threads, on_.on, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        parts_[std::size_t(i)] = sum_row<Keep>(x + i * length, Keep ? out + i * length : out,
                                               size_of_part(i), scale, row.known);
      }
    });
    for (index_t i = 0; i < count_; ++i) {
      row_sums<T>& part = parts_[std::size_t(i)];
      const bool shifted = part.shift < T(0) || T(0) < part.shift;
      if (!part.started() && !shifted && is_all_nothing(x + i * length, size_of_part(i))) {
        part.stretches[0] = {size_of_part(i), 0};  // all of it zeros
        continue;
      }
      // (in place all have one power, and one whose terms are all 0 adds nothing)
      if (!in_place && (!part.usable || shifted)) return whole<Keep>(x, out, row);
      row.merge(part, i * length);
    }
    row.finish();
    row.stretches[0] = {0, row.power};
    row.stretch_count = 1;
    return row;
  }

  /// out / sum, part by part.
  void divide_all(T* out, const row_sums<T>& row) const noexcept {
    const compensated<double> total = row.total();
    cumulus::detail::run_ranges(count_, 1, on_.threads, on_.on, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        divide_stretches(out + i * length, size_of_part(i), parts_[std::size_t(i)], row, total);
      }
    });
  }

 private:
  template <bool Keep>
  [[nodiscard]] row_sums<T> whole(const T* x, T* out, const row_sums<T>& row) noexcept {
    parts_.reset();
    return sum_row<Keep>(x, out, n_, row.scale, row.known);
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
  std::unique_ptr<row_sums<T>[]> parts_;
};

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_logsumexp(
    const S* x, index_t n, double scale, const row_threads& on,
    compute_scalar<S>& result) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = n > row_parts<S>::length
                              ? row_parts<S>(n, on).template sum<false>(x, none, scale)
                              : sum_row<false>(x, none, n, scale);
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
[[nodiscard]] bool softmax_in_parts(const S* x, S* out, index_t n, double scale,
                                    const row_threads& on, const quiet_flags& flags) noexcept {
  row_parts<S> parts(n, on);
  const row_sums<S> row = parts.template sum<true>(x, out, scale);
  if (row.raised || !row.usable) flags.restore();
  if (!row.usable) {
    if (x != out || !row.started()) return false;
    for (index_t i = 0; i < n; ++i) out[i] = quiet_nan<S>;
  } else if (parts.several()) {
    parts.divide_all(out, row);
  } else {
    divide_stretches(out, n, row, row, row.total());
  }
  return true;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_softmax(const S* x, S* out, index_t n,
                                                                 double scale,
                                                                 const row_threads& on) noexcept {
  const quiet_flags flags;
  if (n > row_parts<S>::length) return softmax_in_parts(x, out, n, scale, on, flags);
  const row_sums<S> row = sum_row<true>(x, out, n, scale);
  if (row.raised) flags.restore();
  if (!row.usable) {
    flags.restore();
    if (x != out || !row.started()) return false;
    for (index_t i = 0; i < n; ++i) out[i] = quiet_nan<S>;  // of a finite largest, NaN spoils it
    return true;
  }
  if (row.stretch_count > 1 || row.stretches[0].first > 0) {
    divide_stretches(out, n, row, row, row.total());
  } else {
    divide(out, n, row, row.total());
  }
  return true;
}

template <class S>
[[nodiscard, gnu::always_inline]] inline bool contiguous_log_softmax(
    const S* x, S* out, index_t n, double scale, const row_threads& on) noexcept {
  const quiet_flags flags;
  S* const none = nullptr;
  const row_sums<S> row = n > row_parts<S>::length
                              ? row_parts<S>(n, on).template sum<false>(x, none, scale)
                              : sum_row<false>(x, none, n, scale);
  if (row.raised) flags.restore();
  if (row.usable) {
    // of terms to 1 ulp each, the log of a sum is as good where it is large enough
    const row_logarithm log = logarithm_of(x, n, row, std::same_as<S, float> ? 1.0 : 2.0);
    constexpr double most = std::same_as<S, float> ? 0x1p100 : 0x1p1000;  // that a difference fits
    if (log.usable && -most < double(row.largest) && double(row.largest) < most) {
      cumulus::detail::run_ranges(
          n, row_parts<S>::length, on.threads, on.on, [&](index_t first, index_t end) {
            best::subtract_row<S>(x + first, out + first, end - first, row.largest, row.scale,
                                  S(log.over_largest));
          });
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
    const detail::row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t))
        return detail::contiguous_logsumexp(t.x.data, t.size(), scale, on, result);
    }
    detail::gathered_row<S> row(t);
    return row.size() > 0 &&
           detail::contiguous_logsumexp(static_cast<const detail::row_scalar<S>*>(row.data()),
                                        row.size(), scale, on, result);
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
    const detail::row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t) && (out.stride == 1 || out.size == 1))
        return detail::contiguous_softmax(t.x.data, out.data, t.size(), scale, on);
    }
    detail::gathered_row<S> row(t);
    const detail::row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !detail::contiguous_softmax(x, row.data(), row.size(), scale, on))
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
    const detail::row_threads on{t.threads, t.on};
    if constexpr (std::same_as<S, detail::row_scalar<S>>) {
      if (detail::lies_ready(t) && (out.stride == 1 || out.size == 1))
        return detail::contiguous_log_softmax(t.x.data, out.data, t.size(), scale, on);
    }
    detail::gathered_row<S> row(t);
    const detail::row_scalar<S>* const x = row.data();
    if (row.size() == 0 || !detail::contiguous_log_softmax(x, row.data(), row.size(), scale, on))
      return false;
    row.scatter(t, out, -infinity<S>);
    return true;
  } else {
    return false;
  }
}

}  // namespace cumulus::kernels
