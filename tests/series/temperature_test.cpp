// SPDX-License-Identifier: MIT
#include <cumulus/series/temperature.hpp>
#include <cumulus/series/tilted_moments.hpp>
#include <cmath>

#include "catch.hpp"
#include "least.hpp"
#include "names.hpp"
#include "oracle.hpp"
#include "series_samples.hpp"
#include "worst.hpp"

namespace {

using cumulus::central_moments;
using cumulus::estimate;
using cumulus::logsumexp_series_about;
using cumulus::temperature_series;
using cumulus::tilted_moments;
using oracle::wide;

constexpr double inf = std::numeric_limits<double>::infinity();

/// The definitions: log sum w e^(beta x), and mean, variance and entropy of its softmax.
struct exact_point {
  wide value, slope, curvature, entropy;

  exact_point(const std::vector<double>& x, const std::vector<double>& w, const wide& beta) {
    wide sum = 0, first = 0, second = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const wide p = (w.empty() ? wide(1) : wide(w[i])) * exp(beta * wide(x[i]));
      sum += p;
      first += p * wide(x[i]);
    }
    slope = first / sum;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const wide d = wide(x[i]) - slope;
      second += (w.empty() ? wide(1) : wide(w[i])) * exp(beta * wide(x[i])) * d * d;
    }
    value = log(sum);
    curvature = second / sum;
    entropy = value - beta * slope;
  }
};

template <class T>
double over_bound(const estimate<T>& e, const wide& exact) {
  return double(abs(wide(e.value) - exact) / wide(e.bound));
}

}  // namespace

TEST_CASE("temperature: value, slope, curvature and entropy lie within their bounds",
          "[series][property]") {
  families::random r(701);
  worst ratio;
  int finite = 0, count = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const double range = std::pow(10.0, r.uniform(-4, 1));
    const double offset = trial % 4 == 0 ? 1e4 : r.uniform(-3, 3);
    const auto s = families::ranged<double>(trial % families::shape_count, trial % 3,
                                            2 + r.below(30), range, offset, r);
    const int order = int(r.below(13));
    const double beta = trial % 7 == 0 ? 0 : r.uniform(-2, 2);
    central_moments<double> m(order);
    s.w.empty() ? m.add(s.x) : m.add(s.x, s.w);
    const auto point = temperature_series(m, beta, order);
    const exact_point exact(s.x, s.w, wide(beta));
    const std::string what = s.name + " " + std::to_string(trial) + " beta " +
                             std::to_string(beta) + " order " + std::to_string(order);
    ratio.see(over_bound(point.value, exact.value), what + " value");
    ratio.see(over_bound(point.slope, exact.slope), what + " slope");
    ratio.see(over_bound(point.curvature, exact.curvature), what + " curvature");
    ratio.see(over_bound(point.entropy, exact.entropy), what + " entropy");
    finite += point.slope.bound < inf && point.curvature.bound < inf && point.entropy.bound < inf;
    ++count;
  }
  CHECK_WORST(ratio, 1);
  CHECK(finite == count);
}

TEST_CASE("temperature: two equal points attain the bounds as their range shrinks",
          "[series][value]") {
  // K = log cosh beta, whose coefficients the bounds are made of
  central_moments<wide> m(13);
  m.add(std::vector<wide>{-1, 1});
  const wide beta(0.01);
  const auto point = temperature_series(m, beta, 13);
  const exact_point exact({-1, 1}, {}, beta);
  for (const double ratio :
       {over_bound(point.value, exact.value), over_bound(point.slope, exact.slope),
        over_bound(point.curvature, exact.curvature), over_bound(point.entropy, exact.entropy)}) {
    CHECK(ratio > 0.98);
    CHECK(ratio <= 1);
  }
}

TEST_CASE("temperature: the derivatives are those of the truncated value", "[series][property]") {
  const auto x = families::exponential<double>(40, -1.0, 0.3, 702);
  central_moments<wide> m(9);
  m.add(std::vector<wide>(x.begin(), x.end()));
  const wide h("1e-12");
  for (const int order : {0, 1, 2, 3, 5, 9}) {
    for (const double beta : {-0.8, 0.0, 0.3, 1.5}) {
      CAPTURE(order, beta);
      const auto at = temperature_series(m, wide(beta), order),
                 above = temperature_series(m, wide(beta) + h, order),
                 below = temperature_series(m, wide(beta) - h, order);
      CHECK(double(abs((above.value.value - below.value.value) / (2 * h) - at.slope.value)) <
            1e-20);
      CHECK(double(abs((above.slope.value - below.slope.value) / (2 * h) - at.curvature.value)) <
            1e-20);
      CHECK(double(abs(at.value.value - beta * at.slope.value - at.entropy.value)) < 1e-45);
      CHECK(at.slope.order == order);
    }
  }
}

TEST_CASE("temperature: one set of moments serves every beta, in float too", "[series][value]") {
  const auto x = families::normal<float>(300, 2.0, 0.2, 703);
  central_moments<float> m(8);
  m.add(x);
  for (const float beta : {-1.0f, 0.5f, 1.0f}) {
    const auto point = temperature_series(m, beta, 8);
    const exact_point exact(std::vector<double>(x.begin(), x.end()), {}, wide(beta));
    CHECK(over_bound(point.value, exact.value) <= 1);
    CHECK(over_bound(point.curvature, exact.curvature) <= 1);
    CHECK(point.slope.bound < 1e-3f);
    CHECK(point.entropy.bound < 1e-3f);
  }
  const auto start = temperature_series(m, 0, 4);
  CHECK(start.value.value == std::log(300.0f));
  CHECK(start.slope.value == m.mean());
  CHECK(start.curvature.value == Approx(m.moment(2)).epsilon(1e-6));
}

TEST_CASE("softmax_entropy_series: within its bound, where the truncated softmax is negative too",
          "[series][value]") {
  const auto x = families::normal<double>(60, 3.0, 1.5, 704),
             w = families::wild_weights<double>(60, 1.0, 705);
  for (const int order : {0, 2, 4, 7}) {
    const exact_point exact(x, {}, 1), weighted(x, w, 1);
    CHECK(over_bound(cumulus::softmax_entropy_series(x, order), exact.entropy) <= 1);
    CHECK(over_bound(cumulus::softmax_entropy_series(x, order, {.weights = w}), weighted.entropy) <=
          1);
  }
  CHECK(least_of(cumulus::softmax_series(x, 3)) < 0);
  const auto near = families::normal<double>(60, 3.0, 0.1, 706);
  CHECK(cumulus::softmax_entropy_series(near, 10).value ==
        Approx(double(exact_point(near, {}, 1).entropy)).epsilon(1e-11));
  CHECK(cumulus::softmax_entropy_series(near, 10).bound < 1e-7);
}

TEST_CASE("temperature: edges and refusals", "[series][edge]") {
  central_moments<double> none(4), one(4), infinite(4);
  one.add(3.0);
  infinite.add(inf);
  const auto nothing = temperature_series(none, 1, 4);
  CHECK(nothing.value.value == -inf);
  CHECK(std::isnan(nothing.slope.value));
  const auto single = temperature_series(one, 2, 4);
  CHECK(single.value.value == 6);
  CHECK(single.slope.value == 3);
  CHECK(single.curvature.value == 0);
  CHECK(single.curvature.bound < 1e-290);
  CHECK(single.entropy.value == 0);
  // ten weights of 0.1 are 5.6e-17 more than 1
  const std::vector<double> ties(10, 3.0), tenths(10, 0.1);
  const auto tied = cumulus::softmax_entropy_series(ties, 3, {.weights = tenths});
  CHECK(over_bound(tied, exact_point(ties, tenths, 1).entropy) <= 1);
  CHECK(tied.bound < 1e-14);
  CHECK(std::isnan(temperature_series(infinite, 1, 2).slope.value));
  CHECK(std::isnan(temperature_series(one, inf, 2).curvature.value));
  CHECK(names(refusal([&] { (void)temperature_series(one, 1, 5); }), {"5", "0..4"}));
  CHECK(names(refusal([&] { (void)cumulus::softmax_entropy_series(one, -1); }), {"-1"}));
}

// ---- tilted

TEST_CASE("tilted_moments: those under w softmax(log_weights)", "[series][value]") {
  const auto x = families::normal<double>(30, 5.0, 2.0, 707),
             tilt = families::normal<double>(30, 700.0, 1.5, 708),
             w = families::wild_weights<double>(30, 1.0, 709);
  const auto p = oracle::softmax(tilt, w);
  std::vector<double> shares(p.begin(), p.end());
  central_moments<double> direct(6);
  direct.add(x, shares);
  const auto m = tilted_moments(x, tilt, 6, {.weights = w});
  CHECK(m.weight() == Approx(1).epsilon(1e-15));
  CHECK(m.mean() == Approx(direct.mean()).epsilon(1e-14));
  for (int k = 2; k <= 6; ++k) CHECK(m.moment(k) == Approx(direct.moment(k)).epsilon(1e-12));
  // of x under its own softmax: the slope and curvature of logsumexp(beta x) at 1
  const exact_point exact(x, {}, 1);
  CHECK(tilted_moments(x, x, 2).mean() == Approx(double(exact.slope)).epsilon(1e-14));
  CHECK(tilted_moments(x, x, 2).moment(2) == Approx(double(exact.curvature)).epsilon(1e-13));
}

TEST_CASE(
    "logsumexp_series_about: within its bound, exact at its base, equal to the centred one at a "
    "constant",
    "[series][property]") {
  families::random r(710);
  worst ratio;
  for (int trial = 0; trial < 200; ++trial) {
    const auto s = families::ranged<double>(trial % families::shape_count, trial % 3,
                                            2 + r.below(20), 12.0, r.uniform(-5, 5), r);
    auto base = s.x;
    const double step = std::pow(10.0, r.uniform(-9, 0.5));
    for (double& b : base) b += step * r.normal();
    const int order = int(r.below(9));
    const auto form = trial % 2 == 0 ? cumulus::form::taylor : cumulus::form::moment;
    const auto e = s.w.empty() ? logsumexp_series_about(s.x, base, {.order = order, .form = form})
                               : logsumexp_series_about(
                                     s.x, base, {.weights = s.w, .order = order, .form = form});
    ratio.see(over_bound(e, oracle::logsumexp(s.x, s.w)), s.name + std::to_string(trial));
  }
  CHECK_WORST(ratio, 1);
  const auto x = families::normal<double>(20, 0.0, 4.0, 711);
  CHECK(logsumexp_series_about(x, x, 2).bound < 1e-13);
  const std::vector<double> flat(x.size(), 2.5);
  for (const int order : {1, 2, 5})
    CHECK(logsumexp_series_about(x, flat, order).value ==
          Approx(cumulus::logsumexp_series(x, order).value).epsilon(1e-12));
}

TEST_CASE("logsumexp_series_about: what a near base gains over the mean", "[series][value]") {
  const auto x = families::normal<double>(50, 0.0, 4.0, 712);
  auto base = x;
  for (std::size_t i = 0; i < base.size(); ++i) base[i] += i % 2 == 0 ? 0.01 : -0.01;
  const wide exact = oracle::logsumexp(x);
  CHECK(double(abs(wide(logsumexp_series_about(x, base, 3).value) - exact)) < 1e-8);
  CHECK(logsumexp_series_about(x, base, 3).bound < 1e-7);
  CHECK(double(abs(wide(cumulus::logsumexp_series(x, 3).value) - exact)) > 0.5);
}

TEST_CASE("logsumexp_series_about: edges and refusals", "[series][edge]") {
  using numbers = std::vector<double>;
  const numbers x{1, -inf, 2}, base{0, -inf, 3};
  const auto left_out = logsumexp_series_about(x, base, 8);
  CHECK(std::abs(left_out.value - std::log(std::exp(1.0) + std::exp(2.0))) <= left_out.bound);
  CHECK(left_out.bound < 1e-3);
  CHECK(std::isnan(logsumexp_series_about(numbers{1, 0}, numbers{0, -inf}, 2).value));
  CHECK(std::isnan(logsumexp_series_about(numbers{1, 0}, numbers{0, inf}, 2).value));
  CHECK(std::isnan(logsumexp_series_about(numbers{1, std::nan("")}, numbers{0, 1}, 2).value));
  CHECK(logsumexp_series_about(numbers{}, numbers{}, 2).value == -inf);
  // a weight too small for softmax still counts in the range
  const numbers far{700, 0}, low{-800, 0};
  const auto e = logsumexp_series_about(far, low, 2);
  CHECK(double(abs(wide(e.value) - oracle::logsumexp(far))) <= e.bound);
  CHECK(names(refusal([] { (void)logsumexp_series_about(numbers{1, 2}, numbers{1}, 2); }),
              {"x has 2", "base has 1"}));
  CHECK(names(refusal([] { (void)tilted_moments(numbers{1, 2}, numbers{1}, 2); }),
              {"log_weights has 1"}));
  CHECK(names(refusal([] { (void)logsumexp_series_about(numbers{1}, numbers{1}, 99); }), {"99"}));
}
