// SPDX-License-Identifier: MIT
//
// What a caller gets for what they give: the kind of their vector, from every kind of vector. Ours before Eigen.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/log_weights.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>
#include <cumulus/exact/softmax_entropy.hpp>

#include <Eigen/Core>

#include <array>
#include <deque>
#include <list>
#include <span>
#include <type_traits>
#include <vector>

#if !defined(__clang__) || \
    __clang_major__ >= 16  // clang 14 can't read the <ranges> of libstdc++ 12
#include <ranges>
#define CUMULUS_TEST_RANGES
#endif

#include "catch.hpp"

using namespace cumulus;

namespace {

template <class X, class Expected>
constexpr bool softmax_gives =
    std::is_same_v<decltype(softmax(std::declval<const X&>())), Expected>;

}  // namespace

TEST_CASE("result kinds: softmax of each kind of vector has that kind", "[exact][value]") {
  static_assert(softmax_gives<std::vector<float>, std::vector<float>>);
  static_assert(softmax_gives<std::array<double, 3>, std::array<double, 3>>);
  static_assert(softmax_gives<float[3], std::array<float, 3>>);
  static_assert(softmax_gives<std::deque<double>, std::vector<double>>);
  static_assert(softmax_gives<std::span<const float>, std::vector<float>>);
  static_assert(softmax_gives<Eigen::VectorXi, Eigen::VectorXd>);
  static_assert(softmax_gives<Eigen::ArrayXf, Eigen::ArrayXf>);
  static_assert(softmax_gives<Eigen::Map<const Eigen::VectorXf>, Eigen::VectorXf>);
  static_assert(softmax_gives<Eigen::Matrix<double, 3, 1>, Eigen::Vector3d>);
  static_assert(softmax_gives<Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>,
                              Eigen::Matrix<Eigen::half, Eigen::Dynamic, 1>>);
  static_assert(softmax_gives<std::vector<Eigen::bfloat16>, std::vector<Eigen::bfloat16>>);
  using X = Eigen::MatrixXf;
  static_assert(std::is_same_v<decltype(softmax(X(), rowwise)), X>);
  static_assert(std::is_same_v<decltype(logsumexp(X(), rowwise)), Eigen::VectorXf>);
  static_assert(std::is_same_v<decltype(softmax_entropy(X(), colwise)), Eigen::RowVectorXf>);
  static_assert(std::is_same_v<decltype(segment_logsumexp(Eigen::ArrayXf(), Eigen::VectorXi())),
                               Eigen::VectorXf>);
  static_assert(
      std::is_same_v<decltype(segment_logsumexp(std::array<int, 2>(), std::array<int, 2>())),
                     std::vector<double>>);
  static_assert(std::is_same_v<decltype(logsumexp({1, 2, 3})), double>);
  static_assert(std::is_same_v<decltype(softmax({1.0f, 2.0f})), std::vector<float>>);
  SUCCEED();
}

TEST_CASE("result kinds: what a program of the standard library writes", "[exact][value]") {
  std::vector<double> v{1, 2, 3};
  const std::vector<double> p = softmax(v);
  std::vector<double> out(3);
  softmax(v, into(out));
  CHECK(out == p);
  softmax(v, into(std::span(out)), {.scale = 0});
  CHECK(out == std::vector<double>(3, 1.0 / 3));
  std::array<double, 3> fixed{1, 2, 3};
  fixed = softmax(fixed);
  CHECK(std::vector<double>(fixed.begin(), fixed.end()) == p);
  Eigen::VectorXd longer = Eigen::VectorXd::Constant(5, 7.0);
  softmax(v, into(longer.head(3)));
  CHECK(longer[2] == p[2]);
  CHECK(longer[3] == 7);
  softmax(v, into(v));
  CHECK(v == p);
  const std::vector<double> two = softmax({1.0, 2.0}, {.scale = 2});
  CHECK(two == softmax(std::vector<double>{2, 4}));
  CHECK(logsumexp({1, 2, 3}) == logsumexp(std::array{1.0, 2.0, 3.0}));
  const std::vector<bool> keep{true, false, true};
  CHECK(softmax(std::vector<double>{0, 5, 0}, {.mask = keep}) == std::vector<double>{0.5, 0, 0.5});
}

namespace {

/// Every function of one vector gives the same for x as for the same numbers in a std::vector.
template <class X>
bool all_alike(const X& x, const std::vector<double>& v) {
  const std::vector<int> ids(v.size(), 0);
  return softmax(x) == softmax(v) && log_softmax(x) == log_softmax(v) &&
         logcumsumexp(x) == logcumsumexp(v) && logsumexp_gradient(x) == logsumexp_gradient(v) &&
         logsumexp_gradient_weights(x) == logsumexp_gradient_weights(v) &&
         normalise_log_weights(x) == normalise_log_weights(v) &&
         softmax_jvp(x, x) == softmax_jvp(v, v) && softmax_vjp(x, v) == softmax_vjp(v, v) &&
         log_softmax_vjp(v, x) == log_softmax_vjp(v, v) &&
         logsumexp_hvp(x, x) == logsumexp_hvp(v, v) &&
         segment_logsumexp(x, ids) == segment_logsumexp(v, ids) && logsumexp(x) == logsumexp(v) &&
         logsumexp(v, {.weights = x}) == logsumexp(v, {.weights = v}) &&
         logmeanexp(x) == logmeanexp(v) && logvarexp(x) == logvarexp(v) &&
         softmax_entropy(x) == softmax_entropy(v) &&
         effective_sample_size(x) == effective_sample_size(v) && perplexity(x) == perplexity(v) &&
         logsumexp_signed(x, x).log_abs == logsumexp_signed(v, v).log_abs;
}

}  // namespace

TEST_CASE("result kinds: ranges that do not lie in memory are read once", "[exact][value]") {
  const std::vector<double> v{0.5, 3, 1, 2.25};
  CHECK(all_alike(std::deque<double>(v.begin(), v.end()), v));
  CHECK(all_alike(std::list<double>(v.begin(), v.end()), v));
#if defined(CUMULUS_TEST_RANGES)
  const std::vector<int> quarters{2, 12, 4, 9};
  CHECK(all_alike(quarters | std::views::transform([](int x) { return x / 4.0; }), v));
  CHECK(all_alike(std::views::reverse(std::vector<double>(v.rbegin(), v.rend())), v));
  static_assert(softmax_gives<decltype(std::views::iota(0, 3)), std::vector<double>>);
#endif
}
