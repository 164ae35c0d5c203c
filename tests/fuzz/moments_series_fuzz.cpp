// SPDX-License-Identifier: MIT
//
// Moments of any data in any pieces against two passes in long double, and the series: whatever is expanded, the exact value lies
// within the bound.
#include "bytes.hpp"

#include <cumulus/moments/central_moments.hpp>
#include <cumulus/moments/comoments.hpp>
#include <cumulus/moments/moment_tensor.hpp>
#include <cumulus/moments/sliding_window.hpp>
#include <cumulus/series/logsumexp_series.hpp>
#include <cumulus/series/softmax_series_bound.hpp>
#include <cumulus/series/standard_error.hpp>
#include <cumulus/series/temperature.hpp>
#include <cumulus/series/validate.hpp>

#include <algorithm>

namespace {

using namespace cumulus;
using namespace cumulus::detail;
using namespace fuzz;
using wide = long double;
constexpr wide u = 0x1p-53L;

/// A sample of finite numbers and weights, and what can be said of it in long double.
struct sample {
  std::vector<double> x, w;  // no weights where w is empty
  family kind = family::small;
  std::vector<wide> y;  // deviations from the mean
  wide weight = 0, mean = 0;

  [[nodiscard]] index_t size() const { return index_t(x.size()); }
  [[nodiscard]] wide weight_of(std::size_t i) const { return w.empty() ? 1 : wide(w[i]); }

  /// After a change of x or w. Differences from x[0] are exact for the families that are known.
  void measure() {
    weight = mean = 0;
    y.assign(x.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) weight += weight_of(i);
    if (!(weight > 0)) return;
    for (std::size_t i = 0; i < x.size(); ++i) mean += weight_of(i) * (wide(x[i]) - wide(x[0]));
    mean /= weight;
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (wide(x[i]) - wide(x[0])) - mean;
    mean += wide(x[0]);
  }
  /// sum w f(y)^p / W, of y or of |y|
  [[nodiscard]] wide moment(int p, bool absolute = false) const {
    wide sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      wide power = weight_of(i);
      for (int k = 0; k < p; ++k) power *= absolute ? std::fabs(y[i]) : y[i];
      sum += power;
    }
    return sum / weight;
  }
  /// log sum w e^{beta x}, and under those weights the mean and the variance of x, and the entropy.
  struct tilted {
    wide log_sum, mean, variance, entropy, largest;
  };
  [[nodiscard]] tilted at(wide beta) const {
    wide top = -infinity<wide>, sum = 0, first = 0, second = 0, largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(weight_of(i) > 0)) continue;
      top = std::max(top, beta * y[i]);
      largest = std::max({largest, std::fabs(beta * y[i]), std::fabs(beta * wide(x[i]))});
    }
    const auto e = [&](std::size_t i) { return weight_of(i) * std::exp(beta * y[i] - top); };
    for (std::size_t i = 0; i < x.size(); ++i) sum += e(i);
    for (std::size_t i = 0; i < x.size(); ++i) first += e(i) / sum * y[i];
    for (std::size_t i = 0; i < x.size(); ++i)
      second += e(i) / sum * (y[i] - first) * (y[i] - first);
    const wide log_sum = top + std::log(sum);
    return {log_sum + beta * mean, mean + first, second, log_sum - beta * first, largest};
  }
};

sample draw_sample(bytes& in, bool finite = true) {
  sample s;
  const index_t n = in.below(40);
  s.kind = finite ? static_cast<family>(in.below(3)) : draw_family(in);
  const bool weighted = in.flag();
  s.x = draw_vector<double>(in, n, s.kind);
  if (s.kind == family::wide && in.flag()) {
    for (double& v : s.x) v /= 64;  // of a range that series converge for
  }
  if (weighted && n > 0) s.w = draw_weights<double>(in, n);
  s.measure();
  return s;
}

central_moments<double> moments_of_range(const sample& s, index_t first, index_t end, int order,
                                         bool one_by_one) {
  central_moments<double> m(order);
  const auto n = std::size_t(end - first);
  const std::span<const double> x(s.x.data() + first, n),
      w(s.w.data() + (s.w.empty() ? 0 : first), s.w.empty() ? 0 : n);
  if (one_by_one) {
    for (std::size_t i = 0; i < n; ++i) m.add(x[i], w.empty() ? 1.0 : w[i]);
  } else if (w.empty()) {
    m.add(x);
  } else {
    m.add(x, w);
  }
  return m;
}

void check_moments(const sample& s, const central_moments<double>& m, wide roundings_a_power,
                   wide streaming) {
  if (!(s.weight > 0)) return expect(m.empty(), "no weight, no sample", m.weight());
  const wide apart = s.moment(1, true);
  expect(within(m.mean(), s.mean, (2 * std::fabs(s.mean) + 8 * apart) * u + streaming * apart),
         "the mean", m.mean(), s.mean);
  expect(within(m.weight(), s.weight, 4 * u * s.weight), "the weight", m.weight(), s.weight);
  for (int p = 2; p <= m.order(); ++p) {
    const wide off = (roundings_a_power * p * u + streaming + 0x1p-58L) * s.moment(p, true);
    expect(within(m.moment(p), s.moment(p), off), "a central moment", m.moment(p), s.moment(p), p);
  }
}

/// central_moments at once, one by one, in two parts, less a part, in a window.
void check_central(bytes& in) {
  const sample s = draw_sample(in);
  const index_t n = s.size(), cut = in.below(n + 1);
  const int order = int(in.below(9));
  const bool one_by_one = in.flag();
  const auto whole = moments_of_range(s, 0, n, order, false);
  check_moments(
      s, whole,
      s.w.empty() ? central_moments_max_roundings : central_moments_weighted_max_roundings, 0);
  const auto front = moments_of_range(s, 0, cut, order, one_by_one),
             back = moments_of_range(s, cut, n, order, false);
  check_moments(s, front + back, 0, central_moments_streaming_error);
  check_moments(s, moments_of_range(s, 0, n, order, true), 0, central_moments_streaming_error);
  if (const auto fault = find_moment_fault(whole))
    expect(false, "a sample has possible moments", fault->order);

  auto left = front + back;
  left -= front;
  if (back.empty() || front.empty()) {
    expect(back.empty() ? left.empty() || left.lossy() || !(left.weight() > 0) : left == back,
           "less a part", left.weight(), back.weight());
  } else if (!left.lossy()) {
    for (int p = 2; p <= order; p += 2)
      expect(within(left.moment(p), wide(back.moment(p)),
                    (1024 * u * wide(left.loss()) + 1e-12L) * wide(back.moment(p))),
             "less a part, within its loss", left.moment(p), back.moment(p), left.loss());
  }

  const index_t length = 1 + in.below(5);
  sliding_window<central_moments<double>> window(length, central_moments<double>(order));
  for (index_t i = 0; i < n; ++i) {
    window.add(s.x[std::size_t(i)], s.w.empty() ? 1.0 : s.w[std::size_t(i)]);
    if (i % 4 == 3) static_cast<void>(window.value());
  }
  sample last;
  last.x.assign(s.x.end() - std::min(length, n), s.x.end());
  if (!s.w.empty()) last.w.assign(s.w.end() - std::min(length, n), s.w.end());
  last.measure();
  check_moments(last, window.value(), 0, central_moments_streaming_error);
}

/// Any numbers and any weights: nothing is known but that pieces and the whole agree on what is finite.
void check_hostile(bytes& in) {
  sample s = draw_sample(in, false);
  const index_t n = s.size();
  for (double& w : s.w) {
    if (in.below(8) == 0) w = draw<double>(in, family::special);
  }
  const int order = int(in.below(7));
  const auto whole = moments_of_range(s, 0, n, order, false),
             single = moments_of_range(s, 0, n, order, true);
  expect(is_nan(whole.weight()) == is_nan(single.weight()) || !std::isfinite(whole.weight()) ||
             !std::isfinite(single.weight()),
         "a weight is NaN either way", whole.weight(), single.weight());
  double total = 0;
  for (const double w : s.w) total += w > 0 && std::isfinite(w) ? w : 0;
  expect(!(total < 1e308) || (same(whole.min(), single.min()) && same(whole.max(), single.max())),
         "the range, either way", whole.min(), single.min(), whole.max(), single.max());
  static_cast<void>(find_moment_fault(whole));
  const std::vector<double> any = draw_vector<double>(in, in.below(12), draw_family(in));
  static_cast<void>(find_moment_fault(any));
  const int asked = int(in.below(20));
  const form f = static_cast<form>(in.below(6));
  const auto estimate_ok = [](const estimate<double>& e) {
    expect(is_nan(e.value) || !(e.bound < 0), "a bound is no negative number", e.value, e.bound);
    expect(!is_nan(e.bound) || is_nan(e.value), "a bound is NaN only beside NaN", e.value, e.bound);
  };
  const logsumexp_series_options<double> o = {.order = asked, .form = f, .sharp = in.flag()};
  estimate_ok(logsumexp_series(s.x, o));
  if (!s.w.empty()) estimate_ok(logsumexp_series(s.x, {.weights = s.w, .order = asked, .form = f}));
  expect(refused([&] {
           static_cast<void>(logsumexp_series(whole, {.order = asked, .form = f}));
         }) == (asked > 1 && asked > order),
         "an order that is held", asked, order);
  const double tolerance = draw<double>(in, family::special);
  expect(refused([&] { estimate_ok(logsumexp_series(s.x, {.tolerance = tolerance})); }) ==
             !(tolerance > 0),
         "a tolerance is above 0", tolerance);
  const bool has_softmax = f != form::enclosure;
  expect(refused([&] { static_cast<void>(softmax_series(s.x, {.order = asked, .form = f})); }) ==
             !has_softmax,
         "enclosure has no softmax");
  const bool has_influence = f == form::taylor || f == form::normaliser || f == form::moment;
  expect(refused([&] {
           const double se = standard_error(s.x, {.order = asked, .form = f});
           expect(!(se < 0), "a standard error is no negative number", se);
         }) != has_influence,
         "forms with an influence");
}

/// comoments and moment_tensor of rows.
void check_vectors(bytes& in) {
  const index_t d = in.below(4), n = in.below(24), cut = in.below(n + 1);
  const family f = static_cast<family>(in.below(3));
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> x(n, d);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = draw<double>(in, f);
  const bool weighted = in.flag();
  const std::vector<double> w = draw_weights<double>(in, weighted ? n : 0);
  const Eigen::Map<const Eigen::VectorXd> weights(w.data(), weighted ? n : 0);
  const int order = int(in.below(5));

  comoments<double> c(d), parts(d), rest(d);
  moment_tensor<double> t(d, order);
  if (weighted) {
    c.add_rows(x, weights);
    t.add_rows(x, weights);
    parts.add_rows(x.topRows(cut), weights.head(cut));
    for (index_t i = cut; i < n; ++i) rest.add(x.row(i), weights[i]);
  } else {
    c.add_rows(x);
    t.add_rows(x);
    parts.add_rows(x.topRows(cut));
    for (index_t i = cut; i < n; ++i) rest.add(x.row(i));
  }
  parts += rest;
  std::vector<sample> columns;
  for (index_t j = 0; j < d; ++j) {
    sample s;
    for (index_t i = 0; i < n; ++i) s.x.push_back(x(i, j));
    s.w = w;
    s.measure();
    columns.push_back(s);
  }
  for (index_t i = 0; i < d; ++i) {
    const sample& a = columns[std::size_t(i)];
    if (!(a.weight > 0)) {
      expect(c.empty() && t.empty() && parts.empty(), "no weight, no sample");
      break;
    }
    for (index_t j = 0; j <= i; ++j) {
      const sample& b = columns[std::size_t(j)];
      wide exact = 0, size = 0;
      for (std::size_t k = 0; k < a.y.size(); ++k) {
        exact += a.weight_of(k) * a.y[k] * b.y[k];
        size += a.weight_of(k) * std::fabs(a.y[k] * b.y[k]);
      }
      exact /= a.weight;
      size /= a.weight;
      const wide off =
          ((weighted ? comoments_weighted_max_roundings : comoments_max_roundings) * u + 0x1p-58L) *
          size;
      expect(within(c.covariance(i, j), exact, off), "a covariance", c.covariance(i, j), exact, i,
             j);
      expect(within(parts.covariance(i, j), exact,
                    comoments_streaming_error * std::sqrt(a.moment(2)) * std::sqrt(b.moment(2))),
             "a covariance of parts", parts.covariance(i, j), exact);
      if (order >= 2)
        expect(within(t.moment({i, j}), exact,
                      (2 * moment_tensor_weighted_max_roundings * u) * std::sqrt(a.moment(2)) *
                          std::sqrt(b.moment(2))),
               "a tensor's component", t.moment({i, j}), exact);
    }
  }
  const index_t one = in.below(8) - 2, other = in.below(8) - 2;
  const bool within_width = 0 <= one && one < d && 0 <= other && other < d;
  expect(refused([&] { static_cast<void>(c.covariance(one, other)); }) != within_width,
         "coordinates are of the width or refused", one, other, d);
  expect(refused([&] { static_cast<void>(c.deviation(one, 1.0)); }) != (0 <= one && one < d),
         "a coordinate is of the width or refused", one, d);
  if (order >= 2)
    expect(refused([&] { static_cast<void>(t.moment({one, other})); }) != within_width,
           "coordinates of a tensor are of the width or refused", one, other, d);
  const index_t given = in.below(24);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(given);
  expect(refused([&] { c.add_rows(x, ones); }) == (given != n),
         "weights of comoments fit or are refused", given, n);
  expect(refused([&] { t.add_rows(x, ones); }) == (given != n),
         "weights of a tensor fit or are refused", given, n);
  Eigen::VectorXd q(d);
  for (index_t i = 0; i < d; ++i) q[i] = draw<double>(in, family::small);
  const auto along = t.directional(q);
  expect(along.order() == order && same(along.weight(), t.weight()), "moments along a direction");
}

/// The bound of an estimate against the exact value, known to `own`.
void expect_bounded(const estimate<double>& e, wide exact, wide own, const char* claim) {
  if (is_nan(e.value)) return;  // powers overflow
  expect(!is_nan(e.bound), "a value has a bound", e.value);
  expect(std::fabs(wide(e.value) - exact) <= wide(e.bound) + own, claim, e.value, exact, e.bound,
         e.order, int(e.form), int(e.kind));
}

void check_series(bytes& in) {
  const sample s = draw_sample(in);
  if (!(s.weight > 0)) return;
  const int order = int(in.below(4) == 0 ? in.below(65) : in.below(13));
  const form f = static_cast<form>(in.below(6));
  const int more = in.byte();
  const auto exact = s.at(1);
  const wide own = (exact.largest + 64) * 0x1p-60L;
  const double tolerances[] = {infinity<double>, infinity<double>, 1e-3, 1e-9, 1e-14, 1e-300};
  const double tolerance = tolerances[more % 6];
  const estimate<double> e =
      s.w.empty()
          ? logsumexp_series(
                s.x, {.order = order, .form = f, .tolerance = tolerance, .sharp = more > 128})
          : logsumexp_series(s.x, {.weights = s.w,
                                   .order = order,
                                   .form = f,
                                   .tolerance = tolerance,
                                   .sharp = more > 128});
  expect_bounded(e, exact.log_sum, own, "logsumexp_series within its bound");
  if (s.kind != family::wide)
    expect(std::isfinite(e.bound), "a bound of small numbers is finite", e.value, e.bound);

  const auto m = moments_of_range(s, 0, s.size(), std::max(order, 2), false);
  const moment_logsumexp_series_options of_moments{
      .order = order, .form = f, .tolerance = tolerance, .sharp = more > 192};
  expect_bounded(logsumexp_series(m, of_moments), exact.log_sum, own,
                 "logsumexp_series of moments within its bound");

  const double betas[] = {1, -1, 0, 0.5, 0.125, 2, -0.3, 1e-3};
  const double beta = betas[in.below(8)];
  const auto point = temperature_series(m, beta, order);
  const auto tilted = s.at(beta);
  const wide off = (tilted.largest + 64) * 0x1p-59L;
  expect_bounded(point.value, tilted.log_sum, off, "log Z within its bound");
  expect_bounded(point.slope, tilted.mean, off * (1 + std::fabs(s.mean)),
                 "the slope within its bound");
  expect_bounded(point.curvature, tilted.variance, off * (1 + s.moment(2)) * 64,
                 "the curvature within its bound");
  expect_bounded(point.entropy, tilted.entropy, off * 64, "the entropy within its bound");
}

void check_softmax(bytes& in) {
  sample s = draw_sample(in);
  if (!(s.weight > 0)) return;
  const int order = int(in.below(13));
  constexpr form forms[] = {form::taylor, form::normaliser, form::moment, form::chebyshev,
                            form::automatic};
  const form f = forms[in.below(5)];
  const std::vector<double> ones(s.x.size(), 1.0);
  if (s.w.empty()) s.w = ones;
  const series_options<double> o{.weights = s.w, .order = order, .form = f};
  const auto p = softmax_series(s.x, o);
  const auto bound = softmax_series_bound(s.x, o);
  const auto exact = s.at(1);
  wide sum = 0, size = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const wide value = p[i];
    if (!std::isfinite(p[i])) return;  // terms that overflow have no sum to speak of
    sum += value;
    size += std::fabs(value);
    const wide share = wide(s.w[i]) * std::exp((s.y[i] + s.mean) - exact.log_sum);
    const wide own = share * (exact.largest + 64) * 0x1p-60L;
    const wide error = std::fabs(value - share);
    expect(!(error > wide(bound.absolute) * wide(s.w[i]) / s.weight * (1 + 4 * u) + own),
           "softmax_series within its absolute bound", value, share, bound.absolute, s.w[i], int(f),
           order);
    expect(!(error > wide(bound.relative) * share + own + 1e-320L),
           "softmax_series within its relative bound", value, share, bound.relative, int(f), order);
  }
  if (f == form::taylor && size < 1e6L)
    expect(std::fabs(sum - 1) <= size * 1e-12L, "softmax_series sums to one", sum, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  switch (in.below(5)) {
    case 0:
      check_central(in);
      break;
    case 1:
      check_hostile(in);
      break;
    case 2:
      check_vectors(in);
      break;
    case 3:
      check_softmax(in);
      break;
    default:
      check_series(in);
      break;
  }
  return 0;
}
