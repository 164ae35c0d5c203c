// SPDX-License-Identifier: MIT
#include <cumulus/exact/log_weights.hpp>

#include <Eigen/Core>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "families.hpp"
#include "flags.hpp"
#include "kinds.hpp"
#include "refusal.hpp"
#include "shifted.hpp"
#include "ulp.hpp"
#include "worst.hpp"

using cumulus::effective_sample_size;
using cumulus::effective_sample_size_max_ulp;
using cumulus::into;
using cumulus::normalise_log_weights;
using cumulus::perplexity;
using oracle::wide;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// (sum w)^2 / sum w^2 of the weights themselves.
template <class T>
double size_error(const std::vector<T>& x) {
  const auto w = oracle::exp_terms(x, oracle::centre(x));
  wide sum = 0, squares = 0;
  for (const wide& v : w) sum += v, squares += v * v;
  return ulps(effective_sample_size(x), wide(sum * sum / squares));
}

/// e^entropy, in ulp; and the entropy, which its error grows with.
template <class T>
double perplexity_error(const std::vector<T>& x) {
  const auto p = oracle::shifted_softmax(x);
  wide entropy = 0;
  for (const wide& v : p)
    if (v > 0) entropy -= v * log(v);
  const double allowed = cumulus::softmax_entropy_max_ulp * double(entropy) + 1;
  return ulps(perplexity(x), wide(exp(entropy))) / allowed;
}

}  // namespace

TEMPLATE_TEST_CASE("log_weights: within their bounds at every length, offset and spread",
                   "[exact][value]", float, double, long double) {
  worst size, perplexed;
  for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 17u, 33u, 70u, 300u}) {
    for (const double offset : {0.0, 1e4, -700.0, 1e16}) {
      for (const double spread : {0.0, 1e-8, 1e-3, 1.0, 8.0, 300.0}) {
        const auto x = families::normal<TestType>(n, offset, spread, n + 1);
        size.see(size_error(x), "n =", n, "offset", offset, "spread", spread);
        perplexed.see(perplexity_error(x), "n =", n, "offset", offset, "spread", spread);
      }
    }
  }
  CHECK_WORST(size, effective_sample_size_max_ulp);
  CHECK_WORST(perplexed, 1);  // of the bound
}

TEST_CASE("log_weights: the error does not grow with the length", "[exact][value]") {
  worst error;
  for (const std::size_t n : {3000u, 100000u}) {
    for (const double spread : {1e-3, 1.0, 5.0}) {
      const auto x = families::normal<double>(n, 50.0, spread, n);
      const auto w = oracle::exp_terms<long double>(x, 50.0);
      long double sum = 0, squares = 0;
      for (const long double v : w) sum += v, squares += v * v;
      error.see(ulps(effective_sample_size(x), wide(sum) * wide(sum) / wide(squares)), n, spread);
    }
  }
  CHECK_WORST(error, effective_sample_size_max_ulp);
}

TEST_CASE("log_weights: normalised weights sum to one, and are those of log_softmax",
          "[exact][property]") {
  worst error;
  for (const std::size_t n : {1u, 3u, 64u, 1000u}) {
    const auto x = families::normal<double>(n, -1e4, 3.0, n);
    const std::vector<double> y = normalise_log_weights(x);
    wide sum = 0;
    for (const double v : y) sum += exp(wide(v));
    error.see(double(abs(sum - 1)) * 0x1p53, n);
    CHECK(y == cumulus::log_softmax(x));
    // Normalised or not, as many samples.
    CHECK(std::abs(effective_sample_size(y) / effective_sample_size(x) - 1) <=
          1e-13 + 2 * cumulus::log_softmax_max_ulp * 10 * 0x1p-52);
  }
  // Each entry of up to 10 or so is off by up to log_softmax_max_ulp of itself.
  CHECK_WORST(error, 2 * 16 * cumulus::log_softmax_max_ulp);
  std::vector<double> memory{1, 2, 3};
  normalise_log_weights(memory, into(memory));
  CHECK(memory[2] == normalise_log_weights(std::array{1.0, 2.0, 3.0})[2]);
}

TEST_CASE("log_weights: edges of the sample size and the perplexity", "[exact][edge]") {
  struct row {
    std::vector<double> x;
    double size, perplexed;
  };
  const std::vector<row> table{
      {{}, 0, qnan},
      {{-inf}, 0, qnan},
      {{-inf, -inf}, 0, qnan},
      {{5}, 1, 1},
      {{5, -inf}, 1, 1},
      {{5, 5}, 2, 2},
      {{-1e16, -1e16, -inf}, 2, 2},
      {{inf}, 1, 1},
      {{inf, 2, -inf}, 1, 1},
      {{inf, inf}, qnan, qnan},
      {{qnan, 1}, qnan, qnan},
      {{inf, qnan}, qnan, qnan},
      {{-inf, qnan}, qnan, qnan},
      {{0, -800}, 1, 1},
      {{DBL_MAX, -DBL_MAX}, 1, 1},
  };
  for (const row& r : table) {
    CAPTURE(r.x);
    CHECK(same(effective_sample_size(r.x), r.size));
    if (std::isnan(r.perplexed)) {
      CHECK(std::isnan(perplexity(r.x)));
    } else {
      CHECK(ulps(perplexity(r.x), wide(r.perplexed)) <= 4);
    }
  }
  for (const std::size_t n : {1u, 3u, 10u, 1000u})
    CHECK(effective_sample_size(families::ties<double>(n, 0.3)) == double(n));
}

TEST_CASE("log_weights: between 1 and the number of samples, a shift changes nothing",
          "[exact][property]") {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const auto n = std::size_t(1 + seed);
    auto x = families::normal<double>(n, 0.0, double(seed) / 8, seed);
    for (double& v : x) v = std::round(v * 1024) / 1024;
    const double size = effective_sample_size(x), perplexed = perplexity(x);
    CAPTURE(seed);
    CHECK(size >= 1 - 1e-15);
    CHECK(size <= double(n) * (1 + 1e-15));
    CHECK(perplexed >= size * (1 - 1e-14));  // Renyi entropies fall with their order
    CHECK(perplexed <= double(n) * (1 + 1e-14));
    for (double& v : x) v += 1024;
    CHECK(ulps(effective_sample_size(x), wide(size)) <= 2 * effective_sample_size_max_ulp);
    CHECK(ulps(perplexity(x), wide(perplexed)) <= 8);
  }
}

TEST_CASE("log_weights: NaN is seen at every position, infinities raise no flag", "[exact][edge]") {
  for (std::size_t n = 1; n <= 70; ++n) {
    auto x = families::normal<double>(n, 0.0, 1.0, n);
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double kept = x[i];
      x[i] = qnan;
      all = all && std::isnan(effective_sample_size(x)) && std::isnan(perplexity(x));
      x[i] = inf;
      all = all && effective_sample_size(x) == 1 && perplexity(x) == 1;
      x[i] = kept;
    }
    CAPTURE(n);
    CHECK(all);
  }
  const std::vector<std::vector<double>> rows{{},       {-inf},           {inf},       {-inf, -inf},
                                              {inf, 1}, {inf, -inf, inf}, {1, -inf, 2}};
  for (const auto& x : rows) {
    CAPTURE(x);
    volatile double out = 0;
    CHECK(spurious_flags([&] { out = effective_sample_size(x); }) == 0);
    CHECK(spurious_flags([&] { out = perplexity(x); }) == 0);
  }
}

TEST_CASE("log_weights: every kind of vector; sizes that differ are refused", "[exact][value]") {
  const auto x = families::normal<double>(kinds::size, 3.0, 2.0, 8u);
  const double size = effective_sample_size(x), perplexed = perplexity(x);
  const std::vector<double> normalised = normalise_log_weights(x);
  kinds::each_vector(x, [&](const char* kind, const auto& argument) {
    CAPTURE(kind);
    CHECK(effective_sample_size(argument) == size);
    CHECK(perplexity(argument) == perplexed);
    const auto y = normalise_log_weights(argument);
    for (std::size_t i = 0; i < normalised.size(); ++i) CHECK(y.data()[i] == normalised[i]);
  });
  std::vector<double> out(4);
  CHECK(refusal([&] { normalise_log_weights(x, into(out)); }).find("13 elements, out has 4") !=
        std::string::npos);
  CHECK(effective_sample_size(std::vector<int>{2, 2}) == 2.0);
}

TEMPLATE_TEST_CASE("log_weights: weighted, masked and scaled, within the bounds", "[exact][value]",
                   float, double, long double) {
  worst size, perplexed;
  for (std::size_t n = 1; n <= 70; ++n) {
    for (const double decades : {0.0, 1.0, 3.0}) {
      for (const double spread : {1e-3, 1.0, 30.0}) {
        const auto x = families::normal<TestType>(n, -3.0, spread, n);
        const auto w = families::wild_weights<TestType>(n, decades, n + 1);
        std::vector<bool> mask(n);
        for (std::size_t i = 0; i < n; ++i) mask[i] = i % 5 != 1;
        std::vector<TestType> kept, kept_w;
        for (std::size_t i = 0; i < n; ++i)
          if (mask[i]) kept.push_back(TestType(2) * x[i]), kept_w.push_back(w[i]);
        const auto terms = oracle::exp_terms(kept, oracle::centre(kept), kept_w);
        wide sum = 0, squares = 0, entropy = 0;
        for (const wide& v : terms) sum += v, squares += v * v;
        for (const wide& v : terms)
          if (v > 0) entropy -= v / sum * log(v / sum);
        size.see(ulps(effective_sample_size(x, {.weights = w, .mask = mask, .scale = 2}),
                      wide(sum * sum / squares)),
                 "n =", n, "decades", decades, "spread", spread);
        perplexed.see(
            ulps(perplexity(x, {.weights = w, .mask = mask, .scale = 2}), wide(exp(entropy))) /
                (cumulus::softmax_entropy_max_ulp * double(entropy) + 1),
            "n =", n, "decades", decades, "spread", spread);
      }
    }
  }
  CHECK_WORST(size, effective_sample_size_max_ulp);
  CHECK_WORST(perplexed, 1);  // of the bound
}

TEST_CASE("log_weights: options act as a product of weights", "[exact][edge]") {
  const std::array x{0.0, 1.0, qnan};
  const std::array keep{true, true, false};
  CHECK(effective_sample_size(x, {.weights = std::array{1.0, 0.0, 1.0}, .mask = keep}) == 1);
  CHECK(effective_sample_size(x, {.mask = std::array{false, false, false}}) == 0);
  CHECK(std::isnan(perplexity(x, {.mask = std::array{false, false, false}})));
  CHECK(effective_sample_size(x, {.mask = keep, .scale = 0}) == 2);
  CHECK(effective_sample_size(x, {.mask = keep, .scale = inf}) == 1);
  CHECK(effective_sample_size(std::array{0.0, 0.0}, {.sink = 0.0}) == 3);
  CHECK(ulps(perplexity(std::array{0.0, 0.0}, {.sink = 0.0}), wide(3)) <= 5);
  CHECK(std::isnan(effective_sample_size(x, {.weights = std::array{1.0, -3.0, 0.0}})));
  CHECK(std::isnan(effective_sample_size(x, {.weights = std::array{1.0, qnan, 0.0}})));
  const auto y = normalise_log_weights(x, {.weights = std::array{2.0, 2.0, 5.0}, .mask = keep});
  CHECK(y[0] == cumulus::log_softmax(std::array{0.0, 1.0})[0]);
  CHECK(y[2] == -inf);
  CHECK(refusal([&] { static_cast<void>(effective_sample_size(x, {.weights = {1.0}})); }) ==
        "cumulus: effective_sample_size: x has 3 elements, weights has 1");
  CHECK(refusal([&] { static_cast<void>(perplexity(x, {.threads = 0})); }) ==
        "cumulus: perplexity: .threads is 0; give 1 or more");
  CHECK(refusal([&] { static_cast<void>(normalise_log_weights(x, {.mask = {true}})); }) ==
        "cumulus: normalise_log_weights: x has 3 elements, mask has 1");
}

TEMPLATE_TEST_CASE("log_weights: each line of a matrix is as a vector of its own",
                   "[exact][property]", float, double, long double) {
  using matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using cumulus::colwise;
  using cumulus::rowwise;
  for (const Eigen::Index cols : {1, 3, 8, 33}) {
    matrix x(5, cols), w(5, cols);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      x.data()[i] = TestType(3 * std::sin(double(i)));
      w.data()[i] = TestType(1 + i % 4);
    }
    x.row(2).setConstant(-std::numeric_limits<TestType>::infinity());
    Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> mask(5, cols);
    for (Eigen::Index i = 0; i < x.size(); ++i) mask.data()[i] = i % 3 != 0;
    const cumulus::matrix_options<TestType> o{.weights = w, .mask = mask, .scale = 0.5};
    const cumulus::softmax_matrix_options<TestType> zero{
        .weights = w, .mask = mask, .degenerate = cumulus::degenerate::uniform};
    const auto sizes = effective_sample_size(x, rowwise, o);
    const auto perplexities = perplexity(x, rowwise, o);
    const matrix normal = normalise_log_weights(x, rowwise, zero);
    matrix in_place = x;
    normalise_log_weights(in_place, into(in_place), rowwise, zero);
    for (Eigen::Index i = 0; i < 5; ++i) {
      const auto keep = mask.row(i).transpose().eval();
      const Eigen::Matrix<TestType, Eigen::Dynamic, 1> row_w = w.row(i).transpose();
      CHECK(same(double(sizes[i]), double(effective_sample_size(
                                       x.row(i), {.weights = row_w, .mask = keep, .scale = 0.5}))));
      CHECK(same(double(perplexities[i]),
                 double(perplexity(x.row(i), {.weights = row_w, .mask = keep, .scale = 0.5}))));
      const auto line = normalise_log_weights(
          x.row(i), {.weights = row_w, .mask = keep, .degenerate = cumulus::degenerate::uniform});
      for (Eigen::Index j = 0; j < cols; ++j) {
        CHECK(same(double(normal(i, j)), double(line[j])));
        CHECK(same(double(in_place(i, j)), double(line[j])));
      }
    }
    const matrix turned = x.transpose();
    const auto by_columns = effective_sample_size(turned, colwise);
    const auto perplexed = perplexity(turned, colwise);
    const matrix columns = normalise_log_weights(turned, colwise);
    static_assert(decltype(by_columns)::RowsAtCompileTime == 1);
    for (Eigen::Index i = 0; i < 5; ++i) {
      CHECK(ulps(by_columns[i], wide(effective_sample_size(x.row(i)))) <=
            2 * effective_sample_size_max_ulp);
      CHECK(same(double(perplexed[i]), double(perplexity(x.row(i)))));
      const auto line = normalise_log_weights(x.row(i));
      for (Eigen::Index j = 0; j < cols; ++j) CHECK(same(double(columns(j, i)), double(line[j])));
    }
  }
}
