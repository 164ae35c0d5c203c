// SPDX-License-Identifier: MIT
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/series/standard_error.hpp>
#include <cmath>

#include "catch.hpp"
#include "families.hpp"
#include "names.hpp"
#include "oracle.hpp"

namespace {

using cumulus::form;
using cumulus::logsumexp_sampling_error;
using cumulus::noise_order;
using cumulus::standard_error;
using oracle::wide;

constexpr form forms[] = {form::taylor, form::normaliser, form::moment};

/// The estimate as a function of the weights, log W left out; of order -1, the exact one.
wide estimate_of(const std::vector<wide>& x, const std::vector<wide>& w, int order, form f) {
  wide total = 0, sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += w[i], sum += w[i] * exp(x[i]);
  if (order < 0) return log(sum / total);
  return cumulus::logsumexp_series(x, {.weights = w, .order = order, .form = f}).value - log(total);
}

/// sum (w_i df/dw_i)^2, by central differences in 50 digits: the delta method with nothing derived.
wide by_differences(const std::vector<double>& x, const std::vector<double>& w, int order, form f) {
  std::vector<wide> values(x.begin(), x.end()), weights(w.begin(), w.end());
  wide sum = 0;
  const wide h("1e-16");
  for (wide& weight : weights) {
    const wide before = weight;
    weight = before * (1 + h);
    const wide above = estimate_of(values, weights, order, f);
    weight = before * (1 - h);
    const wide below = estimate_of(values, weights, order, f);
    weight = before;
    const wide slope = (above - below) / (2 * h);
    sum += slope * slope;
  }
  return sqrt(sum);
}

}  // namespace

TEST_CASE("standard_error: the slopes in the weights, by differences in 50 digits",
          "[series][value]") {
  const auto x = families::exponential<double>(11, 40.0, 0.6, 601);
  const auto w = families::wild_weights<double>(11, 2.0, 602);
  for (const int order : {0, 1, 2, 3, 4, 7}) {
    for (const form f : forms) {
      const double expected = double(by_differences(x, w, order, f));
      CAPTURE(order, int(f));
      CHECK(standard_error(x, {.weights = w, .order = order, .form = f}) ==
            Approx(expected).epsilon(1e-12));
    }
  }
  CHECK(logsumexp_sampling_error(x, {.weights = w}).standard_error ==
        Approx(double(by_differences(x, w, -1, form::taylor))).epsilon(1e-12));
}

TEST_CASE("standard_error: keeps its digits at a small spread and a large offset",
          "[series][value]") {
  const std::vector<double> x{1024 - 0x1p-30, 1024 + 0x1p-30, 1024, 1024};
  // order 1 and every other: sd / sqrt(n), to 2^-30
  for (const int order : {1, 2, 5})
    CHECK(standard_error(x, order) == Approx(0x1p-31 / std::sqrt(2.0)).epsilon(1e-8));
  CHECK(logsumexp_sampling_error(x).standard_error ==
        Approx(0x1p-31 / std::sqrt(2.0)).epsilon(1e-8));
  const std::vector<float> narrow(x.begin(), x.end());
  CHECK(standard_error(narrow, 3) == 0);
}

TEST_CASE("standard_error: from moments to 2P, as from the data", "[series][property]") {
  const auto x = families::normal<double>(500, -3.0, 0.8, 603);
  cumulus::central_moments<double, 16> m;
  cumulus::central_moments<float, 16> narrow;
  m.add(x);
  narrow.add(x);
  for (int order = 0; order <= 8; ++order) {
    for (const form f : forms) {
      CAPTURE(order, int(f));
      const double expected = standard_error(x, {.order = order, .form = f});
      CHECK(standard_error(m, {.order = order, .form = f}) == Approx(expected).epsilon(1e-12));
      CHECK(standard_error(narrow, {.order = order, .form = f}) == Approx(expected).epsilon(1e-6));
      CHECK(standard_error(m, {.order = order, .form = f, .inefficiency = 4.0}) ==
            Approx(2 * expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("standard_error: at order 2 with a normal law's moments, var/n + var^2/(2n)",
          "[series][value]") {
  const double root = std::sqrt(3.0);  // the three-point rule: moments 1, 0, 1, 0, 3
  const std::vector<double> x{-root, 0, 0, 0, 0, root};
  CHECK(standard_error(x, 2) == Approx(std::sqrt((1 + 0.5) / 6)).epsilon(1e-14));
}

TEST_CASE("standard_error: values that come in runs count once", "[series][property]") {
  const auto x = families::normal<double>(60, 0.0, 0.9, 604);
  std::vector<double> runs;
  for (const double v : x) runs.insert(runs.end(), 5, v);
  const auto once = logsumexp_sampling_error(x),
             five = logsumexp_sampling_error(runs, {.inefficiency = 5});
  CHECK(five.standard_error == Approx(once.standard_error).epsilon(1e-12));
  CHECK(five.effective_samples == Approx(once.effective_samples).epsilon(1e-12));
  CHECK(standard_error(runs, {.order = 3, .inefficiency = 5}) ==
        Approx(standard_error(x, 3)).epsilon(1e-12));
  // Equal weights of any size, and a weight of 0
  auto more = x;
  std::vector<double> w(x.size(), 7.0);
  more.push_back(1e300);
  w.push_back(0);
  CHECK(standard_error(more, {.weights = w, .order = 3}) ==
        Approx(standard_error(x, 3)).epsilon(1e-12));
}

TEST_CASE("standard_error: within 5 % of 4000 resamples", "[series][value]") {
  const auto x = families::exponential<double>(400, 1.0, 0.35, 605);
  constexpr int orders[] = {1, 2, 3, 5};
  double sum[5] = {}, squares[5] = {};
  families::random r(606);
  std::vector<double> sample(x.size());
  constexpr int folds = 4000;
  for (int fold = 0; fold < folds; ++fold) {
    for (double& v : sample) v = x[r.below(x.size())];
    for (std::size_t k = 0; k < 5; ++k) {
      const double value =
          k == 4 ? cumulus::logsumexp(sample) : cumulus::logsumexp_series(sample, orders[k]).value;
      sum[k] += value - 7;
      squares[k] += (value - 7) * (value - 7);
    }
  }
  for (std::size_t k = 0; k < 5; ++k) {
    const double deviation =
        std::sqrt((squares[k] - sum[k] * sum[k] / folds) / (folds - 1));  // itself to 1.2 %
    CAPTURE(k);
    CHECK((k == 4 ? logsumexp_sampling_error(x).standard_error : standard_error(x, orders[k])) ==
          Approx(deviation).epsilon(0.05));
  }
}

TEST_CASE("sampling_error: tells a good overlap from a poor one", "[series][value]") {
  const auto good = logsumexp_sampling_error(families::normal<double>(4001, -2.0, 0.9, 607));
  CHECK(!good.poor_overlap);
  CHECK(good.effective_samples == Approx(4001 * std::exp(-0.81)).epsilon(0.1));
  CHECK(good.standard_error ==
        Approx(std::sqrt(1 / good.effective_samples - 1.0 / 4001)).epsilon(1e-9));
  CHECK(good.largest_share < 0.01);
  const auto poor = logsumexp_sampling_error(families::normal<double>(4001, -8.0, 3.6, 608));
  CHECK(poor.poor_overlap);
  CHECK(poor.effective_samples < 100);
  CHECK(poor.largest_share > 0.05);
  const std::vector<double> shares{0, 0, std::log(2.0)};  // 1/4, 1/4, 1/2
  CHECK(logsumexp_sampling_error(shares).effective_samples == Approx(8.0 / 3).epsilon(1e-14));
  CHECK(logsumexp_sampling_error(shares).largest_share == Approx(0.5).epsilon(1e-15));
  CHECK(logsumexp_sampling_error(shares).value == Approx(std::log(4.0)).epsilon(1e-15));
}

TEST_CASE("noise_order: where the truncation error falls below the standard error",
          "[series][value]") {
  const auto x = families::normal<double>(4001, -2.0, 0.9, 607);
  const double exact = cumulus::logsumexp(x);
  const auto stop = noise_order(x, {.order = 12});
  REQUIRE(stop.has_value());
  for (int order = 1; order <= *stop; ++order) {
    CAPTURE(order);
    const double error = std::abs(cumulus::logsumexp_series(x, order).value - exact);
    CHECK((error <= standard_error(x, order)) == (order == *stop));
  }
  // more noise, an earlier stop; none, none
  CHECK(noise_order(x, {.order = 12, .inefficiency = 1e6}) == 1);
  CHECK(noise_order(x, {.order = 6, .inefficiency = 1e-12}) == std::nullopt);
  CHECK(noise_order(std::vector<double>{5, 5}, {.order = 3}) == 1);
  CHECK(noise_order(std::vector<double>{}, {.order = 3}) == std::nullopt);
}

TEST_CASE("standard_error: edges", "[series][edge]") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> none, one{3}, ties{2, 2, 2}, infinite{1, inf}, below{1, -inf};
  for (const int order : {0, 1, 4}) {
    CHECK(std::isnan(standard_error(none, order)));
    CHECK(std::isnan(standard_error(infinite, order)));
    CHECK(std::isnan(standard_error(below, order)));
    CHECK(standard_error(one, order) == 0);
    CHECK(standard_error(ties, order) == 0);
  }
  CHECK(logsumexp_sampling_error(ties).standard_error == 0);
  CHECK(logsumexp_sampling_error(ties).effective_samples == Approx(3).epsilon(1e-15));
  const auto nothing = logsumexp_sampling_error(none);
  CHECK(nothing.value == -inf);
  CHECK(std::isnan(nothing.standard_error));
  CHECK(nothing.poor_overlap);
}

TEST_CASE("logsumexp_sampling_error: any spread, and values of -inf", "[series][edge]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double far : {-1e10, -1e15, -1e17, -1e300, -inf}) {
    const auto few = logsumexp_sampling_error(std::vector<double>{0, far, far});
    CHECK(few.effective_samples == Approx(1).epsilon(1e-14));
    CHECK(few.largest_share == Approx(1).epsilon(1e-14));
    CHECK(few.standard_error == Approx(std::sqrt(2.0 / 3)).epsilon(1e-14));
    std::vector<double> x(201, far);
    x[0] = 0;
    const auto many = logsumexp_sampling_error(x);
    CHECK(many.effective_samples == Approx(1).epsilon(1e-13));
    CHECK(many.poor_overlap);
    CHECK(many.standard_error == Approx(std::sqrt(200.0 / 201)).epsilon(1e-13));
  }
  const auto clash = logsumexp_sampling_error(std::vector<double>{0, 0.5, -inf});
  const double p = 1 / (1 + std::exp(-0.5));
  CHECK(clash.largest_share == Approx(p).epsilon(1e-14));
  CHECK(clash.effective_samples == Approx(1 / (p * p + (1 - p) * (1 - p))).epsilon(1e-14));
}

TEST_CASE("standard_error: what it refuses", "[series][edge]") {
  const std::vector<double> x{1, 2}, w{1, 2, 3};
  cumulus::central_moments<double, 5> m;
  m.add(x);
  CHECK(names(refusal([&] { (void)standard_error(x, 65); }), {"standard_error", "65", "0..64"}));
  CHECK(names(refusal([&] { (void)standard_error(m, 3); }), {"standard_error", "6", "0..5"}));
  CHECK(names(refusal([&] { (void)standard_error(x, {.weights = w}); }), {"2", "3", "weights"}));
  for (const double g : {0.0, -1.0, std::nan("")})
    CHECK(names(refusal([&] { (void)standard_error(x, {.inefficiency = g}); }),
                {"inefficiency", "positive"}));
  CHECK(names(refusal([&] { (void)noise_order(x, {.order = -1}); }), {"noise_order", "-1"}));
  CHECK(names(refusal([&] { (void)standard_error(x, {.form = form(77)}); }),
              {"form unknown", "influence"}));
}
