// SPDX-License-Identifier: MIT
//
// Faults of public libraries that exact_cases.json does not hold, each with a small input and our
// answer. S to T: found in their sources; a number: a public report, in the order they were
// gathered. Those about compilation, threads and arrays beyond 2^31 have no small input.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_complex.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "kinds.hpp"
#include "shifted.hpp"
#include "ulp.hpp"

using namespace cumulus;
using namespace cumulus::detail;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
constexpr float inf_f = std::numeric_limits<float>::infinity();
using doubles = std::vector<double>;
using floats = std::vector<float>;

template <class V>
doubles numbers(const V& v) {
  doubles out;
  for (Eigen::Index i = 0; i < Eigen::Index(v.size()); ++i)
    out.push_back(double(v[decltype(v.size())(i)]));
  return out;
}

/// Equal, and NaN where NaN is expected.
bool same(const doubles& actual, const doubles& expected) {
  if (actual.size() != expected.size()) return false;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))))
      return false;
  return true;
}

/// Numbers that have to be met exactly.
struct row {
  const char* fault;
  doubles actual, expected;
};

/// Numbers that have to be met to `ulp` units of T.
struct close_row {
  const char* fault;
  double actual;
  oracle::wide expected;
  double ulp;
  double unit;
};
template <class T>
close_row close_to(const char* fault, T actual, const oracle::wide& expected, double ulp) {
  return {fault, double(actual), expected, ulp, double(ulp_of(static_cast<T>(expected)))};
}

}  // namespace

TEST_CASE("exact functions: edges that other libraries were reported to get wrong",
          "[exact][edge]") {
  const std::array last_off{true, true, false};
  const floats far{1, 1, 100};
  const doubles none;
  const std::vector<int> one_segment{0};
  const row table[]{
      {"P2: gradient at 1e16",
       numbers(logsumexp_gradient(doubles{1e16, 1e16, 1e16, 1e16})),
       {0.25, 0.25, 0.25, 0.25}},
      {"B1: logaddexp(-inf, inf)", {logaddexp(-inf, inf), logaddexp(5.0, -inf)}, {inf, 5}},
      {"B2: logaddexp(inf, NaN)", {logaddexp(inf, qnan), logaddexp(qnan, inf)}, {qnan, qnan}},
      {"M3: logaddexp(NaN, -inf)", {logaddexp(qnan, -inf), logaddexp(-inf, qnan)}, {qnan, qnan}},
      {"M4, 87: [inf, 1]", {logsumexp(doubles{inf, 1})}, {inf}},
      {"F3, 38, 41: equal arguments of logsubexp",
       {logsubexp(1.0, 1.0), logsubexp_signed(1.0, 1.0).sign, logsubexp(-inf, -inf)},
       {-inf, 0, -inf}},
      {"G2: a segment of -inf, of NaN",
       {double(segment_logsumexp(floats{-inf_f}, one_segment, 1)[0]),
        double(segment_logsumexp(floats{float(qnan)}, one_segment, 1)[0])},
       {-inf, qnan}},
      {"O1, 51: all -inf in float", {double(logsumexp(floats{-inf_f, -inf_f, -inf_f}))}, {-inf}},
      {"5: [inf] with its sign",
       {logsumexp_signed(doubles{inf}, doubles{1}).log_abs,
        logsumexp_signed(doubles{inf}, doubles{1}).sign},
       {inf, 1}},
      {"13: softmax beside a masked 100", numbers(softmax(far, {.mask = last_off})), {0.5, 0.5, 0}},
      {"13, 31: its derivative",
       numbers(softmax_vjp(far, floats{1, 0, 5}, {.mask = last_off})),
       {0.25, -0.25, 0}},
      {"14: gradient beside a masked 100",
       numbers(logsumexp_gradient(floats{0, 100, 3e38f}, {.mask = std::array{true, false, false}})),
       {1, 0, 0}},
      {"18: softmax and log_softmax of nothing", numbers(softmax(none)), {}},
      {"20: gradient at +inf", numbers(logsumexp_gradient(doubles{inf, 1})), {1, 0}},
      {"20: gradient at -inf", numbers(logsumexp_gradient(doubles{-inf, 1})), {0, 1}},
      {"21: a run of -inf in a cumulative sum",
       numbers(logcumsumexp(doubles{-inf, -inf, 0, -inf, -inf})),
       {-inf, -inf, 0, 0, 0}},
      {"36: softmax_vjp beside -inf",
       numbers(softmax_vjp(doubles{1, -inf, 1}, doubles{1, 7, 0})),
       {0.25, 0, -0.25}},
      {"54: [inf, 1, 2]", numbers(softmax(doubles{inf, 1, 2})), {1, 0, 0}},
      {"63: a late maximum in a cumulative sum",
       numbers(logcumsumexp(floats{0, 100, 69, 1000})),
       {0, 100, 100, 1000}},
      {"70: NaN beside inf, in a row", numbers(softmax(doubles{qnan, inf, 1})), {qnan, qnan, qnan}},
      {"85: logaddexp(1e38, 1e-38)", {double(logaddexp(1e38f, 1e-38f))}, {double(1e38f)}},
      {"66: a cumulative sum in bfloat16 does not stick",
       {double(logcumsumexp(std::vector<Eigen::bfloat16>(4096))[4095])},
       {double(Eigen::bfloat16(std::log(4096.0f)))}},
      {"19: logaddexp of halves",
       {double(logaddexp(Eigen::half(0), Eigen::half(0))),
        double(logaddexp(Eigen::bfloat16(3), Eigen::bfloat16(1)))},
       {double(Eigen::half(std::log(2.0f))),
        double(Eigen::bfloat16(3 + std::log1p(std::exp(-2.0f))))}},
      {"68: 4096 halves", {double(softmax(std::vector<Eigen::half>(4096))[4095])}, {0x1p-12}},
      {"95: halves at the end of their range",
       numbers(softmax(std::vector<Eigen::half>(2, Eigen::half(65504.0f)))),
       {0.5, 0.5}},
  };
  for (const row& r : table) {
    CAPTURE(r.fault, r.actual, r.expected);
    CHECK(same(r.actual, r.expected));
  }
}

TEST_CASE("exact functions: numbers that other libraries were reported to get wrong",
          "[exact][value]") {
  using oracle::wide;
  const doubles huge{1e20, 1e20, 1.1};
  doubles logs;
  for (const double v : huge) logs.push_back(std::log(v));
  const std::vector<int> integers{20, 30, 100};
  const double third = float(1.0 / 3);
  const float a = 1000010, b = 1000010.25f;
  const floats warm{100, 88, 50};
  const doubles offset{1e15, 1e15 + 1};
  const close_row table[]{
      close_to("P3, 1: logaddexp(0, -40)", logaddexp(0.0, -40.0), log1p(exp(wide(-40))), 3),
      close_to("P3, 1: logsumexp [0, -40]", logsumexp(doubles{0, -40}), log1p(exp(wide(-40))), 3),
      close_to("T1: log_softmax [1e8, 1e8]", log_softmax(doubles{1e8, 1e8})[1], -log(wide(2)), 3),
      close_to("C2: scaled after the difference", softmax(floats{a, b}, {.scale = third})[0],
               1 / (1 + exp(wide(third) / 4)), 4),
      close_to(
          "S3: the weight belongs to the shift",
          logsumexp_signed(doubles{0, -700}, doubles{1e-300, 1e300}).log_abs,
          wide(oracle::shifted_logsumexp<oracle::wider>(doubles{0, -700}, doubles{1e-300, 1e300})),
          4),
      close_to("12: 1e20 - 1e20 + 1.1", logsumexp_signed(logs, doubles{1, -1, 1}).log_abs,
               wide(logs[2]), 1),
      close_to("23: integers", logsumexp(integers), 100 + log1p(exp(wide(-70)) + exp(wide(-80))),
               2),
      close_to("53: [100, 88, 50] in float", logsumexp(warm), oracle::shifted_logsumexp(warm), 2),
      close_to("89: softmax at 1e15", softmax(offset)[0], 1 / (1 + exp(wide(1))), 4),
      close_to("71: log_softmax_vjp of halves",
               float(log_softmax_vjp(std::vector<Eigen::half>(2048),
                                     std::vector<Eigen::half>(2048, Eigen::half(1)))[0]),
               wide(0), 0),
  };
  for (const close_row& r : table) {
    CAPTURE(r.fault, r.actual);
    CHECK(double(abs(wide(r.actual) - r.expected)) <= r.ulp * r.unit);
  }
}

TEST_CASE("exact functions: exp(-inf) is 0 in every lane and tail", "[exact][edge]") {  // E1
  for (std::size_t n = 2; n <= 70; ++n) {
    for (const std::size_t at : {std::size_t(0), n / 2, n - 1}) {
      floats x(n, -inf_f);
      doubles y(n, -inf);
      x[at] = 3;
      y[at] = 3;
      const auto p = softmax(x);
      const auto q = softmax(y);
      CAPTURE(n, at);
      CHECK(kinds::column_of(p).sum() == 1);
      CHECK(p[Eigen::Index(at)] == 1);
      CHECK(kinds::column_of(q).sum() == 1);
      CHECK(logsumexp(x) == 3);
    }
  }
}

TEST_CASE("exact functions: slices, padding and many rows", "[exact][edge]") {  // 61, 72, 44
  kinds::row_major<float> around = kinds::row_major<float>::Constant(6, 9, 1000.0f);
  around.block(1, 2, 4, 3).setZero();
  around(2, 3) = 1;
  const kinds::row_major<float> expected =
      softmax(kinds::row_major<float>(around.block(1, 2, 4, 3)), rowwise);
  CHECK(softmax(around.block(1, 2, 4, 3), rowwise) == expected);
  CHECK(softmax(around.block(1, 2, 4, 3), rowwise).rowwise().sum().isOnes(1e-6f));
  const kinds::col_major<double> tall = kinds::col_major<double>::Constant(100000, 2, -inf);
  CHECK((logsumexp(tall, rowwise).array() == -inf).all());
}

TEST_CASE("exact functions: complex infinities and angles", "[exact][edge]") {  // 6, 7, 66
  using complex = std::complex<double>;
  const double pi = std::acos(-1.0);
  const auto infinite = logsumexp(std::vector<complex>{{inf, 0}, {0, 1}});
  CHECK(infinite.real() == inf);
  CHECK(infinite.imag() == 0);
  const auto nothing = logsumexp(std::vector<complex>{{-inf, 0}, {-inf, 1}});
  CHECK(nothing.real() == -inf);
  const auto turned = logsumexp(std::vector<complex>{{1, 3 * pi - 0.5}, {1, 3 * pi - 0.5}});
  CHECK(turned.imag() == Approx(pi - 0.5));
  CHECK(turned.real() == Approx(1 + std::log(2.0)));
}
