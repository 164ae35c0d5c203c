// SPDX-License-Identifier: MIT
//
// Weights, masks, scales, sinks and directions that lie in the memory of the result.
#include <Eigen/Core>
//
#include <cumulus/exact.hpp>
#include <cumulus/series.hpp>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "catch.hpp"

using namespace cumulus;

namespace {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using columns = Eigen::MatrixXd;

template <class A, class B>
void check_same(const A& a, const B& b) {
  REQUIRE(std::size(a) == std::size(b));
  for (std::size_t i = 0; i < std::size_t(std::size(a)); ++i) CHECK(a[i] == b[i]);
}

/// What call(input, into(out)) writes where option and out share memory at each offset, and where they do not.
template <class Call>
void check_vector(Call call) {
  constexpr std::size_t n = 70;
  for (const std::size_t at : {0u, 1u, 3u, 69u}) {
    std::vector<double> memory(2 * n), x(n), apart(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(double(i));
    for (std::size_t i = 0; i < 2 * n; ++i) memory[i] = 1 + double(i % 7);
    const std::vector<double> option(memory.begin(), memory.begin() + n);
    call(x, option, std::span<double>(apart));
    call(x, std::span<const double>(memory.data(), n), std::span<double>(memory.data() + at, n));
    CAPTURE(at);
    check_same(std::span<const double>(memory.data() + at, n), apart);
  }
}

}  // namespace

TEST_CASE("options in out: the cases of a report", "[exact][edge]") {
  {
    rows x(2, 2);
    x << 1, 3, 0, 0;
    softmax(x, into(x), rowwise, {.weights = Eigen::VectorXd::Map(x.data(), 2)});
    CHECK(x(1, 0) == 0.25);
    CHECK(x(1, 1) == 0.75);
  }
  {
    rows x(2, 2);
    x << 1, 3, 0, 0;
    softmax(x, into(x), rowwise, {.sink = Eigen::VectorXd::Map(x.data(), 2)});
    CHECK(x(1, 0) == Approx(1 / (2 + std::exp(3))).epsilon(1e-15));
    CHECK(x(1, 1) == x(1, 0));
  }
  {
    std::array<double, 4> buffer{1, 2, 4, 0};
    logcumsumexp(std::array{0.0, 0.0, 0.0}, into(std::span(buffer).subspan(1)),
                 {.weights = std::span<const double>(buffer).first(3)});
    CHECK(buffer[1] == 0);
    CHECK(buffer[2] == Approx(std::log(3)).epsilon(1e-15));
    CHECK(buffer[3] == Approx(std::log(7)).epsilon(1e-15));
  }
}

TEST_CASE("options in out: vectors give what they give apart", "[exact][property]") {
  check_vector(
      [](const auto& x, const auto& w, auto out) { softmax(x, into(out), {.weights = w}); });
  check_vector(
      [](const auto& x, const auto& w, auto out) { log_softmax(x, into(out), {.weights = w}); });
  check_vector(
      [](const auto& x, const auto& w, auto out) { logcumsumexp(x, into(out), {.weights = w}); });
  check_vector([](const auto& x, const auto& w, auto out) {
    logsumexp_gradient(x, into(out), {.weights = w});
  });
  check_vector(
      [](const auto& x, const auto& w, auto out) { softmax_vjp(x, x, into(out), {.weights = w}); });
  check_vector([](const auto& x, const auto& v, auto out) { softmax_vjp(x, v, into(out)); });
  check_vector([](const auto& x, const auto& v, auto out) { softmax_jvp(x, v, into(out)); });
  check_vector([](const auto& x, const auto& v, auto out) { log_softmax_vjp(x, v, into(out)); });
  check_vector([](const auto& x, const auto& v, auto out) { logsumexp_hvp(x, v, into(out)); });
  check_vector([](const auto&, const auto& v, auto out) { softmax(v, into(out)); });
  check_vector(
      [](const auto&, const auto& v, auto out) { log_softmax(v, into(out), {.scale = 0.5}); });
  check_vector([](const auto&, const auto& v, auto out) { logcumsumexp(v, into(out)); });
  check_vector([](const auto&, const auto& v, auto out) { normalise_log_weights(v, into(out)); });
  check_vector([](const auto& x, const auto& w, auto out) {
    logsumexp_gradient_weights(x, into(out), {.weights = w});
  });
  check_vector([](const auto& x, const auto& w, auto out) {
    softmax_series(x, into(out), {.weights = w, .order = 3});
  });
}

TEMPLATE_TEST_CASE("options in out: matrices give what they give apart", "[exact][property]", rows,
                   columns) {
  TestType given(5, 5);
  for (Eigen::Index i = 0; i < 25; ++i) given(i / 5, i % 5) = 0.5 + double(i * 7 % 11) / 4;
  const auto check = [&](auto call) {
    TestType in_place = given, apart(5, 5);
    const TestType options = given;
    call(given, options, apart);
    call(in_place, in_place, in_place);
    CHECK((in_place.array() == apart.array()).all());
  };
  const auto each = [&](auto tag) {
    check([&](const auto& x, const auto& o, auto& out) {
      softmax(x, into(out), tag, {.weights = o.row(0)});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      softmax(x, into(out), tag, {.weights = o});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      softmax(x, into(out), tag, {.scale = o.row(2), .sink = o.col(1)});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      log_softmax(x, into(out), tag, {.weights = o.col(4), .sink = o.row(4)});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      logcumsumexp(x, into(out), tag, {.weights = o.col(3), .scale = o.row(1)});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      softmax_vjp(x, o, into(out), tag, {.weights = o.row(0)});
    });
    check([&](const auto& x, const auto& o, auto& out) {
      log_softmax_vjp(x, o, into(out), tag, {.scale = o.row(0)});
    });
  };
  each(rowwise);
  each(colwise);
}

TEST_CASE("options in out: a mask may lie there too", "[exact][edge]") {
  // the bytes of the result, read as bool before it is written
  std::vector<double> out(4);
  const unsigned char keep[] = {1, 0, 1, 1};
  std::memcpy(out.data(), keep, sizeof keep);
  const std::span<const bool> mask(reinterpret_cast<const bool*>(out.data()), 4);
  softmax(std::array{0.0, 1.0, 0.0, 0.0}, into(out), {.mask = mask});
  CHECK(out[0] == Approx(1.0 / 3));
  CHECK(out[1] == 0);
  CHECK(out[2] == out[0]);
  CHECK(out[3] == out[0]);
}
