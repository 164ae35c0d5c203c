// SPDX-License-Identifier: MIT
//
// The exact functions on any length, stride, weights, mask, scale and sink, in float and double: against sums in long double
// where all is finite, and against each other everywhere.
#include "bytes.hpp"

#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp_accumulator.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_mean.hpp>
#include <cumulus/series/standard_error.hpp>

#include "../support/any_options.hpp"

#include <algorithm>
#include <optional>

namespace {

using namespace cumulus;
using namespace cumulus::detail;
using namespace fuzz;

/// What a call is made of.
template <class T>
struct call {
  std::vector<T> x, w;              // no weights where w is empty
  std::vector<unsigned char> keep;  // no mask where it is empty; read as bool
  double scale = 1;
  std::optional<double> sink;
  degenerate policy = degenerate::limit;

  [[nodiscard]] index_t size() const { return index_t(x.size()); }
  [[nodiscard]] bool keeps(std::size_t i) const {
    return (keep.empty() || keep[i] != 0) && (w.empty() || !(w[i] == T(0)));
  }
};

using mask_view = Eigen::Map<const Eigen::Array<bool, Eigen::Dynamic, 1>>;
template <class T>
using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using strided_map = Eigen::Map<column<T>, 0, Eigen::InnerStride<>>;

/// Calls use(options) with those of c.
template <class T, class Use>
decltype(auto) with_options(const call<T>& c, Use use) {
  const mask_view keep(reinterpret_cast<const bool*>(c.keep.data()), index_t(c.keep.size()));
  if (c.w.empty() && c.keep.empty())
    return use(any_options<T>{.scale = c.scale, .sink = c.sink, .degenerate = c.policy});
  if (c.w.empty())
    return use(
        any_options<T>{.mask = keep, .scale = c.scale, .sink = c.sink, .degenerate = c.policy});
  if (c.keep.empty())
    return use(
        any_options<T>{.weights = c.w, .scale = c.scale, .sink = c.sink, .degenerate = c.policy});
  return use(any_options<T>{
      .weights = c.w, .mask = keep, .scale = c.scale, .sink = c.sink, .degenerate = c.policy});
}

double draw_scale(bytes& in) {
  const double of[] = {1,
                       1,
                       1,
                       1,
                       0.5,
                       -1,
                       0.125,
                       2,
                       0,
                       0.3,
                       -0.7,
                       1e-3,
                       infinity<double>,
                       -infinity<double>,
                       quiet_nan<double>,
                       1e300};
  return of[in.below(16)];
}

template <class T>
call<T> draw_call(bytes& in) {
  call<T> c;
  const int shape = in.byte();
  const index_t n = in.below(70);
  const family f = draw_any_family(in);
  c.x = draw_vector<T>(in, n, f);
  if (n > 0 && (shape & 1) != 0) c.w = draw_weights<T>(in, n);
  if (n > 0 && (shape & 2) != 0) {
    for (index_t i = 0; i < n; ++i) c.keep.push_back((in.byte() & 3) != 0 ? 1 : 0);
  }
  if ((shape & 4) != 0) c.scale = draw_scale(in);
  if ((shape & 8) != 0) c.sink = draw<double>(in, draw_any_family(in));
  if ((shape & 16) != 0 && !c.w.empty())  // of a hostile kind
    c.w[std::size_t(in.below(n))] = draw<T>(in, family::special);
  c.policy = static_cast<degenerate>((shape >> 5) & 3);
  return c;
}

/// The sums of a call in long double. Only where `known`: finite terms, weights and scale, and no rounding of a product that
/// long double does not resolve.
template <class T>
struct wide_sums {
  std::vector<long double> y, share;  // of what is kept: log w + scale x is not formed
  long double top = -infinity<long double>, log_sum = -infinity<long double>, largest = 0;
  bool known = true;

  explicit wide_sums(const call<T>& c) : y(c.x.size()), share(c.x.size()) {
    known = std::isfinite(c.scale);
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (!c.keeps(i)) continue;
      y[i] = static_cast<long double>(c.scale) * static_cast<long double>(c.x[i]);
      known = known && std::isfinite(c.x[i]) &&
              (c.w.empty() || (c.w[i] > 0 && std::isfinite(c.w[i]))) && std::fabs(y[i]) < 1e5L;
      top = std::max(top, y[i]);
      largest = std::max(largest, std::fabs(y[i]));
    }
    if (c.sink) {
      known = known && std::fabs(*c.sink) < 1e5;
      top = std::max(top, static_cast<long double>(*c.sink));
      largest = std::max(largest, std::fabs(static_cast<long double>(*c.sink)));
    }
    if (!known || !(top > -infinity<long double>)) return;
    long double sum = c.sink ? std::exp(static_cast<long double>(*c.sink) - top) : 0;
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (!c.keeps(i)) continue;
      share[i] = (c.w.empty() ? 1 : static_cast<long double>(c.w[i])) * std::exp(y[i] - top);
      sum += share[i];
    }
    for (long double& p : share) p /= sum;
    // where one term is all but all, its own logarithm is subtracted first
    log_sum = top + std::log(sum);
  }
  /// What the oracle itself may be off by, relative to a share.
  [[nodiscard]] long double own_error() const { return (largest + 64) * 0x1p-62L; }
};

/// A copy of x at this stride in memory of its own, so that the sanitizer sees what is read beside it.
template <class T>
struct strided_copy {
  strided_copy(const std::vector<T>& x, index_t step)
      : stride(step),
        memory(x.empty() ? 0 : (x.size() - 1) * std::size_t(std::abs(step)) + 1, T(77)) {
    for (std::size_t i = 0; i < x.size(); ++i) view()[index_t(i)] = x[i];
    count = index_t(x.size());
  }
  strided_map<T> view() {
    const index_t n =
        index_t(memory.empty() ? 0 : (memory.size() - 1) / std::size_t(std::abs(stride)) + 1);
    T* const first = stride < 0 && n > 0 ? memory.data() + (n - 1) * -stride : memory.data();
    return {first, n, Eigen::InnerStride<>(stride)};
  }
  index_t stride, count = 0;
  std::vector<T> memory;
};

template <class T>
void check_values(const call<T>& c, const T& sum, const column<T>& p, const column<T>& log_p) {
  const wide_sums<T> wide(c);
  const index_t n = c.size();
  for (index_t i = 0; i < n; ++i) {
    if (c.keeps(std::size_t(i))) continue;
    expect(p[i] == T(0) && log_p[i] == -infinity<T>, "what is left out has softmax 0", p[i],
           log_p[i]);
  }
  if (!wide.known) return;
  const long double u = wide.own_error();
  const long double size =
      std::max({1.0L, std::fabs(wide.log_sum), sizeof(T) > 4 ? wide.largest : 0.0L});
  if (wide.log_sum > -infinity<long double> || n == 0)
    expect(within(sum, wide.log_sum, logsumexp_max_ulp * ulp_at<T>(size) + size * u),
           "logsumexp within its ulp", sum, wide.log_sum);
  if (!(wide.top > -infinity<long double>)) return;  // nothing kept
  for (index_t i = 0; i < n; ++i) {
    if (!c.keeps(std::size_t(i))) continue;
    const long double s = wide.share[std::size_t(i)];
    expect(within(p[i], s, softmax_max_ulp * ulp_at<T>(s) + s * u), "softmax within its ulp", p[i],
           s, i);
    if (!c.w.empty() || !(s > 0)) continue;  // x and log w may cancel
    const long double log_s = wide.y[std::size_t(i)] - wide.log_sum;
    expect(within(log_p[i], log_s,
                  log_softmax_max_ulp * ulp_at<T>(log_s) + (1 + std::fabs(log_s)) * u),
           "log_softmax within its ulp", log_p[i], log_s, i);
  }
}

/// Parts in reverse, each alone.
struct backwards {
  void operator()(index_t count, part_task task) const {
    for (index_t i = count; i-- > 0;) task(i);
  }
};

template <class T>
void check_vector(bytes& in) {
  call<T> c = draw_call<T>(in);
  const index_t n = c.size();
  const Eigen::Map<const column<T>> x(c.x.data(), n);
  T sum(0);
  column<T> p, log_p;
  with_options(c, [&](const auto& o) {
    sum = logsumexp(x, o);
    p = softmax(x, o);
    log_p = log_softmax(x, o);
  });
  check_values(c, sum, p, log_p);

  // the same numbers elsewhere in memory, and into memory that is read
  const index_t strides[] = {1, 2, 3, -1, -2, 5};
  strided_copy<T> from(c.x, strides[in.below(6)]), to(c.x, strides[in.below(6)]);
  with_options(c, [&](const auto& o) {
    const auto again = from.view();
    expect(same(logsumexp(again, o), sum), "logsumexp of strided is that of contiguous", sum);
    auto out = to.view();
    softmax(again, into(out), o);
    expect(all_same(column<T>(out), p), "softmax of strided into strided", from.stride, to.stride);
    log_softmax(again, into(out), o);
    expect(all_same(column<T>(out), log_p), "log_softmax of strided", from.stride, to.stride);
    auto itself = from.view();
    softmax(itself, into(itself), o);
    expect(all_same(column<T>(itself), p), "softmax into itself", from.stride);
    if (n > 1) {  // overlapping by one
      std::vector<T> memory(c.x.begin(), c.x.end());
      memory.push_back(T(0));
      const Eigen::Map<column<T>> a(memory.data(), n), b(memory.data() + 1, n);
      Eigen::Map<column<T>> shifted = b;
      softmax(a, into(shifted), o);
      expect(all_same(column<T>(b), p), "softmax into memory one further on", n);
    }
  });

  // a weight of 0 is a mask
  if (!c.w.empty()) {
    call<T> masked = c;
    masked.keep.assign(c.x.size(), 1);
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (c.keeps(i)) continue;
      masked.keep[i] = 0;
      masked.w[i] = T(1);
      masked.x[i] = quiet_nan<T>;
    }
    with_options(masked, [&](const auto& o) {
      expect(same(logsumexp(masked.x, o), sum), "a weight of 0 is a mask", sum);
      expect(all_same(column<T>(Eigen::Map<const column<T>>(softmax(masked.x, o).data(), n)), p),
             "a weight of 0 is a mask of softmax", n);
    });
  }

  // one by one
  const wide_sums<T> wide(c);
  with_options(c, [&](const auto& o) {
    const column<T> running = logcumsumexp(x, o);
    const auto parts = segment_logsumexp(x, std::vector<int>(c.x.size(), 1), 3, o);
    if (!wide.known) return;
    const long double size =
        std::max({1.0L, std::fabs(wide.log_sum), sizeof(T) > 4 ? wide.largest : 0.0L});
    const long double off = logsumexp_max_ulp * ulp_at<T>(size) + size * wide.own_error();
    if (n > 0)
      expect(within(running[n - 1], wide.log_sum, off), "logcumsumexp ends with logsumexp",
             running[n - 1], wide.log_sum);
    expect(within(parts[1], wide.log_sum, off), "a segment has its logsumexp", parts[1],
           wide.log_sum);
    expect(same(parts[0], parts[2]) && same(parts[0], c.sink ? T(*c.sink) : -infinity<T>),
           "an empty segment has the sink", parts[0]);
  });
  if (c.keep.empty() && !c.sink && c.scale == 1 && n > 0) {
    const index_t cut = in.below(n + 1);
    logsumexp_accumulator<T> a, b, all;
    for (index_t i = 0; i < n; ++i) {
      const T w = c.w.empty() ? T(1) : c.w[std::size_t(i)];
      all.add(x[i], w);
      (i < cut ? a : b).add(x[i], w);
    }
    const T whole = all.value(), merged = (b + a).value();
    const long double size = std::max(1.0L, wide.largest);
    expect(same(whole, merged) || !wide.known ||
               std::fabs(static_cast<long double>(whole) - static_cast<long double>(merged)) <=
                   2 * ulp_at<T>(size),
           "logsumexp_accumulator is a monoid", whole, merged);
    expect(!wide.known ||
               within(whole, wide.log_sum,
                      logsumexp_max_ulp * ulp_at<T>(std::max(size, std::fabs(wide.log_sum))) +
                          size * wide.own_error()),
           "logsumexp_accumulator is logsumexp", whole, sum);
  }
}

/// A function of a vector and options, by its way into a result.
template <class T>
void write_chosen(index_t which, const column<T>& x, const column<T>& v, Eigen::Map<column<T>> out,
                  const any_options<T>& given) {
  const softmax_options<T>& o = given;
  const options<T>& plain = given;
  switch (which) {
    case 0:
      return softmax(x, into(out), o);
    case 1:
      return log_softmax(x, into(out), o);
    case 2:
      return logcumsumexp(x, into(out), plain);
    case 3:
      return logsumexp_gradient(x, into(out), plain);
    case 4:
      return logsumexp_gradient_weights(x, into(out), plain);
    case 5:
      return softmax_jvp(x, v, into(out), o);
    case 6:
      return softmax_vjp(x, v, into(out), o);
    case 7:
      return log_softmax_vjp(x, v, into(out), o);
    default:
      return logsumexp_hvp(x, v, into(out), plain);
  }
}

/// Weights that lie in the memory of a result are read before it is written.
template <class T>
void check_weights_in_result(bytes& in) {
  const index_t n = 1 + in.below(40), at = in.below(n + 1), which = in.below(9);
  const family f = draw_any_family(in);
  const double scale = draw_scale(in);
  const auto drawn = draw_vector<T>(in, n, f), along = draw_vector<T>(in, n, family::small),
             w = draw_weights<T>(in, n);
  const column<T> x = Eigen::Map<const column<T>>(drawn.data(), n),
                  v = Eigen::Map<const column<T>>(along.data(), n);
  column<T> apart(n);
  write_chosen<T>(which, x, v, Eigen::Map<column<T>>(apart.data(), n),
                  {.weights = w, .scale = scale});
  std::vector<T> memory(w);
  memory.resize(std::size_t(2 * n), T(0));
  const Eigen::Map<column<T>> out(memory.data() + at, n);
  write_chosen<T>(which, x, v, out,
                  {.weights = std::span<const T>(memory.data(), std::size_t(n)), .scale = scale});
  expect(all_same(column<T>(out), apart), "weights in the result", which, at, n);
}

/// Weights, scale and sink that are rows or columns of the matrix that is written, which may be that which is read.
void check_options_in_matrix(bytes& in) {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const index_t n = 1 + in.below(6), which = in.below(4), kinds = in.below(4);
  const bool by_rows = in.flag();
  matrix held(n, n);
  for (index_t i = 0; i < n * n; ++i) held.data()[i] = double(in.byte()) / 64;
  const index_t a = in.below(n), b = in.below(n), c = in.below(n);
  const auto write = [&](const matrix& source, const matrix& x, matrix& out) {
    const auto with = [&](auto d, const softmax_matrix_options<double>& o,
                          const matrix_options<double>& plain) {
      if (which == 0) softmax(x, into(out), d, o);
      if (which == 1) log_softmax(x, into(out), d, o);
      if (which == 2) logcumsumexp(x, into(out), d, plain);
      if (which == 3) logsumexp_gradient(x, into(out), d, plain);
    };
    const auto along = [&](auto d) {
      const Eigen::Map<const matrix, 0, Eigen::InnerStride<>> all(source.data(), n, n, {1});
      const auto line = all.row(a);
      const auto values = all.col(b), sinks = all.col(c);
      if (kinds == 0) with(d, {.weights = line}, {.weights = line});
      if (kinds == 1) with(d, {.scale = values}, {.scale = values});
      if (kinds == 2) with(d, {.sink = sinks}, {.sink = sinks});
      if (kinds == 3)
        with(d, {.weights = line, .scale = values, .sink = sinks},
             {.weights = line, .scale = values, .sink = sinks});
    };
    by_rows ? along(rowwise) : along(colwise);
  };
  const matrix x = held;
  matrix apart(n, n);
  write(matrix(held), x, apart);
  matrix in_place = held;
  write(in_place, in_place, in_place);
  expect(all_same(in_place, apart), "options in the matrix that is written", which, kinds, n);
  matrix over = held;
  write(over, x, over);
  expect(all_same(over, apart), "options in a result apart from x", which, kinds, n);
}

/// Numbers as far apart as there are: shares, their derivatives and what is counted from them.
template <class T>
void check_spread(bytes& in) {
  const index_t n = 1 + in.below(40);
  std::vector<T> x = draw_vector<T>(in, n, family::spread);
  for (T& value : x) {
    if (in.below(4) == 0) value = draw<T>(in, family::small);
  }
  T top = x[0];
  for (const T value : x) top = std::max(top, value);
  index_t near = 0;  // within reach of the largest
  long double sum = 0, squares = 0, first = 0;
  for (const T value : x) {
    const long double y = static_cast<long double>(value) - static_cast<long double>(top);
    const long double e = std::exp(y);
    sum += e;
    squares += e * e;
    first += y > -1e6L ? y * e : 0;
    near += y > -1e6L;
  }
  const auto p = softmax(x);
  const std::vector<T> g = draw_vector<T>(in, n, family::small);
  long double mean = 0;
  for (index_t i = 0; i < n; ++i) {
    const long double share =
        std::exp(static_cast<long double>(x[std::size_t(i)]) - static_cast<long double>(top)) / sum;
    expect(within(p[std::size_t(i)], share, softmax_max_ulp * ulp_at<T>(share) + share * 0x1p-58L),
           "softmax of any spread", p[std::size_t(i)], share, i);
    mean += share * static_cast<long double>(g[std::size_t(i)]);
  }
  const auto pulled = softmax_vjp(x, g);
  for (index_t i = 0; i < n; ++i) {
    const long double share =
        std::exp(static_cast<long double>(x[std::size_t(i)]) - static_cast<long double>(top)) / sum;
    const long double exact = share * (static_cast<long double>(g[std::size_t(i)]) - mean);
    expect(within(pulled[std::size_t(i)], exact, 16 * share * ulp_at<T>(8) + ulp_at<T>(0)),
           "softmax_vjp of any spread", pulled[std::size_t(i)], exact, i);
  }
  const long double count = sum * sum / squares;
  expect(within(effective_sample_size(x), count, 16 * ulp_at<T>(count)),
         "effective samples of any spread", effective_sample_size(x), count);
  const auto error = logsumexp_sampling_error(x);
  expect(within(error.effective_samples, count, 64 * ulp_at<T>(count)),
         "effective samples of a sampling error", error.effective_samples, count);
  expect(within(error.largest_share, 1 / sum, 16 * ulp_at<T>(1)), "the largest share",
         error.largest_share, 1 / sum);
  const long double entropy = std::log(sum) - first / sum;
  expect(within(softmax_entropy(x), entropy,
                64 * ulp_at<T>(1) * (1 + entropy) + 0x1p-40L * static_cast<long double>(near)),
         "entropy of any spread", softmax_entropy(x), entropy);
}

/// The rows and columns of a matrix in memory of any strides are its vectors.
template <class T>
void check_matrix(bytes& in) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const index_t rows = in.below(12), cols = in.below(12), inner = 1 + in.below(3),
                gap = in.below(3);
  const index_t outer = rows * inner + gap;
  const family f = draw_any_family(in);
  std::vector<T> memory(std::size_t(outer * cols + 1), T(3));
  Eigen::Map<matrix, 0, strides> x(memory.data(), rows, cols, strides(outer, inner));
  for (index_t i = 0; i < rows * cols; ++i) x(i % rows, i / rows) = draw<T>(in, f);
  const int kinds = in.byte();
  const matrix w = Eigen::Map<const matrix>(draw_weights<T>(in, rows * cols).data(), rows, cols);
  const double scale = draw_scale(in);
  const Eigen::VectorXd sinks =
      Eigen::VectorXd::Constant((kinds & 1) != 0 ? rows : cols, draw<double>(in, family::special));
  const backwards run;
  const auto check = [&](auto d, index_t lines, auto line_of) {
    const auto with = [&](const matrix_options<T>& o,
                          const softmax_matrix_options<T>& same_for_softmax) {
      const auto sums = logsumexp(x, d, o);
      const matrix p = softmax(x, d, same_for_softmax);
      matrix again(rows, cols);
      softmax(x, into(again), d, same_for_softmax);
      expect(all_same(p, again), "softmax of a matrix, returned or written", rows, cols);
      for (index_t i = 0; i < lines && x.size() > 0; ++i) {
        const column<T> one = line_of(x, i), weights = line_of(w, i), shares = line_of(p, i);
        const any_options<T> own = [&]() -> any_options<T> {
          const std::optional<double> sink =
              o.sink.given() ? std::optional<double>(o.sink[i]) : std::nullopt;
          if (o.weights.given()) return {.weights = weights, .scale = o.scale[i], .sink = sink};
          return {.scale = o.scale[i], .sink = sink};
        }();
        expect(same(T(sums[i]), logsumexp(one, own)), "logsumexp of a line", sums[i], i);
        expect(all_same(shares, softmax(one, own)), "softmax of a line", i);
      }
    };
    if ((kinds & 6) == 0)
      with({.scale = scale, .threads = 3, .executor = run},
           {.scale = scale, .threads = 3, .executor = run});
    else if ((kinds & 6) == 2)
      with({.weights = w, .scale = scale}, {.weights = w, .scale = scale});
    else if (sinks.size() == lines)
      with({.weights = w, .scale = scale, .sink = sinks, .threads = 2, .executor = run},
           {.weights = w, .scale = scale, .sink = sinks, .threads = 2, .executor = run});
    else
      with({.scale = scale, .sink = 0.25}, {.scale = scale, .sink = 0.25});
  };
  if ((kinds & 1) != 0)
    check(rowwise, rows, [](const auto& m, index_t i) { return m.row(i).transpose().eval(); });
  else
    check(colwise, cols, [](const auto& m, index_t i) { return m.col(i).eval(); });
}

/// Functions that are less often used, in double.
void check_others(bytes& in) {
  call<double> c = draw_call<double>(in);
  c.sink.reset();
  const index_t n = c.size();
  const Eigen::Map<const column<double>> x(c.x.data(), n);
  const wide_sums<double> wide(c);
  const family f = draw_any_family(in);
  const column<double> v =
      Eigen::Map<const column<double>>(draw_vector<double>(in, n, f).data(), n);
  with_options(c, [&](const auto& o) {
    const double mean = logmeanexp(x, o), entropy = softmax_entropy(x, o);
    variance_options<double> deviations = o;
    deviations.correction = in.flag() ? 1 : 0;
    static_cast<void>(logvarexp(x, deviations));
    const auto gradient = logsumexp_gradient(x, o), along = softmax_jvp(x, v, o);
    static_cast<void>(logsumexp_gradient_weights(x, o));
    static_cast<void>(log_softmax_vjp(x, v, o));
    static_cast<void>(logsumexp_hvp(x, v, o));
    const auto constant = softmax_jvp(x, column<double>::Constant(n, 3.5), o);
    const bool some = wide.top > -infinity<long double>;
    if (!wide.known || !some) return;
    double least = infinity<double>, kept = 0;
    for (index_t i = 0; i < n; ++i) {
      if (!c.keeps(std::size_t(i))) continue;
      least = std::min(least, double(wide.y[std::size_t(i)]));
      ++kept;
      expect(constant[i] == 0, "softmax does not change along a constant", constant[i], i);
      // (p (1 - p) times a difference of directions is at most half of the largest number)
      expect(!certainly_finite(f) || std::isfinite(along[i]) || std::fabs(c.scale) > 2,
             "softmax_jvp of finite is finite", along[i], c.scale);
      expect(std::fabs(gradient[i]) <= std::fabs(c.scale) * (1 + 1e-14),
             "a gradient is at most the scale", gradient[i]);
    }
    const double slack = 1e-14 * (1 + double(wide.largest));
    expect(least - slack <= mean && mean <= double(wide.top) + slack, "logmeanexp is a mean", mean,
           least, wide.top);
    if (c.w.empty())
      expect(-slack <= entropy && entropy <= std::log(kept) * (1 + 1e-14) + 1e-15,
             "entropy is in 0..log n", entropy, kept);
  });
  const double samples = effective_sample_size(c.x), worth = perplexity(c.x);
  if (n > 0 && std::isfinite(samples))
    expect(0 <= samples && samples <= double(n) * (1 + 1e-14), "effective samples are 0..n",
           samples, n);
  if (n > 0 && std::isfinite(worth))
    expect(1 - 1e-14 <= worth && worth <= double(n) * (1 + 1e-13), "perplexity is 1..n", worth, n);

  // signed sums: the weights of a drawn sign
  std::vector<double> w(c.x.size());
  for (double& z : w) z = draw<double>(in, in.flag() ? family::small : f);
  if (n > 24) return;
  const mask_view keep(reinterpret_cast<const bool*>(c.keep.data()), index_t(c.keep.size()));
  const auto signed_sum = c.keep.empty()
                              ? logsumexp_signed(c.x, w, {.scale = c.scale})
                              : logsumexp_signed(c.x, w, {.mask = keep, .scale = c.scale});
  expect(same(signed_sum.sign, signed_sum.sign) &&
             (std::isnan(signed_sum.sign) || std::fabs(signed_sum.sign) <= 1),
         "a sign is -1, 0, 1 or NaN", signed_sum.sign);
  c.w = w;
  const wide_sums<double> known = [&] {
    call<double> sizes = c;
    for (double& z : sizes.w) z = std::fabs(z);
    return wide_sums<double>(sizes);
  }();
  if (!known.known || !(known.top > -infinity<long double>)) return;
  long double share = 0;  // of the sum in that of absolute values
  for (std::size_t i = 0; i < w.size(); ++i)
    share += c.keeps(i) ? std::copysign(known.share[i], static_cast<long double>(w[i])) : 0;
  if (std::fabs(share) < 1e-6L) return;
  const long double exact = known.log_sum + std::log(std::fabs(share));
  expect(signed_sum.sign == (share < 0 ? -1 : 1), "the sign of a signed sum", signed_sum.sign,
         share);
  expect(within(signed_sum.log_abs, exact,
                logsumexp_signed_max_ulp * ulp_at<double>(exact) + 1e6L * known.own_error()),
         "logsumexp_signed", signed_sum.log_abs, exact);
}

/// Sizes that do not fit are refused, and those that fit are not.
void check_shapes(bytes& in) {
  const index_t n = in.below(8), weights = in.below(8), keeps = in.below(8), outs = in.below(8);
  const column<float> x = column<float>::Zero(n), w = column<float>::Ones(weights);
  const Eigen::Array<bool, Eigen::Dynamic, 1> keep =
      Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(keeps, true);
  column<float> out = column<float>::Zero(outs);
  const bool fits = n == weights && n == keeps;
  expect(refused([&] { static_cast<void>(logsumexp(x, {.weights = w, .mask = keep})); }) != fits,
         "sizes fit or are refused", n, weights, keeps);
  expect(refused([&] { softmax(x, into(out), {.weights = w}); }) != (n == weights && n == outs),
         "out fits or is refused", n, outs);
  expect(refused([&] { log_softmax(x, into(out), {.mask = keep}); }) != (n == keeps && n == outs),
         "out fits or is refused", n, outs);
  const int threads = int(in.below(4)) - 1;
  expect(refused([&] { static_cast<void>(softmax(x, {.threads = threads})); }) != (threads >= 1),
         "threads are at least 1", threads);
  std::vector<int> ids;
  bool good = true;
  const int count = int(in.below(6)) - 1;
  for (index_t i = 0; i < n; ++i) {
    ids.push_back(int(in.below(7)) - 1);
    good = good && 0 <= ids.back() && ids.back() < count;
  }
  expect(
      refused([&] { static_cast<void>(segment_logsumexp(x, ids, count)); }) != (good && count >= 0),
      "segment ids fit or are refused", count);
  const Eigen::MatrixXf many = Eigen::MatrixXf::Zero(n, outs);
  expect(refused([&] { static_cast<void>(logsumexp(many, rowwise, {.weights = w})); }) !=
             (weights == outs),
         "a line of weights fits or is refused", weights, outs);
  softmax_mean<double, Eigen::VectorXd> mean(n);
  expect(refused([&] { mean.add(0.5, Eigen::VectorXd::Zero(weights)); }) != (n == weights),
         "a value fits or is refused", n, weights);
}

/// log(e^a + e^b) and log(e^a - e^b) undo each other; the mean of two values lies between them.
template <class T>
void check_pairs(bytes& in) {
  const family f = draw_any_family(in);
  const T a = draw<T>(in, f), b = draw<T>(in, f), sum = logaddexp(a, b);
  expect(same(sum, logaddexp(b, a)), "logaddexp is symmetric", a, b);
  const auto difference = logsubexp_signed(a, b);
  expect(same(difference.log_abs, logsubexp_signed(b, a).log_abs), "|e^a - e^b| is symmetric", a,
         b);
  if (is_nan(a) || is_nan(b))
    return expect(is_nan(sum) && is_nan(difference.sign), "NaN shows", sum);
  expect(std::max(a, b) <= sum, "a sum is at least its larger part", a, b, sum);
  expect(difference.log_abs <= std::max(a, b) || is_nan(difference.log_abs),
         "a difference is at most its larger part", a, b);
  softmax_mean<T> mean;
  mean.add(a, T(-1));
  mean.add(b, T(2));
  const T m = mean.value();
  if (std::isfinite(a) && std::isfinite(b)) {
    expect(T(-1) <= m && m <= T(2), "a mean lies between", m);
    expect(within(mean.logsumexp(), static_cast<long double>(sum),
                  4 * ulp_at<T>(std::max({1.0L, std::fabs(static_cast<long double>(a)),
                                          std::fabs(static_cast<long double>(b))}))),
           "two ways to add", mean.logsumexp(), sum);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  switch (in.below(12)) {
    case 0:
      check_vector<float>(in);
      break;
    case 7:
      check_weights_in_result<float>(in);
      break;
    case 8:
      check_weights_in_result<double>(in);
      break;
    case 9:
      check_options_in_matrix(in);
      break;
    case 10:
      in.flag() ? check_spread<float>(in) : check_spread<double>(in);
      break;
    case 2:
      check_matrix<float>(in);
      break;
    case 3:
      check_others(in);
      break;
    case 4:
      check_shapes(in);
      break;
    case 5:
      check_pairs<double>(in);
      break;
    case 6:
      check_pairs<float>(in);
      break;
    default:
      check_vector<double>(in);
      break;
  }
  return 0;
}
